/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides what is answered here. How the table came to be is local_build.c's, how an answer is
 * written local_answer.c's.
 *
 * Invariant: no more than LOCAL_HOPS_MAX aliases are followed, so that circles end.
 */
#include "local/local_names.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "local/local_table.h"

/* What the table says of one name. */
struct sight {
    struct name name;
    const struct local_node *node; /* of the name itself; NULL: it has a rule at most */
    const struct local_rule *rule; /* that holds; rule 0 where none does */
    struct name apex;              /* the name that this rule was given for */
    uint32_t rrsets;               /* its records, or those that a wildcard or redirect gives */
    bool is_there;                 /* it has records, or names below that do */
    bool is_spared;                /* names of special use do not count here */
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

/* RFC 4592 section 3.3.1: the wildcard below the closest name that is there. */
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
    sight->is_redirected = sight->is_there = sight->rrsets != 0;
}

/* Those of special use stand first, as they were the last to come. */
static uint32_t own_rrsets(const struct local_names *names, uint32_t chain)
{
    while (names->special_from && chain >= names->special_from)
        chain = local_rrset_at(names, chain)->next;
    return chain;
}

/* closest is the name of the table that was found, which `node` is of. */
static void see_records(const struct local_names *names, struct sight *sight, struct name closest,
                        const struct local_node *node)
{
    bool is_exact = closest.len == sight->name.len;
    if (node && is_exact) {
        sight->node = node;
        sight->rrsets = sight->is_spared ? own_rrsets(names, node->rrsets) : node->rrsets;
        sight->is_there = sight->rrsets || node->has_below;
    } else if (node && node->has_wildcard) {
        sight->rrsets = wildcard_rrsets(names, closest);
        sight->is_there = sight->rrsets != 0;
    }
    if (!sight->rrsets && sight->rule->action == LOCAL_REDIRECT)
        redirect(names, sight);
}

/* The name is of special use, and lies in a zone that got upstreams, as long as its own or longer.
 */
static bool is_spared(const struct local_names *names, const struct sight *sight, uint8_t *len)
{
    return sight->rule->origin == LOCAL_OF_SPECIAL && names->spared &&
           name_map_find_suffix(names->spared, sight->name, len) && *len >= sight->apex.len;
}

static void local_names_spare_below(const struct local_names *names, struct sight *sight,
                                    uint8_t len)
{
    sight->is_spared = true;
    sight->rule = &names->rules[names->forward_rule];
    sight->apex = end_of(sight->name, len);
}

/* False: the table has nothing to do with the name. all_spared: as if all zones were. */
static bool see_as(const struct local_names *names, struct name name, bool all_spared,
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
    if (is_spared(names, sight, &zone_len) ||
        (all_spared && sight->rule->origin == LOCAL_OF_SPECIAL))
        local_names_spare_below(names, sight, zone_len);
    sight->is_apex = sight->apex.len == name.len;
    see_records(names, sight, end_of(name, len), node);
    return true;
}

static bool local_names_see(const struct local_names *names, struct name name, struct sight *sight)
{
    return see_as(names, name, false, sight);
}

/* ---- one question ---- */

/* SOA and NS are the zone's, not those of each name that is redirected. */
static bool is_kept_from(const struct sight *sight, uint16_t type)
{
    return sight->is_redirected && !sight->is_apex && (type == RRTYPE_SOA || type == RRTYPE_NS);
}

static const struct local_rrset *local_names_choose(const struct local_names *names,
                                                    const struct sight *sight, uint16_t type)
{
    if (type == RRTYPE_ANY) /* RFC 8482 section 4.1: one RRset suffices */
        return local_rrset_at(names, sight->rrsets);
    const struct local_rrset *rrset =
        is_kept_from(sight, type) ? NULL : local_rrset_find(names, sight->rrsets, type);
    return rrset ? rrset : local_rrset_find(names, sight->rrsets, RRTYPE_CNAME);
}

static struct name target_of(const struct local_names *names, const struct local_rrset *cname)
{
    const struct local_record *record = local_record_at(names, cname->first);
    struct name target;
    MUST(name_view(span_of(names->rdata + record->at, record->len), 0, &target));
    return target;
}

/* Names with records in no zone deny what they lack in their own name. */
static void deny(const struct local_names *names, const struct sight *sight, uint16_t rcode,
                 struct local_result *result)
{
    bool has_zone = sight->rule->action != LOCAL_TRANSPARENT;
    result->rcode = rcode;
    result->has_soa = true;
    result->soa_owner = has_zone ? sight->apex : sight->name;
    result->soa =
        has_zone ? local_rrset_find(names, rrsets_of(names, sight->apex), RRTYPE_SOA) : NULL;
    result->soa_ttl_s = has_zone ? sight->rule->ttl_s : LOCAL_ZONE_TTL_S;
}

