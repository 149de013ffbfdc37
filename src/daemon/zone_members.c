/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A name is kept once: the configuration decides before catalogs, and an earlier catalog before a
 * later one. */
#include "daemon/zone_members.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/log.h"
#include "daemon/zone_primaries.h"
#include "rpz/rpz_policy.h"
#include "transfer/zone_store.h"
#include "zone/zone_catalog.h"

/* A list of zones that gets its members. */
struct members_draft {
    struct kept_zones *zones, *before;
    const struct rpz_policy *wanted; /* NULL: none */
};

static bool has_wanted_name(const struct rpz_policy *wanted, struct name name)
{
    size_t count = wanted ? rpz_policy_count(wanted) : 0;

    for (size_t i = 0; i < count; i++) {
        const struct rpz_zone_options *options = rpz_policy_zone_options(rpz_policy_at(wanted, i));
        if (name_equal((struct name){options->wire, options->name_len}, name))
            return true;
    }
    return false;
}

/* Whether another item or member has the name (RFC 9432 section 5.2). */
static bool is_taken_name(const struct members_draft *draft, struct name name)
{
    for (size_t i = 0; i < draft->zones->count; i++)
        if (name_equal(zone_plan_name(&draft->zones->list[i].plan), name))
            return true;
    return has_wanted_name(draft->wanted, name);
}

static size_t count_policy_zones(const struct members_draft *draft)
{
    size_t count = draft->wanted ? rpz_policy_count(draft->wanted) : 0;

    for (size_t i = 0; i < draft->zones->count; i++)
        count += draft->zones->list[i].plan.node_len > 0;
    return count;
}

static void log_member(const struct kept_zone *catalog, struct name member, const char *why)
{
    char name[NAME_TEXT_MAX], of[NAME_TEXT_MAX];

    LOG(LOG_WARNING, "zones", "catalog %s: member %s is left out: %s",
        name_format(zone_plan_name(&catalog->plan), of), name_format(member, name), why);
}

static void members_add(struct members_draft *draft, const struct kept_zone *catalog,
                        const struct zone_catalog_member *member)
{
    struct zone_plan plan = {.kind = ZONE_OF_POLICY,
                             .max_bytes = catalog->plan.max_bytes,
                             .zonemd = catalog->plan.zonemd};

    plan.held.name_len = name_fold(member->zone, plan.held.wire).len;
    plan.node_len = name_fold(member->node, plan.node_wire).len;
    if (is_taken_name(draft, member->zone)) {
        log_member(catalog, member->zone, "another zone has this name");
        return;
    }
    if (count_policy_zones(draft) >= RPZ_ZONES_MAX) {
        log_member(catalog, member->zone, "there are too many zones of rpz");
        return;
    }
    plan.file = strdup("");
    plan.primaries = zone_primaries_clone(catalog->plan.primaries);
    if (plan.file && plan.primaries)
        kept_zones_add(draft->zones, draft->before, &plan);
    else
        log_member(catalog, member->zone, "out of memory");
    zone_plan_deinit(&plan);
}

/* An expired catalog keeps the members that it had. */
static void members_keep(struct members_draft *draft, const struct kept_zone *catalog)
{
    for (size_t i = 0; i < draft->before->count; i++) {
        const struct zone_plan *plan = &draft->before->list[i].plan;
        if (!zone_plan_is_member(plan, &catalog->plan))
            continue;
        struct zone_catalog_member member = {zone_plan_name(plan), zone_plan_node(plan)};
        members_add(draft, catalog, &member);
    }
}

void zone_members_add(struct kept_zones *zones, struct kept_zones *before,
                      const struct rpz_policy *wanted)
{
    struct members_draft draft = {zones, before, wanted};
    struct zone_catalog_member members[RPZ_ZONES_MAX];
    size_t configured = zones->count, total;

    for (size_t i = 0; i < configured; i++) {
        const struct kept_zone *catalog = &zones->list[i];
        if (catalog->plan.kind != ZONE_OF_CATALOG)
            continue;
        if (!catalog->data) {
            members_keep(&draft, catalog);
            continue;
        }
        MUST(!zone_catalog_read(catalog->data, members, RPZ_ZONES_MAX, &total));
        for (size_t j = 0; j < MIN(total, (size_t)RPZ_ZONES_MAX); j++)
            members_add(&draft, catalog, &members[j]);
        if (total > RPZ_ZONES_MAX)
            log_member(catalog, members[0].node, "further members are above the bound");
    }
}

void zone_members_drop_copies(const struct kept_zones *zones, const struct kept_zones *before)
{
    char path[ZONE_STORE_PATH_MAX], text[NAME_TEXT_MAX];

    for (size_t i = 0; i < before->count; i++) {
        const struct zone_plan *old = &before->list[i].plan;
        struct name name = zone_plan_name(old);
        const struct kept_zone *now =
            old->node_len > 0 ? kept_zones_find(zones, name, old->kind) : NULL;
        if (old->node_len == 0 ||
            (now && name_equal(zone_plan_node(&now->plan), zone_plan_node(old))))
            continue;
        LOG(LOG_NOTICE, "zones", "zone %s: its catalog %s", name_format(name, text),
            now ? "resets it" : "has dropped it");
        if (*old->primaries->folder &&
            zone_store_path(path, old->primaries->folder, name) == ERR_OK)
            (void)unlink(path);
    }
}
