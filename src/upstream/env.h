/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ENV_H
#define NAILUP_UPSTREAM_ENV_H

/* What everything in a worker's upstream side shares: its loop, its counters, the pacing of dials,
 * the process's quota of nailed connections, spare memory for attempts. */

#include <stdatomic.h>
#include <stdbool.h>

#include "base/list.h"
#include "base/stats.h"
#include "upstream/dialer.h"
#include "upstream/reach.h"
#include "upstream/trouble.h"

struct loop;
struct tap;
struct tls_contexts;
struct tls_tickets;

/* How many nailed connections the whole process may have; shared by all workers. */
struct nail_quota {
    atomic_uint used;
    unsigned max;
};

struct upstream_env {
    struct loop *loop;
    struct stats *stats;
    struct tap *taps; /* NULL: nobody watches */
    struct nail_quota *quota;
    bool (*make_nail_room)(struct upstream_env *env); /* nail_room.h */
    struct dialer dialer;
    unsigned late_drains; /* connections with drains_late */
    struct trouble_lines trouble_lines;
    struct list free_attempts;
    unsigned free_attempt_count;
    struct list probes; /* struct probe, under way */
    unsigned probe_count;
    struct tls_contexts *contexts; /* made with the first upstream that needs it */
    struct tls_tickets *tickets;   /* the process's; NULL: nothing is resumed */
    struct reach reach;            /* of queries over UDP */
    struct list met_idle;  /* struct upstream: met, held by nobody; the least recently used first */
    size_t met_idle_count; /* of those */
    struct list met_silent; /* the same, of those that never answered: they go first */
    size_t met_count;       /* of all that are met */
    size_t met_max;         /* UPSTREAMS_MET_MAX; tests are content with fewer */
};

/* One more nailed connection, if the quota has room; given back with nail_quota_give(). */
static inline bool nail_quota_take(struct nail_quota *quota)
{
    if (atomic_fetch_add_explicit(&quota->used, 1, memory_order_relaxed) < quota->max)
        return true;
    atomic_fetch_sub_explicit(&quota->used, 1, memory_order_relaxed);
    return false;
}

static inline void nail_quota_give(struct nail_quota *quota)
{
    atomic_fetch_sub_explicit(&quota->used, 1, memory_order_relaxed);
}

#endif
