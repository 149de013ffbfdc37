/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_GATHER_H
#define NAILUP_DAEMON_NETWORK_GATHER_H

/*
 * When is it time to tell the workers that the network changed? A change comes in pieces: a link
 * goes up, addresses follow, then a route. And a link that comes and goes for ever must not make
 * each connection be dialled for ever. One loop's thread.
 */

#include "base/units.h"
#include "loop/timer.h"
#include "upstream/upstreams.h"

#define NETWORK_QUIET_US (200 * US_PER_MS) /* without a further piece: it is told */
#define NETWORK_GATHER_US (1 * US_PER_S)   /* after the first piece it is told at the latest */

/* Told at most NETWORK_BURST times at once and thereafter once every NETWORK_EVERY_US; what comes
 * in between is told then. */
#define NETWORK_EVERY_US (10 * US_PER_S)
enum { NETWORK_BURST = 4 };

struct network_gather {
    struct loop *loop;
    struct timer due;
    uint64_t first_at;           /* of the pieces that wait */
    uint64_t full_at;            /* when NETWORK_BURST may be told at once again */
    enum network_change pending; /* the gravest of them; 0: none waits */
    void (*on_changed)(void *context, enum network_change change);
    void *context;
};

void network_gather_init(struct network_gather *gather, struct loop *loop,
                         void (*on_changed)(void *context, enum network_change change),
                         void *context);
void network_gather_deinit(struct network_gather *gather);

/* A piece of news; on_changed comes later, never from inside. */
void network_gather_note(struct network_gather *gather, enum network_change change);

#endif
