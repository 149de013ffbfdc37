/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Looks for the first rule that matches. rpz_rules.c finds rules of one zone, and rpz_reply.c
 * writes what the client gets.
 */
#include "rpz/rpz_policy.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/answer.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "zone/zone_data.h"

/* The counters of a zone outlive its rules and its options. */
struct counters {
    atomic_size_t refs;
    atomic_ullong hits[RPZ_ACTIONS];
};

struct rpz_policy_zone {
    struct rpz_rules *rules; /* NULL: not loaded */
    struct counters *counters;
    bool has[RPZ_TRIGGERS];          /* it has rules with this trigger */
    struct rpz_zone_options options; /* its text is owned */
};

struct rpz_policy {
    atomic_size_t refs;
    size_t count;
    bool wait_recurse;
    bool has_disabled;      /* some zone is */
    bool has[RPZ_TRIGGERS]; /* some zone has rules with this trigger */
    struct rpz_policy_zone zones[];
};

/* ---- life ---- */

static void counters_unref(struct counters *counters)
{
    if (counters && atomic_fetch_sub(&counters->refs, 1) == 1)
        free(counters);
}

static struct name options_name(const struct rpz_zone_options *options)
{
    return (struct name){options->wire, options->name_len};
}

static struct counters *counters_new(void)
{
    struct counters *counters = calloc(1, sizeof(*counters));
    if (counters)
        atomic_init(&counters->refs, 1);
    return counters;
}

static struct rpz_policy_zone *policy_find_zone(struct rpz_policy *policy, struct name name)
{
    for (size_t i = 0; i < policy->count; i++)
        if (name_equal(options_name(&policy->zones[i].options), name))
            return &policy->zones[i];
    return NULL;
}

void rpz_policy_take_counters(struct rpz_policy *policy, const struct rpz_policy *before)
{
    for (size_t i = 0; i < before->count; i++) {
        struct counters *counters = before->zones[i].counters;
        struct rpz_policy_zone *zone =
            policy_find_zone(policy, options_name(&before->zones[i].options));
        if (!zone)
            continue;
        atomic_fetch_add(&counters->refs, 1);
        counters_unref(zone->counters);
        zone->counters = counters;
    }
}

static void policy_free(struct rpz_policy *policy)
{
    for (size_t i = 0; i < policy->count; i++) {
        rpz_rules_unref(policy->zones[i].rules);
        counters_unref(policy->zones[i].counters);
        free(policy->zones[i].options.log_name);
    }
    free(policy);
}

/* Returns false when out of memory; policy_free() frees the rest. */
static bool policy_add(struct rpz_policy *policy, struct rpz_policy_zone *zone,
                       const struct rpz_policy_entry *entry)
{
    struct rpz_rules *rules = entry->rules;
    zone->options = *entry->options;
    zone->options.log_name = strdup(entry->options->log_name);
    zone->counters = counters_new();
    zone->rules = rules ? rpz_rules_ref(rules) : NULL;
    policy->has_disabled |= zone->options.override == RPZ_OVERRIDE_DISABLED;
    for (enum rpz_trigger i = 0; rules && i < RPZ_TRIGGERS; i++) {
        zone->has[i] = rpz_rules_count(rules, i) > 0;
        policy->has[i] |= zone->has[i];
    }
    return zone->options.log_name && zone->counters;
}

struct rpz_policy *rpz_policy_new(const struct rpz_policy_entry *entries, size_t count,
                                  bool wait_recurse)
{
    MUST(count <= RPZ_ZONES_MAX);
    struct rpz_policy *policy = calloc(1, sizeof(*policy) + count * sizeof(policy->zones[0]));
    if (!policy)
        return NULL;
    atomic_init(&policy->refs, 1);
    policy->wait_recurse = wait_recurse;
    bool is_whole = true;
    for (; is_whole && policy->count < count; policy->count++)
        is_whole = policy_add(policy, &policy->zones[policy->count], &entries[policy->count]);
    if (is_whole)
        return policy;
    policy_free(policy);
    return NULL;
}

struct rpz_policy *rpz_policy_ref(struct rpz_policy *policy)
{
    atomic_fetch_add_explicit(&policy->refs, 1, memory_order_relaxed);
    return policy;
}

