/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Turns the records of a zone into rules, and finds them. The zone gives all records of an owner
 * together, so each owner is judged as a whole.
 *
 * Invariant: the number of a name in a map holds the action of its exact rule in the lower bits and
 * that of its wildcard rule above them.
 */
#include "rpz/rpz_rules.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "dns/rrtype.h"
#include "local/name_map.h"
#include "zone/zone_data.h"

enum {
    ACTION_BITS = 3,
    ACTION_MASK = (1 << ACTION_BITS) - 1,
    PREFIXES_FIRST = 64,
    OWNERS_FIRST = 4096,
    PREFIX_BYTES = 2 * 20, /* of a prefix in a frozen set: two ranges */
};

_Static_assert((int)RPZ_DATA <= ACTION_MASK, "an action fits its bits");

/* A rule about addresses. */
struct prefix_rule {
    uint32_t owner_at; /* in owners */
    uint8_t action;
    uint8_t length; /* in the bits of IPv6 */
};

struct prefix_rules {
    struct prefix_set *set; /* gives the place of a rule */
    struct prefix_rule *rules;
    size_t count, room;
};

struct name_rules {
    struct name_map *map;
    size_t count;
};

struct rpz_rules {
    atomic_size_t refs;
    struct zone_data *data;
    struct name_rules names[RPZ_TRIGGERS];      /* QNAME and NSDNAME */
    struct prefix_rules prefixes[RPZ_TRIGGERS]; /* the others */
    uint8_t *owners;                            /* of the rules about addresses, in lower case */
    size_t owners_used, owners_room;
    size_t skipped;
    size_t max_bytes;
};

static const char *const action_names[RPZ_ACTIONS] = {
    [RPZ_NONE] = "none",         [RPZ_NXDOMAIN] = "nxdomain", [RPZ_NODATA] = "nodata",
    [RPZ_PASSTHRU] = "passthru", [RPZ_DROP] = "drop",         [RPZ_TCP_ONLY] = "tcp-only",
    [RPZ_DATA] = "local-data",   [RPZ_CNAME] = "cname",       [RPZ_DISABLED] = "disabled",
};

const char *rpz_action_name(enum rpz_action action)
{
    return action_names[action];
}

/* ---- life ---- */

static void rules_free(struct rpz_rules *rules)
{
    for (int i = 0; i < RPZ_TRIGGERS; i++) {
        name_map_free(rules->names[i].map);
        prefix_set_free(rules->prefixes[i].set);
        free(rules->prefixes[i].rules);
    }
    free(rules->owners);
    zone_data_unref(rules->data);
    free(rules);
}

static struct rpz_rules *rules_alloc(struct zone_data *data, size_t max_bytes)
{
    struct rpz_rules *rules = calloc(1, sizeof(*rules));
    bool is_whole = rules != NULL;
    if (!rules)
        return NULL;
    atomic_init(&rules->refs, 1);
    rules->data = zone_data_ref(data);
    rules->max_bytes = max_bytes;
    for (enum rpz_trigger i = 0; i < RPZ_TRIGGERS; i++) {
        if (rpz_trigger_is_name(i))
            is_whole &= (rules->names[i].map = name_map_new()) != NULL;
        else
            is_whole &= (rules->prefixes[i].set = prefix_set_new()) != NULL;
    }
    if (is_whole)
        return rules;
    rules_free(rules);
    return NULL;
}

struct rpz_rules *rpz_rules_ref(struct rpz_rules *rules)
{
    atomic_fetch_add_explicit(&rules->refs, 1, memory_order_relaxed);
    return rules;
}

void rpz_rules_unref(struct rpz_rules *rules)
{
    if (rules && atomic_fetch_sub_explicit(&rules->refs, 1, memory_order_acq_rel) == 1)
        rules_free(rules);
}

/* ---- one owner ---- */

/* The records of one owner. */
struct owner_records {
    struct name owner;
    struct name target;     /* of the CNAME; borrows from the zone */
    enum rpz_action action; /* of the CNAME */
    bool has_cname, has_data;
    bool has_fault;
};

static bool ignores_type(uint16_t type)
{
    return rrtype_is_dnssec(type) || type == RRTYPE_DNSKEY || type == RRTYPE_DS ||
           type == RRTYPE_NSEC3PARAM || type == RRTYPE_ZONEMD;
}

