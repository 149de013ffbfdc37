/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_PLAN_H
#define NAILUP_DAEMON_ZONE_PLAN_H

/* The zones held here as the configuration wants them: a copy that outlives the configuration. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "dns/name.h"
#include "validate/zonemd.h"
#include "zone/zone_set.h"

struct config;
struct name_map;
struct zone_primaries;

/* The users of a kept zone. A catalog (RFC 9432) determines the kind of its members. */
enum zone_kind {
    ZONE_OF_ANSWERS,    /* auth-zones: clients and recursion */
    ZONE_OF_POLICY,     /* rpz: its rules */
    ZONE_LISTS_ANSWERS, /* auth-zones with catalog */
    ZONE_LISTS_POLICY,  /* rpz with catalog */
};

static inline bool zone_kind_is_catalog(enum zone_kind kind)
{
    return kind == ZONE_LISTS_ANSWERS || kind == ZONE_LISTS_POLICY;
}

/* The kind of the members of such a catalog. */
static inline enum zone_kind zone_kind_of_members(enum zone_kind catalog)
{
    return catalog == ZONE_LISTS_ANSWERS ? ZONE_OF_ANSWERS : ZONE_OF_POLICY;
}

struct zone_plan {
    enum zone_kind kind;
    struct zone_held held;            /* without data; for policy, only the name counts */
    uint8_t node_wire[NAME_WIRE_MAX]; /* a member's node in its catalog */
    uint8_t node_len;                 /* 0: no member */
    char *file;                       /* "": the zone comes from its primaries */
    struct zone_primaries *primaries; /* the primaries of the zone or of its members; NULL: none */
    size_t max_bytes;
    enum zonemd_mode zonemd;
};

static inline struct name zone_plan_name(const struct zone_plan *plan)
{
    return zone_held_name(&plan->held);
}

/* Returns the name of a member's node, or the root: no member. */
static inline struct name zone_plan_node(const struct zone_plan *plan)
{
    return plan->node_len > 0 ? (struct name){plan->node_wire, plan->node_len} : name_root();
}

/* Whether the zone comes from its primaries, and not from a file. */
static inline bool zone_plan_is_transferred(const struct zone_plan *plan)
{
    return !*plan->file;
}

/* Returns the name of a member's catalog, or the root: no member. */
static inline struct name zone_plan_catalog(const struct zone_plan *plan)
{
    return plan->node_len > 0 ? name_strip(zone_plan_node(plan), 2) : name_root();
}

/* Whether the plan belongs to a member of this catalog. */
static inline bool zone_plan_is_member(const struct zone_plan *plan,
                                       const struct zone_plan *catalog)
{
    return plan->node_len > 0 && plan->kind == zone_kind_of_members(catalog->kind) &&
           name_equal(zone_plan_catalog(plan), zone_plan_name(catalog));
}

/* Frees what the plan owns. A plan that was moved owns nothing. */
void zone_plan_deinit(struct zone_plan *plan);

/* The plans of a whole configuration. */
struct zone_plans {
    struct name_map *names; /* names that no member may have; NULL: there is no catalog */
    size_t count;
    struct zone_plan list[];
};

/* Copies the plans of auth-zones, and the plans of rpz zones with primaries. The names come from
 * auth-zones, rpz, forward-zones and stub-zones. Returns NULL when out of memory. */
struct zone_plans *zone_plans_new(const struct config *config);

/* NULL is fine. */
void zone_plans_free(struct zone_plans *plans);

#endif