void rpz_policy_unref(struct rpz_policy *policy)
{
    if (policy && atomic_fetch_sub_explicit(&policy->refs, 1, memory_order_acq_rel) == 1)
        policy_free(policy);
}

/* ---- a match ---- */

static enum rpz_action overridden(const struct rpz_policy_zone *zone, enum rpz_action action)
{
    static const enum rpz_action actions[] = {
        [RPZ_OVERRIDE_NXDOMAIN] = RPZ_NXDOMAIN, [RPZ_OVERRIDE_NODATA] = RPZ_NODATA,
        [RPZ_OVERRIDE_PASSTHRU] = RPZ_PASSTHRU, [RPZ_OVERRIDE_DROP] = RPZ_DROP,
        [RPZ_OVERRIDE_TCP_ONLY] = RPZ_TCP_ONLY, [RPZ_OVERRIDE_CNAME] = RPZ_CNAME,
        [RPZ_OVERRIDE_DISABLED] = RPZ_DISABLED,
    };
    enum rpz_override override = zone->options.override;
    return override == RPZ_OVERRIDE_GIVEN ? action : actions[override];
}

/* Whether a CNAME of the rule or of the operator has this name as its target. */
static bool leads_to(const struct rpz_policy_zone *zone, const struct rpz_rule *rule,
                     enum rpz_action action, struct name name)
{
    struct name owner = {rule->owner, rule->owner_len}, target;
    struct zone_rrset rrset;
    struct span rdata;
    if (action == RPZ_CNAME)
        return name_equal((struct name){zone->options.cname, zone->options.cname_len}, name);
    return action == RPZ_DATA &&
           zone_data_find(rpz_rules_zone(zone->rules), owner, RRTYPE_CNAME, &rrset) &&
           zone_rrset_next(&rrset, &rdata) && name_view(rdata, 0, &target) &&
           name_equal(target, name);
}

/* A garden may be below a listed wildcard, or have a listed address. Its name passes, because an
 * alias to itself would lead clients nowhere. */
static enum rpz_action action_for(const struct rpz_policy_zone *zone, const struct rpz_rule *rule,
                                  struct name name)
{
    enum rpz_action action = overridden(zone, rule->action);
    return leads_to(zone, rule, action, name) ? RPZ_PASSTHRU : action;
}

static bool exempts_query(const struct rpz_query *query, enum rpz_action action)
{
    return action == RPZ_PASSTHRU || (action == RPZ_TCP_ONLY && query->is_stream);
}

static __attribute__((cold)) void log_match(const struct rpz_query *query,
                                            const struct rpz_decision *decision, const char *what)
{
    const struct rpz_zone_options *options = &decision->zone->options;
    char zone[NAME_TEXT_MAX], owner[NAME_TEXT_MAX], name[NAME_TEXT_MAX], client[ADDR_TEXT_MAX];
    char type[RRTYPE_TEXT_MAX];
    const char *label =
        *options->log_name ? options->log_name : name_format(options_name(options), zone);
    struct name rule = {decision->rule.owner, decision->rule.owner_len};
    LOG_LIMITED(LOG_NOTICE, "rpz", "%s: %s by rule %s (%s) for %s, which asks for %s %s", label,
                what, name_format(rule, owner), rpz_trigger_name(decision->rule.trigger),
                addr_format_ip(query->client, client), name_format(query->question->name, name),
                rrtype_name(query->question->type, type));
}

/* RPZ_NONE counts answers that stay because they are signed. */
static void note_match(const struct rpz_query *query, const struct rpz_decision *decision,
                       enum rpz_action action)
{
    if (query->is_look)
        return;
    atomic_fetch_add_explicit(&decision->zone->counters->hits[action], 1, memory_order_relaxed);
    if (decision->zone->options.log)
        log_match(query, decision,
                  action == RPZ_NONE ? "signed, so kept" : rpz_action_name(action));
}

/* ---- one zone ---- */

/* One name of an alias chain, and what is known about it. */
struct place {
    struct name name; /* in lower case */
    bool is_first;
    bool skips_query;         /* client and QNAME have already been checked */
    const struct addr *addrs; /* of the answer, the listed ones */
    size_t addr_count;
    const struct rpz_servers *servers; /* NULL: not known, or not wanted */
};

