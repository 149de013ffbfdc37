/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts by hash. Invariant: a count is the number of takes of its place without a give. */
#include "recurse/zone_load.h"

#include <string.h>

#include "base/check.h"
#include "base/rand.h"

void zone_load_init(struct zone_load *load)
{
    memset(load, 0, sizeof(*load));
    load->seed = rand_u64();
}

bool zone_load_take(struct zone_load *load, struct name zone, uint32_t max, uint16_t *place)
{
    *place = (uint16_t)(name_hash(zone, load->seed) & (ZONE_LOAD_PLACES - 1));
    if (load->counts[*place] >= max)
        return false;
    load->counts[*place]++;
    return true;
}

void zone_load_give(struct zone_load *load, uint16_t place)
{
    MUST(place < ZONE_LOAD_PLACES && load->counts[place] > 0);
    load->counts[place]--;
}
