/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Names the kind of a response. The strategy decides what to do about it, and scrub decides what is
 * kept.
 *
 * Invariant: only a message whose whole RDATA is sound gets a useful kind.
 */
#include "resolve/classify.h"

#include "base/check.h"
#include "dns/rrtype.h"
#include "resolve/route.h"

bool response_is_useful(enum response_kind kind)
{
    return kind <= RESPONSE_YXDOMAIN;
}

void response_cut_at_alias(struct response *response, const struct message *message,
                           const struct question *question)
{
    struct alias_chain *chain = &response->chain;
    MUST(chain->hops);
    MUST(alias_target(message, &chain->hop[0], question->name, chain->wire, &chain->name));
    chain->hops = 1;
    chain->end = ALIAS_LEFT;
    chain->is_made = false;
    response->kind = RESPONSE_ALIAS;
    response->has_soa = response->soa_is_above = response->is_empty = false;
}

const char *response_kind_name(enum response_kind kind)
{
    static const char *const names[] = {
        [RESPONSE_ANSWER] = "answer",       [RESPONSE_ALIAS] = "alias",
        [RESPONSE_NODATA] = "nodata",       [RESPONSE_NXDOMAIN] = "nxdomain",
        [RESPONSE_YXDOMAIN] = "yxdomain",   [RESPONSE_REFERRAL] = "referral",
        [RESPONSE_LOOP] = "loop",           [RESPONSE_SERVFAIL] = "servfail",
        [RESPONSE_REFUSED] = "refused",     [RESPONSE_NOTIMP] = "notimp",
        [RESPONSE_FORMERR] = "formerr",     [RESPONSE_OTHER] = "other rcode",
        [RESPONSE_TRUNCATED] = "truncated", [RESPONSE_UNSOUND] = "unsound",
        [RESPONSE_LAME] = "lame",
    };
    MUST((size_t)kind < ARRAY_LEN(names));
    return names[kind];
}

/* Finds the SOA of the zone that has the name: its owner is the name or above it. A sibling's SOA
 * would let one zone decide about another's absence. The SOA may be above the asked zone where a
 * forward zone lies inside another zone: it then tells how long the absence holds. */
static bool find_soa(struct response *out, const struct message *message,
                     const struct question *question, const struct zone *zone)
{
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_SOA || rr.cls != question->cls || rr.rdata_len < 4)
            continue;
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner = message_owner(message, &rr, wire);
        bool is_owned = route_owns(zone, owner);
        if (!name_is_below(out->chain.name, owner) ||
            (!is_owned && !name_is_below(zone->name, owner)))
            continue;
        struct span rdata = message_rdata(message, &rr);
        uint32_t minimum = get_u32(rdata.data + rdata.len - 4);
        if (minimum > INT32_MAX) /* like a TTL: RFC 2181 section 8 */
            minimum = 0;
        out->soa = rr;
        out->soa_is_above = !is_owned;
        out->soa_ttl = MIN(rr.ttl, minimum);
        return true;
    }
    return false;
}

/* Whether authority refers to other servers. A server that offers recursion does not refer: NS
 * records beside its denial name the servers of the zone that has the name, if the asked zone may
 * speak about that one. */
static bool refers(const struct message *message, struct name asked, const struct zone *zone)
{
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rr.type != RRTYPE_NS)
            continue;
        uint8_t wire[NAME_WIRE_MAX];
        struct name owner = message_owner(message, &rr, wire);
        if (!(message->flags & HEADER_RA) || !name_is_below(asked, owner) ||
            !route_owns(zone, owner))
            return true;
    }
    return false;
}

/* ---- servers that should have the zone ---- */

/* Decides by the owner of an NS record in the authority section. A referral upwards is never
 * authoritative, whatever AA says. A server that recurses itself does not refer: it denies, and
 * counts where no other server has the zone. */
static enum response_kind kind_of_ns(const struct message *message, struct name owner,
                                     struct name asked, const struct zone *zone)
{
    bool is_below = owner.len > zone->name.len && name_is_below(owner, zone->name);
    if (is_below && name_is_below(asked, owner))
        return RESPONSE_REFERRAL;
    bool is_above = owner.len < zone->name.len && name_is_below(zone->name, owner);
    bool may_deny = message->flags & (HEADER_AA | HEADER_RA);
    return may_deny && !is_above ? RESPONSE_NODATA : RESPONSE_LAME;
}

/* Decides about a response without data and without an SOA: it is a referral downwards if it has
 * one. Otherwise the NS records decide, and without any it is a bare NODATA. */
