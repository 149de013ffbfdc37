/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Both kinds of record answer one question: what is known about one name? It exists with these
 * types, it does not exist, or the records do not say (struct finding). The proofs are the same for
 * both kinds and use nothing else.
 *
 * The walk from the zone down to the name finds the next closer name: the first name that does not
 * exist. Below it nothing exists, so a long name costs no more hashes than the zone is deep. The
 * walk counts labels and therefore ends.
 *
 * Invariant: a finding comes from a record that may speak of the name (denial_types_may_speak()).
 */
#include "validate/denial.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/denial_types.h"
#include "validate/nsec.h"
#include "validate/nsec3.h"
#include "validate/nsec3_hash.h"
#include "validate/type_bitmap.h"

enum finding_kind {
    FINDING_NOTHING, /* the records do not say */
    FINDING_EXISTS,  /* with these types; an empty non-terminal has none */
    FINDING_ABSENT,
    FINDING_SPENT, /* the units do not suffice for the hash */
};

struct finding {
    enum finding_kind kind;
    struct span types;
    bool has_opt_out; /* ABSENT from the chain, which leaves out insecure zones here */
};

/* One attempt to prove something about a name with the records of one kind. */
struct proof {
    struct name zone, name;
    unsigned zone_labels, labels; /* of the name */
    uint16_t type;                /* denial_of_type() */
    unsigned encloser_labels;     /* denial_of_next_closer() */
    enum denial_ds ds;            /* result of denial_of_ds() */
    bool is_hashed;
    size_t count;
    union {
        struct nsec nsec[DENIAL_RECORDS_MAX];
        struct nsec3 nsec3[DENIAL_RECORDS_MAX];
    };
    struct nsec3_hashes hashes;
};

/* ---- findings ---- */

/* The owner's record comes first, and then the proof of an empty non-terminal. */
static struct finding nsec_find(const struct proof *proof, struct name name)
{
    struct finding found = {.kind = FINDING_NOTHING};
    for (size_t i = 0; i < proof->count; i++) {
        const struct nsec *nsec = &proof->nsec[i];
        if (name_equal(nsec->owner, name)) {
            found = (struct finding){.kind = FINDING_EXISTS, .types = nsec->types};
            continue;
        }
        if (!denial_types_may_speak(nsec->types, proof->zone, nsec->owner, name, 0))
            return (struct finding){.kind = FINDING_NOTHING};
        if (found.kind != FINDING_EXISTS && nsec_spans(nsec, proof->zone, name))
            found.kind = nsec_leads_below(nsec, name) ? FINDING_EXISTS : FINDING_ABSENT;
    }
    return found;
}

static struct finding nsec3_find(struct proof *proof, struct name name, bool is_wildcard)
{
    struct finding found = {.kind = FINDING_NOTHING};
    const uint8_t *hash = nsec3_hash_of(&proof->hashes, name, is_wildcard);
    if (!hash)
        return (struct finding){.kind = FINDING_SPENT};
    for (size_t i = 0; i < proof->count; i++) {
        const struct nsec3 *nsec3 = &proof->nsec3[i];
        if (nsec3_is_owner(nsec3, hash))
            return (struct finding){.kind = FINDING_EXISTS, .types = nsec3->types};
        if (!nsec3_spans(nsec3, hash))
            continue;
        found.kind = FINDING_ABSENT;
        found.has_opt_out |= nsec3->has_opt_out;
    }
    return found;
}

/* Finds out what the records prove about the proof's name or an ancestor of it. */
static struct finding proof_find(struct proof *proof, struct name name)
{
    return proof->is_hashed ? nsec3_find(proof, name, false) : nsec_find(proof, name);
}

/* Finds out what the records prove about the wildcard below the closest encloser. The name of the
 * wildcard goes to wire. */
