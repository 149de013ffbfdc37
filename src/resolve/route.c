/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Longest suffix match over the zones: a hash table by zone name with open addressing. A bit for
 * each number of labels that occurs keeps other suffixes from being hashed. The operator chooses
 * the zones but not the names that are looked up, so the seed is random.
 *
 * Invariants: the table is at most half full, so every probe ends. Nothing refers to the options
 * that it was built from.
 */
#include "resolve/route.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/rand.h"
#include "dns/rrtype.h"
#include "upstream/exchange.h"
#include "upstream/upstreams.h"

enum { LABEL_COUNTS = NAME_LABELS_MAX + 1 };

struct routes {
    uint64_t seed;
    uint64_t label_counts[(LABEL_COUNTS + 63) /
                          64]; /* a bit for each number that a zone below the root has */
    struct zone *zones;
    uint8_t *names;              /* of all zones */
    struct upstream **upstreams; /* the groups of all zones, then those to be prewarmed */
    size_t upstream_count;
    size_t holds;      /* by tasks, and by the owner until routes_free() */
    struct zone *root; /* the zone ".", or NULL */
    uint32_t *slots;   /* index into zones plus one; 0 is free */
    uint32_t slot_mask;
    size_t zone_count;
    bool is_retired;  /* no route wants the upstreams any longer */
    bool has_named;   /* a zone other than "." */
    bool has_forward; /* a zone with recursive servers */
    bool
        is_aggressive; /* secure records answer for other names, where zones do not say otherwise */
    bool validates;    /* answers are validated where the zone does not say otherwise */
};

static void mark_count(struct routes *routes, unsigned labels)
{
    routes->label_counts[labels / 64] |= UINT64_C(1) << labels % 64;
}

static bool has_count(const struct routes *routes, unsigned labels)
{
    return routes->label_counts[labels / 64] >> labels % 64 & 1;
}

/* Returns the slot of the zone with exactly this name, or the free slot where it would be. */
static uint32_t *route_find_slot(const struct routes *routes, struct name name)
{
    uint32_t at = (uint32_t)hash_bytes(name.wire, name.len, routes->seed);
    for (;; at++) {
        uint32_t *slot = &routes->slots[at & routes->slot_mask];
        if (!*slot || name_equal_exact(routes->zones[*slot - 1].name, name))
            return slot;
    }
}

/* Returns the longest zone that is a suffix of name with at most `most` labels. */
static struct zone *find_named(const struct routes *routes, struct name name, unsigned most)
{
    uint8_t starts[LABEL_COUNTS];
    unsigned labels = 0;
    for (unsigned at = 0; name.wire[at]; at += name.wire[at] + 1u)
        starts[labels++] = (uint8_t)at;
    for (unsigned count = MIN(labels, most); count > 0; count--) {
        if (!has_count(routes, count))
            continue;
        unsigned start = starts[labels - count];
        struct name suffix = {name.wire + start, (uint8_t)(name.len - start)};
        uint32_t slot = *route_find_slot(routes, suffix);
        if (slot)
            return &routes->zones[slot - 1];
    }
    return routes->root;
}

const struct zone *route_find(const struct routes *routes, struct name name, uint16_t type)
{
    if (!routes->has_named)
        return routes->root;
    const struct zone *zone = find_named(routes, name, NAME_LABELS_MAX);
    if (type != RRTYPE_DS || !zone || zone->name.len != name.len || name_is_root(name))
        return zone;
    const struct zone *above = find_named(routes, name, name_label_count(name) - 1);
    return above ? above : zone;
}

bool routes_have_forward(const struct routes *routes)
{
    return routes->has_forward;
}

const struct zone *route_at(const struct routes *routes, size_t place)
{
    return place < routes->zone_count ? &routes->zones[place] : NULL;
}

bool route_owns(const struct zone *zone, struct name name)
{
    if (!name_is_below(name, zone->name))
        return false;
    if (!zone->has_inner)
        return true;
    const struct zone *stands_in = zone->instead_of ? zone->instead_of : zone;
    if (zone->within)
        zone = zone->within;
    uint8_t folded[NAME_WIRE_MAX];
    const struct zone *owner = find_named(zone->routes, name_fold(name, folded), NAME_LABELS_MAX);
    return owner == zone || owner == stands_in;
}

