/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides which queries local data answers, and how. local_build.c makes the table; local_answer.c
 * writes the answers.
 *
 * Invariant: a query follows at most LOCAL_HOPS_MAX aliases, so loops end.
 */
#include "local/local_names.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "local/local_table.h"

/* The table's view of one name. */
struct sight {
    struct name name;
    const struct local_node *node; /* the name's own; NULL: it has only a rule, or nothing */
    const struct local_rule *rule; /* the rule that applies, or rule 0 */
    struct name apex;              /* the name that this rule belongs to */
    uint32_t rrsets;               /* the name's records, or a wildcard's or redirect's */
    bool exists;                   /* the name has records, or names below it have */
    bool is_exempt;                /* special-use names are exempt here */
    bool is_apex;
    bool is_redirected;
};

/* ---- one name ---- */

static struct name end_of(struct name name, uint8_t len)
{
    return (struct name){name.wire + name.len - len, len};
}

static uint32_t rrsets_of(const struct local_names *names, struct name name)
{
    const uint32_t *number = name_map_find(names->map, name);
    const struct local_node *node = number ? local_node_at(names, *number) : NULL;
    return node ? node->rrsets : 0;
}

/* Finds the records of the wildcard below the closest encloser (RFC 4592 section 3.3.1). */
static uint32_t wildcard_rrsets(const struct local_names *names, struct name above)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (above.len > NAME_WIRE_MAX - 2)
        return 0;
    wire[0] = 1;
    wire[1] = '*';
    memcpy(wire + 2, above.wire, above.len);
    return rrsets_of(names, (struct name){wire, (uint8_t)(above.len + 2)});
}

static void redirect(const struct local_names *names, struct sight *sight)
{
    sight->rrsets = sight->rule->rrsets ? sight->rule->rrsets : rrsets_of(names, sight->apex);
    sight->is_redirected = sight->exists = sight->rrsets != 0;
}

/* RRsets of special-use names come first in a chain, because they were added last. */
static uint32_t own_rrsets(const struct local_names *names, uint32_t chain)
{
    while (names->special_from && chain >= names->special_from)
        chain = local_rrset_at(names, chain)->next;
    return chain;
}

/* closest is the name of the table that was found, and node its node. */
static void see_records(const struct local_names *names, struct sight *sight, struct name closest,
                        const struct local_node *node)
{
    bool is_exact = closest.len == sight->name.len;
    if (node && is_exact) {
        sight->node = node;
        sight->rrsets = sight->is_exempt ? own_rrsets(names, node->rrsets) : node->rrsets;
        sight->exists = sight->rrsets || node->has_below;
    } else if (node && node->has_wildcard) {
        sight->rrsets = wildcard_rrsets(names, closest);
        sight->exists = sight->rrsets != 0;
    }
    if (!sight->rrsets && sight->rule->action == LOCAL_REDIRECT)
        redirect(names, sight);
}

/* Returns whether the name is a special-use name in a zone that got upstreams later, and that zone
 * is at least as long as the special zone. */
static bool is_exempt(const struct local_names *names, const struct sight *sight, uint8_t *len)
{
    return sight->rule->origin == LOCAL_OF_SPECIAL && names->exempt &&
           name_map_find_suffix(names->exempt, sight->name, len) && *len >= sight->apex.len;
}

static void set_exempt(const struct local_names *names, struct sight *sight, uint8_t len)
{
    sight->is_exempt = true;
    sight->rule = &names->rules[names->forward_rule];
    sight->apex = end_of(sight->name, len);
}

/* Looks a name up. Returns false when no rule applies. all_exempt: treat all special-use names as
 * exempt. */
