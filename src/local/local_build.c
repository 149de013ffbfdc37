/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Builds the table of local data: names, the rules that apply to them, and their records. Other
 * modules read files and options.
 *
 * Invariants: every node ends with the rule that applies to it, so that a lookup need not visit the
 * names above. Every record has the shape of its type, a CNAME is the only RRset of its name, and
 * an RRset fits into an answer: readers of the table rely on this.
 */
#include "local/local_build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/message.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "local/local_table.h"

enum { RECORD_MAX = 255 + 10 + 65535 };

struct local_build {
    struct local_names *names;
    struct name_map *exempt; /* zones with upstreams */
    size_t node_room, rrset_room, record_room, rdata_room;
    uint32_t zone_rules[LOCAL_ACTIONS];
    uint32_t special_rules[2][LOCAL_ACTIONS]; /* indexed by is_delegated */
    size_t lists;
    uint8_t message[HEADER_LEN + RECORD_MAX];
};

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
    for (unsigned action = 0; action < LOCAL_ACTIONS; action++) {
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
    build->exempt = name_map_new();
    if (build->names)
        build->names->map = name_map_new();
    if (build->names && build->names->map && build->exempt) {
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
    name_map_free(build->exempt);
    free(build);
}

/* ---- nodes ---- */

/* Makes room for more elements in an array of count elements. Returns false when out of memory. */
static bool make_room(void **array, size_t count, size_t more, size_t *room, size_t size)
{
    if (count + more <= *room)
        return true;
    size_t wanted = MAX(count + more, MAX(*room + *room / 2, (size_t)64));
    void *grown = realloc(*array, wanted * size);
    if (!grown)
        return false;
    *array = grown;
    *room = wanted;
    return true;
}

/* make_room() for the array `field` of the names. */
#define LOCAL_ROOM(build, field, count, more, room)                                                \
    make_room((void **)&(build)->names->field, (build)->names->count, more, &(build)->room,        \
              sizeof(*(build)->names->field))

/* Finds the place of the name's node, and makes the node if necessary. */
static enum err make_node(struct local_build *build, struct name name, uint32_t *place)
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

/* Marks every name above as having names below it. */
static enum err mark_names_above(struct local_build *build, struct name name)
{
    struct local_names *names = build->names;
    bool is_wildcard = name.len > 2 && name.wire[0] == 1 && name.wire[1] == '*';
    for (struct name above = name_parent(name); !name_is_root(above); above = name_parent(above)) {
        uint32_t place;
        enum err err = make_node(build, above, &place);
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

/* ---- records ---- */

static uint16_t address_type(const struct addr *addr)
{
    return addr_family(addr) == AF_INET6 ? RRTYPE_AAAA : RRTYPE_A;
}

static struct span address_rdata(const struct addr *addr)
{
    size_t len;
    const uint8_t *bytes = addr_bytes(addr, &len);
    return span_of(bytes, len);
}

static bool rrset_has(const struct local_names *names, const struct local_rrset *rrset,
                      struct span rdata)
{
    struct span other;
    for (uint32_t at = 0; local_rrset_next(names, rrset, &at, &other);)
        if (span_equal(other, rdata))
            return true;
    return false;
}

static enum err append_record(struct local_build *build, uint32_t rrset_place, struct span rdata)
{
    struct local_names *names = build->names;
    if (names->record_count == LOCAL_RECORDS_MAX || names->rdata_len + rdata.len > LOCAL_RDATA_MAX)
        return ERR_LIMIT;
    if (!LOCAL_ROOM(build, records, record_count, 1, record_room) ||
        !LOCAL_ROOM(build, rdata, rdata_len, rdata.len + 1, rdata_room))
        return ERR_NO_MEMORY;
    struct local_record *record = &names->records[names->record_count++];
    *record = (struct local_record){.at = (uint32_t)names->rdata_len, .len = (uint16_t)rdata.len};
    if (rdata.len)
        memcpy(names->rdata + names->rdata_len, rdata.data, rdata.len);
    names->rdata_len += rdata.len;
    struct local_rrset *rrset = local_rrset_at(names, rrset_place);
    uint32_t place = (uint32_t)names->record_count;
    if (rrset->first)
        local_record_at(names, rrset->last)->next = place;
    else
        rrset->first = place;
    rrset->last = place;
    rrset->count++;
    rrset->bytes += (uint32_t)rdata.len;
    return ERR_OK;
}

static uint32_t rrset_place_of(const struct local_names *names, const struct local_rrset *rrset)
{
    return (uint32_t)(rrset - names->rrsets) + 1;
}

/* Adds to the RRset of the type in the chain that begins at *chain. A new RRset becomes the first.
 */
static enum err add_to_chain(struct local_build *build, uint32_t *chain, uint16_t type,
                             uint32_t ttl_s, struct span rdata)
{
    struct local_names *names = build->names;
    struct local_rrset *rrset = local_rrset_find(names, *chain, type);
    if (rrset && rrset_has(names, rrset, rdata))
        return ERR_OK;
    if (rrset &&
        (rrset->count == LOCAL_RRSET_MAX || rrset->bytes + rdata.len > LOCAL_RRSET_BYTES_MAX))
        return ERR_LIMIT;
    uint32_t place;
    if (rrset) {
        place = rrset_place_of(names, rrset);
    } else {
        if (!LOCAL_ROOM(build, rrsets, rrset_count, 1, rrset_room))
            return ERR_NO_MEMORY;
        names->rrsets[names->rrset_count++] =
            (struct local_rrset){.next = *chain, .ttl_s = ttl_s, .type = type};
        place = *chain = (uint32_t)names->rrset_count;
    }
    return append_record(build, place, rdata);
}

static enum err add_rr(struct local_build *build, struct name owner, uint16_t type, uint32_t ttl_s,
                       struct span rdata)
{
    uint32_t place;
    enum err err = make_node(build, owner, &place);
    if (err)
        return err;
    uint32_t chain = build->names->nodes[place].rrsets;
    bool is_first = chain == 0;
    err = add_to_chain(build, &chain, type, ttl_s, rdata);
    build->names->nodes[place].rrsets = chain;
    return err || !is_first ? err : mark_names_above(build, owner);
}

static const struct local_node *find_node(const struct local_build *build, struct name name)
{
    const uint32_t *number = name_map_find(build->names->map, name);
    return number ? local_node_at(build->names, *number) : NULL;
}

static bool has_rrset(const struct local_build *build, struct name name, uint16_t type)
{
    const struct local_node *node = find_node(build, name);
    return node && local_rrset_find(build->names, node->rrsets, type);
}

bool local_build_has_records(const struct local_build *build, struct name name)
{
    const struct local_node *node = find_node(build, name);
    return node && node->rrsets;
}

/* Returns why this record conflicts with a CNAME (RFC 2181 section 10.1), or NULL. */
static const char *cname_conflict(const struct local_build *build, struct name owner, uint16_t type,
                                  struct span rdata)
{
    const struct local_node *node = find_node(build, owner);
    const struct local_rrset *cname =
        node ? local_rrset_find(build->names, node->rrsets, RRTYPE_CNAME) : NULL;
    if (type == RRTYPE_CNAME && cname && !rrset_has(build->names, cname, rdata))
        return "its name has a CNAME with another target";
    if (type != RRTYPE_CNAME && cname)
        return "its name has a CNAME, which allows no other records";
    if (type == RRTYPE_CNAME && node && node->rrsets && !cname)
        return "its name has other records, which a CNAME does not allow";
    return NULL;
}

/* Returns whether names in RDATA are uncompressed: the RDATA leaves its message. */
static bool is_whole(const struct message *message, const struct rr *rr)
{
    struct rdata_parts parts;
    struct name name;
    struct span rdata = message_rdata(message, rr);
    if (!rdata_split(message, rr, &parts))
        return false;
    if (!parts.layout || parts.layout->names == 0)
        return true;
    size_t at = parts.names_offset - (size_t)(rdata.data - message->bytes.data);
    for (unsigned i = 0; i < parts.layout->names; i++) {
        at = name_view(rdata, at, &name);
        if (!at)
            return false;
    }
    return true;
}

/* Parses the record as a separate message, so that it is checked like one from the network.
 * Returns NULL, or the fault. */
static const char *read_record_alone(struct local_build *build, struct span record,
                                     struct message *message, struct rr *rr)
{
    if (record.len > RECORD_MAX)
        return "it is too long";
    memset(build->message, 0, HEADER_LEN);
    put_u16(build->message + 6, 1);
    memcpy(build->message + HEADER_LEN, record.data, record.len);
    struct span bytes = span_of(build->message, HEADER_LEN + record.len);
    if (bytes.len > MESSAGE_MAX || message_parse(message, bytes) != MESSAGE_OK)
        return "it is not a record";
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    if (!message_rr_next(&iter, rr) || !message_check_rr(message, rr) || !is_whole(message, rr))
        return "its data does not match its type";
    if (rr->cls != RRCLASS_IN)
        return "its class is not IN";
    if (rrtype_is_meta(rr->type))
        return "its type holds no data";
    return NULL;
}

enum err local_build_record(struct local_build *build, struct span record, const char **why)
{
    struct message message;
    struct rr rr;
    uint8_t wire[NAME_WIRE_MAX];
    *why = read_record_alone(build, record, &message, &rr);
    if (*why)
        return ERR_INVALID;
    struct name owner = message_owner(&message, &rr, wire);
    struct span rdata = message_rdata(&message, &rr);
    name_fold(owner, wire);
    owner.wire = wire;
    *why = cname_conflict(build, owner, rr.type, rdata);
    if (!*why && rdata.len > LOCAL_RRSET_BYTES_MAX)
        *why = "it is too long";
    if (*why)
        return ERR_INVALID;
    return add_rr(build, owner, rr.type, MIN(rr.ttl, (uint32_t)INT32_MAX), rdata);
}

/* ---- hosts ---- */

static struct name reverse_name(const struct addr *addr, uint8_t out[NAME_WIRE_MAX])
{
    static const char digits[] = "0123456789abcdef";
    char text[NAME_WIRE_MAX];
    size_t len = 0;
    struct span bytes = address_rdata(addr);
    struct name name;
    for (size_t i = bytes.len; i-- > 0;) {
        if (bytes.len == 4)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%u.", bytes.data[i]);
        else
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%c.%c.",
                                    digits[bytes.data[i] & 15], digits[bytes.data[i] >> 4]);
    }
    snprintf(text + len, sizeof(text) - len, bytes.len == 4 ? "in-addr.arpa" : "ip6.arpa");
    MUST(name_parse(&name, out, text, strlen(text)) == ERR_OK);
    return name;
}

enum err local_build_host(struct local_build *build, struct name name, const struct addr *addr,
                          bool with_ptr)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (has_rrset(build, name, RRTYPE_CNAME))
        return ERR_OK;
    enum err err = add_rr(build, name, address_type(addr), LOCAL_HOSTS_TTL_S, address_rdata(addr));
    if (err || !with_ptr || addr_is_any(addr))
        return err;
    struct name reverse = reverse_name(addr, wire);
    if (local_build_has_records(build, reverse))
        return ERR_OK;
    return add_rr(build, reverse, RRTYPE_PTR, LOCAL_HOSTS_TTL_S, span_of(name.wire, name.len));
}

bool local_build_is_full(const struct local_build *build)
{
    const struct local_names *names = build->names;
    return names->record_count == LOCAL_RECORDS_MAX ||
           names->rdata_len + LOCAL_RRSET_BYTES_MAX > LOCAL_RDATA_MAX ||
           name_map_is_full(names->map);
}

/* ---- rules ---- */

/* Returns the rule that was given for the name itself; 0: none. */
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
        enum err err = add_to_chain(build, &chain, address_type(&redirect[i]), LOCAL_ZONE_TTL_S,
                                    address_rdata(&redirect[i]));
        if (err)
            return err;
    }
    build->lists++;
    *list = add_rule(build->names, (struct local_rule){
                                       .action = action,
                                       .origin = LOCAL_OF_LISTS,
                                       .ede = local_action_asks(action)  ? EDE_NONE
                                              : action == LOCAL_REDIRECT ? EDE_FORGED_ANSWER
                                                                         : EDE_BLOCKED,
                                       .ttl_s = LOCAL_ZONE_TTL_S,
                                       .rrsets = chain,
                                   });
    return ERR_OK;
}