static enum response_kind kind_of_authority(const struct message *message,
                                            const struct question *question,
                                            const struct zone *zone)
{
    enum response_kind kind = RESPONSE_NODATA;
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; kind != RESPONSE_REFERRAL && message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        if (rr.type == RRTYPE_NS && rr.cls == question->cls)
            kind = kind_of_ns(message, message_owner(message, &rr, wire), question->name, zone);
    }
    return kind;
}

/* Whether the answer section holds a referral: some parents put the NS records of a zone below
 * there when they are asked for them. */
static bool is_referral_in_answer(const struct response *out, const struct message *message,
                                  const struct question *question, const struct zone *zone)
{
    return out->chain.hops == 0 && question->type == RRTYPE_NS && !(message->flags & HEADER_AA) &&
           question->name.len > zone->name.len;
}

static bool has_in_authority(const struct message *message, const struct question *question,
                             uint16_t type)
{
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == type && rr.cls == question->cls &&
            message_owner_is(message, &rr, question->name))
            return true;
    return false;
}

/* Some servers answer a question for the DS record of a zone below with a referral to that zone,
 * which does not have the record. Either the referral contains the DS record, or there is no such
 * record (RFC 4035 section 3.1.4.1). */
static enum response_kind kind_of_referral(struct response *out, const struct message *message,
                                           const struct question *question)
{
    if (question->type != RRTYPE_DS || !has_in_authority(message, question, RRTYPE_NS))
        return RESPONSE_REFERRAL;
    if (!has_in_authority(message, question, RRTYPE_DS))
        return RESPONSE_NODATA;
    out->chain.end = ALIAS_DATA;
    out->data = SECTION_AUTHORITY;
    return RESPONSE_ANSWER;
}

/* Whether the server itself recurses: its data may be old, or another server's. */
static bool is_recursive(const struct message *message)
{
    return message->flags & HEADER_RA && !(message->flags & HEADER_AA);
}

/* Whether another zone's SOA denies the name, a zone beside or below this one: the server has that
 * zone and not this one. */
static bool is_of_other_zone(const struct response *out, enum response_kind kind,
                             const struct message *message, const struct question *question)
{
    if (out->has_soa || out->chain.hops || (kind != RESPONSE_NODATA && kind != RESPONSE_NXDOMAIN))
        return false;
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.type == RRTYPE_SOA && rr.cls == question->cls)
            return true;
    return false;
}

/* Whether the SOA of a zone above denies the name: a server of this zone would show this zone's own
 * SOA. Only a configured zone may be a part of another. A load balancer that has only one type of a
 * name denies the other types like this. A server does the same if its operator delegated a part of
 * a zone to it and forgot to create that part. Such a denial is believed when no other server has a
 * better answer. */
static bool is_of_zone_above(const struct response *out, const struct zone *zone)
{
    bool is_operators =
        zone->group_len && (!zone->within || zone->name.len == zone->within->name.len);
    return out->has_soa && out->soa_is_above && !out->chain.hops && !is_operators;
}

/* Whether the root or a top-level domain denies the name. Only their own servers have these zones:
 * a server that denies every name has no zone. */
static bool denies_the_world(const struct response *out, enum response_kind kind,
                             const struct message *message)
{
    uint8_t wire[NAME_WIRE_MAX];
    return kind == RESPONSE_NXDOMAIN &&
           name_label_count(message_owner(message, &out->soa, wire)) < 2;
}

/* Whether a denial lacks everything that a server of the zone would show: the AA bit and the zone's
 * SOA. The server may have lost the zone. Such a denial is believed when no other server has a
 * better answer. */
static bool is_bare_denial(const struct response *out, enum response_kind kind,
                           const struct message *message)
{
    return kind == RESPONSE_NXDOMAIN && !out->has_soa && !out->chain.hops &&
           !(message->flags & HEADER_AA);
}

/* Decides about a server that should have the zone. */
static enum response_kind kind_of_authoritative(struct response *out, enum response_kind kind,
                                                const struct message *message,
                                                const struct question *question,
                                                const struct zone *zone)
{
    if (kind == RESPONSE_ANSWER && is_referral_in_answer(out, message, question, zone)) {
        out->referral = SECTION_ANSWER;
        return RESPONSE_REFERRAL;
    }
    bool is_bare = out->chain.end == ALIAS_NOTHING && !out->has_soa && !out->chain.hops &&
                   out->rcode == RCODE_NOERROR;
    if (is_bare)
        kind = kind_of_authority(message, question, zone);
    if (is_bare && kind == RESPONSE_REFERRAL)
        kind = kind_of_referral(out, message, question);
    bool is_above = is_of_zone_above(out, zone);
    if (is_of_other_zone(out, kind, message, question) ||
        (is_above && denies_the_world(out, kind, message)))
        return RESPONSE_LAME;
    bool is_claim = response_is_useful(kind) || kind == RESPONSE_LOOP;
    out->is_empty = is_above || (is_bare && !message->counts[SECTION_AUTHORITY]) ||
                    is_bare_denial(out, kind, message);
    out->is_recursive = is_claim && is_recursive(message);
    return out->is_recursive && !zone->is_last_hope ? RESPONSE_LAME : kind;
}

