/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_ZONE_LOAD_H
#define NAILUP_RECURSE_ZONE_LOAD_H

/*
 * Counts how many tasks ask each zone at once, for all clients. A zone with dead servers, or one
 * that drowns in random names ("water torture"), must not take the room of the other zones. A
 * secret hash tells zones apart; two in one place share a bound. Pure except for the seed; one
 * thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/name.h"

enum { ZONE_LOAD_PLACES = 1024 }; /* a power of two */

struct zone_load {
    uint64_t seed;
    uint32_t counts[ZONE_LOAD_PLACES];
};

void zone_load_init(struct zone_load *load);

/* Counts one more task. The secret hash of the zone in *hash is for zone_load_give() and for other
 * tables of zones. False, and nothing is counted: max tasks ask the zone already. */
MUST_USE bool zone_load_take(struct zone_load *load, struct name zone, uint32_t max,
                             uint64_t *hash);

/* Gives the place back when the task no longer asks. */
void zone_load_give(struct zone_load *load, uint64_t hash);

#endif
