/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ENV_H
#define NAILUP_UPSTREAM_ENV_H

/* State that the upstreams of a worker share: the loop, the counters, the pacing of dials, the
 * process's quota of nailed connections, and spare memory for attempts. */

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
struct trouble_news;

/* The number of nailed connections that the process may have; shared by all workers. */
struct nail_quota {
    atomic_uint used;
    unsigned max;
};

struct upstream_env {
    struct loop *loop;
    struct stats *stats;
    struct tap *taps; /* NULL: none */
    struct nail_quota *quota;
    bool (*make_nail_room)(struct upstream_env *env); /* see upstreams.c */
    struct dialer dialer;
    unsigned late_drains; /* connections that drain for longer than usual */
    struct trouble_lines trouble_lines;
    struct trouble_news *trouble_news; /* the process's; NULL: this worker is the only one */
    struct list free_attempts;
    unsigned free_attempt_count;
    struct list probes; /* struct probe, in flight */
    unsigned probe_count;
    struct tls_contexts *contexts; /* made for the first secure upstream */
    struct tls_tickets *tickets;   /* the process's; NULL: no resumption */
    struct reach reach;            /* which IP versions work for UDP */
    /* Discovered upstreams without a holder, the least recently used first. */
    struct list discovered_idle;
    size_t discovered_idle_count;
    struct list discovered_silent; /* the same, never answered: they go first */
    size_t discovered_count;       /* all discovered upstreams */
    size_t discovered_max;         /* UPSTREAMS_DISCOVERED_MAX; tests set less */
};

/* Takes a place for a nailed connection if the quota has one. nail_quota_give() returns it. */
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
