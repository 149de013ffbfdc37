/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SPREAD_H
#define NAILUP_UPSTREAM_SPREAD_H

/*
 * Over how many connections does an upstream's load go? Over one while the path loses nothing. A
 * lost segment delays all later answers of its connection by a round trip. So on a lossy path a
 * busy upstream gets more connections, and each loss delays only a part of the answers. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define SPREAD_LOOK_US (100 * US_PER_MS) /* between two looks at the kernel's counts */
#define SPREAD_KEEP_US (30 * US_PER_S)   /* after the last sign of a lossy path */

enum {
    SPREAD_LOOKS = 16, /* the last looks that count */
    SPREAD_HOLES = 3,  /* looks among them that saw a hole in a stream: the path is lossy */
    /* Queries in flight for each connection. With fewer, the kernel notices a loss later. */
    SPREAD_IN_FLIGHT = 16,
};

struct spread { /* the facts about one upstream; zeroed: no loss */
    uint64_t looked_at;
    uint64_t lossy_until_at;
    uint16_t history; /* a bit per look, the latest lowest: set if it saw a hole */
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

/* Notes a look at the counts. */
void spread_note(struct spread *spread, bool saw_hole, uint64_t now);

/* The number of connections for this load; 0: the path is not lossy, or one is enough. */
uint32_t spread_width(const struct spread *spread, uint32_t in_flight, uint64_t now);

#endif
