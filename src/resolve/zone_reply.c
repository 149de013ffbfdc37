/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Follows the aliases of a zone and writes the records that it finds. zone_find decides, and
 * zone_proof chooses the proofs. Invariant: no record of a node below a cut is written as an
 * answer.
 */
#include "resolve/zone_reply.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/alias.h"
#include "resolve/zone_proof.h"
#include "zone/zone_data.h"
#include "zone/zone_find.h"

struct zone_writer {
    struct compose compose;
    const struct zone_data *data;
    const struct question *question;
    const struct zone_reply_wish *wish;
    unsigned units_left;
    /* The name that is looked up: the QNAME, then the targets of aliases. */
    struct name name;
    uint8_t *name_wire;
    unsigned hops;
    struct zone_proof wildcards[ALIAS_HOPS_MAX + 1]; /* proofs of answers from wildcards */
    unsigned wildcard_count;
    uint16_t rcode;
    enum answer_kind kind;
    bool is_referral, is_loop;
};

/* ---- records ---- */

/* Takes the next record. Ends early where the message is full: an RRset of many thousand records
 * must not cost a query more than the message that it fills. */
static bool zone_writer_next(const struct zone_writer *writer, struct zone_rrset *rrset,
                             struct span *rdata)
{
    return !compose_has_failed(&writer->compose) && zone_rrset_next(rrset, rdata);
}

/* Writes the signatures of this type at the node. */
static void zone_reply_put_signatures(struct zone_writer *writer, struct name owner, uint32_t node,
                                      uint16_t type, uint32_t ttl_s)
{
    struct zone_rrset rrset;
    struct span rdata;
    if (!writer->wish->dnssec_ok || !zone_find_rrset(writer->data, node, RRTYPE_RRSIG, &rrset))
        return;
    while (zone_writer_next(writer, &rrset, &rdata))
        if (get_u16(rdata.data) == type)
            compose_rr(&writer->compose, owner, RRTYPE_RRSIG, ttl_s, rdata);
}

/* Writes the node's RRset of this type with its signatures, if there is one. */
static bool zone_writer_put(struct zone_writer *writer, struct name owner, uint32_t node,
                            uint16_t type, uint32_t ttl_max_s)
{
    struct zone_rrset rrset;
    struct span rdata;
    if (!zone_find_rrset(writer->data, node, type, &rrset))
        return false;
    uint32_t ttl_s = MIN(rrset.ttl, ttl_max_s);
    while (zone_writer_next(writer, &rrset, &rdata))
        compose_rr(&writer->compose, owner, type, ttl_s, rdata);
    if (type != RRTYPE_RRSIG)
        zone_reply_put_signatures(writer, owner, node, type, ttl_s);
    return true;
}

static void put_proof(struct zone_writer *writer, const struct zone_proof *proof)
{
    for (unsigned i = 0; i < proof->count; i++)
        (void)zone_writer_put(writer, zone_find_owner(writer->data, proof->nodes[i]),
                              proof->nodes[i], proof->type, UINT32_MAX);
}

/* ---- aliases ---- */

/* Makes the target the name to look up. */
static void zone_writer_follow(struct zone_writer *writer, struct name target)
{
    uint8_t folded[NAME_WIRE_MAX]; /* the target may borrow from name_wire */
    target = name_fold(target, folded);
    writer->name = name_copy(target, writer->name_wire);
    writer->hops++;
    writer->is_loop = writer->hops > ALIAS_HOPS_MAX;
}

static void follow_zone_cname(struct zone_writer *writer, uint32_t node)
{
    struct zone_rrset rrset;
    struct span rdata;
    struct name target;
    MUST(zone_find_rrset(writer->data, node, RRTYPE_CNAME, &rrset));
    MUST(zone_rrset_next(&rrset, &rdata) && name_view(rdata, 0, &target));
    (void)zone_writer_put(writer, writer->name, node, RRTYPE_CNAME, UINT32_MAX);
    zone_writer_follow(writer, target);
}

/* Writes the DNAME record and the CNAME record that it means (RFC 6672 section 3.1). Returns false
 * when the new name is too long. */