static bool see_as(const struct local_names *names, struct name name, bool all_exempt,
                   struct sight *sight)
{
    uint8_t len;
    const uint32_t *number = name_map_find_suffix(names->map, name, &len);
    if (!number)
        return false;
    const struct local_node *node = local_node_at(names, *number);
    *sight = (struct sight){.name = name};
    sight->rule = &names->rules[node ? node->rule : *number];
    sight->apex = end_of(name, node ? node->apex_len : len);
    uint8_t zone_len = sight->apex.len;
    if (is_exempt(names, sight, &zone_len) ||
        (all_exempt && sight->rule->origin == LOCAL_OF_SPECIAL))
        set_exempt(names, sight, zone_len);
    sight->is_apex = sight->apex.len == name.len;
    see_records(names, sight, end_of(name, len), node);
    return true;
}

static bool see(const struct local_names *names, struct name name, struct sight *sight)
{
    return see_as(names, name, false, sight);
}

/* Whether this table itself has a rule that applies to the name, or records of it. It is not enough
 * that names below the name have records. */
static bool has_say(const struct local_names *names, struct name name, struct sight *sight)
{
    return name_map_may_have(names->map, name) && see(names, name, sight) &&
           (sight->rrsets || sight->rule != &names->rules[0]);
}

/* Returns the table that decides about the name: the topmost one that has a say. */
static const struct local_names *layer_of(const struct local_names *names, struct name name)
{
    struct sight sight;
    while (names->under && !has_say(names, name, &sight))
        names = names->under;
    return names;
}

/* ---- one question ---- */

/* SOA and NS belong to the apex and are not redirected to other names. */
static bool is_apex_only(const struct sight *sight, uint16_t type)
{
    return sight->is_redirected && !sight->is_apex && (type == RRTYPE_SOA || type == RRTYPE_NS);
}

static const struct local_rrset *choose_rrset(const struct local_names *names,
                                              const struct sight *sight, uint16_t type)
{
    if (type == RRTYPE_ANY) /* RFC 8482 section 4.1: one RRset is enough */
        return local_rrset_at(names, sight->rrsets);
    const struct local_rrset *rrset =
        is_apex_only(sight, type) ? NULL : local_rrset_find(names, sight->rrsets, type);
    return rrset ? rrset : local_rrset_find(names, sight->rrsets, RRTYPE_CNAME);
}

static struct name target_of(const struct local_names *names, const struct local_rrset *cname)
{
    const struct local_record *record = local_record_at(names, cname->first);
    struct name target;
    MUST(name_view(span_of(names->rdata + record->at, record->len), 0, &target));
    return target;
}

/* A name with records but without a zone gets its own SOA. */
static void deny(const struct local_names *names, const struct sight *sight, uint16_t rcode,
                 struct local_result *result)
{
    bool has_zone = !local_action_asks(sight->rule->action);
    result->rcode = rcode;
    result->has_soa = true;
    result->soa_owner = has_zone ? sight->apex : sight->name;
    result->soa_table = names;
    result->soa =
        has_zone ? local_rrset_find(names, rrsets_of(names, sight->apex), RRTYPE_SOA) : NULL;
    result->soa_ttl_s = has_zone ? sight->rule->ttl_s : LOCAL_ZONE_TTL_S;
}

/* Applies the action to a name without records. Returns false when upstreams answer it. */
static bool apply_action(const struct local_names *names, const struct sight *sight,
                         struct local_result *result)
{
    switch (sight->rule->action) {
    case LOCAL_TRANSPARENT:
    case LOCAL_TYPETRANSPARENT:
        return false;
    case LOCAL_REFUSE:
        result->rcode = RCODE_REFUSED;
        break;
    case LOCAL_NXDOMAIN:
        deny(names, sight, sight->exists ? RCODE_NOERROR : RCODE_NXDOMAIN, result);
        break;
    case LOCAL_NODATA:
    case LOCAL_REDIRECT:
        deny(names, sight, RCODE_NOERROR, result);
        break;
    case LOCAL_DROP:
        result->is_dropped = true;
        break;
    }
    result->ede = sight->rule->ede;
    return true;
}

enum step { STEP_NOT, STEP_ENDED, STEP_ALIAS };