/* ---- all ---- */

/* Decides about NOERROR where the chain ends without the records asked for. */
static enum response_kind kind_of_nothing(const struct response *out, const struct message *message,
                                          const struct zone *zone)
{
    if (out->has_soa)
        return RESPONSE_NODATA;
    if (out->chain.hops)
        return RESPONSE_ALIAS;
    return refers(message, out->chain.name, zone) ? RESPONSE_REFERRAL : RESPONSE_NODATA;
}

/* Whether the rcode is about the target of an alias that was asked for: some servers follow it
 * anyway and say that the target does not exist. */
static bool is_of_target(const struct response *out, const struct question *question)
{
    return out->rcode == RCODE_NXDOMAIN && question->type == RRTYPE_CNAME;
}

/* Decides about NOERROR, NXDOMAIN and YXDOMAIN by the end of the chain. */
static enum response_kind kind_of_chain(struct response *out, const struct message *message,
                                        const struct question *question, const struct zone *zone)
{
    switch (out->chain.end) {
    case ALIAS_DATA:
        return out->rcode == RCODE_NOERROR || is_of_target(out, question) ? RESPONSE_ANSWER
                                                                          : RESPONSE_UNSOUND;
    case ALIAS_LEFT: /* the rcode is about a name of another zone */
        return RESPONSE_ALIAS;
    case ALIAS_LOOP:
    case ALIAS_LONG:
        return RESPONSE_LOOP;
    case ALIAS_OVERFLOW:
        return RESPONSE_YXDOMAIN;
    case ALIAS_UNSOUND:
        return RESPONSE_UNSOUND;
    case ALIAS_NOTHING:
        break;
    }
    if (out->rcode == RCODE_YXDOMAIN)
        return RESPONSE_OTHER;
    out->has_soa = find_soa(out, message, question, zone);
    if (out->rcode == RCODE_NXDOMAIN)
        return RESPONSE_NXDOMAIN;
    return kind_of_nothing(out, message, zone);
}

static enum response_kind kind_of_rcode(uint16_t rcode)
{
    switch (rcode) {
    case RCODE_SERVFAIL:
        return RESPONSE_SERVFAIL;
    case RCODE_REFUSED:
        return RESPONSE_REFUSED;
    case RCODE_NOTIMP:
        return RESPONSE_NOTIMP;
    case RCODE_FORMERR:
        return RESPONSE_FORMERR;
    default:
        return RESPONSE_OTHER;
    }
}

static uint16_t ede_of(const struct message *message)
{
    struct edns_ede ede;
    return edns_find_ede(&message->edns, &ede) == EDNS_FOUND ? ede.code : EDE_NONE;
}

static bool has_chain(uint16_t rcode)
{
    return rcode == RCODE_NOERROR || rcode == RCODE_NXDOMAIN || rcode == RCODE_YXDOMAIN;
}

void classify(struct response *out, const struct message *message, const struct question *question,
              const struct zone *zone)
{
    out->rcode = message_rcode(message);
    out->ede = EDE_NONE;
    out->has_soa = out->soa_is_above = out->is_recursive = out->is_empty = false;
    out->referral = SECTION_AUTHORITY;
    out->data = SECTION_ANSWER;
    out->chain.hops = 0;
    out->chain.name = question->name;
    if (message->edns.present)
        out->ede = ede_of(message);
    if (!message_is_answer(message) || message_opcode(message) != OPCODE_QUERY)
        out->kind = RESPONSE_UNSOUND;
    else if (!has_chain(out->rcode))
        out->kind = kind_of_rcode(out->rcode);
    else if (message->flags & HEADER_TC)
        out->kind = RESPONSE_TRUNCATED;
    else if (!message_check_rdata(message))
        out->kind = RESPONSE_UNSOUND;
    else {
        alias_follow(&out->chain, message, question, zone);
        out->kind = kind_of_chain(out, message, question, zone);
        if (zone->is_authoritative)
            out->kind = kind_of_authoritative(out, out->kind, message, question, zone);
    }
}

bool response_to_plain(struct plain_response *out, const struct response *from)
{
    if (from->chain.name.wire == from->chain.wire)
        return false;
    memcpy(out->bytes, from, sizeof(out->bytes));
    return true;
}

void response_from_plain(struct response *out, const struct plain_response *from)
{
    memcpy(out, from->bytes, sizeof(from->bytes));
}
