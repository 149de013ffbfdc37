/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: a transfer borrows the primaries of its zone's plan. */
#include "daemon/kept_zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "daemon/zone_primaries.h"
#include "daemon/zone_times.h"
#include "rpz/rpz_rules.h"
#include "transfer/transfer.h"
#include "zone/zone_data.h"

struct kept_zone *kept_zones_find(const struct kept_zones *zones, struct name name,
                                  enum zone_kind kind)
{
    for (size_t i = 0; i < zones->count; i++) {
        struct kept_zone *zone = &zones->list[i];
        if (zone->plan.kind == kind && name_equal(zone_plan_name(&zone->plan), name))
            return zone;
    }
    return NULL;
}

void kept_zone_unjudge(struct kept_zone *zone)
{
    zone->has_stamp = false;
    if (zone->verdict == KEPT_SOUND)
        zone->verdict = KEPT_UNJUDGED;
}

/* Ends the transfers of a zone. Returns the seconds that its version had left. */
static int64_t kept_zone_close_transfer(struct kept_zone *zone)
{
    struct transfer_view view;

    if (!zone->transfer)
        return zone->data ? zone_data_soa(zone->data)->expire : 0;
    transfer_look(zone->transfer, &view);
    transfer_close(&zone->transfer);
    return view.expires_in_s;
}

/* Moves the state of the zone's predecessor. */
static void kept_zone_take_state(struct kept_zone *zone, struct kept_zone *before,
                                 struct zone_plan *plan)
{
    bool is_same = strcmp(before->plan.file, plan->file) == 0 &&
                   before->plan.max_bytes == plan->max_bytes &&
                   zone_primaries_equal(before->plan.primaries, plan->primaries);

    if (!is_same)
        before->left_s = kept_zone_close_transfer(before);
    *zone = *before;
    if (before->plan.zonemd != plan->zonemd)
        kept_zone_unjudge(zone);
    zone->has_stamp = zone->has_stamp && is_same;
    before->data = NULL;
    before->rules = NULL;
    before->transfer = NULL;
    before->times = NULL;
    if (zone->transfer) { /* it borrows the primaries of the old plan */
        struct zone_primaries *unused = plan->primaries;
        plan->primaries = before->plan.primaries;
        before->plan.primaries = unused;
    }
}

enum err kept_zones_init(struct kept_zones *zones, size_t room)
{
    *zones = (struct kept_zones){.list = calloc(room, sizeof(*zones->list))};
    return zones->list ? ERR_OK : ERR_NO_MEMORY;
}

void kept_zones_trim(struct kept_zones *zones)
{
    struct kept_zone *trimmed =
        realloc(zones->list, MAX(zones->count, (size_t)1) * sizeof(*trimmed));

    if (trimmed)
        zones->list = trimmed;
}

/* Whether the zone keeps its state under this plan. A different node resets the zone (RFC 9432
 * section 5.4). */
static bool kept_zone_goes_on(const struct kept_zone *old, const struct zone_plan *plan)
{
    if (plan->node_len == 0)
        return true;
    if (old->plan.node_len == 0) /* members come from primaries */
        return zone_plan_is_transferred(&old->plan);
    return name_equal(zone_plan_node(&old->plan), zone_plan_node(plan));
}

void kept_zones_add(struct kept_zones *zones, struct kept_zones *before, struct zone_plan *plan)
{
    struct kept_zone *zone = &zones->list[zones->count++];
    struct kept_zone *old = kept_zones_find(before, zone_plan_name(plan), plan->kind);

    *zone = (struct kept_zone){.state = CONTROL_ZONE_LOADING};
    if (old && kept_zone_goes_on(old, plan))
        kept_zone_take_state(zone, old, plan);
    zone->plan = *plan;
    plan->file = NULL;
    plan->primaries = NULL;
    if (!zone_plan_is_transferred(&zone->plan)) {
        zone_times_unref(zone->times);
        zone->times = NULL;
    }
}

void kept_zones_deinit(struct kept_zones *zones)
{
    for (size_t i = 0; i < zones->count; i++) {
        struct kept_zone *zone = &zones->list[i];
        transfer_close(&zone->transfer);
        zone_data_unref(zone->data);
        rpz_rules_unref(zone->rules);
        zone_times_unref(zone->times);
        zone_plan_deinit(&zone->plan);
    }
    free(zones->list);
    *zones = (struct kept_zones){0};
}

const char *kept_zone_why(const struct kept_zone *zone)
{
    return !*zone->why && zone->data && zone->is_unvouched ? KEPT_ZONE_UNVOUCHED : zone->why;
}

void kept_zone_take_version(struct kept_zone *zone, struct zone_data *data, uint64_t now)
{
    zone_data_unref(zone->data);
    zone->data = data;
    zone->state = CONTROL_ZONE_SERVED;
    zone->verdict = KEPT_SOUND;
    zone->is_refused = false;
    zone->loaded_at = now;
    zone->failure[0] = '\0';
    zone->why[0] = '\0';
}
