/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Writes the answers of rules. rpz_policy.c decides which rule applies. */
#include "rpz/rpz_reply.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "zone/zone_data.h"

bool rpz_action_writes(enum rpz_action action)
{
    return action == RPZ_NXDOMAIN || action == RPZ_NODATA || action == RPZ_DATA ||
           action == RPZ_CNAME;
}

static uint16_t rpz_ede_code(const struct rpz_policy_zone *zone)
{
    static const uint16_t codes[] = {
        [RPZ_EDE_BLOCKED] = EDE_BLOCKED,   [RPZ_EDE_CENSORED] = EDE_CENSORED,
        [RPZ_EDE_FILTERED] = EDE_FILTERED, [RPZ_EDE_PROHIBITED] = EDE_PROHIBITED,
        [RPZ_EDE_NONE] = EDE_NONE,
    };
    return codes[rpz_policy_zone_options(zone)->ede];
}

/* ---- records ---- */

/* Writes the aliases that lead from the QNAME to the name. They go without their signatures: the
 * answer as a whole has none. */
static void put_aliases(struct compose *compose, const struct question *question,
                        const struct answer *former, struct name name, uint64_t now)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name at = question->name;
    struct message message;
    struct copy copy;
    if (!former || message_parse(&message, former->message) != MESSAGE_OK)
        return;
    uint32_t age_s = answer_age(former, now);
    copy_init(&copy, &compose->build, &message);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; !name_equal(at, name) && message_rr_next(&iter, &rr);) {
        if (rr.type == RRTYPE_DNAME)
            compose_copy(compose, &copy, &rr, rr.ttl > age_s ? rr.ttl - age_s : 0);
        if (rr.type != RRTYPE_CNAME || !message_owner_is(&message, &rr, at))
            continue;
        compose_copy(compose, &copy, &rr, rr.ttl > age_s ? rr.ttl - age_s : 0);
        if (!message_target(&message, &rr, wire, &at))
            return;
    }
}

static void rpz_put_rrset(struct compose *compose, struct name owner, struct zone_rrset *rrset)
{
    for (struct span rdata; zone_rrset_next(rrset, &rdata);)
        compose_rr(compose, owner, rrset->type, rrset->ttl, rdata);
}

static void rpz_put_soa(struct compose *compose, const struct zone_data *zone)
{
    struct zone_rrset soa;
    build_section(&compose->build, SECTION_ADDITIONAL);
    if (zone_data_find(zone, zone_data_origin(zone), RRTYPE_SOA, &soa))
        rpz_put_rrset(compose, zone_data_origin(zone), &soa);
}

/* ---- targets ---- */

/* A target "*.garden.example" takes the name in place of the "*" (draft section 3.6). False: it
 * would be too long. */
static bool expand_target(struct name pattern, struct name name, uint8_t wire[NAME_WIRE_MAX],
                          struct name *target)
{
    bool is_wildcard = pattern.len > 2 && pattern.wire[0] == 1 && pattern.wire[1] == '*';
    if (!is_wildcard) {
        *target = name_copy(pattern, wire);
        return true;
    }
    struct name rest = name_parent(pattern);
    size_t len = name.len - 1u + rest.len;
    if (len > NAME_WIRE_MAX)
        return false;
    memcpy(wire, name.wire, name.len - 1u);
    memcpy(wire + name.len - 1, rest.wire, rest.len);
    *target = (struct name){wire, (uint8_t)len};
    return true;
}

/* The contents of a reply. */
struct gift {
    uint16_t rcode;
    struct zone_rrset rrset; /* count 0: none */
    struct name pattern;     /* the target of a CNAME; len 0: none */
    uint32_t ttl_s;          /* of that CNAME */
};

enum { CNAME_TTL_S = 60 }; /* of a CNAME that the operator set: it changes with the configuration */

/* RFC 8482 section 4.1: one RRset is enough for ANY. */
static bool find_any(const struct zone_data *zone, struct name owner, struct zone_rrset *out)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_AAAA, RRTYPE_TXT, RRTYPE_MX, RRTYPE_HTTPS};
    for (size_t i = 0; i < ARRAY_LEN(types); i++)
        if (zone_data_find(zone, owner, types[i], out))
            return true;
    return false;
}

static void choose_data(const struct zone_data *zone, const struct rpz_decision *decision,
                        uint16_t type, struct gift *out)
{
    struct name owner = {decision->rule.owner, decision->rule.owner_len};
    struct zone_rrset rrset;
    struct span rdata;
    if (zone_data_find(zone, owner, RRTYPE_CNAME, &rrset) && zone_rrset_next(&rrset, &rdata)) {
        MUST(name_view(rdata, 0, &out->pattern));
        out->ttl_s = rrset.ttl;
    } else if (type == RRTYPE_ANY ? find_any(zone, owner, &rrset)
                                  : zone_data_find(zone, owner, type, &rrset)) {
        out->rrset = rrset;
    }
}

static void choose_gift(const struct rpz_decision *decision, uint16_t type, struct gift *out)
{
    const struct rpz_zone_options *options = rpz_policy_zone_options(decision->zone);
    *out = (struct gift){0};
    if (decision->action == RPZ_NXDOMAIN)
        out->rcode = RCODE_NXDOMAIN;
    else if (decision->action == RPZ_DATA)
        choose_data(rpz_rules_zone(rpz_policy_zone_rules(decision->zone)), decision, type, out);
    else if (decision->action == RPZ_CNAME)
        *out = (struct gift){.pattern = {options->cname, options->cname_len}, .ttl_s = CNAME_TTL_S};
}

/* ---- the answer ---- */

static enum answer_kind gift_kind(const struct gift *gift)
{
    if (gift->rcode == RCODE_NXDOMAIN)
        return ANSWER_NXDOMAIN;
    if (gift->rcode != RCODE_NOERROR)
        return ANSWER_FAILURE;
    return gift->pattern.len || gift->rrset.count ? ANSWER_POSITIVE : ANSWER_NODATA;
}

bool rpz_reply_write(struct answer *out, struct compose_space *space,
                     const struct question *question, const struct rpz_decision *decision,
                     const struct answer *former, uint64_t now, uint8_t wire[NAME_WIRE_MAX],
                     struct name *target)
{
    struct gift gift;
    struct compose compose;
    MUST(rpz_action_writes(decision->action));
    choose_gift(decision, question->type, &gift);
    if (gift.pattern.len && !expand_target(gift.pattern, decision->name, wire, target)) {
        gift.pattern.len = 0;
        gift.rcode = RCODE_YXDOMAIN;
    }
    compose_begin(&compose, space, question, gift.rcode);
    put_aliases(&compose, question, former, decision->name, now);
    if (gift.pattern.len)
        compose_cname(&compose, decision->name, RRCLASS_IN, gift.ttl_s, *target);
    else if (gift.rrset.count)
        rpz_put_rrset(&compose, decision->name, &gift.rrset);
    rpz_put_soa(&compose, rpz_rules_zone(rpz_policy_zone_rules(decision->zone)));
    if (!compose_end(&compose, out)) {
        compose_failure(out, space->bytes, question, RCODE_SERVFAIL);
        compose_describe(out, ANSWER_FAILURE, EDE_OTHER, now);
        return false;
    }
    compose_describe(out, gift_kind(&gift), rpz_ede_code(decision->zone), now);
    return gift.pattern.len && question->type != RRTYPE_CNAME && question->type != RRTYPE_ANY;
}
