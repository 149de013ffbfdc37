/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariant: has_signed means that OpenSSL verified this key's signature over the whole set, and
 * that its dates are right.
 */
#include "validate/anchor_set.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "validate/algorithm.h"
#include "validate/canonical.h"
#include "validate/dnskey.h"
#include "validate/rrsets.h"

struct anchor_space {
    struct message message;
    struct rrsets sets;
    uint8_t bytes[CANONICAL_MAX]; /* that a signature covers */
};

static bool anchor_take_keys(struct anchor_seen *seen, const struct rrsets *sets,
                             const struct rrset *set)
{
    for (uint16_t at = set->first; at != RRSETS_NONE; at = sets->next[at]) {
        if (seen->count == ANCHOR_SEEN_MAX)
            return false;
        seen->key[seen->count++] = (struct anchor_seen_key){.rdata = rrsets_rdata(sets, at)};
    }
    return seen->count > 0;
}

static bool may_have_made(const struct dnskey *key, const struct rrsig *sig)
{
    return key->tag == sig->tag && key->algorithm == sig->algorithm && key->protocol == 3 &&
           (key->flags & DNSKEY_ZONE) && algorithm_is_supported(key->algorithm, true) &&
           algorithm_key_is_sound(key->algorithm, key->key.data, key->key.len);
}

/* Notes the key that made this signature. */
static void anchor_try_keys(struct anchor_seen *seen, const struct rrsig *sig, struct span bytes,
                            struct verifier *verifier, unsigned *left)
{
    for (size_t i = 0; i<seen->count && * left> 0; i++) {
        struct dnskey key;
        if (!dnskey_read(&key, seen->key[i].rdata) || !may_have_made(&key, sig))
            continue;
        struct verify_job job = {.algorithm = sig->algorithm,
                                 .key = key.key,
                                 .data = bytes,
                                 .signature = sig->signature};
        --*left;
        seen->key[i].has_signed |= verify_run(verifier, &job);
    }
}

static unsigned count_signers(const struct anchor_seen *seen)
{
    unsigned count = 0;
    for (size_t i = 0; i < seen->count; i++)
        count += seen->key[i].has_signed;
    return count;
}

/* Only the times of verified signatures count, because anyone can write the others. */
static void anchor_take_signatures(struct anchor_seen *seen, struct anchor_space *space,
                                   const struct rrset *set, struct name zone,
                                   const struct rrsig_clock *clock, struct verifier *verifier)
{
    unsigned left = ANCHOR_SET_VERIFICATIONS_MAX;
    seen->original_ttl_s = seen->signature_left_s = UINT32_MAX;
    for (uint16_t at = set->first_sig; at != RRSETS_NONE && left > 0; at = space->sets.next[at]) {
        struct rrsig sig;
        if (!rrsig_read(&sig, rrsets_rdata(&space->sets, at)) || !name_equal(sig.signer, zone) ||
            rrsig_check(&sig, zone, RRTYPE_DNSKEY, clock) != RRSIG_USABLE ||
            rrsig_is_expanded(&sig, zone))
            continue;
        size_t len = canonical_write(space->bytes, sizeof(space->bytes), &space->sets, set, &sig);
        unsigned before = count_signers(seen);
        if (len > 0)
            anchor_try_keys(seen, &sig, span_of(space->bytes, len), verifier, &left);
        if (count_signers(seen) == before)
            continue;
        seen->original_ttl_s = MIN(seen->original_ttl_s, sig.original_ttl);
        seen->signature_left_s = MIN(seen->signature_left_s, rrsig_seconds_left(&sig, clock));
    }
}

bool anchor_set_read(struct anchor_seen *seen, struct span message, struct name zone,
                     const struct rrsig_clock *clock, struct verifier *verifier)
{
    *seen = (struct anchor_seen){0};
    struct anchor_space *space = malloc(sizeof(*space));
    if (!space)
        return false;
    const struct rrset *set = NULL;
    if (message_parse(&space->message, message) == MESSAGE_OK &&
        rrsets_read(&space->sets, &space->message, RRCLASS_IN))
        set = rrsets_find(&space->sets, SECTION_ANSWER, zone, RRTYPE_DNSKEY);
    bool is_read = set && anchor_take_keys(seen, &space->sets, set);
    if (is_read)
        anchor_take_signatures(seen, space, set, zone, clock, verifier);
    free(space);
    return is_read;
}
