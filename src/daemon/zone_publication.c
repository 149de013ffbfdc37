/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Rows are in the order of the kept zones, and rows of policy in the order of the policy. */
#include "daemon/zone_publication.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "daemon/zone_times.h"
#include "rpz/rpz_policy.h"
#include "transfer/transfer.h"
#include "zone/zone_data.h"
#include "zone/zone_set.h"

void zone_publication_free(struct zone_publication *publication)
{
    if (!publication)
        return;
    zone_set_unref(publication->set);
    rpz_policy_unref(publication->policy);
    for (size_t i = 0; publication->times && i < publication->count; i++)
        zone_times_unref(publication->times[i]);
    free(publication->times);
    free(publication);
}

/* ---- zones that answer ---- */

static void fill_row(struct control_zone *row, const struct kept_zone *zone)
{
    memcpy(row->wire, zone->plan.held.wire, sizeof(row->wire));
    row->name_len = zone->plan.held.name_len;
    row->is_catalog = zone_kind_is_catalog(zone->plan.kind);
    if (zone->plan.node_len > 0)
        row->catalog_len = name_copy(zone_plan_catalog(&zone->plan), row->catalog).len;
    row->use = zone->plan.held.use;
    row->state = zone->state;
    row->loaded_at = zone->loaded_at;
    row->times = zone_times_look(zone->times);
    snprintf(row->why, sizeof(row->why), "%.500s", kept_zone_why(zone));
    if (!zone->data)
        return;
    row->serial = zone_data_soa(zone->data)->serial;
    row->records = zone_data_records(zone->data);
    row->size_bytes = zone_data_bytes(zone->data);
}

static bool publication_take_set(struct zone_publication *publication,
                                 const struct kept_zones *zones)
{
    struct zone_held *held = calloc(zones->count + 1, sizeof(*held));
    size_t count = 0;

    for (size_t i = 0; held && i < zones->count; i++) {
        const struct kept_zone *zone = &zones->list[i];
        if (zone->plan.kind != ZONE_OF_ANSWERS)
            continue;
        held[count] = zone->plan.held;
        held[count++].data = zone->data;
    }
    if (held)
        publication->set = zone_set_new(held, count);
    free(held);
    return publication->set;
}

/* A catalog has a row and no place in the set: its records are not for clients (RFC 9432 section
 * 7). */
static bool publication_take_rows(struct zone_publication *publication,
                                  const struct kept_zones *zones)
{
    publication->times = calloc(zones->count + 1, sizeof(struct zone_times *));
    for (size_t i = 0; publication->times && i < zones->count; i++) {
        const struct kept_zone *zone = &zones->list[i];
        if (zone->plan.kind != ZONE_OF_ANSWERS && zone->plan.kind != ZONE_LISTS_ANSWERS)
            continue;
        publication->times[publication->count] = zone_times_ref(zone->times);
        fill_row(&publication->rows[publication->count++], zone);
    }
    return publication->times;
}

/* ---- policy ---- */

/* A policy that is being put together. */
struct policy_draft {
    const struct kept_zones *zones;
    uint64_t now, planned_at;
    struct control_policy_zone *rows;
    struct rpz_policy_entry entries[RPZ_ZONES_MAX];
    struct rpz_zone_options
        options[RPZ_ZONES_MAX]; /* of members: their catalog's, with their name */
    size_t count;
};

static void fill_policy_row(struct control_policy_zone *row, const struct kept_zone *zone,
                            uint64_t now)
{
    struct transfer_view view = {0};

    if (zone->transfer)
        transfer_look(zone->transfer, &view);
    row->source = CONTROL_POLICY_PRIMARIES;
    if (zone->plan.node_len > 0)
        row->catalog_len = name_copy(zone_plan_catalog(&zone->plan), row->catalog).len;
    row->state = zone->state;
    row->loaded_at = zone->loaded_at;
    row->refresh_at = view.refresh_at;
    row->expires_at = view.expires_in_s > 0 ? now + (uint64_t)view.expires_in_s * US_PER_S : 0;
    snprintf(row->why, sizeof(row->why), "%.500s", kept_zone_why(zone));
}

/* Members apply at the place of their catalog. */
static void policy_draft_add_members(struct policy_draft *draft, const struct kept_zone *catalog,
                                     const struct rpz_zone_options *options)
{
    for (size_t i = 0; i < draft->zones->count && draft->count < RPZ_ZONES_MAX; i++) {
        const struct kept_zone *zone = &draft->zones->list[i];
        if (!zone_plan_is_member(&zone->plan, &catalog->plan))
            continue;
        struct rpz_zone_options *own = &draft->options[draft->count];
        *own = *options;
        own->name_len = name_copy(zone_plan_name(&zone->plan), own->wire).len;
        fill_policy_row(&draft->rows[draft->count], zone, draft->now);
        draft->entries[draft->count++] = (struct rpz_policy_entry){own, zone->rules};
    }
}

static void policy_draft_add(struct policy_draft *draft, const struct rpz_policy_zone *wanted)
{
    const struct rpz_zone_options *options = rpz_policy_zone_options(wanted);
    struct name name = {options->wire, options->name_len};
    const struct kept_zone *zone = kept_zones_find(draft->zones, name, ZONE_OF_POLICY);
    const struct kept_zone *catalog = kept_zones_find(draft->zones, name, ZONE_LISTS_POLICY);
    struct control_policy_zone *row = &draft->rows[draft->count];

    if (zone || catalog)
        fill_policy_row(row, zone ? zone : catalog, draft->now);
    else
        *row = (struct control_policy_zone){.state = CONTROL_ZONE_SERVED,
                                            .loaded_at = draft->planned_at};
    draft->entries[draft->count++] =
        (struct rpz_policy_entry){options, zone ? zone->rules : rpz_policy_zone_rules(wanted)};
    row->is_catalog = catalog && !zone;
    if (catalog)
        policy_draft_add_members(draft, catalog, options);
}

/* Makes the policy of the wanted zones. Without zones the policy is NULL. */
static bool publication_take_policy(struct zone_publication *publication,
                                    const struct kept_zones *zones,
                                    const struct zone_publication_policy *policy, uint64_t now)
{
    struct policy_draft draft = {.zones = zones,
                                 .now = now,
                                 .planned_at = policy->planned_at,
                                 .rows = publication->policy_rows};
    size_t count = policy->wanted ? rpz_policy_count(policy->wanted) : 0;

    if (count == 0)
        return true;
    for (size_t i = 0; i < count && draft.count < RPZ_ZONES_MAX; i++)
        policy_draft_add(&draft, rpz_policy_at(policy->wanted, i));
    publication->policy =
        rpz_policy_new(draft.entries, draft.count, rpz_policy_waits(policy->wanted));
    if (publication->policy && policy->before)
        rpz_policy_take_counters(publication->policy, policy->before);
    return publication->policy;
}

struct zone_publication *zone_publication_new(const struct kept_zones *zones,
                                              const struct zone_publication_policy *policy,
                                              uint64_t now)
{
    struct zone_publication *publication =
        calloc(1, sizeof(*publication) + zones->count * sizeof(publication->rows[0]));

    if (publication && publication_take_set(publication, zones) &&
        publication_take_rows(publication, zones) &&
        publication_take_policy(publication, zones, policy, now))
        return publication;
    zone_publication_free(publication);
    return NULL;
}