/* ---- building ---- */

static bool want(struct routes *routes, const struct route_upstream *wanted,
                 struct upstreams *upstreams)
{
    struct upstream *upstream = upstreams_want(upstreams, &wanted->addr, &wanted->options);
    if (!upstream)
        return false;
    routes->upstreams[routes->upstream_count++] = upstream;
    return true;
}

static bool fill_group(struct zone *zone, const struct route_zone *from,
                       struct upstreams *upstreams)
{
    zone->group = &zone->routes->upstreams[zone->routes->upstream_count];
    for (size_t i = 0; i < from->upstream_count && i < EXCHANGE_GROUP_MAX; i++) {
        if (!want(zone->routes, &from->upstreams[i], upstreams))
            return false;
        upstreams_set_hold_zone(zone->group[zone->group_len], zone->name);
        upstreams_set_host(zone->group[zone->group_len], from->upstreams[i].host);
        zone->group_len++;
    }
    if (from->upstream_count > EXCHANGE_GROUP_MAX) {
        char text[NAME_TEXT_MAX];
        LOG(LOG_WARNING, "resolve", "zone %s has %zu upstreams: the first %d are used",
            name_format(zone->name, text), from->upstream_count, EXCHANGE_GROUP_MAX);
    }
    return true;
}

static void index_zone(struct routes *routes, uint32_t index)
{
    struct zone *zone = &routes->zones[index];
    if (name_is_root(zone->name)) {
        if (!routes->root)
            routes->root = zone;
        return;
    }
    uint32_t *slot = route_find_slot(routes, zone->name);
    if (!*slot)
        *slot = index + 1;
    mark_count(routes, name_label_count(zone->name));
    routes->has_named = true;
}

/* Marks every zone above this one: it has an inner zone. */
static void mark_inner(struct routes *routes, const struct zone *zone)
{
    for (unsigned labels = name_label_count(zone->name); labels > 0; labels--) {
        struct zone *above = find_named(routes, zone->name, labels - 1);
        if (above)
            above->has_inner = true;
    }
}

static bool has_root(const struct route_options *options)
{
    for (size_t i = 0; i < options->zone_count; i++)
        if (options->zones[i].name_len == 1)
            return true;
    return false;
}

static struct zone recursion_zone(struct routes *routes, const struct strategy *iterate)
{
    return (struct zone){.name = name_root(),
                         .routes = routes,
                         .strategy = iterate,
                         .cache = true,
                         .validates = routes->validates,
                         .is_aggressive = routes->is_aggressive,
                         .is_authoritative = true};
}

/* Appends the zone "." of recursion; allocate() has left room for it. */
static void add_root(struct routes *routes, const struct strategy *iterate)
{
    struct zone *zone = &routes->zones[routes->zone_count++];
    *zone = recursion_zone(routes, iterate);
    zone->has_inner = routes->has_named;
    routes->root = zone;
}

/* Makes the substitute for a zone whose servers fail: the zone above, or recursion. A substitute
 * has no substitute, so a question moves up once. */
static void add_above(struct routes *routes, struct zone *zone, struct zone *above,
                      const struct strategy *iterate)
{
    unsigned labels = name_label_count(zone->name);
    const struct zone *outer = labels ? find_named(routes, zone->name, labels - 1) : NULL;
    if (!outer && !iterate)
        return;
    *above = outer ? *outer : recursion_zone(routes, iterate);
    above->within = outer;
    above->above = NULL;
    above->instead_of = zone;
    above->cache = above->cache && zone->cache;
    above->has_inner = true;
    zone->above = above;
}

static void add_aboves(struct routes *routes, const struct route_options *options,
                       const struct strategy *iterate)
{
    struct zone *free_place = &routes->zones[options->zone_count + 1];
    for (size_t i = 0; i < options->zone_count; i++)
        if (options->zones[i].first)
            add_above(routes, &routes->zones[i], free_place++, iterate);
}

