/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Fills the table of names answered here with names and the rules that hold for them. What names
 * have is local_records.c's, what files and options look like is for others to know.
 *
 * Invariant: at the end every node has the rule that holds for it, so that a look-up need not go on
 * to the names above.
 */
#include "local/local_build.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "local/local_build_inside.h"

/* ---- life ---- */

static uint32_t add_rule(struct local_names *names, struct local_rule rule)
{
    MUST(names->rule_count < LOCAL_RULES_MAX);
    names->rules[names->rule_count] = rule;
    return names->rule_count++;
}

static void add_rules(struct local_build *build)
{
    struct local_names *names = build->names;
    add_rule(names, (struct local_rule){.action = LOCAL_TRANSPARENT, .ede = EDE_NONE});
    names->forward_rule =
        add_rule(names, (struct local_rule){.origin = LOCAL_OF_FORWARD, .ede = EDE_NONE});
    for (unsigned action = 0; action <= LOCAL_REDIRECT; action++) {
        struct local_rule rule = {.action = (enum local_action)action,
                                  .origin = LOCAL_OF_ZONES,
                                  .ede = action == LOCAL_REFUSE ? EDE_BLOCKED : EDE_NONE,
                                  .ttl_s = LOCAL_ZONE_TTL_S};
        build->zone_rules[action] = add_rule(names, rule);
        rule.origin = LOCAL_OF_SPECIAL;
        rule.ede = EDE_NONE;
        rule.ttl_s = LOCAL_SPECIAL_TTL_S;
        build->special_rules[false][action] = add_rule(names, rule);
        rule.is_delegated = true;
        build->special_rules[true][action] = add_rule(names, rule);
    }
}

struct local_build *local_build_new(void)
{
    struct local_build *build = calloc(1, sizeof(*build));
    if (!build)
        return NULL;
    build->names = calloc(1, sizeof(*build->names));
    build->spared = name_map_new();
    if (build->names)
        build->names->map = name_map_new();
    if (build->names && build->names->map && build->spared) {
        add_rules(build);
        return build;
    }
    local_build_free(build);
    return NULL;
}

void local_build_free(struct local_build *build)
{
    if (!build)
        return;
    local_names_free(build->names);
    name_map_free(build->spared);
    free(build);
}

/* ---- arrays ---- */

enum err local_build_node(struct local_build *build, struct name name, uint32_t *place)
{
    struct local_names *names = build->names;
    uint32_t *number;
    enum err err = name_map_put(names->map, name, 0, &number);
    if (err)
        return err;
    if (*number >= LOCAL_RULES_MAX) {
        *place = *number - LOCAL_RULES_MAX;
        return ERR_OK;
    }
    if (!LOCAL_ROOM(build, nodes, node_count, 1, node_room))
        return ERR_NO_MEMORY;
    *place = (uint32_t)names->node_count++;
    names->nodes[*place] = (struct local_node){.own_rule = (uint8_t)*number};
    *number = *place + LOCAL_RULES_MAX;
    return ERR_OK;
}

enum err local_build_mark_above(struct local_build *build, struct name name)
{
    struct local_names *names = build->names;
    bool is_wildcard = name.len > 2 && name.wire[0] == 1 && name.wire[1] == '*';
    for (struct name above = name_parent(name); !name_is_root(above); above = name_parent(above)) {
        uint32_t place;
        enum err err = local_build_node(build, above, &place);
        if (err)
            return err;
        struct local_node *node = &names->nodes[place];
        bool was_marked = node->has_below;
        node->has_below = true;
        node->has_wildcard |= is_wildcard;
        is_wildcard = false;
        if (was_marked)
            return ERR_OK;
    }
    return ERR_OK;
}

/* ---- rules ---- */

/* The rule given for the name itself; 0: none. */
static uint32_t own_rule(const struct local_build *build, struct name name)
{
    const uint32_t *number = name_map_find(build->names->map, name);
    if (!number)
        return 0;
    const struct local_node *node = local_node_at(build->names, *number);
    return node ? node->own_rule : *number;
}

static enum err set_rule(struct local_build *build, struct name name, uint32_t rule)
{
    uint32_t *number;
    enum err err = name_map_put(build->names->map, name, rule, &number);
    if (err)
        return err;
    struct local_node *node = local_node_at(build->names, *number);
    if (node)
        node->own_rule = (uint8_t)rule;
    else
        *number = rule;
    return ERR_OK;
}