static struct finding proof_find_wildcard(struct proof *proof, struct name encloser,
                                          uint8_t wire[NAME_WIRE_MAX], struct name *wildcard)
{
    MUST(encloser.len < proof->name.len); /* so two more bytes fit */
    wire[0] = 1;
    wire[1] = '*';
    memcpy(wire + 2, encloser.wire, encloser.len);
    *wildcard = (struct name){.wire = wire, .len = (uint8_t)(encloser.len + 2)};
    return proof->is_hashed ? nsec3_find(proof, *wildcard, true) : nsec_find(proof, *wildcard);
}

/* ---- proofs for both kinds ---- */

/* Proves NODATA for the owner of the finding, which is the name or a wildcard. */
static enum denial_result prove_types(const struct proof *proof, const struct finding *found,
                                      struct name owner)
{
    bool is_proven = denial_types_may_speak(found->types, proof->zone, owner, owner, proof->type) &&
                     denial_types_deny(found->types, proof->type);
    return is_proven ? DENIAL_PROVEN : DENIAL_UNPROVEN;
}

struct walk {
    enum denial_result result; /* PROVEN, UNPROVEN, SPENT: is the next closer name absent? */
    bool is_denied;            /* a compact denial of an ancestor or the name; result is UNPROVEN */
    bool has_opt_out;          /* PROVEN: of the span with the next closer name */
    struct name encloser;      /* PROVEN: the closest encloser */
};

/*
 * Walks from the zone down to the name, and stops at the first name that does not exist. An NSEC3
 * record must match its parent, the closest encloser (RFC 5155 section 8.3). An NSEC record whose
 * span has the next closer name has a name at or below the closest encloser at one end at least.
 * The zone itself exists, so a span that has the hash of its name says nothing about it.
 */
static struct walk proof_walk(struct proof *proof)
{
    struct walk walk = {.result = DENIAL_UNPROVEN};
    bool is_encloser_known = false;
    for (unsigned labels = proof->zone_labels; labels <= proof->labels; labels++) {
        struct name name = name_suffix(proof->name, labels);
        struct finding found = proof_find(proof, name);
        switch (found.kind) {
        case FINDING_SPENT:
            walk.result = DENIAL_SPENT;
            return walk;
        case FINDING_ABSENT:
            if (labels == proof->zone_labels)
                break;
            if (is_encloser_known || !proof->is_hashed)
                walk.result = DENIAL_PROVEN;
            walk.has_opt_out = found.has_opt_out;
            walk.encloser = name_parent(name);
            return walk;
        case FINDING_EXISTS:
            walk.is_denied = denial_types_deny_name(found.types);
            if (walk.is_denied ||
                !denial_types_may_speak(found.types, proof->zone, name, proof->name, 0))
                return walk;
            is_encloser_known = true;
            break;
        case FINDING_NOTHING:
            is_encloser_known = false;
            break;
        }
    }
    return walk;
}

/* NXDOMAIN: the next closer name and the wildcard beside it do not exist (RFC 4035
 * section 5.4, RFC 5155 section 8.4). A compact denial says both. Only the span with the next
 * closer name may hide an insecure zone that has the name (RFC 5155 section 9.2). */
static enum denial_result prove_name(struct proof *proof)
{
    struct walk walk = proof_walk(proof);
    if (walk.is_denied)
        return DENIAL_PROVEN;
    if (walk.result != DENIAL_PROVEN)
        return walk.result;
    uint8_t wire[NAME_WIRE_MAX];
    struct name wildcard;
    struct finding found = proof_find_wildcard(proof, walk.encloser, wire, &wildcard);
    if (found.kind == FINDING_SPENT)
        return DENIAL_SPENT;
    if (found.kind != FINDING_ABSENT)
        return DENIAL_UNPROVEN;
    return walk.has_opt_out ? DENIAL_OPT_OUT : DENIAL_PROVEN;
}

