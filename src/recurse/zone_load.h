/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_ZONE_LOAD_H
#define NAILUP_RECURSE_ZONE_LOAD_H

/*
 * How many questions are being asked of each zone at once, by all clients: so that one zone whose
 * servers are dead or drowned in random names ("water torture") does not take the room of all
 * others. Zones are told apart by a secret hash; two that meet in one place share its bound. Pure
 * but for the seed; one thread.
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

/* One more question of the zone; its place is in *place, for zone_load_give(). False, and nothing
 * is counted: there are max already. */
MUST_USE bool zone_load_take(struct zone_load *load, struct name zone, uint32_t max,
                             uint16_t *place);

/* It is over. */
void zone_load_give(struct zone_load *load, uint16_t place);

#endif
