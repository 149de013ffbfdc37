/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Zones sorted by name in canonical order. The zone of a name sorts before the name. So a search
 * finds the last zone that does not sort after the name, and then goes up label by label. */
#include "zone/zone_set.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "zone/zone_data.h"

struct zone_set {
    atomic_uint refs;
    size_t count;
    struct zone_held zones[];
};

static int set_compare_zones(const void *a, const void *b)
{
    return name_compare(zone_held_name(a), zone_held_name(b));
}

struct zone_set *zone_set_new(const struct zone_held *zones, size_t count)
{
    MUST(count <= ZONE_SET_MAX);
    struct zone_set *set = malloc(sizeof(*set) + count * sizeof(*zones));
    if (!set)
        return NULL;
    atomic_init(&set->refs, 1);
    set->count = count;
    for (size_t i = 0; i < count; i++) {
        set->zones[i] = zones[i];
        if (zones[i].data)
            zone_data_ref(zones[i].data);
    }
    if (count > 1)
        qsort(set->zones, count, sizeof(*set->zones), set_compare_zones);
    return set;
}

struct zone_set *zone_set_ref(struct zone_set *set)
{
    if (set)
        atomic_fetch_add_explicit(&set->refs, 1, memory_order_relaxed);
    return set;
}

void zone_set_unref(struct zone_set *set)
{
    if (!set || atomic_fetch_sub_explicit(&set->refs, 1, memory_order_acq_rel) > 1)
        return;
    for (size_t i = 0; i < set->count; i++)
        zone_data_unref(set->zones[i].data);
    free(set);
}

/* Returns the zones that are not after the name. */
static size_t count_before(const struct zone_set *set, struct name name)
{
    size_t low = 0, high = set->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (name_compare(zone_held_name(&set->zones[middle]), name) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct zone_held *zone_set_find_exact(const struct zone_set *set, struct name name)
{
    size_t before = count_before(set, name);
    if (before == 0 || !name_equal(zone_held_name(&set->zones[before - 1]), name))
        return NULL;
    return &set->zones[before - 1];
}

bool zone_set_is_for_clients(const struct zone_set *set, struct name name)
{
    const struct zone_held *zone = set ? zone_set_find(set, name, RRTYPE_A) : NULL;
    return zone && zone_is_for_clients(zone);
}

const struct zone_held *zone_set_find(const struct zone_set *set, struct name name, uint16_t type)
{
    if (type == RRTYPE_DS && !name_is_root(name))
        name = name_parent(name);
    for (;;) {
        size_t before = count_before(set, name);
        if (before == 0)
            return NULL;
        const struct zone_held *zone = &set->zones[before - 1];
        struct name found = zone_held_name(zone);
        if (name_is_below(name, found))
            return zone;
        name = name_suffix(name, name_common_labels(name, found));
    }
}
