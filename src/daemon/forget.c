/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A walk of one part per turn, so that main handles signals and scrapers in between. */

#include "daemon/forget.h"

#include <string.h>

#include "base/check.h"
#include "cache/key.h"
#include "cache/pattern.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "local/local_forget.h"
#include "resolve/route_options.h"
#include "resolve/space.h"
#include "zone/zone_set.h"

enum { STEP_BUCKETS = 256 }; /* visited in one turn: some thousand answers */

static bool forget_lists_zone(const struct forget *forget, const struct answer *answer)
{
    for (size_t i = 0; i < forget->zone_count; i++) {
        struct pattern pattern = {.name = {forget->zones[i].wire, forget->zones[i].len},
                                  .is_subtree = true};
        if (pattern_matches(&pattern, answer))
            return true;
    }
    return false;
}

static const struct space_options *forget_find_space(const struct forget *forget, uint32_t number)
{
    for (size_t i = 0; forget->views && i < forget->views->space_count; i++)
        if (forget->views->spaces[i].number == number)
            return &forget->views->spaces[i];
    return NULL;
}

/* Whether local data replaces the answer, or its space is gone, so that nothing finds it. */
static bool forget_lists_local(const struct forget *forget, const struct cache_item *item)
{
    const struct local_names *local = forget->local;
    if (item->space != CACHE_SPACE_SHARED && forget->is_of_spaces) {
        const struct space_options *space = forget_find_space(forget, item->space);
        if (!space)
            return true;
        local = space->local;
    }
    return local && local_forget((void *)local, item) == CACHE_DROP;
}

static bool forget_is_answering(const struct zone_held *zone)
{
    return zone && zone->data && zone_is_for_clients(zone);
}

/* A cache hit does not look at the zones held here. */
static bool forget_lists_hiding(const struct forget *forget, const struct answer *answer)
{
    struct name name;
    if (!forget->held || !name_view(answer->message, HEADER_LEN, &name))
        return false;
    const struct zone_held *zone = zone_set_find(forget->held, name, RRTYPE_A);
    return forget_is_answering(zone) &&
           !(forget->held_before &&
             forget_is_answering(zone_set_find_exact(forget->held_before, zone_held_name(zone))));
}

static bool forget_lists_portal(const struct forget *forget, const struct cache_item *item)
{
    return forget->is_of_portals && item->space >= SPACE_PORTALS && item->space < SPACE_NUMBERS;
}

static enum cache_verdict forget_on_item(void *context, const struct cache_item *item)
{
    struct forget *forget = context;

    if (!forget_lists_portal(forget, item) && !forget_lists_local(forget, item) &&
        !forget_lists_zone(forget, &item->answer) && !forget_lists_hiding(forget, &item->answer))
        return CACHE_KEEP;
    forget->count++;
    return CACHE_DROP;
}

static void on_step(struct mail *mail)
{
    struct forget *forget = CONTAINER_OF(mail, struct forget, step);

    if (cache_walk(forget->cache, &forget->place, STEP_BUCKETS, forget_on_item, forget)) {
        loop_post(forget->loop, &forget->step);
        return;
    }
    forget->is_running = false;
    forget->on_done(forget->context);
}

void forget_init(struct forget *forget, struct loop *loop, struct cache *cache,
                 void (*on_done)(void *context), void *context)
{
    *forget = (struct forget){.loop = loop, .cache = cache, .on_done = on_done, .context = context};
    forget->step.run = on_step;
}

void forget_clear(struct forget *forget)
{
    MUST(!forget->is_running);
    forget->place = 0;
    forget->local = NULL;
    forget->held = forget->held_before = NULL;
    forget->views = NULL;
    forget->is_of_spaces = forget->is_of_portals = false;
    forget->zone_count = 0;
    forget->count = 0;
}

void forget_local(struct forget *forget, const struct local_names *local)
{
    forget->local = local;
}

void forget_spaces(struct forget *forget, const struct view_set *views)
{
    forget->views = views;
    forget->is_of_spaces = true;
}

void forget_hiding(struct forget *forget, const struct zone_set *zones,
                   const struct zone_set *before)
{
    forget->held = zones;
    forget->held_before = before;
}

void forget_portals(struct forget *forget)
{
    forget->is_of_portals = true;
}

static bool forget_has_zone(const struct forget *forget, struct name zone)
{
    for (size_t i = 0; i < forget->zone_count; i++)
        if (name_equal((struct name){forget->zones[i].wire, forget->zones[i].len}, zone))
            return true;
    return false;
}

void forget_zone(struct forget *forget, struct name zone)
{
    if (forget_has_zone(forget, zone))
        return;
    if (forget->zone_count == RUNTIME_ZONES_MAX) { /* the root covers everything */
        forget->zone_count = 0;
        zone = name_root();
    }
    struct forget_zone *out = &forget->zones[forget->zone_count++];
    memcpy(out->wire, zone.wire, zone.len);
    out->len = zone.len;
}

void forget_begin(struct forget *forget)
{
    if (!forget->local && !forget->held && !forget->is_of_spaces && !forget->is_of_portals &&
        forget->zone_count == 0) {
        forget->on_done(forget->context);
        return;
    }
    forget->is_running = true;
    loop_post(forget->loop, &forget->step);
}