/* Compares addresses in IPv6 form: IPv4 is mapped. */
static int compare_addrs(const struct addr *a, const struct addr *b)
{
    uint8_t bytes[2][16] = {{[10] = 0xff, [11] = 0xff}, {[10] = 0xff, [11] = 0xff}};
    const struct addr *addrs[] = {a, b};
    for (int i = 0; i < 2; i++) {
        size_t len;
        const uint8_t *from = addr_bytes(addrs[i], &len);
        memcpy(bytes[i] + 16 - len, from, len);
        if (len == 16)
            memcpy(bytes[i], from, len);
    }
    return memcmp(bytes[0], bytes[1], 16);
}

/* Prefers the longer prefix, then the smaller address. */
static bool find_addrs(const struct rpz_policy_zone *zone, enum rpz_trigger trigger,
                       const struct addr *addrs, size_t count, struct rpz_rule *out)
{
    struct rpz_rule rule;
    const struct addr *best = NULL;
    for (size_t i = 0; zone->has[trigger] && i < count; i++) {
        if (!rpz_rules_find_addr(zone->rules, trigger, &addrs[i], &rule))
            continue;
        if (best &&
            (rule.prefix_length < out->prefix_length ||
             (rule.prefix_length == out->prefix_length && compare_addrs(&addrs[i], best) >= 0)))
            continue;
        best = &addrs[i];
        *out = rule;
    }
    return best != NULL;
}

static bool find_name(const struct rpz_policy_zone *zone, enum rpz_trigger trigger,
                      struct name name, struct rpz_rule *out)
{
    return zone->has[trigger] && rpz_rules_find_name(zone->rules, trigger, name, out);
}

/* Compares the rules about two servers by section 5.3 of the draft. Above 0: a is better. */
static int compare_name_rules(const struct rpz_rule *a, const struct rpz_rule *b)
{
    if (a->is_wildcard != b->is_wildcard)
        return a->is_wildcard ? -1 : 1;
    if (!a->is_wildcard)
        return 0;
    return (int)name_label_count((struct name){a->owner, a->owner_len}) -
           (int)name_label_count((struct name){b->owner, b->owner_len});
}

/* Between equal rules the servers are compared (section 5.5), so a wildcard can win by either of
 * two. */
static bool find_servers(const struct rpz_policy_zone *zone, const struct rpz_servers *servers,
                         struct rpz_rule *out)
{
    struct rpz_rule rule;
    const struct name *best = NULL;
    for (size_t i = 0; i < servers->name_count; i++) {
        const struct name *server = &servers->names[i];
        if (!find_name(zone, RPZ_NSDNAME, *server, &rule))
            continue;
        int better = best ? compare_name_rules(&rule, out) : 1;
        if (better < 0 || (better == 0 && name_compare(*server, *best) <= 0))
            continue;
        best = server;
        *out = rule;
    }
    return best != NULL;
}

/* Finds the rule of the zone with the first trigger. */
static bool find_rule(const struct rpz_policy_zone *zone, const struct rpz_query *query,
                      const struct place *place, struct rpz_rule *out)
{
    if (!place->skips_query) {
        if (place->is_first && find_addrs(zone, RPZ_CLIENT_IP, query->client, 1, out))
            return true;
        if (find_name(zone, RPZ_QNAME, place->name, out))
            return true;
    }
    if (find_addrs(zone, RPZ_IP, place->addrs, place->addr_count, out))
        return true;
    return place->servers &&
           (find_servers(zone, place->servers, out) ||
            find_addrs(zone, RPZ_NSIP, place->servers->addrs, place->servers->addr_count, out));
}

/* ---- before the look-up ---- */

static bool is_excepted(uint32_t except, size_t at)
{
    return except >> at & 1;
}

/* Whether a rule with this trigger, about addresses, matches. Out of line: most policies are only
 * about names. */
static __attribute__((noinline)) bool lists_address(const struct rpz_policy *policy,
                                                    uint32_t except, enum rpz_trigger trigger,
                                                    const struct addr *addr)
{
    for (size_t i = 0; i < policy->count; i++)
        if (policy->zones[i].has[trigger] && !is_excepted(except, i) &&
            rpz_rules_have_addr(policy->zones[i].rules, trigger, addr))
            return true;
    return false;
}

