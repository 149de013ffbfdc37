/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Decides record by record which parts of a response are kept, section by section in the order of
 * writing. classify comes before; compose writes.
 *
 * Invariant: no record is kept whose owner does not belong to the zone, except at the last name of
 * the chain.
 */
#include "resolve/scrub.h"

#include <string.h>

#include "base/check.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/private_addrs.h"
#include "resolve/route.h"
#include "validate/validation.h"

enum { SCRUB_TARGETS_MAX = 16 /* kept records whose hosts' addresses are kept too */ };

/* Records that are compared for duplicates: the work grows with their square. */
enum { SCRUB_UNIQUE_MAX = 32 };

enum { RRSIG_LABELS_AT = 3 /* in its RDATA (RFC 4034 section 3.1) */ };

struct scrubbing {
    struct compose compose;
    struct copy copy;
    const struct message *message;
    const struct question *question;
    const struct response *response;
    const struct scrub_rules *rules;
    enum answer_kind kind;
    bool full;         /* keeps authority and additional */
    bool keeps_proofs; /* of an absence, or of a wildcard */
    uint8_t target_count;
    bool is_secure;                       /* by the verdict */
    bool lost_data;                       /* some data had private addresses */
    bool emptied;                         /* all data had private addresses */
    uint32_t ttl_max_s;                   /* by the verdict */
    uint32_t refused_ttl;                 /* the lowest TTL of the refused records */
    struct rr targets[SCRUB_TARGETS_MAX]; /* kept records that name hosts */
};

static uint32_t scrub_clamp(const struct scrubbing *work, enum answer_kind kind, uint32_t ttl)
{
    uint32_t bounded = cache_ttl(work->rules->cache, kind, ttl);
    return MIN(bounded, work->ttl_max_s);
}

/* A validation reads a stored signature without the means to verify it again. */
static bool is_foreign_sig(const struct scrub_rules *rules, const struct rr *rr)
{
    return rules->is_trust && rules->validation && rr->type == RRTYPE_RRSIG &&
           !validation_is_verified_sig(rules->validation, rules->sets, rr);
}

static void scrub_keep(struct scrubbing *work, const struct rr *rr, enum answer_kind kind,
                       uint32_t ttl)
{
    if (is_foreign_sig(work->rules, rr))
        return;
    compose_copy(&work->compose, &work->copy, rr, scrub_clamp(work, kind, ttl));
}

static uint16_t covered_type(const struct message *message, const struct rr *rr)
{
    struct span rdata = message_rdata(message, rr);
    return rdata.len < 2 ? 0 : get_u16(rdata.data);
}

static bool has_class(const struct scrubbing *work, const struct rr *rr)
{
    return rr->cls == work->question->cls;
}

static bool is_sig_of(const struct scrubbing *work, const struct rr *rr, uint16_t type)
{
    return work->rules->dnssec_ok && rr->type == RRTYPE_RRSIG && has_class(work, rr) &&
           covered_type(work->message, rr) == type;
}

/* The last name of the chain belongs to the zone, whatever route_owns() says: the DS record of an
 * inner zone, and the proof of its absence, come from the zone above. */
static bool is_owned_by_zone(const struct scrubbing *work, const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner = message_owner(work->message, rr, wire);
    return route_owns(work->rules->zone, owner) || name_equal(owner, work->question->name);
}

/* ---- answer ---- */