static bool is_reserved(struct name target)
{
    return target.wire[0] >= 4 && name_label_count(target) == 1 &&
           memcmp(target.wire + 1, "rpz-", 4) == 0;
}

enum rpz_action rpz_target_action(struct name target)
{
    static const struct {
        const char *wire;
        enum rpz_action action;
    } words[] = {
        {"", RPZ_NXDOMAIN},
        {"\1*", RPZ_NODATA},
        {"\14rpz-passthru", RPZ_PASSTHRU},
        {"\10rpz-drop", RPZ_DROP},
        {"\14rpz-tcp-only", RPZ_TCP_ONLY},
    };
    for (size_t i = 0; i < ARRAY_LEN(words); i++) {
        size_t len = strlen(words[i].wire) + 1;
        if (target.len == len && memcmp(target.wire, words[i].wire, len) == 0)
            return words[i].action;
    }
    return is_reserved(target) ? RPZ_NONE : RPZ_DATA;
}

/* An old form of PASSTHRU is a CNAME to the trigger itself (draft section 3.3). */
static bool is_old_passthru(const struct rpz_owner *owner, struct name target)
{
    return owner->trigger == RPZ_QNAME && !owner->is_wildcard && name_equal(owner->name, target);
}

static void note_record(struct owner_records *records, const struct zone_record *record)
{
    uint8_t wire[NAME_WIRE_MAX];
    if (ignores_type(record->type))
        return;
    if (record->type == RRTYPE_DNAME) {
        records->has_fault = true;
        return;
    }
    if (record->type != RRTYPE_CNAME) {
        records->has_data = true;
        return;
    }
    MUST(name_view(record->rdata, 0, &records->target)); /* the zone has checked the RDATA */
    records->has_fault |= records->has_cname;
    records->has_cname = true;
    records->action = rpz_target_action(name_fold(records->target, wire));
    records->has_fault |= records->action == RPZ_NONE;
}

/* ---- adding ---- */

static enum err add_name(struct name_rules *names, const struct rpz_owner *owner,
                         enum rpz_action action)
{
    uint32_t *number;
    enum err err = name_map_put(names->map, owner->name, 0, &number);
    if (err)
        return err;
    unsigned shift = owner->is_wildcard ? ACTION_BITS : 0;
    *number |= (uint32_t)action << shift;
    names->count++;
    return ERR_OK;
}