bool rpz_policy_lists_client(const struct rpz_policy *policy, uint32_t except,
                             const struct addr *client)
{
    return policy->has[RPZ_CLIENT_IP] && lists_address(policy, except, RPZ_CLIENT_IP, client);
}

bool rpz_policy_may_ask(const struct rpz_policy *policy, uint32_t except, struct name name)
{
    const struct rpz_policy_zone *end = policy->zones + policy->count;
    struct rpz_rule rule;
    for (const struct rpz_policy_zone *zone = policy->zones; zone < end; zone++, except >>= 1)
        if (!(except & 1) && zone->has[RPZ_QNAME] && rpz_rules_may_have_qname(zone->rules, name) &&
            find_name(zone, RPZ_QNAME, name, &rule))
            return true;
    return false;
}

static bool waits_for_answer(const struct rpz_policy_zone *zone)
{
    return zone->has[RPZ_IP] || zone->has[RPZ_NSDNAME] || zone->has[RPZ_NSIP];
}

static bool keeps_signed(const struct rpz_query *query, const struct rpz_policy_zone *zone)
{
    return query->dnssec_ok && !zone->options.break_dnssec;
}

static void set_name(struct rpz_decision *out, struct name name)
{
    out->name = name_copy(name, out->wire);
}

/* Finds the rule about client and QNAME that decides. *count: the zones that were checked. */
static enum rpz_step ask_zones(const struct rpz_policy *policy, const struct rpz_query *query,
                               const struct place *place, struct rpz_decision *out, size_t *count)
{
    bool has_to_wait = false; /* an earlier zone may decide once the answer is known */
    for (*count = 0; *count < policy->count;) {
        size_t at = (*count)++;
        if (is_excepted(query->except, at))
            continue;
        out->zone = &policy->zones[at];
        out->action = RPZ_DISABLED;
        if (find_rule(out->zone, query, place, &out->rule))
            out->action = action_for(out->zone, &out->rule, place->name);
        if (out->action == RPZ_DISABLED) {
            has_to_wait |= waits_for_answer(out->zone);
            continue;
        }
        bool exempts = exempts_query(query, out->action);
        if (has_to_wait && (exempts || policy->wait_recurse))
            return RPZ_WAIT;
        if (exempts)
            return RPZ_EXEMPT;
        return keeps_signed(query, out->zone) ? RPZ_WAIT : RPZ_DECIDED;
    }
    return RPZ_CLEAR;
}

/* Counts and logs the disabled rules among the first count zones. */
static void note_disabled(const struct rpz_policy *policy, const struct rpz_query *query,
                          const struct place *place, size_t count)
{
    struct rpz_decision decision;
    for (size_t i = 0; i < count; i++) {
        decision.zone = &policy->zones[i];
        if (decision.zone->options.override == RPZ_OVERRIDE_DISABLED &&
            !is_excepted(query->except, i) &&
            find_rule(decision.zone, query, place, &decision.rule))
            note_match(query, &decision, RPZ_DISABLED);
    }
}

enum rpz_step rpz_policy_ask(const struct rpz_policy *policy, const struct rpz_query *query,
                             struct rpz_decision *out)
{
    struct place place = {.name = query->question->name, .is_first = true};
    size_t count;
    enum rpz_step step = ask_zones(policy, query, &place, out, &count);
    if (step == RPZ_WAIT)
        return step;
    if (policy->has_disabled)
        note_disabled(policy, query, &place, count);
    if (step == RPZ_CLEAR)
        return step;
    set_name(out, query->question->name);
    note_match(query, out, out->action);
    return step;
}

/* ---- with the answer ---- */

/* The listed addresses of an answer, and its chain of aliases. */
struct sight {
    struct message message;
    struct addr addrs[RPZ_ADDRESSES_MAX];
    size_t addr_count;
};