/* Keeps signatures in the answer section over owner's records of this type. */
static void keep_sigs(struct scrubbing *work, struct name owner, uint16_t type)
{
    if (!work->rules->dnssec_ok)
        return;
    struct rr_iter iter = message_rrs(work->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (is_sig_of(work, &rr, type) && message_owner_is(work->message, &rr, owner))
            scrub_keep(work, &rr, ANSWER_POSITIVE, rr.ttl);
}

static void keep_dname(struct scrubbing *work, const struct rr *dname)
{
    uint8_t wire[NAME_WIRE_MAX];
    uint16_t first = work->compose.ttl_count;
    scrub_keep(work, dname, ANSWER_POSITIVE, dname->ttl);
    keep_sigs(work, message_owner(work->message, dname, wire), RRTYPE_DNAME);
    compose_level_ttls(&work->compose, first);
}

static void keep_cname(struct scrubbing *work, const struct alias_hop *hop, struct name owner,
                       struct name target)
{
    uint16_t first = work->compose.ttl_count;
    if (hop->has_cname)
        scrub_keep(work, &hop->cname, ANSWER_POSITIVE, hop->cname.ttl);
    else
        compose_cname(&work->compose, owner, work->question->cls,
                      scrub_clamp(work, ANSWER_POSITIVE, hop->dname.ttl), target);
    keep_sigs(work, owner, RRTYPE_CNAME);
    compose_level_ttls(&work->compose, first);
}

/* One DNAME may explain several hops and is kept once. */
static bool dname_is_new(const struct alias_chain *chain, unsigned at)
{
    for (unsigned i = 0; i < at; i++)
        if (chain->hop[i].has_dname &&
            chain->hop[i].dname.rdata_offset == chain->hop[at].dname.rdata_offset)
            return false;
    return true;
}

static void keep_chain(struct scrubbing *work)
{
    const struct alias_chain *chain = &work->response->chain;
    uint8_t wires[2][NAME_WIRE_MAX];
    struct name owner = work->question->name, target;
    for (unsigned i = 0; i < chain->hops; i++) {
        const struct alias_hop *hop = &chain->hop[i];
        MUST(alias_target(work->message, hop, owner, wires[i & 1], &target));
        if (hop->has_dname && dname_is_new(chain, i))
            keep_dname(work, &hop->dname);
        keep_cname(work, hop, owner, target);
        owner = target;
    }
}

static bool scrub_is_wanted(const struct scrubbing *work, const struct rr *rr)
{
    uint16_t type = work->question->type;
    if (!has_class(work, rr) || rrtype_is_meta(rr->type))
        return false;
    if (rr->type != type && type != RRTYPE_ANY && !is_sig_of(work, rr, type))
        return false;
    return message_owner_is(work->message, rr, work->response->chain.name);
}

static bool is_repeated(const struct scrubbing *work, const struct rr *rr, const struct rr *before,
                        unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (rr->type == before[i].type &&
            span_equal(message_rdata(work->message, rr), message_rdata(work->message, &before[i])))
            return true;
    return false;
}

/* Notes a record that may name hosts. */
static void note_target(struct scrubbing *work, const struct rr *rr)
{
    if (work->full && work->target_count < SCRUB_TARGETS_MAX)
        work->targets[work->target_count++] = *rr;
}

/* Whether some of the data has private addresses. */
static bool find_refused(struct scrubbing *work)
{
    const struct private_addrs *private = &work->rules->private;
    bool any = false;
    if (!private_addrs_are_set(private))
        return false;
    work->emptied = true;
    struct rr_iter iter = message_rrs(work->message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!scrub_is_wanted(work, &rr) || rr.type == RRTYPE_RRSIG)
            continue;
        if (private_addrs_refuse_rr(private, work->message, &rr)) {
            work->refused_ttl = any ? MIN(work->refused_ttl, rr.ttl) : rr.ttl;
            any = true;
        } else {
            work->emptied = false;
        }
    }
    work->emptied = work->emptied && any;
    return any;
}

/* Drops the signatures of an RRset that lost a record, because they no longer verify. */
static bool is_refused(const struct scrubbing *work, const struct rr *rr)
{
    return rr->type == RRTYPE_RRSIG ||
           private_addrs_refuse_rr(&work->rules->private, work->message, rr);
}

