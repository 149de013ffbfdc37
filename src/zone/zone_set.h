/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_ZONE_ZONE_SET_H
#define NAILUP_ZONE_ZONE_SET_H

/*
 * All zones held here at one time, each in one version. A set never changes: a new version of a
 * zone makes a new set. Any thread may read it; an atomic count of references decides when it is
 * freed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"

struct zone_data;
struct zone_set;

enum { ZONE_SET_MAX = 4096 }; /* zones of a set */

/* The users of a zone. */
enum zone_use {
    ZONE_FOR_CLIENTS,  /* clients get authoritative answers from it */
    ZONE_FOR_UPSTREAM, /* recursion asks it in place of its servers */
    ZONE_FOR_BOTH,
};

struct zone_held {
    uint8_t wire[NAME_WIRE_MAX]; /* the zone's name in lower case */
    uint8_t name_len;
    enum zone_use use;
    bool has_fallback; /* without usable data, recursion answers as if the zone were not held */
    struct zone_data *data; /* NULL: not loaded yet, or expired */
};

static inline struct name zone_held_name(const struct zone_held *zone)
{
    return (struct name){.wire = zone->wire, .len = zone->name_len};
}

static inline bool zone_is_for_clients(const struct zone_held *zone)
{
    return zone->use != ZONE_FOR_UPSTREAM;
}

static inline bool zone_is_for_upstream(const struct zone_held *zone)
{
    return zone->use != ZONE_FOR_CLIENTS;
}

/* Makes a set with one reference. Copies the zones and adds a reference to the data of each; at
 * most ZONE_SET_MAX (MUST). Returns NULL when out of memory. */
struct zone_set *zone_set_new(const struct zone_held *zones, size_t count);

/* NULL is allowed. */
struct zone_set *zone_set_ref(struct zone_set *set);
void zone_set_unref(struct zone_set *set);

/* Returns the zone with the longest name at or above this one (any case), or NULL. A DS record is
 * in the zone above (RFC 4035 section 3.1.4.1), so for that type a zone with the name itself does
 * not count. */
const struct zone_held *zone_set_find(const struct zone_set *set, struct name name, uint16_t type);

/* Whether clients get the answers for the name from one of these zones, or its referrals. NULL: no
 * zones. */
bool zone_set_is_for_clients(const struct zone_set *set, struct name name);

/* Returns the zone with this name, or NULL. */
const struct zone_held *zone_set_find_exact(const struct zone_set *set, struct name name);

#endif
