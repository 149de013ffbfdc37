/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/trust.h"

#include <string.h>

#include "dns/edns.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/denial.h"

static void trust_set_name(uint8_t to[NAME_WIRE_MAX], uint8_t *len, struct name name)
{
    memcpy(to, name.wire, name.len);
    *len = name.len;
}

/* Parses the answer's message after a copy of it to bytes. */
static bool trust_open(uint8_t *bytes, const struct answer *answer, struct message *message)
{
    if (answer->message.len > MESSAGE_MAX)
        return false;
    memcpy(bytes, answer->message.data, answer->message.len);
    return message_parse(message, span_of(bytes, answer->message.len)) == MESSAGE_OK;
}

/* ---- keys ---- */

static void trust_add_key(struct validation_space *space, struct span rdata)
{
    if (space->key_count < VALIDATION_KEYS_MAX)
        space->key_count += dnskey_read(&space->key[space->key_count], rdata);
}

static bool trust_is_key_of(const struct message *message, const struct rr *rr, struct name zone)
{
    return rr->type == RRTYPE_DNSKEY && rr->cls == RRCLASS_IN &&
           message_owner_is(message, rr, zone);
}

enum trust trust_read_keys(struct validation_space *space, struct name zone,
                           const struct answer *answer)
{
    struct message message;
    if (answer->security == SECURITY_INSECURE)
        return TRUST_INSECURE;
    if (answer->security != SECURITY_SECURE || answer->kind != ANSWER_POSITIVE)
        return TRUST_NONE;
    space->key_count = 0;
    space->keys_zone_len = 0;
    if (!trust_open(space->keys_bytes, answer, &message))
        return TRUST_NONE;
    bool any = false;
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (!trust_is_key_of(&message, &rr, zone))
            continue;
        any = true;
        trust_add_key(space, message_rdata(&message, &rr));
    }
    if (!any)
        return TRUST_NONE;
    trust_set_name(space->keys_zone, &space->keys_zone_len, zone);
    return TRUST_SECURE;
}

void trust_take_keys(struct validation_space *space, const struct rrset *set)
{
    space->key_count = 0;
    space->keys_zone_len = 0; /* these keys are only for this RRset */
    const struct rrsets *sets = &space->sets;
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at])
        trust_add_key(space, rrsets_rdata(sets, at));
}

/* ---- DS records ---- */

/* Takes a DS record if its algorithm and digest count. Otherwise *ede says why not. */
static void trust_add_ds(struct validation_space *space, struct span rdata, bool allow_sha1,
                         uint16_t *ede)
{
    struct ds ds;
    if (space->ds_count == VALIDATION_DS_MAX || !ds_read(&ds, rdata))
        return;
    if (!algorithm_is_supported(ds.algorithm, allow_sha1))
        *ede = EDE_UNSUPPORTED_DNSKEY_ALGORITHM;
    else if (!algorithm_is_digest_supported(ds.digest_type))
        *ede = *ede == EDE_NONE ? EDE_UNSUPPORTED_DS_DIGEST : *ede;
    else
        space->ds[space->ds_count++] = ds;
}

/* A SHA-1 digest counts only for a key without a better one (RFC 4509 section 3). */
static void trust_drop_weak_ds(struct validation_space *space)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < space->ds_count; i++) {
        bool is_weak = false;
        for (unsigned j = 0; j < space->ds_count; j++)
            is_weak = is_weak || (space->ds[i].digest_type == DIGEST_SHA1 &&
                                  space->ds[j].digest_type != DIGEST_SHA1 &&
                                  space->ds[j].algorithm == space->ds[i].algorithm &&
                                  space->ds[j].tag == space->ds[i].tag);
        if (!is_weak)
            space->ds[kept++] = space->ds[i];
    }
    space->ds_count = (uint16_t)kept;
}

static enum trust trust_end_ds(struct validation_space *space, uint16_t *ede)
{
    trust_drop_weak_ds(space);
    if (!space->ds_count)
        return TRUST_INSECURE;
    *ede = EDE_NONE;
    return TRUST_SECURE;
}

/* Whether the zone's name is an alias: a secure one is no zone cut. Its own zone signed it, or the
 * wildcard or DNAME record that it comes from, and proved that the name itself does not exist. */
static bool trust_is_alias(const struct rrsets *sets, struct name zone)
{
    const struct rrset *set = rrsets_find(sets, SECTION_ANSWER, zone, RRTYPE_CNAME);
    return set && set->count;
}

/* Whether the RRset is a proof by a zone above this one; *signer is that zone. A stored proof was
 * verified, or it would not be stored, and its first signature is the verified one. A record that
 * was expanded from a wildcard proves nothing. */
static bool trust_is_proof(const struct rrsets *sets, const struct rrset *set, struct name zone,
                           struct name *signer)
{
    struct rrsig sig;
    if (set->section != SECTION_AUTHORITY || set->count != 1 || !set->sig_count ||
        (set->type != RRTYPE_NSEC && set->type != RRTYPE_NSEC3) ||
        !rrsig_read(&sig, rrsets_rdata(sets, set->first_sig)) || sig.signer.len >= zone.len ||
        !name_is_below(zone, sig.signer))
        return false;
    *signer = sig.signer;
    return !rrsig_is_expanded(&sig, rrsets_owner(sets, set));
}

/* Collects the proofs of a stored negative answer. They are those of the deepest zone, which the
 * verdict about the answer rested on. A server may add proofs of zones above that one. */