/* Looks up one name of an alias chain. */
static enum step look_up_step(const struct local_names *names, struct name name, struct name owner,
                              uint16_t type, struct local_result *result)
{
    struct sight sight;
    names = layer_of(names, name);
    if (!see(names, name, &sight))
        return STEP_NOT;
    if (type == RRTYPE_DS && sight.is_apex && sight.rule->is_delegated)
        return STEP_NOT;
    if (!result->hops && sight.rule->origin == LOCAL_OF_SPECIAL)
        result->special_len = sight.apex.len;
    if (!sight.rrsets)
        return apply_action(names, &sight, result) ? STEP_ENDED : STEP_NOT;
    if (sight.is_redirected)
        result->ede = sight.rule->ede;
    const struct local_rrset *rrset = choose_rrset(names, &sight, type);
    if (!rrset && sight.rule->action == LOCAL_TYPETRANSPARENT)
        return STEP_NOT;
    if (!rrset && sight.rule->action == LOCAL_DROP)
        return apply_action(names, &sight, result) ? STEP_ENDED : STEP_NOT;
    if (!rrset) {
        deny(names, &sight, RCODE_NOERROR, result);
        return STEP_ENDED;
    }
    result->hop[result->hops++] = (struct local_hop){owner, names, rrset};
    if (rrset->type != RRTYPE_CNAME || type == RRTYPE_CNAME || type == RRTYPE_ANY)
        return STEP_ENDED;
    result->target = target_of(names, rrset);
    return STEP_ALIAS;
}

/* The SOA owner borrows from the folded name on the stack. Replace it by the same part of the
 * owner, which is in the question or the table. */
static void settle_owner(struct local_result *result, struct name owner)
{
    if (result->has_soa)
        result->soa_owner = end_of(owner, result->soa_owner.len);
}

enum local_verdict local_names_find(const struct local_names *names,
                                    const struct question *question, struct local_result *result)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = question->name, owner = question->name;
    result->rcode = RCODE_NOERROR;
    result->ede = EDE_NONE;
    result->hops = 0;
    result->special_len = 0;
    result->has_soa = result->is_dropped = false;
    for (;;) {
        switch (look_up_step(names, name, owner, question->type, result)) {
        case STEP_NOT:
            return result->hops ? LOCAL_ELSEWHERE : LOCAL_NOT;
        case STEP_ENDED:
            settle_owner(result, owner);
            return result->is_dropped ? LOCAL_DROPPED : LOCAL_ANSWERED;
        case STEP_ALIAS:
            if (result->hops > LOCAL_HOPS_MAX) {
                result->rcode = RCODE_SERVFAIL; /* probably a loop */
                result->ede = EDE_INVALID_DATA;
                result->hops = 0;
                return LOCAL_ANSWERED;
            }
            owner = result->target;
            name = name_fold(owner, wire);
        }
    }
}

bool local_names_block_aliases(const struct local_names *names)
{
    while (!names->blocks_aliases && names->under)
        names = names->under;
    return names->blocks_aliases;
}

bool local_names_block(const struct local_names *names, struct name target,
                       const struct question *question, struct local_result *result)
{
    struct sight sight;
    names = layer_of(names, target);
    if (!name_map_may_have(names->map, target) || !see(names, target, &sight))
        return false;
    bool has_records = sight.rrsets && !sight.is_redirected;
    if (sight.rule->origin != LOCAL_OF_LISTS || local_action_asks(sight.rule->action) ||
        has_records)
        return false;
    *result = (struct local_result){.rcode = RCODE_NOERROR, .ede = sight.rule->ede};
    sight.name = sight.apex = question->name;
    const struct local_rrset *rrset =
        sight.is_redirected ? local_rrset_find(names, sight.rrsets, question->type) : NULL;
    if (rrset)
        result->hop[result->hops++] = (struct local_hop){question->name, names, rrset};
    else
        (void)apply_action(names, &sight, result);
    return true;
}

bool local_names_may_have(const struct local_names *names, struct name name)
{
    for (; names->under; names = names->under)
        if (name_map_may_have(names->map, name))
            return true;
    return name_map_may_have(names->map, name);
}

