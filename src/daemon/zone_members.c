/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Each name is kept once: the configuration has precedence over catalogs, and an earlier catalog
 * over a later one. */
#include "daemon/zone_members.h"

#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "daemon/zone_primaries.h"
#include "local/name_map.h"
#include "transfer/zone_store.h"
#include "zone/zone_catalog.h"

/* A list of zones that gets its members. */
struct members_draft {
    struct kept_zones *zones, *before;
    const struct zone_members_names *names;
    size_t answers, policy; /* zones that count for ZONE_SET_MAX and RPZ_ZONES_MAX */
    size_t left_out;        /* members of this catalog */
};

/* Returns NULL, or why no member may have the name. A member of two catalogs belongs to the first
 * one (RFC 9432 section 5.2). The root would hide all other names. */
static const char *members_check_name(const struct members_draft *draft, struct name name)
{
    if (name_is_root(name))
        return "it is the root";
    if (name_map_find(draft->names->configured, name))
        return "a zone of the configuration has this name";
    return name_map_find(draft->names->taken, name) ? "an earlier catalog lists it" : NULL;
}

static const char *members_check_bound(const struct members_draft *draft, enum zone_kind kind)
{
    if (kind == ZONE_OF_ANSWERS)
        return draft->answers < ZONE_SET_MAX ? NULL : "there are too many zones held here";
    return draft->policy < RPZ_ZONES_MAX ? NULL : "there are too many zones of rpz";
}

/* Adds the zone, with the settings and primaries of its catalog. The plan has name, node and kind.
 * Returns NULL, or why it is left out. */
static const char *members_take(struct members_draft *draft, const struct zone_plan *catalog,
                                struct zone_plan *plan)
{
    uint32_t *number;

    plan->held.use = catalog->held.use;
    plan->held.has_fallback = catalog->held.has_fallback;
    plan->max_bytes = catalog->max_bytes;
    plan->zonemd = catalog->zonemd;
    plan->file = strdup("");
    plan->primaries = zone_primaries_clone(catalog->primaries);
    if (!plan->file || !plan->primaries ||
        name_map_put(draft->names->taken, zone_plan_name(plan), 0, &number) != ERR_OK)
        return err_str(ERR_NO_MEMORY);
    kept_zones_add(draft->zones, draft->before, plan);
    draft->answers += plan->kind == ZONE_OF_ANSWERS;
    draft->policy += plan->kind == ZONE_OF_POLICY;
    return NULL;
}

static void members_add(struct members_draft *draft, const struct zone_plan *catalog,
                        const struct zone_catalog_member *member)
{
    struct zone_plan plan = {.kind = zone_kind_of_members(catalog->kind)};
    char name[NAME_TEXT_MAX], of[NAME_TEXT_MAX];

    plan.held.name_len = name_fold(member->zone, plan.held.wire).len;
    plan.node_len = name_fold(member->node, plan.node_wire).len;
    const char *why = members_check_name(draft, zone_plan_name(&plan));
    if (!why)
        why = members_check_bound(draft, plan.kind);
    if (!why)
        why = members_take(draft, catalog, &plan);
    zone_plan_deinit(&plan);
    if (!why)
        return;
    draft->left_out++;
    LOG_LIMITED(LOG_WARNING, "zones", "catalog %s: member %s is left out: %s",
                name_format(zone_plan_name(catalog), of), name_format(member->zone, name), why);
}

/* A catalog without a version keeps the members that it had. */
static void members_keep(struct members_draft *draft, const struct zone_plan *catalog)
{
    for (size_t i = 0; i < draft->before->count; i++) {
        const struct zone_plan *plan = &draft->before->list[i].plan;
        if (!zone_plan_is_member(plan, catalog))
            continue;
        struct zone_catalog_member member = {zone_plan_name(plan), zone_plan_node(plan)};
        members_add(draft, catalog, &member);
    }
}

static void members_add_all(struct members_draft *draft, const struct zone_plan *catalog,
                            const struct zone_data *version)
{
    struct zone_catalog list;
    char name[NAME_TEXT_MAX];
    const char *fault = version ? zone_catalog_read(&list, version) : NULL;

    draft->left_out = 0;
    if (!version || fault) /* the catalog was sound when it came, so we are out of memory */
        members_keep(draft, catalog);
    for (size_t i = 0; version && i < list.count; i++)
        members_add(draft, catalog, &list.members[i]);
    if (draft->left_out > 0)
        LOG(LOG_WARNING, "zones", "catalog %s: %zu members are left out",
            name_format(zone_plan_name(catalog), name), draft->left_out);
    if (version)
        zone_catalog_deinit(&list);
}

void zone_members_add(struct kept_zones *zones, struct kept_zones *before,
                      const struct zone_members_names *names, size_t policy_zones)
{
    struct members_draft draft = {
        .zones = zones, .before = before, .names = names, .policy = policy_zones};
    size_t configured = zones->count;

    if (!names->configured)
        return;
    for (size_t i = 0; i < configured; i++)
        draft.answers += zones->list[i].plan.kind == ZONE_OF_ANSWERS;
    for (size_t i = 0; i < configured; i++)
        if (zone_kind_is_catalog(zones->list[i].plan.kind))
            members_add_all(&draft, &zones->list[i].plan, zones->list[i].data);
}

void zone_members_drop_copies(const struct kept_zones *zones, const struct kept_zones *before)
{
    char path[ZONE_STORE_PATH_MAX], text[NAME_TEXT_MAX];

    for (size_t i = 0; i < before->count; i++) {
        const struct zone_plan *old = &before->list[i].plan;
        struct name name = zone_plan_name(old);
        if (old->node_len == 0)
            continue;
        const struct kept_zone *now = kept_zones_find(zones, name, old->kind);
        if (now && (now->plan.node_len == 0 ||
                    name_equal(zone_plan_node(&now->plan), zone_plan_node(old))))
            continue;
        LOG_LIMITED(LOG_NOTICE, "zones", "zone %s: its catalog %s", name_format(name, text),
                    now ? "resets it" : "has dropped it");
        if (*old->primaries->folder &&
            zone_store_path(path, old->primaries->folder, name) == ERR_OK)
            (void)unlink(path);
    }
}