/* NODATA for a name that does not exist: a wildcard answers for it (RFC 4035 section 3.1.3.4, RFC
 * 5155 section 8.7), or an opt-out span hides it (RFC 5155 section 8.6 and erratum 3441). */
static enum denial_result prove_type_of_wildcard(struct proof *proof)
{
    struct walk walk = proof_walk(proof);
    if (walk.result != DENIAL_PROVEN)
        return walk.result;
    uint8_t wire[NAME_WIRE_MAX];
    struct name wildcard;
    struct finding found = proof_find_wildcard(proof, walk.encloser, wire, &wildcard);
    if (found.kind == FINDING_SPENT)
        return DENIAL_SPENT;
    if (found.kind == FINDING_EXISTS && prove_types(proof, &found, wildcard) != DENIAL_PROVEN)
        return DENIAL_UNPROVEN;
    if (walk.has_opt_out)
        return DENIAL_OPT_OUT;
    return found.kind == FINDING_EXISTS ? DENIAL_PROVEN : DENIAL_UNPROVEN;
}

/* NODATA: the name's own record or an empty non-terminal, or else a wildcard's. */
static enum denial_result prove_type(struct proof *proof)
{
    struct finding found = proof_find(proof, proof->name);
    if (found.kind == FINDING_SPENT)
        return DENIAL_SPENT;
    if (found.kind == FINDING_EXISTS)
        return prove_types(proof, &found, proof->name);
    return prove_type_of_wildcard(proof);
}

/* The signature of the expanded RRset names the closest encloser, so it needs no record (RFC 5155
 * section 8.8). */
static enum denial_result prove_next_closer(struct proof *proof)
{
    struct finding found = proof_find(proof, name_suffix(proof->name, proof->encloser_labels + 1));
    if (found.kind == FINDING_SPENT)
        return DENIAL_SPENT;
    if (found.kind != FINDING_ABSENT)
        return DENIAL_UNPROVEN;
    return found.has_opt_out ? DENIAL_OPT_OUT : DENIAL_PROVEN;
}

/* Reads the record of the name itself. */
static enum denial_ds ds_by_types(const struct proof *proof, const struct finding *found)
{
    if (!denial_types_may_speak(found->types, proof->zone, proof->name, proof->name, RRTYPE_DS) ||
        type_bitmap_has(found->types, RRTYPE_DS))
        return DENIAL_DS_UNPROVEN;
    if (denial_types_are_cut(found->types))
        return DENIAL_DS_INSECURE;
    return denial_types_deny_name(found->types) ? DENIAL_DS_NO_NAME : DENIAL_DS_NO_CUT;
}

/* A wildcard plays no part: it makes no zone cut (RFC 4592 section 4.2). */
static enum denial_result prove_ds(struct proof *proof)
{
    struct finding found = proof_find(proof, proof->name);
    if (found.kind == FINDING_SPENT)
        return DENIAL_SPENT;
    if (found.kind == FINDING_EXISTS) {
        proof->ds = ds_by_types(proof, &found);
        return proof->ds == DENIAL_DS_UNPROVEN ? DENIAL_UNPROVEN : DENIAL_PROVEN;
    }
    struct walk walk = proof_walk(proof);
    proof->ds = walk.has_opt_out ? DENIAL_DS_INSECURE : DENIAL_DS_NO_NAME;
    return walk.is_denied ? DENIAL_PROVEN : walk.result;
}

/* ---- from records to a proof ---- */

/* Reads the NSEC records. PROVEN: the proof may begin. */
static enum denial_result proof_begin_nsec(struct proof *proof, const struct denial *denial)
{
    proof->is_hashed = false;
    proof->count = 0;
    for (size_t i = 0; i < MIN(denial->count, (size_t)DENIAL_RECORDS_MAX); i++) {
        const struct denial_record *record = &denial->at[i];
        struct nsec *nsec = &proof->nsec[proof->count];
        if (record->type == RRTYPE_NSEC &&
            nsec_read(nsec, denial->zone, record->owner, record->rdata))
            proof->count++;
    }
    return proof->count ? DENIAL_PROVEN : DENIAL_UNPROVEN;
}

