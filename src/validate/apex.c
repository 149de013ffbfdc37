/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Writes each RRset of the apex as a message, because rrsets and canonical read messages. trust
 * decides about the anchor, and nsec and nsec3 read the proof. Invariant: a signature counts only
 * if its signer is the zone itself.
 */
#include "validate/apex.h"

#include <stdio.h>
#include <stdlib.h>

#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/canonical.h"
#include "validate/denial.h"
#include "validate/fault.h"
#include "validate/nsec.h"
#include "validate/nsec3.h"
#include "validate/trust.h"
#include "validate/type_bitmap.h"
#include "validate/verify.h"
#include "zone/zone_data.h"
#include "zone/zone_find.h"

struct apex {
    const struct zone_data *data;
    const struct apex_rules *rules;
    const struct anchor *anchor;
    struct verifier *verifier;
    unsigned verifications_left;
    unsigned digests_left; /* for DS records */
    struct message message;
    struct validation_space space; /* keys_bytes: the keys; ds_bytes: the RRset being verified */
};

/* ---- RRsets as messages ---- */

static void apex_put(struct build *build, struct name owner, const struct zone_rrset *set,
                     uint16_t covered)
{
    struct zone_rrset rest = *set;
    struct span rdata;
    while (zone_rrset_next(&rest, &rdata)) {
        if (set->type == RRTYPE_RRSIG && get_u16(rdata.data) != covered)
            continue;
        build_rr_begin(build, owner, set->type, RRCLASS_IN, set->ttl);
        build_bytes(build, rdata.data, rdata.len);
        build_rr_end(build);
    }
}

/* Writes the RRset and its signatures to bytes and reads them. *set is NULL when the zone has no
 * such RRset. Returns false when it is too large. */
static bool apex_load(struct apex *apex, uint8_t bytes[MESSAGE_MAX], struct name owner,
                      uint16_t type, const struct rrset **set)
{
    struct question question = {.name = owner, .type = type, .cls = RRCLASS_IN};
    struct zone_rrset records, signatures;
    struct build build;
    *set = NULL;
    if (!zone_data_find(apex->data, owner, type, &records))
        return true;
    build_init(&build, bytes, MESSAGE_MAX);
    build_header(&build, 0, HEADER_QR);
    build_question(&build, &question);
    build_section(&build, SECTION_ANSWER);
    apex_put(&build, owner, &records, type);
    if (zone_data_find(apex->data, owner, RRTYPE_RRSIG, &signatures))
        apex_put(&build, owner, &signatures, type);
    size_t len = build_finish(&build);
    if (len == 0 || message_parse(&apex->message, span_of(bytes, len)) != MESSAGE_OK ||
        !rrsets_read(&apex->space.sets, &apex->message, RRCLASS_IN))
        return false;
    *set = rrsets_find(&apex->space.sets, SECTION_ANSWER, owner, type);
    return *set;
}

/* ---- signatures ---- */

static enum fault apex_fault_of(enum rrsig_fault fault)
{
    static const enum fault faults[] = {
        [RRSIG_USABLE] = FAULT_NONE,
        [RRSIG_UNRELATED] = FAULT_SIGNER,
        [RRSIG_LABELS] = FAULT_LABELS,
        [RRSIG_EXPIRED] = FAULT_EXPIRED,
        [RRSIG_NOT_YET_VALID] = FAULT_NOT_YET_VALID,
        [RRSIG_ENDS_BEFORE_IT_BEGINS] = FAULT_ENDS_FIRST,
    };
    return faults[fault];
}

/* Finds the faults that show without the key. */
static enum fault apex_judge(const struct apex *apex, const struct rrsig *sig, struct name owner,
                             uint16_t type)
{
    if (!name_equal(sig->signer, zone_data_origin(apex->data)))
        return FAULT_SIGNER;
    enum fault fault = apex_fault_of(rrsig_check(sig, owner, type, &apex->rules->clock));
    return fault == FAULT_NONE && rrsig_is_expanded(sig, owner) ? FAULT_LABELS : fault;
}

static bool apex_may_have_made(struct apex *apex, const struct dnskey *key, const struct rrsig *sig)
{
    return key->tag == sig->tag && key->algorithm == sig->algorithm && dnskey_may_sign(key) &&
           algorithm_is_supported(key->algorithm, apex->rules->allow_sha1) &&
           algorithm_key_is_sound(key->algorithm, key->key.data, key->key.len) &&
           (sig->covered != RRTYPE_DNSKEY ||
            trust_vouches(&apex->space, apex->anchor, sig->signer, key, &apex->digests_left));
}