static bool follow_zone_dname(struct zone_writer *writer, uint32_t node)
{
    struct name owner = zone_find_owner(writer->data, node), target;
    struct zone_rrset rrset;
    struct span rdata;
    uint8_t wire[NAME_WIRE_MAX];
    size_t kept = (size_t)writer->name.len - owner.len;
    MUST(zone_find_rrset(writer->data, node, RRTYPE_DNAME, &rrset));
    uint32_t ttl_s = rrset.ttl;
    MUST(zone_rrset_next(&rrset, &rdata) && name_view(rdata, 0, &target));
    (void)zone_writer_put(writer, owner, node, RRTYPE_DNAME, UINT32_MAX);
    if (kept + target.len > NAME_WIRE_MAX)
        return false;
    memcpy(wire, writer->name.wire, kept);
    memcpy(wire + kept, target.wire, target.len);
    target = (struct name){.wire = wire, .len = (uint8_t)(kept + target.len)};
    compose_cname(&writer->compose, writer->name, RRCLASS_IN, ttl_s, target);
    zone_writer_follow(writer, target);
    return true;
}

/* ---- ends ---- */

/* Proofs of wildcards are about each alias on the way, so they wait for the authority section. */
static void keep_wildcard(struct zone_writer *writer, const struct zone_match *match)
{
    if (match->is_wildcard && writer->wish->dnssec_ok)
        zone_proof_find(&writer->wildcards[writer->wildcard_count++], writer->data, writer->name,
                        match, &writer->units_left);
}

static void put_wildcard_proofs(struct zone_writer *writer)
{
    build_section(&writer->compose.build, SECTION_AUTHORITY);
    for (unsigned i = 0; i < writer->wildcard_count; i++)
        put_proof(writer, &writer->wildcards[i]);
}

/* A denial lives as long as the smaller of the SOA's TTL and MINIMUM (RFC 2308 section 3). */
static void put_denial(struct zone_writer *writer, const struct zone_match *match)
{
    struct zone_proof proof;
    put_wildcard_proofs(writer);
    (void)zone_writer_put(writer, zone_data_origin(writer->data), 0, RRTYPE_SOA,
                          zone_data_soa(writer->data)->minimum);
    if (!writer->wish->dnssec_ok)
        return;
    zone_proof_find(&proof, writer->data, writer->name, match, &writer->units_left);
    put_proof(writer, &proof);
}

/* Writes the addresses of a name server that this zone knows, glue included. */
static void put_glue(struct zone_writer *writer, struct name server)
{
    static const uint16_t types[] = {RRTYPE_A, RRTYPE_AAAA};
    for (size_t i = 0; i < ARRAY_LEN(types); i++) {
        struct zone_rrset rrset;
        struct span rdata;
        if (!zone_data_find(writer->data, server, types[i], &rrset))
            continue;
        uint32_t ttl_s = rrset.ttl;
        while (zone_writer_next(writer, &rrset, &rdata))
            compose_rr(&writer->compose, server, types[i], ttl_s, rdata);
    }
}

static void put_referral(struct zone_writer *writer, const struct zone_match *match)
{
    struct name owner = zone_find_owner(writer->data, match->node), server;
    struct zone_proof proof;
    struct zone_rrset rrset;
    struct span rdata;
    put_wildcard_proofs(writer);
    MUST(zone_find_rrset(writer->data, match->node, RRTYPE_NS, &rrset));
    for (struct zone_rrset rest = rrset; zone_writer_next(writer, &rest, &rdata);)
        compose_rr(&writer->compose, owner, RRTYPE_NS, rrset.ttl, rdata);
    if (writer->wish->dnssec_ok &&
        !zone_writer_put(writer, owner, match->node, RRTYPE_DS, UINT32_MAX)) {
        zone_proof_find(&proof, writer->data, writer->name, match, &writer->units_left);
        put_proof(writer, &proof);
    }
    build_section(&writer->compose.build, SECTION_ADDITIONAL);
    while (zone_writer_next(writer, &rrset, &rdata))
        if (name_view(rdata, 0, &server))
            put_glue(writer, server);
    writer->is_referral = true;
}

/* ---- the walk ---- */

/* The next step after a name of the chain. */
enum next { NEXT_NAME, NEXT_WHOLE, NEXT_ELSEWHERE, NEXT_BELOW };

