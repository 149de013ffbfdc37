/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SPREAD_H
#define NAILUP_UPSTREAM_SPREAD_H

/*
 * Over how many connections does an upstream's load go? One, as long as the path loses nothing. A
 * lost segment holds back all later answers of its connection for a round trip, so on a lossy path
 * a busy upstream gets more connections and each loss holds back a part of the answers only. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define SPREAD_LOOK_US (100 * US_PER_MS) /* between two looks at the kernel's counts */
#define SPREAD_KEEP_US (30 * US_PER_S)   /* after the last sign of a lossy path */

enum {
    SPREAD_LOOKS = 16, /* of the last looks ... */
    SPREAD_HOLES = 3,  /* ... so many saw a hole in a stream: the path is lossy */
    /* Queries in flight for each connection. Fewer would make streams so thin that the kernel
     * notices a loss later. */
    SPREAD_IN_FLIGHT = 16,
};

struct spread { /* of one upstream; zeroed: nothing is known */
    uint64_t looked_at;
    uint64_t lossy_until_at;
    uint16_t history; /* a bit per look, the latest lowest: it saw a hole */
};

/* Whether to look at the connections' counts now. */
static inline bool spread_is_due(const struct spread *spread, uint64_t now)
{
    return now - spread->looked_at >= SPREAD_LOOK_US;
}

static inline bool spread_is_lossy(const struct spread *spread, uint64_t now)
{
    return now < spread->lossy_until_at;
}

/* They were looked at. */
void spread_note(struct spread *spread, bool saw_hole, uint64_t now);

/* The number of connections for this load; 0: the path is not lossy, or one is enough. */
uint32_t spread_width(const struct spread *spread, uint32_t in_flight, uint64_t now);

#endif
