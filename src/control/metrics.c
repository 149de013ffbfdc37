/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Sums the figures. The caller chooses their format. */

#include "control/metrics.h"

#include "base/clock.h"
#include "cache/cache.h"
#include "cache/spans.h"
#include "config/config.h"
#include "control/clock_doubt.h"
#include "tap/query_log.h"

static void metrics_add_held(const struct control_view *view, struct stats *out)
{
    for (size_t i = 0; i < view->held_count; i++) {
        const struct control_zone *zone = &view->held[i];
        out->held_served += zone->state == CONTROL_ZONE_SERVED;
        out->held_kept += zone->state == CONTROL_ZONE_KEPT;
        out->held_failed += zone->state == CONTROL_ZONE_FAILED;
        out->held_loading += zone->state == CONTROL_ZONE_LOADING;
        out->held_expired += zone->state == CONTROL_ZONE_EXPIRED;
        out->held_records += zone->records;
        out->held_bytes += zone->size_bytes;
    }
}

static void collect_transfers(const struct control_transfers *transfers, struct stats *out)
{
    uint64_t now = clock_now_us(), first_at = stats_read(&transfers->first_expiry_at);

    out->zone_transfers_current = stats_read(&transfers->current);
    out->zone_transfers_whole = stats_read(&transfers->whole);
    out->zone_transfers_changes = stats_read(&transfers->changes);
    out->zone_transfers_failed = stats_read(&transfers->failed);
    out->zone_expires_in = first_at > now ? (first_at - now) / US_PER_S : 0;
}

void metrics_collect(const struct control_view *view, struct stats *out)
{
    struct cache_usage usage;
    struct spans_usage spans;
    char doubt[CLOCK_DOUBT_MAX];

    *out = (struct stats){0};
    for (size_t i = 0; i < view->worker_count; i++)
        stats_sum(out, view->workers[i]->stats);
    cache_usage(view->cache, &usage);
    spans_usage(cache_spans(view->cache), &spans);
    out->cache_limit_bytes = usage.bytes_max;
    out->cache_bytes = usage.bytes;
    out->cache_entries = usage.entries;
    out->cache_evictions = usage.evictions;
    out->spans_zones = spans.zones;
    out->spans_records = spans.items;
    out->spans_bytes = spans.bytes;
    out->spans_bound_zone = spans.dropped_items;
    out->spans_bound_zones = spans.dropped_zones;
    out->spans_bound_room = spans.refused;
    out->workers = view->worker_count;
    out->start_time = view->started_time;
    out->reloads_ok = view->reloads.done;
    out->reloads_failed = view->reloads.failed;
    out->config_last_reload_ok = !view->reloads.last_failed;
    out->config_last_reload_time = view->reloads.loaded_time;
    out->certificate_ends_at = view->certificate_ends_at_s;
    out->network_changes = view->network_changes;
    out->anchors_valid = view->anchors.valid;
    out->anchors_missing = view->anchors.missing;
    out->anchors_pending = view->anchors.pending;
    out->anchor_failures = view->anchors.failed;
    out->anchors_unwritten = view->anchors.is_unwritten;
    out->clock_wrong = clock_doubt_tell(view, clock_now_us(), doubt);
    metrics_add_held(view, out);
    if (view->transfers)
        collect_transfers(view->transfers, out);
    if (view->query_log)
        out->query_log_dropped += query_log_lost(view->query_log);
}
