/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A worker only knows the keys that it fetched itself. So the cache, which all workers fill, says
 * whether good keys of the zone are known by now.
 */
#include "control/clock_doubt.h"

#include <stdio.h>
#include <time.h>

#include "base/duration_text.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/view.h"
#include "dns/rrtype.h"
#include "validate/anchor_dates.h"
#include "validate/anchors.h"

enum { CLOCK_ZONE_MAX = 56 /* bytes of the zone's name, as text */ };

static bool clock_knows_keys(struct cache *cache, struct name zone, uint32_t space, uint64_t now_us)
{
    struct question question = {.name = zone, .type = RRTYPE_DNSKEY, .cls = RRCLASS_IN};
    struct cache_key key;
    struct answer found;
    cache_key_init(&key, cache, &question, CACHE_KEY_DO, CACHE_VIEW_TRUST, space);
    cache_read_begin();
    bool is_known = cache_find(cache, &key, now_us, &found) && !found.stale_s &&
                    found.security == SECURITY_SECURE;
    cache_read_end();
    return is_known;
}

static bool clock_tell_dates(const struct control_view *view, const struct stats *stats,
                             uint64_t now_us, char out[CLOCK_DOUBT_MAX])
{
    struct anchor_dates dates;
    char name[NAME_TEXT_MAX], length[DURATION_TEXT_MAX];
    uint32_t now_s = (uint32_t)time(NULL);
    if (!anchor_dates_read(stats, &dates) || !anchor_dates_contradict(&dates, now_s))
        return false;
    const struct anchor *anchor = anchor_dates_find(&dates, view->config->route.validation.anchors);
    if (!anchor || clock_knows_keys(view->cache, anchor->zone, dates.space, now_us))
        return false;
    name_format(anchor->zone, name);
    if (dates.is_expired)
        snprintf(out, CLOCK_DOUBT_MAX, "signatures of %.*s expired %s ago: is the clock right?",
                 (int)CLOCK_ZONE_MAX, name, duration_text(length, now_s - dates.at_s));
    else
        snprintf(out, CLOCK_DOUBT_MAX, "signatures of %.*s begin in %s: is the clock right?",
                 (int)CLOCK_ZONE_MAX, name, duration_text(length, dates.at_s - now_s));
    return true;
}

bool clock_doubt_tell(const struct control_view *view, uint64_t now_us, char out[CLOCK_DOUBT_MAX])
{
    out[0] = '\0';
    if (config_clock_is_wrong(view->config)) {
        snprintf(out, CLOCK_DOUBT_MAX, "the clock is wrong");
        return true;
    }
    for (size_t i = 0; view->config && !view->is_draining && i < view->worker_count; i++)
        if (clock_tell_dates(view, view->workers[i]->stats, now_us, out))
            return true;
    return false;
}