/* Makes room for one more item and returns the items, or NULL. */
static void *grow(void *items, size_t used, size_t *room, size_t need, size_t first, size_t size)
{
    if (used + need <= *room)
        return items;
    size_t wanted = MAX(used + need, MAX(*room + *room / 2, first));
    void *grown = realloc(items, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

static enum err keep_owner(struct rpz_rules *rules, struct name owner, uint32_t *at)
{
    uint8_t *owners =
        grow(rules->owners, rules->owners_used, &rules->owners_room, owner.len, OWNERS_FIRST, 1);
    if (!owners)
        return ERR_NO_MEMORY;
    rules->owners = owners;
    if (rules->owners_used + owner.len > UINT32_MAX)
        return ERR_LIMIT;
    *at = (uint32_t)rules->owners_used;
    name_fold(owner, owners + *at);
    rules->owners_used += owner.len;
    return ERR_OK;
}

/* ERR_INVALID: another owner writes the same prefix. */
static enum err rules_add_prefix(struct rpz_rules *rules, struct name owner,
                                 const struct rpz_owner *parsed, enum rpz_action action)
{
    struct prefix_rules *prefixes = &rules->prefixes[parsed->trigger];
    const struct prefix *prefix = &parsed->prefix;
    struct prefix_rule *items =
        grow(prefixes->rules, prefixes->count, &prefixes->room, 1, PREFIXES_FIRST, sizeof(*items));
    if (!items)
        return ERR_NO_MEMORY;
    prefixes->rules = items;
    enum err err = prefix_set_add(prefixes->set, prefix, (int)prefixes->count);
    if (err)
        return err;
    bool is_v4 = addr_family(&prefix->addr) == AF_INET;
    struct prefix_rule *rule = &items[prefixes->count++];
    rule->action = (uint8_t)action;
    rule->length = (uint8_t)(prefix->length + (is_v4 ? 96 : 0));
    return keep_owner(rules, owner, &rule->owner_at);
}

/* Owners are counted, not records: an owner is one rule. */
static void rules_skip(struct rpz_rules *rules, struct name owner, const char *why)
{
    char text[NAME_TEXT_MAX];
    rules->skipped++;
    LOG_LIMITED(LOG_WARNING, "rpz", "%s is not a rule and has no effect: %s",
                name_format(owner, text), why);
}

static const char *fault_of(const struct owner_records *records)
{
    if (records->has_cname && records->action == RPZ_NONE)
        return "its action is not known";
    if (records->has_cname)
        return "a CNAME must be the only record of its name";
    return "a DNAME is not an action";
}

static enum rpz_action action_of(const struct owner_records *records, const struct rpz_owner *owner)
{
    if (!records->has_cname)
        return RPZ_DATA;
    return is_old_passthru(owner, records->target) ? RPZ_PASSTHRU : records->action;
}

static enum err rules_add(struct rpz_rules *rules, const struct owner_records *records,
                          const struct rpz_owner *owner)
{
    enum rpz_action action = action_of(records, owner);
    if (rpz_trigger_is_name(owner->trigger))
        return add_name(&rules->names[owner->trigger], owner, action);
    enum err err = rules_add_prefix(rules, records->owner, owner, action);
    if (err != ERR_INVALID)
        return err;
    rules_skip(rules, records->owner, "another rule has the same prefix");
    return ERR_OK;
}

static enum err add_owner(struct rpz_rules *rules, const struct owner_records *records)
{
    struct rpz_owner owner;
    enum rpz_owner_kind kind =
        rpz_owner_read(&owner, records->owner, zone_data_origin(rules->data));
    if (kind == RPZ_OWNER_APEX || !(records->has_cname || records->has_data || records->has_fault))
        return ERR_OK;
    if (kind == RPZ_OWNER_RULE && !records->has_fault && !(records->has_cname && records->has_data))
        return rules_add(rules, records, &owner);
    rules_skip(rules, records->owner,
               kind == RPZ_OWNER_UNSOUND ? "its name is not a trigger" : fault_of(records));
    return ERR_OK;
}

/* ---- the whole zone ---- */

static enum err check_size(const struct rpz_rules *rules)
{
    return rpz_rules_bytes(rules) > rules->max_bytes ? ERR_LIMIT : ERR_OK;
}

static enum err add_zone(struct rpz_rules *rules)
{
    struct zone_iter iter;
    struct zone_record record;
    struct owner_records records = {0};
    enum err err = ERR_OK;
    zone_iter_init(&iter, rules->data);
    while (!err && zone_iter_next(&iter, &record)) {
        if (records.owner.len && !name_equal(records.owner, record.owner)) {
            err = add_owner(rules, &records);
            records = (struct owner_records){0};
            if (!err)
                err = check_size(rules);
        }
        records.owner = record.owner;
        note_record(&records, &record);
    }
    if (!err && records.owner.len)
        err = add_owner(rules, &records);
    return err ? err : check_size(rules);
}

static enum err rules_freeze(struct rpz_rules *rules)
{
    enum err err = ERR_OK;
    for (enum rpz_trigger i = 0; i < RPZ_TRIGGERS && !err; i++) {
        if (rpz_trigger_is_name(i))
            name_map_trim(rules->names[i].map);
        else
            err = prefix_set_freeze(rules->prefixes[i].set);
    }
    return err;
}

enum err rpz_rules_new(struct rpz_rules **out, struct zone_data *data, size_t max_bytes)
{
    struct rpz_rules *rules = *out = rules_alloc(data, max_bytes);
    if (!rules)
        return ERR_NO_MEMORY;
    enum err err = add_zone(rules);
    if (!err)
        err = rules_freeze(rules);
    if (!err)
        return ERR_OK;
    rules_free(rules);
    *out = NULL;
    return err;
}

/* ---- reading ---- */

size_t rpz_rules_count(const struct rpz_rules *rules, enum rpz_trigger trigger)
{
    return rpz_trigger_is_name(trigger) ? rules->names[trigger].count
                                        : rules->prefixes[trigger].count;
}

size_t rpz_rules_skipped(const struct rpz_rules *rules)
{
    return rules->skipped;
}

size_t rpz_rules_bytes(const struct rpz_rules *rules)
{
    size_t bytes = sizeof(*rules) + rules->owners_room;
    for (enum rpz_trigger i = 0; i < RPZ_TRIGGERS; i++) {
        if (rpz_trigger_is_name(i))
            bytes += name_map_bytes(rules->names[i].map);
        else
            bytes += rules->prefixes[i].room * sizeof(struct prefix_rule) +
                     rules->prefixes[i].count * PREFIX_BYTES;
    }
    return bytes;
}

const struct zone_data *rpz_rules_zone(const struct rpz_rules *rules)
{
    return rules->data;
}

/* Writes [*.]name[.rpz-nsdname].origin, which was an owner of the zone. */
static void write_owner(const struct rpz_rules *rules, struct name name, bool is_wildcard,
                        struct rpz_rule *out)
{
    static const uint8_t wildcard[] = "\1*", nsdname[] = "\13rpz-nsdname";
    struct name origin = zone_data_origin(rules->data);
    size_t len = 0, suffix = out->trigger == RPZ_NSDNAME ? sizeof(nsdname) - 1 : 0;
    if (is_wildcard) {
        memcpy(out->owner, wildcard, 2);
        len = 2;
    }
    MUST(len + name.len - 1u + suffix + origin.len <= NAME_WIRE_MAX);
    memcpy(out->owner + len, name.wire, name.len - 1u);
    len += name.len - 1u;
    memcpy(out->owner + len, nsdname, suffix);
    len += suffix;
    name_fold(origin, out->owner + len);
    out->owner_len = (uint8_t)(len + origin.len);
}

bool rpz_rules_find_name(const struct rpz_rules *rules, enum rpz_trigger trigger, struct name name,
                         struct rpz_rule *out)
{
    const struct name_map *map = rules->names[trigger].map;
    struct name above = name;
    uint8_t len;
    MUST(rpz_trigger_is_name(trigger));
    for (const uint32_t *number; (number = name_map_find_suffix(map, above, &len));) {
        struct name found = {name.wire + name.len - len, len};
        bool is_wildcard = len != name.len;
        uint32_t action = *number >> (is_wildcard ? ACTION_BITS : 0) & ACTION_MASK;
        if (action) {
            out->trigger = trigger;
            out->action = (enum rpz_action)action;
            out->is_wildcard = is_wildcard;
            out->prefix_length = 0;
            write_owner(rules, found, is_wildcard, out);
            return true;
        }
        if (name_is_root(found))
            return false;
        above = name_parent(found);
    }
    return false;
}

bool rpz_rules_may_have_qname(const struct rpz_rules *rules, struct name name)
{
    return name_map_may_have(rules->names[RPZ_QNAME].map, name);
}

/* Returns the place of the rule with the longest prefix, or -1. */
static int find_prefix(const struct rpz_rules *rules, enum rpz_trigger trigger,
                       const struct addr *addr)
{
    MUST(!rpz_trigger_is_name(trigger));
    return prefix_set_find(rules->prefixes[trigger].set, addr);
}

bool rpz_rules_have_addr(const struct rpz_rules *rules, enum rpz_trigger trigger,
                         const struct addr *addr)
{
    return find_prefix(rules, trigger, addr) >= 0;
}

bool rpz_rules_find_addr(const struct rpz_rules *rules, enum rpz_trigger trigger,
                         const struct addr *addr, struct rpz_rule *out)
{
    const struct prefix_rules *prefixes = &rules->prefixes[trigger];
    int place = find_prefix(rules, trigger, addr);
    if (place < 0)
        return false;
    const struct prefix_rule *rule = &prefixes->rules[place];
    struct name owner;
    MUST(name_view(span_of(rules->owners + rule->owner_at, rules->owners_used - rule->owner_at), 0,
                   &owner));
    out->trigger = trigger;
    out->action = (enum rpz_action)rule->action;
    out->prefix_length = rule->length;
    out->owner_len = name_copy(owner, out->owner).len;
    return true;
}