/* Reads the address of an A or AAAA record. False: the record is another one. */
static bool policy_read_address(uint16_t type, struct span rdata, struct addr *out)
{
    if (type == RRTYPE_A) {
        struct sockaddr_in v4 = {.sin_family = AF_INET};
        if (rdata.len != sizeof(v4.sin_addr))
            return false;
        memcpy(&v4.sin_addr, rdata.data, sizeof(v4.sin_addr));
        return addr_from_sockaddr(out, (const void *)&v4) == ERR_OK;
    }
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6};
    if (type != RRTYPE_AAAA || rdata.len != sizeof(v6.sin6_addr))
        return false;
    memcpy(&v6.sin6_addr, rdata.data, sizeof(v6.sin6_addr));
    return addr_from_sockaddr(out, (const void *)&v6) == ERR_OK;
}

/* Keeps only the listed addresses: otherwise a site could hide one behind as many others as are
 * kept. */
static void find_addresses(struct sight *sight, const struct rpz_policy *policy, uint32_t except)
{
    struct rr_iter iter = message_rrs(&sight->message, SECTION_ANSWER);
    sight->addr_count = 0;
    for (struct rr rr; sight->addr_count < RPZ_ADDRESSES_MAX && message_rr_next(&iter, &rr);) {
        struct addr *addr = &sight->addrs[sight->addr_count];
        if (policy_read_address(rr.type, message_rdata(&sight->message, &rr), addr) &&
            lists_address(policy, except, RPZ_IP, addr))
            sight->addr_count++;
    }
}

/* An alias is the answer itself to a question for it. */
bool rpz_policy_follows(const struct question *question)
{
    return question->type != RRTYPE_CNAME && question->type != RRTYPE_ANY;
}

bool rpz_policy_find_target(const struct message *message, struct name name,
                            uint8_t wire[NAME_WIRE_MAX], struct name *target)
{
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_CNAME && message_owner_is(message, &rr, name))
            return message_target(message, &rr, wire, target);
    return false;
}

/* Looks at one place of the chain. */
static enum rpz_step judge_place(const struct rpz_policy *policy, const struct rpz_query *query,
                                 const struct place *place, bool is_signed,
                                 struct rpz_decision *out)
{
    for (size_t i = 0; i < policy->count; i++) {
        out->zone = &policy->zones[i];
        if (is_excepted(query->except, i) || !find_rule(out->zone, query, place, &out->rule))
            continue;
        out->action = action_for(out->zone, &out->rule, place->name);
        bool exempts = exempts_query(query, out->action);
        if (out->action == RPZ_DISABLED) {
            note_match(query, out, RPZ_DISABLED);
        } else if (!exempts && is_signed && keeps_signed(query, out->zone)) {
            note_match(query, out, RPZ_NONE);
        } else {
            set_name(out, place->name);
            note_match(query, out, out->action);
            return exempts ? RPZ_EXEMPT : RPZ_DECIDED;
        }
    }
    return RPZ_CLEAR;
}

static void policy_fill_place(bool needs_servers, const struct rpz_answer *answer,
                              const struct sight *sight, bool is_last, struct place *place)
{
    if (answer->is_local)
        return;
    if (is_last) {
        place->addrs = sight->addrs;
        place->addr_count = sight->addr_count;
    }
    if (needs_servers)
        place->servers = answer->servers(answer->context, place->name, is_last);
}

static enum rpz_step judge_chain(const struct rpz_policy *policy, const struct rpz_query *query,
                                 const struct rpz_answer *answer, bool is_clear,
                                 struct sight *sight, struct rpz_decision *out)
{
    uint8_t wire[NAME_WIRE_MAX], lower[NAME_WIRE_MAX];
    struct name name = query->question->name, target;
    bool needs_servers = rpz_policy_needs_servers(policy, query->except);
    if (policy->has[RPZ_IP] && !answer->is_local)
        find_addresses(sight, policy, query->except);
    for (unsigned hops = 0; hops <= RPZ_ALIASES_MAX; hops++) {
        bool is_last = !rpz_policy_follows(query->question) ||
                       !rpz_policy_find_target(&sight->message, name, wire, &target);
        struct place place = {
            .name = name, .is_first = hops == 0, .skips_query = is_clear && hops == 0};
        policy_fill_place(needs_servers, answer, sight, is_last, &place);
        enum rpz_step step = judge_place(policy, query, &place, answer->is_signed, out);
        if (step != RPZ_CLEAR || is_last)
            return step;
        name = name_fold(target, lower);
    }
    return RPZ_CLEAR;
}

