/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Each hash has one place. Invariant: no score is above LARGE_ZONES_SCORE_MAX. */
#include "recurse/large_zones.h"

#include "base/check.h"

static unsigned large_place_of(uint64_t zone)
{
    return zone & (LARGE_ZONES_PLACES - 1);
}

void large_zones_note(struct large_zones *large, uint64_t zone, bool is_large)
{
    unsigned place = large_place_of(zone);
    uint8_t *score = &large->scores[place];
    bool is_known = large->zones[place] == zone;
    if (!is_large) {
        *score = (uint8_t)(*score - (is_known && *score > 0));
        return;
    }
    unsigned known_score = is_known ? *score : 0;
    *score = (uint8_t)MIN(known_score + LARGE_ZONES_RISE, (unsigned)LARGE_ZONES_SCORE_MAX);
    large->zones[place] = zone;
}

bool large_zones_has(const struct large_zones *large, uint64_t zone)
{
    unsigned place = large_place_of(zone);
    return large->zones[place] == zone && large->scores[place] >= LARGE_ZONES_RISE;
}