static bool decides(const struct sight *sight)
{
    return sight->rrsets || !local_action_asks(sight->rule->action);
}

bool local_names_has_over(const struct local_names *names, struct name name)
{
    struct sight sight;
    return has_say(names, name, &sight) && decides(&sight);
}

bool local_names_has(const struct local_names *names, struct name name, uint16_t type)
{
    struct sight sight;
    names = layer_of(names, name);
    if (!see(names, name, &sight) || !decides(&sight))
        return false;
    bool has_all_types = !sight.rrsets || sight.rule->action != LOCAL_TYPETRANSPARENT;
    return has_all_types || choose_rrset(names, &sight, type);
}

bool local_names_has_own(const struct local_names *names, struct name name)
{
    struct sight sight;
    names = layer_of(names, name);
    return see_as(names, name, true, &sight) && decides(&sight);
}

/* ---- reading ---- */

uint16_t local_rrset_type(const struct local_rrset *rrset)
{
    return rrset->type;
}

uint32_t local_rrset_ttl(const struct local_rrset *rrset)
{
    return rrset->ttl_s;
}

bool local_rrset_next(const struct local_names *names, const struct local_rrset *rrset,
                      uint32_t *at, struct span *rdata)
{
    const struct local_record *last = local_record_at(names, *at);
    uint32_t place = last ? last->next : rrset->first;
    if (!place)
        return false;
    const struct local_record *record = local_record_at(names, place);
    *rdata = span_of(names->rdata + record->at, record->len);
    *at = place;
    return true;
}

bool local_names_view(const struct local_names *names, struct name name, struct local_view *out)
{
    static const char *const origins[] = {
        [LOCAL_OF_ZONES] = "local-zones",
        [LOCAL_OF_FORWARD] = "forward-zones",
        [LOCAL_OF_LISTS] = "block-lists",
        [LOCAL_OF_SPECIAL] = "special use",
    };
    struct sight sight;
    names = layer_of(names, name);
    if (!see(names, name, &sight))
        return false;
    bool has_rule = sight.rule != &names->rules[0];
    *out = (struct local_view){
        .zone = sight.apex,
        .action = sight.rule->action,
        .origin = has_rule ? origins[sight.rule->origin] : "",
        .has_records = sight.rrsets != 0,
    };
    return true;
}

size_t local_names_count(const struct local_names *names)
{
    return name_map_count(names->map);
}

size_t local_names_bytes(const struct local_names *names)
{
    return sizeof(*names) + name_map_bytes(names->map) + names->node_count * sizeof(*names->nodes) +
           names->rrset_count * sizeof(*names->rrsets) +
           names->record_count * sizeof(*names->records) + names->rdata_len;
}

size_t local_names_listed(const struct local_names *names, size_t list)
{
    for (unsigned i = 1; i < names->rule_count; i++) {
        if (names->rules[i].origin == LOCAL_OF_LISTS && list-- == 0)
            return names->rules[i].names;
    }
    return 0;
}

void local_names_free(struct local_names *names)
{
    if (!names)
        return;
    name_map_free(names->exempt);
    if (!names->base) {
        name_map_free(names->map);
        free(names->nodes);
        free(names->rrsets);
        free(names->records);
        free(names->rdata);
    }
    free(names);
}

struct local_names *local_names_new_over(const struct local_names *base)
{
    struct local_names *names = malloc(sizeof(*names));
    if (!names)
        return NULL;
    *names = *base;
    names->base = base;
    names->exempt = name_map_new();
    if (names->exempt)
        return names;
    free(names);
    return NULL;
}

void local_names_set_under(struct local_names *names, const struct local_names *under)
{
    names->under = under;
}

bool local_names_is_over(const struct local_names *names)
{
    return names->under != NULL;
}

enum err local_names_exempt(struct local_names *names, struct name zone)
{
    uint32_t *number;
    MUST(names->base);
    return name_is_root(zone) ? ERR_OK : name_map_put(names->exempt, zone, 0, &number);
}