/* Loading a list spends its time here, so there is one lookup per name. */
enum err local_build_listed(struct local_build *build, uint32_t list, struct name name)
{
    uint32_t *number;
    size_t before = name_map_count(build->names->map);
    enum err err = name_map_put(build->names->map, name, list, &number);
    if (err)
        return err;
    struct local_node *node = local_node_at(build->names, *number);
    bool is_new = name_map_count(build->names->map) > before;
    if (node && !node->own_rule) {
        node->own_rule = (uint8_t)list;
        is_new = true;
    }
    build->names->rules[list].names += is_new;
    return ERR_OK;
}

void local_build_block_aliases(struct local_build *build)
{
    build->names->blocks_aliases = build->lists > 0;
}

enum err local_build_exempt(struct local_build *build, struct name zone)
{
    uint32_t *number;
    return name_is_root(zone) ? ERR_OK : name_map_put(build->exempt, zone, 0, &number);
}

enum err local_build_special(struct local_build *build, struct name name, enum local_action action,
                             bool is_delegated, bool *is_taken)
{
    if (!build->names->special_from)
        build->names->special_from = (uint32_t)build->names->rrset_count + 1;
    *is_taken = own_rule(build, name) || name_map_find(build->exempt, name);
    return *is_taken ? ERR_OK : set_rule(build, name, build->special_rules[is_delegated][action]);
}

