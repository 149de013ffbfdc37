/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: only RRsets with a verified signature get past reuse_check(). */
#include "validate/reuse.h"

#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/nsec.h"
#include "validate/nsec3.h"
#include "validate/type_bitmap.h"

enum {
    NARROW_BYTES = 8 /* hashes of other names hardly ever have so many first bytes in common */
};

/* Returns whether the record is made for its owner only: the next name is \000 below it. */
static bool nsec_is_compact(const struct nsec *nsec)
{
    return nsec->next.wire[0] == 1 && nsec->next.wire[1] == 0 &&
           name_equal(name_parent(nsec->next), nsec->owner);
}

static bool reuse_nsec(const struct reuse *reuse, struct span rdata)
{
    struct nsec nsec;
    return nsec_read(&nsec, reuse->zone, reuse->owner, rdata) &&
           type_bitmap_has(nsec.types, RRTYPE_RRSIG) && type_bitmap_has(nsec.types, RRTYPE_NSEC) &&
           !type_bitmap_has(nsec.types, RRTYPE_NXNAME) && !nsec_is_compact(&nsec);
}

static bool reuse_nsec3(struct reuse *reuse, struct span rdata)
{
    struct nsec3 nsec3;
    if (!nsec3_read(&nsec3, reuse->zone, reuse->owner, rdata) || nsec3.iterations ||
        nsec3.has_opt_out || type_bitmap_has(nsec3.types, RRTYPE_NXNAME))
        return false;
    reuse->chain = nsec3.salt;
    return memcmp(nsec3.owner, nsec3.next, NARROW_BYTES) != 0 ||
           !memcmp(nsec3.owner, nsec3.next, VERIFY_NSEC3_HASH);
}

static bool reuse_soa(struct reuse *reuse, struct span rdata)
{
    if (!name_equal(reuse->owner, reuse->zone) || rdata.len < 4)
        return false;
    uint32_t minimum = get_u32(rdata.data + rdata.len - 4);
    reuse->ttl_s = MIN(reuse->ttl_s, minimum);
    return true;
}

static bool reuse_is_wildcard(struct name owner)
{
    return owner.wire[0] == 1 && owner.wire[1] == '*';
}

/* A wildcard of these types says something about more than its owner. A CNAME record is the only
 * one of its owner. */
static bool reuse_wildcard(const struct reuse *reuse, unsigned count)
{
    switch (reuse->type) {
    case RRTYPE_CNAME:
        return count == 1 && reuse_is_wildcard(reuse->owner);
    case RRTYPE_DNAME:
    case RRTYPE_NS:
    case RRTYPE_DS:
    case RRTYPE_DNSKEY:
        return false;
    default:
        return reuse_is_wildcard(reuse->owner) && !rrtype_is_meta(reuse->type);
    }
}

/* Chooses the shelf, and decides by the contents. */
static bool reuse_read(struct reuse *reuse, const struct rrsets *sets, const struct rrset *set)
{
    struct span rdata = rrsets_rdata(sets, set->first);
    reuse->chain = span_of(NULL, 0);
    reuse->shelf = SPANS_RECORDS;
    switch (reuse->type) {
    case RRTYPE_NSEC:
        reuse->shelf = SPANS_NAMES;
        return set->count == 1 && reuse_nsec(reuse, rdata);
    case RRTYPE_NSEC3:
        reuse->shelf = SPANS_HASHES;
        return set->count == 1 && reuse_nsec3(reuse, rdata);
    case RRTYPE_SOA:
        return set->count == 1 && reuse_soa(reuse, rdata);
    default:
        return reuse_wildcard(reuse, set->count);
    }
}

/* Sets the owner that was signed: an expanded RRset belongs to its wildcard. */
static void reuse_set_owner(struct reuse *reuse, const struct rrsets *sets, const struct rrset *set,
                            const struct validation_proof *proof)
{
    struct name owner = rrsets_owner(sets, set);
    if (!proof->is_expanded) {
        reuse->owner = name_copy(owner, reuse->wire);
    } else {
        struct name encloser = name_suffix(owner, proof->encloser_labels);
        reuse->wire[0] = 1;
        reuse->wire[1] = '*';
        memcpy(reuse->wire + 2, encloser.wire, encloser.len);
        reuse->owner = (struct name){.wire = reuse->wire, .len = (uint8_t)(encloser.len + 2)};
    }
    reuse->zone = name_suffix(reuse->owner, proof->signer_labels);
}

static uint32_t lowest_ttl(const struct rrsets *sets, const struct rrset *set)
{
    uint32_t lowest = UINT32_MAX;
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at])
        lowest = MIN(lowest, sets->record[at].ttl);
    return lowest;
}

bool reuse_check(struct reuse *out, const struct validation *validation, const struct rrsets *sets,
                 unsigned at)
{
    const struct rrset *set = &sets->set[at];
    struct validation_proof proof;
    if (!validation_proof_of(validation, sets, at, &proof) || !set->count)
        return false;
    if (proof.is_expanded && (set->type == RRTYPE_NSEC || set->type == RRTYPE_NSEC3))
        return false; /* such a record is about its wildcard, and denies nothing here */
    out->type = set->type;
    out->signature = proof.signature;
    out->ttl_s = lowest_ttl(sets, set);
    reuse_set_owner(out, sets, set, &proof);
    return reuse_read(out, sets, set);
}
