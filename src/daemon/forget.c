/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A walk that takes a part a turn, so that signals and scrapers are heard between. */

#include "daemon/forget.h"

#include <string.h>

#include "base/check.h"
#include "cache/pattern.h"
#include "local/local_forget.h"

enum { STEP_BUCKETS = 256 }; /* looked at in one turn: some thousand answers */

static bool is_listed(const struct forget *forget, const struct answer *answer)
{
    for (size_t i = 0; i < forget->zone_count; i++) {
        struct pattern pattern = {.name = {forget->zones[i].wire, forget->zones[i].len},
                                  .below = true};
        if (pattern_matches(&pattern, answer))
            return true;
    }
    return false;
}

static bool is_here(const struct forget *forget, const struct cache_item *item)
{
    return forget->here && local_forget((void *)forget->here, item) == CACHE_DROP;
}

static enum cache_verdict forget_on_item(void *context, const struct cache_item *item)
{
    struct forget *forget = context;

    if (!is_here(forget, item) && !is_listed(forget, &item->answer))
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
    forget->running = false;
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
    MUST(!forget->running);
    forget->place = 0;
    forget->here = NULL;
    forget->zone_count = 0;
    forget->count = 0;
}

void forget_local(struct forget *forget, const struct local_names *here)
{
    forget->here = here;
}

static bool has(const struct forget *forget, struct name zone)
{
    for (size_t i = 0; i < forget->zone_count; i++)
        if (name_equal((struct name){forget->zones[i].wire, forget->zones[i].len}, zone))
            return true;
    return false;
}

void forget_zone(struct forget *forget, struct name zone)
{
    if (has(forget, zone))
        return;
    if (forget->zone_count == FORWARDS_MAX) { /* the root has them all */
        forget->zone_count = 0;
        zone = name_root();
    }
    struct forget_zone *out = &forget->zones[forget->zone_count++];
    memcpy(out->wire, zone.wire, zone.len);
    out->len = zone.len;
}

void forget_begin(struct forget *forget)
{
    if (!forget->here && forget->zone_count == 0) {
        forget->on_done(forget->context);
        return;
    }
    forget->running = true;
    loop_post(forget->loop, &forget->step);
}