enum err local_build_special_rr(struct local_build *build, struct name owner, uint16_t type,
                                struct span rdata)
{
    if (has_rrset(build, owner, type) || has_rrset(build, owner, RRTYPE_CNAME))
        return ERR_OK;
    return add_rr(build, owner, type, LOCAL_SPECIAL_TTL_S, rdata);
}

/* ---- the end ---- */

struct build_walk {
    struct local_build *build;
    enum err err;
};

/* Adds a zone with upstreams where the table would otherwise answer its names. */
static void add_exempt_zone(void *context, struct name zone, uint32_t *unused)
{
    struct build_walk *walk = context;
    struct local_build *build = walk->build;
    const struct local_rule *rule = &build->names->rules[own_rule(build, zone)];
    uint8_t len;
    (void)unused;
    if (walk->err || !name_map_find_suffix(build->names->map, zone, &len))
        return;
    bool is_local_zone = own_rule(build, zone) && rule->origin == LOCAL_OF_ZONES;
    if (!is_local_zone)
        walk->err = set_rule(build, zone, build->names->forward_rule);
}

/* Sets the rule that applies to a node. It comes from the longest name at or above the node that
 * has a rule. */
static void settle_node(void *context, struct name name, uint32_t *number)
{
    struct build_walk *walk = context;
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
    struct build_walk walk = {.build = *from};
    struct local_names *names = (*from)->names;
    name_map_each((*from)->exempt, add_exempt_zone, &walk);
    if (!walk.err) {
        name_map_trim(names->map);
        name_map_each(names->map, settle_node, &walk);
        (*from)->names = NULL;
    }
    *out = walk.err ? NULL : names;
    local_build_free(*from);
    *from = NULL;
    return walk.err;
}