/* Verifies one signature by the zone's keys; the DNSKEY RRset by the keys that the anchor trusts.
 */
static enum fault apex_try_keys(struct apex *apex, const struct rrset *set, const struct rrsig *sig)
{
    struct validation_space *space = &apex->space;
    enum fault fault = FAULT_NO_KEY;
    size_t len =
        canonical_write(space->signed_bytes, sizeof(space->signed_bytes), &space->sets, set, sig);
    if (len == 0)
        return FAULT_SIZE;
    for (unsigned i = 0; i < space->key_count; i++) {
        if (!apex_may_have_made(apex, &space->key[i], sig))
            continue;
        if (apex->verifications_left == 0)
            return FAULT_COST;
        apex->verifications_left--;
        struct verify_job job = {.algorithm = sig->algorithm,
                                 .key = space->key[i].key,
                                 .data = span_of(space->signed_bytes, len),
                                 .signature = sig->signature};
        if (verify_run(apex->verifier, &job))
            return FAULT_NONE;
        fault = FAULT_WRONG;
    }
    return fault;
}

/* One right signature is enough. A signature of an unknown key is the weakest reason: a zone has
 * signatures of keys that the anchor does not name. */
static enum fault apex_verify(struct apex *apex, const struct rrset *set, struct name owner)
{
    enum fault fault = FAULT_NO_SIGNATURE;
    for (uint16_t at = set->first_sig; at != RRSETS_NONE; at = apex->space.sets.next[at]) {
        struct rrsig sig;
        if (!rrsig_read(&sig, rrsets_rdata(&apex->space.sets, at)))
            continue;
        enum fault one = apex_judge(apex, &sig, owner, set->type);
        if (one == FAULT_NONE)
            one = apex_try_keys(apex, set, &sig);
        if (one == FAULT_NONE)
            return FAULT_NONE;
        if (one != FAULT_NO_KEY || fault == FAULT_NO_SIGNATURE)
            fault = one;
    }
    return fault;
}

static const char *apex_words(uint16_t type, enum fault fault)
{
    if (type == RRTYPE_DNSKEY && fault == FAULT_NO_KEY)
        return "no key of the zone fits the trust anchor";
    return fault == FAULT_SIZE ? "it is too large to be validated" : fault_words(fault);
}

/* Returns whether the RRset at the owner is signed. *set is NULL without an RRset, which is no
 * fault. */
static bool apex_verify_type(struct apex *apex, struct name owner, uint16_t type,
                             const struct rrset **set, char why[APEX_WHY_MAX])
{
    char text[RRTYPE_TEXT_MAX];
    enum fault fault = FAULT_NONE;
    bool is_loaded = apex_load(apex, apex->space.ds_bytes, owner, type, set);
    if (!is_loaded)
        fault = FAULT_SIZE;
    else if (*set)
        fault = apex_verify(apex, *set, owner);
    if (fault != FAULT_NONE)
        snprintf(why, APEX_WHY_MAX, "the zone's %s record is not trusted: %s",
                 rrtype_name(type, text), apex_words(type, fault));
    return fault == FAULT_NONE;
}

/* ---- keys ---- */

/* Takes the keys of the zone, which the anchor vouches for. */
static bool apex_take_keys(struct apex *apex, char why[APEX_WHY_MAX])
{
    struct name origin = zone_data_origin(apex->data);
    const struct rrset *set;
    uint16_t ede;
    enum fault fault = FAULT_SIZE;
    if (!trust_read_anchor(&apex->space, apex->anchor, apex->rules->allow_sha1, &ede)) {
        snprintf(why, APEX_WHY_MAX, "%s", fault_words(FAULT_ANCHOR));
        return false;
    }
    bool is_loaded = apex_load(apex, apex->space.keys_bytes, origin, RRTYPE_DNSKEY, &set);
    if (is_loaded && !set) {
        snprintf(why, APEX_WHY_MAX, "the zone has a trust anchor, but no DNSKEY record");
        return false;
    }
    if (is_loaded) {
        trust_take_keys(&apex->space, set);
        fault = apex_verify(apex, set, origin);
    }
    if (fault != FAULT_NONE)
        snprintf(why, APEX_WHY_MAX, "the zone's DNSKEY records are not trusted: %s",
                 apex_words(RRTYPE_DNSKEY, fault));
    return fault == FAULT_NONE;
}

/* ---- the proof that there is no ZONEMD record ---- */