/* The chain leads out of the zone. The wildcards on the way still need their proofs. */
static enum next leave(struct zone_writer *writer)
{
    put_wildcard_proofs(writer);
    return writer->wish->follows ? NEXT_ELSEWHERE : NEXT_WHOLE;
}

static enum next refer(struct zone_writer *writer, const struct zone_match *match)
{
    if (!writer->wish->refers)
        return writer->hops ? leave(writer) : NEXT_BELOW;
    put_referral(writer, match);
    return NEXT_WHOLE;
}

static enum next answer_name(struct zone_writer *writer)
{
    struct zone_match match;
    if (writer->is_loop)
        return NEXT_WHOLE;
    if (!name_is_below(writer->name, zone_data_origin(writer->data)))
        return leave(writer);
    zone_find(writer->data, writer->name, writer->question->type, &match);
    switch (match.kind) {
    case ZONE_FOUND_DATA:
        keep_wildcard(writer, &match);
        (void)zone_writer_put(writer, writer->name, match.node, writer->question->type, UINT32_MAX);
        break;
    case ZONE_FOUND_ALIAS:
        keep_wildcard(writer, &match);
        follow_zone_cname(writer, match.node);
        return NEXT_NAME;
    case ZONE_FOUND_DNAME:
        if (follow_zone_dname(writer, match.node)) {
            if (writer->question->type != RRTYPE_CNAME)
                return NEXT_NAME;
            break; /* the CNAME record that was asked for */
        }
        writer->rcode = RCODE_YXDOMAIN;
        writer->kind = ANSWER_FAILURE;
        break;
    case ZONE_FOUND_REFERRAL:
        return refer(writer, &match);
    case ZONE_FOUND_NODATA:
        writer->kind = ANSWER_NODATA;
        put_denial(writer, &match);
        return NEXT_WHOLE;
    case ZONE_FOUND_NXDOMAIN:
        writer->kind = ANSWER_NXDOMAIN;
        writer->rcode = RCODE_NXDOMAIN;
        put_denial(writer, &match);
        return NEXT_WHOLE;
    }
    put_wildcard_proofs(writer);
    return NEXT_WHOLE;
}

/* Sets the flags that were not known at the start. A referral is not an authoritative answer,
 * unless aliases of this zone led to it. */
static void set_flags(struct zone_writer *writer, uint8_t *bytes)
{
    bool is_authoritative = !writer->is_referral || writer->hops > 0;
    uint16_t flags = get_u16(bytes + 2) & (uint16_t)~HEADER_AA;
    put_u16(bytes + 2, (uint16_t)(flags | writer->rcode | (is_authoritative ? HEADER_AA : 0)));
}

static void fail_reply(struct answer *out, struct compose_space *space,
                       const struct question *question, uint64_t now)
{
    compose_failure(out, space->bytes, question, RCODE_SERVFAIL);
    compose_describe(out, ANSWER_FAILURE, EDE_INVALID_DATA, now);
}

enum zone_reply_end zone_reply(struct answer *out, struct compose_space *space,
                               const struct zone_data *data, const struct question *question,
                               const struct zone_reply_wish *wish, uint64_t now,
                               uint8_t target_wire[NAME_WIRE_MAX], struct name *target)
{
    struct zone_writer writer = {.data = data,
                                 .question = question,
                                 .wish = wish,
                                 .units_left = ZONE_REPLY_HASH_UNITS,
                                 .name_wire = target_wire,
                                 .kind = ANSWER_POSITIVE};
    enum next next;
    writer.name = name_copy(question->name, target_wire);
    compose_begin(&writer.compose, space, question, 0);
    do
        next = answer_name(&writer);
    while (next == NEXT_NAME);
    if (next == NEXT_BELOW)
        return ZONE_REPLY_BELOW;
    *target = writer.name;
    if (!compose_end(&writer.compose, out) || writer.is_loop) {
        fail_reply(out, space, question, now);
        return ZONE_REPLY_WHOLE;
    }
    set_flags(&writer, space->bytes);
    compose_describe(out, (enum answer_kind)writer.kind, EDE_NONE, now);
    return next == NEXT_ELSEWHERE ? ZONE_REPLY_ELSEWHERE : ZONE_REPLY_WHOLE;
}
