/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Zones of rpz with a file have no plan: the loader of the configuration has made their rules. */
#include "daemon/zone_plan.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "daemon/zone_primaries.h"
#include "local/name_map.h"

void zone_plan_deinit(struct zone_plan *plan)
{
    free(plan->file);
    plan->file = NULL;
    zone_primaries_free(plan->primaries);
    plan->primaries = NULL;
}

/* Copies where the zone comes from. Returns false when out of memory. */
static bool plan_take_source(struct zone_plan *plan, const struct config *config, const char *file,
                             const struct config_source *source)
{
    plan->file = strdup(file);
    if (source->primary_count > 0)
        plan->primaries = zone_primaries_copy(config, source);
    if (plan->file && (plan->primaries || source->primary_count == 0))
        return true;
    zone_plan_deinit(plan);
    return false;
}

static bool plan_answers(struct zone_plan *plan, const struct config *config,
                         const struct config_auth_zone *zone)
{
    plan->kind = zone->catalog ? ZONE_LISTS_ANSWERS : ZONE_OF_ANSWERS;
    memcpy(plan->held.wire, zone->wire, sizeof(plan->held.wire));
    plan->held.name_len = zone->name_len;
    plan->held.use = zone->use;
    plan->held.has_fallback = zone->fallback;
    plan->max_bytes = zone->max_bytes;
    plan->zonemd = zone->zonemd;
    return plan_take_source(plan, config, zone->file, &zone->source);
}

static bool plan_policy(struct zone_plan *plan, const struct config *config,
                        const struct config_rpz_zone *zone)
{
    plan->kind = zone->catalog ? ZONE_LISTS_POLICY : ZONE_OF_POLICY;
    memcpy(plan->held.wire, zone->options.wire, sizeof(plan->held.wire));
    plan->held.name_len = zone->options.name_len;
    plan->max_bytes = zone->options.max_bytes;
    plan->zonemd = ZONEMD_CHECK;
    return plan_take_source(plan, config, "", &zone->source);
}

/* Returns false when out of memory. */
static bool plans_take(struct zone_plans *plans, const struct config *config)
{
    bool is_whole = true;

    for (size_t i = 0; is_whole && i < config->auth_zone_count; i++)
        if ((is_whole = plan_answers(&plans->list[plans->count], config, &config->auth_zones[i])))
            plans->count++;
    for (size_t i = 0; is_whole && i < config->rpz.count; i++) {
        const struct config_rpz_zone *zone = &config->rpz.zones[i];
        if (zone->source.primary_count > 0 &&
            (is_whole = plan_policy(&plans->list[plans->count], config, zone)))
            plans->count++;
    }
    return is_whole;
}

/* ---- names ---- */

static bool has_catalog(const struct zone_plans *plans)
{
    for (size_t i = 0; i < plans->count; i++)
        if (zone_kind_is_catalog(plans->list[i].kind))
            return true;
    return false;
}

/* Returns false when out of memory. */
static bool names_add(struct name_map *names, const uint8_t *wire, uint8_t len)
{
    uint32_t *number;

    return name_map_put(names, (struct name){wire, len}, 0, &number) == ERR_OK;
}

static bool names_add_servers(struct name_map *names, const struct config_zone *zones, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!names_add(names, zones[i].wire, zones[i].name_len))
            return false;
    return true;
}

static bool names_add_all(struct name_map *names, const struct config *config)
{
    for (size_t i = 0; i < config->auth_zone_count; i++)
        if (!names_add(names, config->auth_zones[i].wire, config->auth_zones[i].name_len))
            return false;
    for (size_t i = 0; i < config->rpz.count; i++) {
        const struct rpz_zone_options *options = &config->rpz.zones[i].options;
        if (!names_add(names, options->wire, options->name_len))
            return false;
    }
    return names_add_servers(names, config->zones, config->zone_count) &&
           names_add_servers(names, config->stub_zones, config->stub_count);
}

/* Only members of catalogs are compared with the names. Returns false when out of memory. */
static bool plans_take_names(struct zone_plans *plans, const struct config *config)
{
    if (!has_catalog(plans))
        return true;
    plans->names = name_map_new();
    return plans->names && names_add_all(plans->names, config);
}

/* ---- all plans ---- */

struct zone_plans *zone_plans_new(const struct config *config)
{
    size_t most = config->auth_zone_count + config->rpz.count;
    struct zone_plans *plans = calloc(1, sizeof(*plans) + most * sizeof(plans->list[0]));

    if (!plans || (plans_take(plans, config) && plans_take_names(plans, config)))
        return plans;
    zone_plans_free(plans);
    return NULL;
}

void zone_plans_free(struct zone_plans *plans)
{
    if (!plans)
        return;
    for (size_t i = 0; i < plans->count; i++)
        zone_plan_deinit(&plans->list[i]);
    name_map_free(plans->names);
    free(plans);
}