static void keep_data(struct scrubbing *work)
{
    struct rr seen[SCRUB_UNIQUE_MAX];
    unsigned count = 0;
    bool any_refused = work->lost_data = find_refused(work);
    uint16_t first = work->compose.ttl_count;
    struct rr_iter iter = message_rrs(work->message, work->response->data);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!scrub_is_wanted(work, &rr) || is_repeated(work, &rr, seen, count))
            continue;
        if (any_refused && is_refused(work, &rr))
            continue;
        scrub_keep(work, &rr, ANSWER_POSITIVE, rr.ttl);
        note_target(work, &rr);
        if (count < SCRUB_UNIQUE_MAX)
            seen[count++] = rr;
    }
    compose_level_ttls(&work->compose, first);
}

static void keep_answer(struct scrubbing *work)
{
    const struct alias_chain *chain = &work->response->chain;
    keep_chain(work);
    if (chain->is_made || chain->end == ALIAS_OVERFLOW)
        keep_dname(work, &chain->dname);
    if (chain->end == ALIAS_DATA)
        keep_data(work);
}

/* ---- authority ---- */

static bool is_proof(uint16_t type)
{
    return type == RRTYPE_NSEC || type == RRTYPE_NSEC3;
}

static bool is_above_end(const struct scrubbing *work, const struct rr *rr)
{
    uint8_t wire[NAME_WIRE_MAX];
    return name_is_below(work->response->chain.name, message_owner(work->message, rr, wire));
}

/* Keeps the SOA, and with DO its signatures. */
static void keep_negative(struct scrubbing *work, const struct rr *rr)
{
    const struct response *response = work->response;
    if (!response->has_soa || response->soa_is_above)
        return;
    bool is_soa = rr->rdata_offset == response->soa.rdata_offset;
    bool is_soa_sig = is_sig_of(work, rr, RRTYPE_SOA);
    if (is_soa)
        scrub_keep(work, rr, work->kind, response->soa_ttl);
    else if (is_soa_sig && is_above_end(work, rr) && is_owned_by_zone(work, rr))
        scrub_keep(work, rr, work->kind, response->soa_ttl);
}

/* Whether a wildcard made some records of the answer: their signatures count fewer labels than the
 * owner has (RFC 4034 section 3.1.3). */
static bool is_expanded(const struct message *message)
{
    static const uint8_t wildcard[] = {1, '*'};
    struct rr_iter iter = message_rrs(message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        uint8_t wire[NAME_WIRE_MAX];
        struct span rdata = message_rdata(message, &rr);
        if (rr.type != RRTYPE_RRSIG || rdata.len < RRSIG_LABELS_AT + 1)
            continue;
        struct name owner = message_owner(message, &rr, wire);
        unsigned labels = name_label_count(owner);
        if (owner.len > sizeof(wildcard) && !memcmp(owner.wire, wildcard, sizeof(wildcard)))
            labels--; /* of the wildcard itself */
        if (rdata.data[RRSIG_LABELS_AT] < labels)
            return true;
    }
    return false;
}

/* Proofs stay in minimal answers where they prove something: an absence, or that no closer name
 * than the wildcard exists (RFC 4035 section 3.1.3.3). */
static bool needs_proofs(const struct scrubbing *work)
{
    return work->full || work->kind != ANSWER_POSITIVE || is_expanded(work->message);
}

/* Keeps proofs, with DO. */
static bool keep_proof(struct scrubbing *work, const struct rr *rr)
{
    if (!work->keeps_proofs)
        return false;
    uint16_t type = rr->type == RRTYPE_RRSIG ? covered_type(work->message, rr) : rr->type;
    if (!is_proof(type) || !is_owned_by_zone(work, rr))
        return false;
    scrub_keep(work, rr, work->kind, rr->ttl);
    return true;
}

static void keep_ns(struct scrubbing *work, const struct rr *rr)
{
    if (rr->type != RRTYPE_NS && !is_sig_of(work, rr, RRTYPE_NS))
        return;
    if (!is_above_end(work, rr) || !is_owned_by_zone(work, rr))
        return;
    scrub_keep(work, rr, ANSWER_POSITIVE, rr->ttl);
    if (rr->type == RRTYPE_NS)
        note_target(work, rr);
}

