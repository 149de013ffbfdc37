/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CENSUS_H
#define NAILUP_CONTROL_CENSUS_H

/*
 * Counts the figures of each upstream by asking every worker on its own thread, by mail. Workers do
 * not wait for each other or for the main thread. No worker looks at more than CENSUS_UPSTREAMS_MAX
 * upstreams, so the clients of a worker with many upstreams wait no longer than others.
 *
 * Main loop's thread, except for the functions marked as a worker's.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "control/view.h"
#include "upstream/upstreams.h"

struct loop;

enum { CENSUS_UPSTREAMS_MAX = 128, CENSUS_CONNS_MAX = 256 };

/* PER_UPSTREAM_<field>: the index into values. */
enum per_upstream {
#define PER_UPSTREAM(field, name, kind, sentence) PER_UPSTREAM_##field,
#include "nailup/metrics.def"
    PER_UPSTREAM_COUNT
};

enum per_upstream_kind { PER_UPSTREAM_COUNTER, PER_UPSTREAM_GAUGE, PER_UPSTREAM_SECONDS };

struct per_upstream_row {
    const char *name; /* without the prefix nailup_ */
    const char *sentence;
    enum per_upstream_kind kind;
};

extern const struct per_upstream_row per_upstream_rows[PER_UPSTREAM_COUNT];

/* Upstreams with the same address and transport count as one. */
struct census_upstream {
    struct addr addr;
    const char *transport; /* static */
    uint64_t values[PER_UPSTREAM_COUNT];
};

/* One connection of one worker. */
struct census_conn {
    uint32_t worker;
    struct conn_view view;
};

struct census {
    size_t conn_count;
    size_t conns_left_out;
    struct census_conn conns[CENSUS_CONNS_MAX];
    size_t count;
    size_t left_out; /* because there was no room */
    struct census_upstream
        upstreams[CENSUS_UPSTREAMS_MAX]; /* in the order in which they were found */
};

struct census_taking;

/* Receives the census, which the callee frees with free(). NULL: out of memory. The taking has
 * ended. */
typedef void (*census_done)(void *context, struct census *census);

/* Asks all workers of the view. done comes later, never within the call. ERR_NO_MEMORY. */
MUST_USE enum err census_take(struct census_taking **out, struct loop *loop,
                              const struct control_view *view, census_done done, void *context);

/* Prevents done and drops what workers still report. *taking becomes NULL; NULL is fine. */
void census_abandon(struct census_taking **taking);

/* Adds the figures of one worker to those of others. Pure. */
void census_add(struct census *out, const struct census *part);

#endif
