/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_SAMPLE_H
#define NAILUP_TESTS_RESOLVE_SAMPLE_H

/* Zones to ask. Upstreams are numbers: the port of an address makes the pointer. */

#include "resolve/route.h"
#include "resolve/route_options.h"
#include "unit/recurse/sample.h"
#include "upstream/upstreams.h"

static inline struct upstream *upstream_number(uintptr_t number)
{
    return (struct upstream *)number; // NOLINT: never followed
}

struct zone_set {
    struct route_zone zones[8];
    struct route_upstream upstreams[8];
    struct route_options options;
};

/* Zone number i has the next name and upstream 1000 + i. All zones cache and validate. NULL ends
 * the names. */
static inline const struct route_options *zones_make(struct zone_set *set, const char *const *names)
{
    memset(set, 0, sizeof(*set));
    for (size_t i = 0; names[i]; i++) {
        struct route_zone *zone = &set->zones[i];
        struct name name = sample_name(zone->wire, names[i]);
        zone->name_len = name.len;
        zone->cache = true;
        zone->validate = true;
        zone->upstreams = &set->upstreams[i];
        zone->upstream_count = 1;
        assert_int_equal(addr_parse(&set->upstreams[i].addr, "127.0.0.1", (uint16_t)(1000 + i)),
                         ERR_OK);
        set->options.zone_count = i + 1;
    }
    set->options.zones = set->zones;
    set->options.minimal_responses = true;
    return &set->options;
}

#define ZONES(set, ...) zones_make(set, (const char *const[]){__VA_ARGS__, NULL})

#endif