/* Reads the NSEC3 records, which must all be of one chain. PROVEN: the proof may begin. */
static enum denial_result proof_begin_nsec3(struct proof *proof, const struct denial *denial)
{
    proof->is_hashed = true;
    proof->count = 0;
    for (size_t i = 0; i < MIN(denial->count, (size_t)DENIAL_RECORDS_MAX); i++) {
        const struct denial_record *record = &denial->at[i];
        struct nsec3 *nsec3 = &proof->nsec3[proof->count];
        if (record->type == RRTYPE_NSEC3 &&
            nsec3_read(nsec3, denial->zone, record->owner, record->rdata)) {
            if (!nsec3_is_same_chain(&proof->nsec3[0], nsec3))
                return DENIAL_UNPROVEN;
            proof->count++;
        }
    }
    if (!proof->count)
        return DENIAL_UNPROVEN;
    const struct nsec3 *first = &proof->nsec3[0];
    if (first->iterations > DENIAL_ITERATIONS_MAX)
        return DENIAL_ITERATIONS;
    nsec3_hash_begin(&proof->hashes, first->salt, first->iterations, denial->units_left);
    return DENIAL_PROVEN;
}

/* Tries the NSEC records and then the NSEC3 records: a zone may change from one to the other. */
static enum denial_result denial_prove(const struct denial *denial, struct proof *proof,
                                       enum denial_result (*prove)(struct proof *))
{
    proof->zone = denial->zone;
    proof->zone_labels = name_label_count(denial->zone);
    proof->labels = name_label_count(proof->name);
    enum denial_result result = proof_begin_nsec(proof, denial);
    if (result == DENIAL_PROVEN)
        result = prove(proof);
    if (result != DENIAL_UNPROVEN)
        return result;
    result = proof_begin_nsec3(proof, denial);
    return result == DENIAL_PROVEN ? prove(proof) : result;
}

static bool denial_is_strictly_above(const struct denial *denial, struct name name)
{
    return name.len > denial->zone.len && name_is_below(name, denial->zone);
}

enum denial_result denial_of_name(const struct denial *denial, struct name name)
{
    struct proof proof = {.name = name};
    if (!denial_is_strictly_above(denial, name))
        return DENIAL_UNPROVEN;
    return denial_prove(denial, &proof, prove_name);
}

enum denial_result denial_of_type(const struct denial *denial, struct name name, uint16_t type)
{
    struct proof proof = {.name = name, .type = type};
    if (!name_is_below(name, denial->zone))
        return DENIAL_UNPROVEN;
    if (type == RRTYPE_DS && name.len == denial->zone.len && !name_is_root(name))
        return DENIAL_UNPROVEN;
    return denial_prove(denial, &proof, prove_type);
}

enum denial_result denial_of_next_closer(const struct denial *denial, struct name name,
                                         unsigned labels)
{
    struct proof proof = {.name = name, .encloser_labels = labels};
    if (!denial_is_strictly_above(denial, name) || labels < name_label_count(denial->zone) ||
        labels >= name_label_count(name))
        return DENIAL_UNPROVEN;
    return denial_prove(denial, &proof, prove_next_closer);
}

enum denial_ds denial_of_ds(const struct denial *denial, struct name name)
{
    struct proof proof = {.name = name};
    if (!denial_is_strictly_above(denial, name))
        return DENIAL_DS_UNPROVEN;
    switch (denial_prove(denial, &proof, prove_ds)) {
    case DENIAL_PROVEN:
        return proof.ds;
    case DENIAL_ITERATIONS:
        return DENIAL_DS_ITERATIONS;
    case DENIAL_SPENT:
        return DENIAL_DS_SPENT;
    default:
        return DENIAL_DS_UNPROVEN;
    }
}