/* A name without records. False: upstreams are asked for it. */
static bool local_names_act(const struct local_names *names, const struct sight *sight,
                            struct local_result *result)
{
    switch (sight->rule->action) {
    case LOCAL_TRANSPARENT:
        return false;
    case LOCAL_REFUSE:
        result->rcode = RCODE_REFUSED;
        break;
    case LOCAL_NXDOMAIN:
        deny(names, sight, sight->is_there ? RCODE_NOERROR : RCODE_NXDOMAIN, result);
        break;
    case LOCAL_NODATA:
    case LOCAL_REDIRECT:
        deny(names, sight, RCODE_NOERROR, result);
        break;
    }
    result->ede = sight->rule->ede;
    return true;
}

enum step { STEP_NOT, STEP_ENDED, STEP_ALIAS };

/* One name of the chain. */
static enum step local_names_look(const struct local_names *names, struct name name,
                                  struct name owner, uint16_t type, struct local_result *result)
{
    struct sight sight;
    if (!local_names_see(names, name, &sight))
        return STEP_NOT;
    if (type == RRTYPE_DS && sight.is_apex && sight.rule->is_delegated)
        return STEP_NOT;
    if (!sight.rrsets)
        return local_names_act(names, &sight, result) ? STEP_ENDED : STEP_NOT;
    if (sight.is_redirected)
        result->ede = sight.rule->ede;
    const struct local_rrset *rrset = local_names_choose(names, &sight, type);
    if (!rrset) {
        deny(names, &sight, RCODE_NOERROR, result);
        return STEP_ENDED;
    }
    result->hop[result->hops++] = (struct local_hop){owner, rrset};
    if (rrset->type != RRTYPE_CNAME || type == RRTYPE_CNAME || type == RRTYPE_ANY)
        return STEP_ENDED;
    result->target = target_of(names, rrset);
    return STEP_ALIAS;
}

/* SOA owners borrow from the name that was looked up; names of aliases lie in the table as they
 * were written, so the owner is found there. */
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
    result->has_soa = false;
    for (;;) {
        switch (local_names_look(names, name, owner, question->type, result)) {
        case STEP_NOT:
            return result->hops ? LOCAL_ELSEWHERE : LOCAL_NOT;
        case STEP_ENDED:
            settle_owner(result, owner);
            return LOCAL_ANSWERED;
        case STEP_ALIAS:
            if (result->hops > LOCAL_HOPS_MAX) {
                result->rcode = RCODE_SERVFAIL; /* a circle, most likely */
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
    return names->blocks_aliases;
}

bool local_names_block(const struct local_names *names, struct name target,
                       const struct question *question, struct local_result *result)
{
    struct sight sight;
    if (!name_map_may_have(names->map, target) || !local_names_see(names, target, &sight))
        return false;
    bool has_records = sight.rrsets && !sight.is_redirected;
    if (sight.rule->origin != LOCAL_OF_LISTS || sight.rule->action == LOCAL_TRANSPARENT ||
        has_records)
        return false;
    *result = (struct local_result){.rcode = RCODE_NOERROR, .ede = sight.rule->ede};
    sight.name = sight.apex = question->name;
    const struct local_rrset *rrset =
        sight.is_redirected ? local_rrset_find(names, sight.rrsets, question->type) : NULL;
    if (rrset)
        result->hop[result->hops++] = (struct local_hop){question->name, rrset};
    else
        (void)local_names_act(names, &sight, result);
    return true;
}

bool local_names_may_have(const struct local_names *names, struct name name)
{
    return name_map_may_have(names->map, name);
}

bool local_names_has(const struct local_names *names, struct name name)
{
    struct sight sight;
    return local_names_see(names, name, &sight) &&
           (sight.rrsets || sight.rule->action != LOCAL_TRANSPARENT);
}

bool local_names_has_own(const struct local_names *names, struct name name)
{
    struct sight sight;
    return see_as(names, name, true, &sight) &&
           (sight.rrsets || sight.rule->action != LOCAL_TRANSPARENT);
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
    if (!local_names_see(names, name, &sight))
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
    name_map_free(names->spared);
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
    names->spared = name_map_new();
    if (names->spared)
        return names;
    free(names);
    return NULL;
}

enum err local_names_spare(struct local_names *names, struct name zone)
{
    uint32_t *number;
    MUST(names->base);
    return name_is_root(zone) ? ERR_OK : name_map_put(names->spared, zone, 0, &number);
}
