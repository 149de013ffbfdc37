/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A table by secret hash. Invariant: a place with a time that is not over has a whole name. */
#include "resolve/judged_zones.h"

#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"

void judged_zones_init(struct judged_zones *zones)
{
    zones->seed = rand_u64();
    judged_zones_clear(zones);
}

void judged_zones_clear(struct judged_zones *zones)
{
    for (unsigned i = 0; i < JUDGED_ZONES_MAX; i++)
        zones->place[i].until = 0;
}

static size_t judged_zones_at(const struct judged_zones *zones, struct name zone)
{
    return hash_bytes(zone.wire, zone.len, zones->seed) & (JUDGED_ZONES_MAX - 1);
}

static struct judged_zone *judged_zones_take(struct judged_zones *zones, uint32_t space,
                                             struct name zone, uint64_t until)
{
    struct judged_zone *place = &zones->place[judged_zones_at(zones, zone)];
    place->until = until;
    place->space = space;
    place->len = zone.len;
    memcpy(place->wire, zone.wire, zone.len);
    return place;
}

static const struct judged_zone *judged_zones_find(const struct judged_zones *zones, uint32_t space,
                                                   struct name zone, uint64_t now_us)
{
    const struct judged_zone *place = &zones->place[judged_zones_at(zones, zone)];
    bool is_same = place->until > now_us && place->space == space && place->len == zone.len &&
                   memcmp(place->wire, zone.wire, zone.len) == 0;
    return is_same ? place : NULL;
}

void judged_zones_add_insecure(struct judged_zones *zones, uint32_t space, struct name zone,
                               uint16_t ede, uint64_t left_us, uint64_t now_us)
{
    struct judged_zone *place =
        judged_zones_take(zones, space, zone, now_us + MIN(left_us, JUDGED_ZONES_US));
    place->judged = JUDGED_INSECURE;
    place->ede = ede;
}

void judged_zones_add_secure(struct judged_zones *zones, uint32_t space, struct name zone,
                             uint64_t now_us)
{
    const struct judged_zone *found = judged_zones_find(zones, space, zone, now_us);
    if (!found || found->judged != JUDGED_REFERRING)
        judged_zones_take(zones, space, zone, now_us + JUDGED_ZONES_US)->judged = JUDGED_SECURE;
}

void judged_zones_note_referral(struct judged_zones *zones, uint32_t space, struct name zone,
                                uint64_t now_us)
{
    const struct judged_zone *found = judged_zones_find(zones, space, zone, now_us);
    if (found && found->judged != JUDGED_INSECURE)
        judged_zones_take(zones, space, zone, now_us + JUDGED_ZONES_US)->judged = JUDGED_REFERRING;
}

bool judged_zones_has(const struct judged_zones *zones, uint32_t space, struct name zone,
                      uint64_t now_us)
{
    return judged_zones_find(zones, space, zone, now_us) != NULL;
}

const struct judged_zone *judged_zones_find_insecure(const struct judged_zones *zones,
                                                     uint32_t space, struct name zone,
                                                     uint64_t now_us)
{
    const struct judged_zone *found = judged_zones_find(zones, space, zone, now_us);
    return found && found->judged == JUDGED_INSECURE ? found : NULL;
}

bool judged_zones_proves(const struct judged_zones *zones, uint32_t space, struct name zone,
                         uint64_t now_us)
{
    const struct judged_zone *found = judged_zones_find(zones, space, zone, now_us);
    return found && found->judged == JUDGED_SECURE;
}