/* An additional record that was not verified must not look as if it were secure. */
static bool is_unproven(const struct scrubbing *work, const struct rr *rr)
{
    const struct scrub_rules *rules = work->rules;
    return work->is_secure && !validation_has_verified(rules->validation, rules->sets, rr);
}

static void keep_authority(struct scrubbing *work)
{
    if (!work->message->counts[SECTION_AUTHORITY])
        return;
    work->keeps_proofs = work->rules->dnssec_ok && needs_proofs(work);
    build_section(&work->compose.build, SECTION_AUTHORITY);
    uint16_t first = work->compose.ttl_count;
    struct rr_iter iter = message_rrs(work->message, SECTION_AUTHORITY);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!has_class(work, &rr) || is_unproven(work, &rr) || keep_proof(work, &rr))
            continue;
        if (work->full)
            keep_ns(work, &rr);
        else if (work->kind != ANSWER_POSITIVE)
            keep_negative(work, &rr);
    }
    compose_level_ttls(&work->compose, first);
}

/* ---- additional ---- */

static bool is_pointed_to(const struct scrubbing *work, struct name host)
{
    for (unsigned i = 0; i < work->target_count; i++) {
        uint8_t wire[NAME_WIRE_MAX];
        struct name target;
        if (message_target(work->message, &work->targets[i], wire, &target) &&
            name_equal(target, host))
            return true;
    }
    return false;
}

static bool scrub_is_address(const struct scrubbing *work, const struct rr *rr)
{
    return rr->type == RRTYPE_A || rr->type == RRTYPE_AAAA || is_sig_of(work, rr, RRTYPE_A) ||
           is_sig_of(work, rr, RRTYPE_AAAA);
}

/* Whether the record repeats one of the answer section. */
static bool is_in_answer(const struct scrubbing *work, const struct rr *rr, struct name host)
{
    uint16_t type = rr->type == RRTYPE_RRSIG ? covered_type(work->message, rr) : rr->type;
    uint16_t wanted = work->question->type;
    return (type == wanted || wanted == RRTYPE_ANY) && name_equal(host, work->response->chain.name);
}

static void keep_additional(struct scrubbing *work)
{
    if (!work->target_count || work->is_secure) /* no address was verified */
        return;
    build_section(&work->compose.build, SECTION_ADDITIONAL);
    uint16_t first = work->compose.ttl_count;
    struct rr_iter iter = message_rrs(work->message, SECTION_ADDITIONAL);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!has_class(work, &rr) || !scrub_is_address(work, &rr) ||
            private_addrs_refuse_rr(&work->rules->private, work->message, &rr))
            continue;
        uint8_t wire[NAME_WIRE_MAX];
        struct name host = message_owner(work->message, &rr, wire);
        if (route_owns(work->rules->zone, host) && is_pointed_to(work, host) &&
            !is_in_answer(work, &rr, host))
            scrub_keep(work, &rr, ANSWER_POSITIVE, rr.ttl);
    }
    compose_level_ttls(&work->compose, first);
}

/* ---- the answer ---- */

static enum answer_kind scrub_kind_of(enum response_kind kind)
{
    switch (kind) {
    case RESPONSE_NODATA:
        return ANSWER_NODATA;
    case RESPONSE_NXDOMAIN:
        return ANSWER_NXDOMAIN;
    default:
        return ANSWER_POSITIVE;
    }
}

/* The rcode of an alias is the rcode of its target (RFC 6604), which is not known yet. */
static uint16_t rcode_of(const struct response *response)
{
    switch (response->kind) {
    case RESPONSE_NXDOMAIN:
        return RCODE_NXDOMAIN;
    case RESPONSE_YXDOMAIN:
        return RCODE_YXDOMAIN;
    default:
        return RCODE_NOERROR;
    }
}