static void trust_collect(struct denial *denial, const struct rrsets *sets, struct name zone)
{
    struct name signer;
    denial->count = 0;
    denial->zone = name_root();
    for (unsigned i = 0; i < sets->count; i++)
        if (trust_is_proof(sets, &sets->set[i], zone, &signer) && signer.len > denial->zone.len)
            denial->zone = signer;
    for (unsigned i = 0; i < sets->count && denial->count < DENIAL_RECORDS_MAX; i++) {
        const struct rrset *set = &sets->set[i];
        if (!trust_is_proof(sets, set, zone, &signer) || !name_equal(signer, denial->zone))
            continue;
        denial->at[denial->count] = (struct denial_record){
            .owner = rrsets_owner(sets, set),
            .type = set->type,
            .rdata = rrsets_rdata(sets, set->first),
        };
        denial->count++;
    }
}

static enum trust trust_read_absent(const struct rrsets *sets, struct name zone,
                                    unsigned *units_left, uint16_t *ede)
{
    struct denial denial = {.units_left = units_left};
    trust_collect(&denial, sets, zone);
    if (!denial.count)
        return TRUST_NONE;
    switch (denial_of_ds(&denial, zone)) {
    case DENIAL_DS_INSECURE:
        return TRUST_INSECURE;
    case DENIAL_DS_ITERATIONS:
        *ede = EDE_UNSUPPORTED_NSEC3_ITERATIONS;
        return TRUST_INSECURE;
    case DENIAL_DS_NO_CUT:
        return TRUST_NO_CUT;
    case DENIAL_DS_NO_NAME:
        return TRUST_NO_NAME;
    case DENIAL_DS_UNPROVEN:
    case DENIAL_DS_SPENT:
        break;
    }
    return TRUST_NONE;
}

bool trust_knows_insecure(const struct answer *answer)
{
    return answer->kind != ANSWER_FAILURE && answer->security == SECURITY_INSECURE &&
           header_count(answer->message.data, SECTION_ANSWER) == 0;
}

/* Reads a message whose records are already in space->other. */
static enum trust trust_read_ds_sets(struct validation_space *space,
                                     const struct validation_view *view, struct name zone,
                                     const struct answer *answer, uint16_t *ede)
{
    const struct rrsets *sets = &space->other;
    if (answer->security == SECURITY_INSECURE)
        return TRUST_INSECURE;
    if (trust_is_alias(sets, zone))
        return TRUST_NO_CUT;
    if (answer->kind == ANSWER_NXDOMAIN)
        return TRUST_NO_NAME;
    if (answer->kind == ANSWER_NODATA)
        return trust_read_absent(sets, zone, view->units_left, ede);
    const struct rrset *set = rrsets_find(sets, SECTION_ANSWER, zone, RRTYPE_DS);
    if (!set || !set->count)
        return TRUST_NONE;
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at])
        trust_add_ds(space, rrsets_rdata(sets, at), view->allow_sha1, ede);
    return trust_end_ds(space, ede);
}

enum trust trust_read_ds(struct validation_space *space, const struct validation_view *view,
                         struct name zone, const struct answer *answer, uint16_t *ede)
{
    struct message message;
    *ede = EDE_NONE;
    bool is_usable = answer->security == SECURITY_SECURE || answer->security == SECURITY_INSECURE;
    if (answer->kind == ANSWER_FAILURE || !is_usable)
        return TRUST_NONE;
    space->ds_count = 0;
    bool is_insecure = trust_knows_insecure(answer);
    if (!is_insecure && !(trust_open(space->ds_bytes, answer, &message) &&
                          rrsets_read(&space->other, &message, RRCLASS_IN)))
        return TRUST_NONE;
    enum trust trust =
        is_insecure ? TRUST_INSECURE : trust_read_ds_sets(space, view, zone, answer, ede);
    if (trust == TRUST_INSECURE && *ede == EDE_NONE && answer->ede_count)
        *ede = answer->ede[0];
    return trust;
}

/* ---- anchors ---- */

bool trust_read_anchor(struct validation_space *space, const struct anchor *anchor, bool allow_sha1,
                       uint16_t *ede)
{
    bool any_key = false;
    space->ds_count = 0;
    *ede = EDE_NONE;
    for (size_t i = 0; i < anchor->count; i++) {
        const struct anchor_record *record = &anchor->record[i];
        struct dnskey key;
        if (record->type == RRTYPE_DS)
            trust_add_ds(space, record->rdata, allow_sha1, ede);
        else if (dnskey_read(&key, record->rdata))
            any_key = any_key || algorithm_is_supported(key.algorithm, allow_sha1);
    }
    return trust_end_ds(space, ede) == TRUST_SECURE || any_key;
}

static bool trust_is_anchor_key(const struct anchor *anchor, const struct dnskey *key)
{
    for (size_t i = 0; anchor && i < anchor->count; i++)
        if (anchor->record[i].type == RRTYPE_DNSKEY &&
            span_equal(anchor->record[i].rdata, key->rdata))
            return true;
    return false;
}

bool trust_vouches(const struct validation_space *space, const struct anchor *anchor,
                   struct name zone, const struct dnskey *key, unsigned *units_left)
{
    if (trust_is_anchor_key(anchor, key))
        return true;
    for (unsigned i = 0; i < space->ds_count; i++) {
        const struct ds *ds = &space->ds[i];
        if (ds->tag != key->tag || ds->algorithm != key->algorithm)
            continue;
        if (!*units_left)
            return false;
        --*units_left; /* a digest costs less than a unit */
        if (ds_fits(ds, zone, key))
            return true;
    }
    return false;
}
