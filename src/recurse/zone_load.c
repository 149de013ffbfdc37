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

static uint32_t *count_of(struct zone_load *load, uint64_t hash)
{
    return &load->counts[hash & (ZONE_LOAD_PLACES - 1)];
}

bool zone_load_take(struct zone_load *load, struct name zone, uint32_t max, uint64_t *hash)
{
    *hash = name_hash(zone, load->seed);
    uint32_t *count = count_of(load, *hash);
    if (*count >= max)
        return false;
    ++*count;
    return true;
}

void zone_load_give(struct zone_load *load, uint64_t hash)
{
    uint32_t *count = count_of(load, hash);
    MUST(*count > 0);
    --*count;
}