/* Finds the owner of the apex's NSEC3 record by the parameters of the zone (RFC 5155 section 4.2).
 */
static bool apex_find_nsec3(const struct apex *apex, uint8_t wire[NAME_WIRE_MAX],
                            struct name *owner)
{
    struct name origin = zone_data_origin(apex->data);
    uint8_t hash[VERIFY_NSEC3_HASH], folded[NAME_WIRE_MAX];
    struct zone_nsec3param param;
    if (!zone_find_nsec3param(apex->data, &param) || param.iterations > DENIAL_ITERATIONS_MAX)
        return false;
    struct name lower = name_fold(origin, folded);
    return verify_nsec3_hash(hash, span_of(lower.wire, lower.len), param.salt, param.iterations) &&
           nsec3_write_owner(wire, hash, origin, owner);
}

/* Reads the types of the apex from its verified record. */
static bool apex_read_types(const struct apex *apex, const struct rrset *set, struct name owner,
                            struct span *types)
{
    struct name origin = zone_data_origin(apex->data);
    struct span rdata = rrsets_rdata(&apex->space.sets, set->first);
    struct nsec nsec;
    struct nsec3 nsec3;
    if (set->count != 1)
        return false;
    if (set->type == RRTYPE_NSEC) {
        if (!nsec_read(&nsec, origin, owner, rdata))
            return false;
        *types = nsec.types;
        return true;
    }
    if (!nsec3_read(&nsec3, origin, owner, rdata))
        return false;
    *types = nsec3.types;
    return true;
}

static bool apex_prove_absence(struct apex *apex, char why[APEX_WHY_MAX])
{
    uint8_t wire[NAME_WIRE_MAX];
    struct name owner = zone_data_origin(apex->data);
    const struct rrset *set;
    struct span types;
    if (!apex_verify_type(apex, owner, RRTYPE_NSEC, &set, why))
        return false;
    if (!set && apex_find_nsec3(apex, wire, &owner) &&
        !apex_verify_type(apex, owner, RRTYPE_NSEC3, &set, why))
        return false;
    if (!set || !apex_read_types(apex, set, owner, &types))
        snprintf(why, APEX_WHY_MAX, "no proof shows that the zone has no ZONEMD record");
    else if (type_bitmap_has(types, RRTYPE_ZONEMD))
        snprintf(why, APEX_WHY_MAX, "the zone's ZONEMD record was removed");
    else
        return true;
    return false;
}

/* ---- the check ---- */

static bool apex_is_secure(struct apex *apex, char why[APEX_WHY_MAX])
{
    struct name origin = zone_data_origin(apex->data);
    const struct rrset *set;
    return apex_take_keys(apex, why) && apex_verify_type(apex, origin, RRTYPE_SOA, &set, why) &&
           apex_verify_type(apex, origin, RRTYPE_ZONEMD, &set, why) &&
           (set || apex_prove_absence(apex, why));
}

static bool apex_has(const struct zone_data *data, uint16_t type)
{
    struct zone_rrset set;
    return zone_data_find(data, zone_data_origin(data), type, &set);
}

bool apex_is_unvouched(const struct zone_data *data, const struct apex_rules *rules)
{
    struct name origin = zone_data_origin(data);
    const struct anchor *anchor = anchors_find(rules->anchors, origin);
    return anchor && anchor->kind == ANCHOR_TRUSTED && !name_equal(anchor->zone, origin) &&
           apex_has(data, RRTYPE_DNSKEY) && apex_has(data, RRTYPE_ZONEMD);
}

enum apex_result apex_check(const struct zone_data *data, const struct apex_rules *rules,
                            char why[APEX_WHY_MAX])
{
    struct name origin = zone_data_origin(data);
    const struct anchor *anchor = anchors_find(rules->anchors, origin);
    if (!anchor || anchor->kind != ANCHOR_TRUSTED || !name_equal(anchor->zone, origin))
        return APEX_UNANCHORED;
    struct apex *apex = malloc(sizeof(*apex)); /* not cleared: it is large */
    struct verifier *verifier = verifier_new();
    enum apex_result result = APEX_NO_MEMORY;
    if (apex && verifier) {
        apex->data = data;
        apex->rules = rules;
        apex->anchor = anchor;
        apex->verifier = verifier;
        apex->verifications_left = apex->digests_left = APEX_VERIFICATIONS_MAX;
        result = apex_is_secure(apex, why) ? APEX_SECURE : APEX_BOGUS;
    }
    verifier_free(verifier);
    free(apex);
    return result;
}
