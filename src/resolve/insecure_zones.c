/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A table by secret hash. Invariant: a place with a time that is not over has a whole name. */
#include "resolve/insecure_zones.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"

void insecure_zones_init(struct insecure_zones *zones)
{
    zones->seed = rand_u64();
    insecure_zones_clear(zones);
}

void insecure_zones_clear(struct insecure_zones *zones)
{
    for (unsigned i = 0; i < INSECURE_ZONES_MAX; i++)
        zones->place[i].until = 0;
}

static size_t insecure_zones_at(const struct insecure_zones *zones, struct name zone)
{
    return hash_bytes(zone.wire, zone.len, zones->seed) & (INSECURE_ZONES_MAX - 1);
}

void insecure_zones_add(struct insecure_zones *zones, uint32_t space, struct name zone,
                        uint16_t ede, uint64_t left_us, uint64_t now_us)
{
    struct insecure_zone *place = &zones->place[insecure_zones_at(zones, zone)];
    place->until = now_us + MIN(left_us, INSECURE_ZONES_US);
    place->space = space;
    place->ede = ede;
    place->len = zone.len;
    memcpy(place->wire, zone.wire, zone.len);
}

const struct insecure_zone *insecure_zones_find(const struct insecure_zones *zones, uint32_t space,
                                                struct name zone, uint64_t now_us)
{
    const struct insecure_zone *place = &zones->place[insecure_zones_at(zones, zone)];
    bool is_same = place->until > now_us && place->space == space && place->len == zone.len &&
                   memcmp(place->wire, zone.wire, zone.len) == 0;
    return is_same ? place : NULL;
}