enum err local_build_zone(struct local_build *build, struct name name, enum local_action action)
{
    if (own_rule(build, name))
        return ERR_INVALID;
    return set_rule(build, name, build->zone_rules[action]);
}

enum err local_build_list(struct local_build *build, enum local_action action,
                          const struct addr *redirect, size_t count, uint32_t *list)
{
    uint32_t chain = 0;
    if (build->lists == LOCAL_LISTS_MAX)
        return ERR_LIMIT;
    for (size_t i = 0; i < count; i++) {
        enum err err = local_records_add(build, &chain, local_address_type(&redirect[i]),
                                         LOCAL_ZONE_TTL_S, local_address_rdata(&redirect[i]));
        if (err)
            return err;
    }
    build->lists++;
    *list = add_rule(build->names, (struct local_rule){
                                       .action = action,
                                       .origin = LOCAL_OF_LISTS,
                                       .ede = action == LOCAL_TRANSPARENT ? EDE_NONE
                                              : action == LOCAL_REDIRECT  ? EDE_FORGED_ANSWER
                                                                          : EDE_BLOCKED,
                                       .ttl_s = LOCAL_ZONE_TTL_S,
                                       .rrsets = chain,
                                   });
    return ERR_OK;
}

/* The hot one of a load: one look-up a name. */
enum err local_build_listed(struct local_build *build, uint32_t list, struct name name)
{
    uint32_t *number;
    size_t before = name_map_count(build->names->map);
    enum err err = name_map_put(build->names->map, name, list, &number);
    if (err)
        return err;
    struct local_node *node = local_node_at(build->names, *number);
    bool is_ours = name_map_count(build->names->map) > before;
    if (node && !node->own_rule) {
        node->own_rule = (uint8_t)list;
        is_ours = true;
    }
    build->names->rules[list].names += is_ours;
    return ERR_OK;
}

void local_build_block_aliases(struct local_build *build)
{
    build->names->blocks_aliases = build->lists > 0;
}

enum err local_build_spare(struct local_build *build, struct name zone)
{
    uint32_t *number;
    return name_is_root(zone) ? ERR_OK : name_map_put(build->spared, zone, 0, &number);
}

enum err local_build_special(struct local_build *build, struct name name, enum local_action action,
                             bool is_delegated, bool *taken)
{
    if (!build->names->special_from)
        build->names->special_from = (uint32_t)build->names->rrset_count + 1;
    *taken = own_rule(build, name) || name_map_find(build->spared, name);
    return *taken ? ERR_OK : set_rule(build, name, build->special_rules[is_delegated][action]);
}

/* ---- the end ---- */

struct walk {
    struct local_build *build;
    enum err err;
};

/* A zone with upstreams where the table would keep its names from them. */
static void local_build_spare_zone(void *context, struct name zone, uint32_t *unused)
{
    struct walk *walk = context;
    struct local_build *build = walk->build;
    const struct local_rule *rule = &build->names->rules[own_rule(build, zone)];
    uint8_t len;
    (void)unused;
    if (walk->err || !name_map_find_suffix(build->names->map, zone, &len))
        return;
    bool is_operators = own_rule(build, zone) && rule->origin == LOCAL_OF_ZONES;
    if (!is_operators)
        walk->err = set_rule(build, zone, build->names->forward_rule);
}

/* The rule that holds for a node: of the longest name above it that has one. */
static void local_build_settle(void *context, struct name name, uint32_t *number)
{
    struct walk *walk = context;
    struct local_node *node = local_node_at(walk->build->names, *number);
    if (!node)
        return;
    for (struct name above = name;; above = name_parent(above)) {
        uint32_t rule = own_rule(walk->build, above);
        node->rule = (uint8_t)rule;
        node->apex_len = above.len;
        if (rule || name_is_root(above))
            return;
    }
}

enum err local_build_end(struct local_build **from, struct local_names **out)
{
    struct walk walk = {.build = *from};
    struct local_names *names = (*from)->names;
    name_map_each((*from)->spared, local_build_spare_zone, &walk);
    if (!walk.err) {
        name_map_trim(names->map);
        name_map_each(names->map, local_build_settle, &walk);
        (*from)->names = NULL;
    }
    *out = walk.err ? NULL : names;
    local_build_free(*from);
    *from = NULL;
    return walk.err;
}
