/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_GATHER_H
#define NAILUP_DAEMON_NETWORK_GATHER_H

/*
 * Decides when the workers hear that the network changed. A change comes in pieces: a link goes up,
 * addresses follow, then a route. A flapping link must not make the workers dial all connections
 * again and again. One loop's thread.
 */

#include "base/units.h"
#include "loop/timer.h"
#include "upstream/upstreams.h"

/* Reports when no further piece has come for NETWORK_QUIET_US, but at most NETWORK_GATHER_US after
 * the first piece. */
#define NETWORK_QUIET_US (200 * US_PER_MS)
#define NETWORK_GATHER_US (1 * US_PER_S)

/* Reports at most NETWORK_BURST times without delay, and then once every NETWORK_EVERY_US. Changes
 * in between are part of the next report. */
#define NETWORK_EVERY_US (10 * US_PER_S)
enum { NETWORK_BURST = 4 };

struct network_gather {
    struct loop *loop;
    struct timer due;
    uint64_t first_at;           /* when the first waiting piece came */
    uint64_t full_at;            /* when NETWORK_BURST reports are possible again */
    enum network_change pending; /* the most severe change that waits; 0: none */
    void (*on_changed)(void *context, enum network_change change);
    void *context;
};

void network_gather_init(struct network_gather *gather, struct loop *loop,
                         void (*on_changed)(void *context, enum network_change change),
                         void *context);
void network_gather_deinit(struct network_gather *gather);

/* Takes a piece of news. on_changed comes later, never within the call. */
void network_gather_note(struct network_gather *gather, enum network_change change);

#endif