static bool route_fill(struct routes *routes, const struct route_options *options,
                       struct upstreams *upstreams, const struct route_strategies *strategies)
{
    uint8_t *name = routes->names;
    for (size_t i = 0; i < options->zone_count; i++) {
        const struct route_zone *from = &options->zones[i];
        struct zone *zone = &routes->zones[i];
        bool is_stub = from->kind == ROUTE_STUB && !from->awaits_hosts;
        memcpy(name, from->wire, from->name_len);
        *zone = (struct zone){.name = {name, from->name_len},
                              .routes = routes,
                              .strategy = is_stub ? strategies->stub : strategies->forward,
                              .is_authoritative = is_stub,
                              .awaits_hosts = from->awaits_hosts,
                              .is_of_view = from->is_of_view,
                              .trust_ad = from->trust_ad,
                              .cache = from->cache,
                              .validates = routes->validates && from->validate && !from->trust_ad};
        zone->is_aggressive = zone->validates && routes->is_aggressive && from->aggressive;
        routes->has_forward |= from->kind == ROUTE_FORWARD;
        if (!fill_group(zone, from, upstreams))
            return false;
        name += from->name_len;
        index_zone(routes, (uint32_t)i);
    }
    for (size_t i = 0; i < options->zone_count; i++)
        mark_inner(routes, &routes->zones[i]);
    if (options->recursion.enabled && !has_root(options))
        add_root(routes, strategies->iterate);
    add_aboves(routes, options, options->recursion.enabled ? strategies->iterate : NULL);
    for (size_t i = 0; i < options->prewarmed_count; i++)
        if (!want(routes, &options->prewarmed[i], upstreams))
            return false;
    return true;
}

static bool allocate(struct routes *routes, const struct route_options *options)
{
    size_t places = options->prewarmed_count, slots = 2, name_bytes = 0, firsts = 0;
    for (size_t i = 0; i < options->zone_count; i++) {
        places += MIN(options->zones[i].upstream_count, (size_t)EXCHANGE_GROUP_MAX);
        name_bytes += options->zones[i].name_len;
        firsts += options->zones[i].first;
    }
    while (slots < 2 * options->zone_count)
        slots *= 2;
    MUST(slots <= UINT32_MAX / 2);
    routes->zone_count = options->zone_count;
    routes->slot_mask = (uint32_t)(slots - 1);
    routes->zones = calloc(options->zone_count + 1 + firsts, sizeof(*routes->zones));
    routes->names = malloc(name_bytes + 1);
    routes->upstreams = calloc(places + 1, sizeof(struct upstream *));
    routes->slots = calloc(slots, sizeof(*routes->slots));
    return routes->zones && routes->names && routes->upstreams && routes->slots;
}

struct routes *routes_new(const struct route_options *options, struct upstreams *upstreams,
                          const struct route_strategies *strategies)
{
    struct routes *routes = calloc(1, sizeof(*routes));
    if (!routes)
        return NULL;
    routes->seed = rand_u64();
    routes->holds = 1;
    routes->validates = options->validation.mode != VALIDATE_NO;
    routes->is_aggressive =
        options->validation.mode == VALIDATE_YES && options->validation.aggressive != AGGRESSIVE_NO;
    if (allocate(routes, options) && route_fill(routes, options, upstreams, strategies))
        return routes;
    routes_free(routes);
    return NULL;
}

/* ---- ends ---- */

static void routes_drop(struct routes *routes)
{
    MUST(routes->holds > 0);
    if (--routes->holds > 0)
        return;
    for (size_t i = 0; i < routes->upstream_count; i++)
        upstreams_drop(routes->upstreams[i]);
    free(routes->zones);
    free(routes->names);
    free(routes->upstreams);
    free(routes->slots);
    free(routes);
}

void routes_retire(struct routes *routes)
{
    for (size_t i = 0; !routes->is_retired && i < routes->upstream_count; i++)
        upstreams_unwant(routes->upstreams[i]);
    routes->is_retired = true;
}

void routes_free(struct routes *routes)
{
    if (!routes)
        return;
    routes_retire(routes);
    routes_drop(routes);
}

void route_hold(const struct zone *zone)
{
    if (zone->routes)
        zone->routes->holds++;
}

void route_drop(const struct zone *zone)
{
    if (zone->routes)
        routes_drop(zone->routes);
}