static bool may_be_cached(const struct scrubbing *work)
{
    return work->rules->zone->cache && (work->kind == ANSWER_POSITIVE || work->response->has_soa);
}

/* Returns the life of the answer. The records limit it, and so does the SOA, even if it is
 * dropped. */
static uint32_t lifetime_of(const struct scrubbing *work, const struct answer *answer)
{
    if (!may_be_cached(work))
        return 0;
    if (work->emptied) {
        uint32_t ttl = scrub_clamp(work, ANSWER_NODATA, work->refused_ttl);
        return answer->ttl_count ? MIN(answer->ttl_s, ttl) : ttl;
    }
    if (!work->response->soa_is_above)
        return answer->ttl_s;
    uint32_t ttl = scrub_clamp(work, work->kind, work->response->soa_ttl);
    return answer->ttl_count ? MIN(answer->ttl_s, ttl) : ttl;
}

/* Whether the sections after the answer may be kept. A bare NODATA has nothing worth keeping there.
 */
static bool has_company(const struct response *response)
{
    return response->kind == RESPONSE_ANSWER ||
           (response->kind == RESPONSE_NODATA && !response->has_soa);
}

/* If the records have an unusual order, the verdict may name a signer that is not above the QNAME.
 * Then the signer counts as unknown. */
static void set_signatures(const struct scrubbing *work, struct answer *out,
                           const struct verdict *verdict)
{
    struct name signer = {verdict->zone, verdict->zone_len};
    if (name_is_below(work->question->name, signer))
        out->signatures = (struct answer_signed){
            .until_s = verdict->signed_until_s,
            .signer_labels = (uint8_t)name_label_count(signer),
        };
}

/* Private addresses are removed after the verdict, and what has lost a record cannot verify. */
static void set_verdict(struct scrubbing *work, struct answer *out, const struct verdict *verdict)
{
    bool is_secure = work->is_secure && !work->lost_data;
    out->security = is_secure ? SECURITY_SECURE : SECURITY_INSECURE;
    header_put(work->compose.space->bytes, HEADER_AD, is_secure);
    if (is_secure)
        set_signatures(work, out, verdict);
    if (work->is_secure && work->lost_data && !work->emptied)
        out->ede[out->ede_count++] = EDE_BLOCKED;
    if (verdict->ede != EDE_NONE && out->ede_count < ARRAY_LEN(out->ede))
        out->ede[out->ede_count++] = verdict->ede;
}

bool scrub(struct answer *out, struct compose_space *space, const struct message *message,
           const struct question *question, const struct response *response,
           const struct scrub_rules *rules)
{
    MUST(response_is_useful(response->kind));
    struct scrubbing work;
    work.message = message;
    work.question = question;
    work.response = response;
    work.rules = rules;
    work.kind = scrub_kind_of(response->kind);
    work.full = !rules->minimal_responses && has_company(response);
    work.target_count = 0;
    work.lost_data = work.emptied = false;
    work.is_secure = rules->verdict && rules->verdict->security == SECURITY_SECURE;
    work.ttl_max_s = rules->verdict ? rules->verdict->ttl_max_s : UINT32_MAX;

    bool ad = rules->zone->trust_ad && message->flags & HEADER_AD;
    compose_begin(&work.compose, space, question,
                  (uint16_t)(rcode_of(response) | (ad ? HEADER_AD : 0)));
    copy_init(&work.copy, &work.compose.build, message);
    keep_answer(&work);
    keep_authority(&work);
    keep_additional(&work);
    if (!compose_end(&work.compose, out))
        return false;
    out->kind = (uint8_t)(work.emptied ? ANSWER_NODATA : work.kind);
    out->stored_at = rules->now;
    out->ttl_s = lifetime_of(&work, out);
    out->ede_count = work.emptied;
    out->ede[0] = EDE_BLOCKED;
    if (rules->verdict)
        set_verdict(&work, out, rules->verdict);
    return true;
}