enum rpz_step rpz_policy_judge(const struct rpz_policy *policy, const struct rpz_query *query,
                               const struct rpz_answer *answer, bool is_clear,
                               struct rpz_decision *out)
{
    struct sight sight;
    bool has_more = policy->has[RPZ_IP] || rpz_policy_needs_servers(policy, query->except);
    if (is_clear && !has_more && !answer_may_have_alias(answer->message, query->question->name))
        return RPZ_CLEAR;
    sight.addr_count = 0;
    if (message_parse(&sight.message, answer->message) != MESSAGE_OK)
        return RPZ_CLEAR;
    return judge_chain(policy, query, answer, is_clear, &sight, out);
}

/* Finds the records by the offsets of their TTLs, so that a hit is not parsed. The first offsets
 * are those of the answer section. */
static __attribute__((noinline)) bool
lists_any_address(const struct rpz_policy *policy, uint32_t except, const struct answer *answer)
{
    struct span message = answer->message;
    uint16_t count = header_count(message.data, SECTION_ANSWER);
    struct addr addr;
    for (uint16_t i = 0; i < count && i < answer->ttl_count; i++) {
        const uint8_t *ttl = message.data + answer->ttl_offsets[i];
        struct span rdata = span_of(ttl + 6, get_u16(ttl + 4));
        if (policy_read_address(get_u16(ttl - 4), rdata, &addr) &&
            lists_address(policy, except, RPZ_IP, &addr))
            return true;
    }
    return count > answer->ttl_count;
}

/* Whether a rule is about the target of an alias, or the message is unsound. */
static bool lists_any_target(const struct rpz_policy *policy, uint32_t except, struct span bytes)
{
    uint8_t wire[NAME_WIRE_MAX], lower[NAME_WIRE_MAX];
    struct message message;
    struct name target;
    if (message_parse(&message, bytes) != MESSAGE_OK)
        return true;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_CNAME &&
            (!message_target(&message, &rr, wire, &target) ||
             rpz_policy_may_ask(policy, except, name_fold(target, lower))))
            return true;
    return false;
}

bool rpz_policy_may_judge(const struct rpz_policy *policy, uint32_t except, struct name name,
                          const struct answer *answer)
{
    return rpz_policy_needs_servers(policy, except) ||
           (answer_may_have_alias(answer->message, name) &&
            lists_any_target(policy, except, answer->message)) ||
           (policy->has[RPZ_IP] && lists_any_address(policy, except, answer));
}

bool rpz_policy_needs_servers(const struct rpz_policy *policy, uint32_t except)
{
    if (!policy->has[RPZ_NSDNAME] && !policy->has[RPZ_NSIP])
        return false;
    for (size_t i = 0; i < policy->count; i++)
        if (!is_excepted(except, i) &&
            (policy->zones[i].has[RPZ_NSDNAME] || policy->zones[i].has[RPZ_NSIP]))
            return true;
    return false;
}

bool rpz_policy_needs_server_addrs(const struct rpz_policy *policy, uint32_t except)
{
    for (size_t i = 0; policy->has[RPZ_NSIP] && i < policy->count; i++)
        if (!is_excepted(except, i) && policy->zones[i].has[RPZ_NSIP])
            return true;
    return false;
}

/* ---- zones ---- */

size_t rpz_policy_count(const struct rpz_policy *policy)
{
    return policy->count;
}

const struct rpz_policy_zone *rpz_policy_at(const struct rpz_policy *policy, size_t at)
{
    MUST(at < policy->count);
    return &policy->zones[at];
}

const struct rpz_zone_options *rpz_policy_zone_options(const struct rpz_policy_zone *zone)
{
    return &zone->options;
}

struct rpz_rules *rpz_policy_zone_rules(const struct rpz_policy_zone *zone)
{
    return zone->rules;
}

bool rpz_policy_waits(const struct rpz_policy *policy)
{
    return policy->wait_recurse;
}

uint64_t rpz_policy_zone_hits(const struct rpz_policy_zone *zone, enum rpz_action action)
{
    return atomic_load_explicit(&zone->counters->hits[action], memory_order_relaxed);
}
