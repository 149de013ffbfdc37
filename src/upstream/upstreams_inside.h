/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_UPSTREAMS_INSIDE_H
#define NAILUP_UPSTREAM_UPSTREAMS_INSIDE_H

/* What upstreams.c (the table), upstreams_wanted.c and upstreams_met.c (who stays) share. Nobody
 * else looks here. */

#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "upstream/env.h"

struct addr;
struct upstream;
struct upstream_options;

struct upstreams {
    struct upstream_env env;
    struct list all;            /* in the order they were made */
    uint64_t last_number;       /* of the newest */
    struct upstream *walked_to; /* where the last walk goes on; NULL: at the first */
    uint64_t seed;
    struct upstream **table; /* open addressing by address, a power of two */
    size_t mask, count;
    struct list retiring;
    struct timer look;    /* at those that retire */
    struct turn_end trim; /* of those that were met */
};

/* upstreams.c: the one with this address and these options, retiring or not; may be NULL. */
struct upstream *upstreams_find(const struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options);

/* upstreams.c: as upstreams_get(), but nothing is dialled. */
struct upstream *upstreams_make(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options);

/* upstreams.c: frees it. What it counted goes on at another of the same address and transport, if
 * there is one, so that sums over these never fall. */
void upstreams_remove(struct upstreams *upstreams, struct upstream *upstream);

/* upstreams_wanted.c: one that retires is in use again; nothing is dialled. */
void upstreams_revive(struct upstream *upstream);

/* upstreams_wanted.c: retires whatever it may be kept for otherwise; nobody wants it. */
void upstreams_retire(struct upstreams *upstreams, struct upstream *upstream);

/* upstreams_view.c: it is about to be freed, so no walk goes on there. */
void upstreams_leave_walk(struct upstreams *upstreams, const struct upstream *upstream);

/* upstreams_met.c: it is not counted among those that were met any more. */
void upstreams_unmeet(struct upstream *upstream);

/* upstreams_met.c: the turn's end. */
void upstreams_on_trim(struct turn_end *end);

/* upstreams_wanted.c: the timer's. */
void upstreams_on_look(struct timer *timer);

#endif
