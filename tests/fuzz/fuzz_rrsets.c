/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads any message into RRsets and writes the signed form of every set under each of its
 * signatures, and under one of ours. Every record is in one list, each owner is that of its set,
 * the signed form is sorted, and a smaller buffer is never overrun.
 */
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "validate/canonical.h"
#include "validate/rrsets.h"
#include "validate/rrsig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct rrsets sets;
static uint8_t out[CANONICAL_MAX];

/* Walks one list of a set. Returns how many records the list has. */
static unsigned check_list(const struct rrset *set, uint16_t first, bool is_sig)
{
    struct name owner = rrsets_owner(&sets, set);
    unsigned count = 0;
    uint32_t before = 0;
    for (uint16_t at = first; at != RRSETS_NONE; at = sets.next[at], count++) {
        MUST(at < sets.record_count && count < sets.record_count);
        const struct rr *rr = &sets.record[at];
        MUST(rr->owner_offset > before);
        before = rr->owner_offset;
        MUST(rr->section == set->section && (rr->type == RRTYPE_RRSIG) == is_sig);
        MUST(message_owner_is(sets.message, rr, owner));
        uint16_t type = is_sig ? get_u16(rrsets_rdata(&sets, at).data) : rr->type;
        MUST(type == set->type);
    }
    return count;
}

static void check_sets(void)
{
    unsigned records = 0;
    for (unsigned i = 0; i < sets.count; i++) {
        const struct rrset *set = &sets.set[i];
        MUST(check_list(set, set->first, false) == set->count);
        MUST(check_list(set, set->first_sig, true) == set->sig_count);
        MUST(rrsets_find(&sets, set->section, rrsets_owner(&sets, set), set->type) == set);
        records += set->count + set->sig_count;
    }
    MUST(records == sets.record_count);
}

/* The records after the signature's fields have one prefix and ascending RDATA. */
static void check_signed(size_t len, const struct rrset *set, const struct rrsig *sig)
{
    struct name owner;
    struct span before = {0};
    size_t fixed = 18 + (size_t)sig->signer.len;
    MUST(len > fixed && len <= sizeof(out));
    for (size_t at = fixed; at < len;) {
        at = name_view(span_of(out, len), at, &owner);
        MUST(at && len - at >= 10 && get_u16(out + at) == set->type);
        MUST(get_u32(out + at + 4) == sig->original_ttl);
        struct span rdata = span_of(out + at + 10, get_u16(out + at + 8));
        MUST(rdata.len <= len - at - 10);
        size_t shorter = MIN(before.len, rdata.len);
        int order = before.data && shorter ? memcmp(before.data, rdata.data, shorter) : 0;
        MUST(!before.data || order < 0 || (order == 0 && before.len < rdata.len));
        before = rdata;
        at += 10 + rdata.len;
    }
}

/* Writes into a heap buffer of exactly this size. */
static void write_within(size_t max, size_t len, const struct rrset *set, const struct rrsig *sig)
{
    uint8_t *small = malloc(max + 1);
    size_t written = canonical_write(small, max, &sets, set, sig);
    MUST(written == 0 || (written == len && len <= max && memcmp(small, out, len) == 0));
    free(small);
}

static void write_set(const struct rrset *set, const struct rrsig *sig)
{
    size_t len = canonical_write(out, sizeof(out), &sets, set, sig);
    MUST(set->count > 0 || len == 0);
    if (len == 0)
        return;
    check_signed(len, set, sig);
    write_within(len, len, set, sig);
    write_within(len - 1, len, set, sig);
    write_within(len / 2, len, set, sig);
}

/* Writes the set under a signature by the root with this many labels. */
static void write_by_root(const struct rrset *set, uint8_t labels)
{
    uint8_t rdata[] = "\0\0\x0d\0\0\0\x0e\x10\x70\xdb\xd8\x80\x5e\x0b\xe1\0\0\1\0signature";
    struct rrsig sig;
    put_u16(rdata, set->type);
    rdata[3] = labels;
    MUST(rrsig_read(&sig, span_of(rdata, sizeof(rdata) - 1)));
    write_set(set, &sig);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct message message;
    if (message_parse(&message, span_of(data, size)) != MESSAGE_OK ||
        !rrsets_read(&sets, &message, RRCLASS_IN))
        return 0;
    check_sets();
    struct rrsig_clock clock = {.now_s = 1790000000};
    for (unsigned i = 0; i < sets.count; i++) {
        const struct rrset *set = &sets.set[i];
        struct name owner = rrsets_owner(&sets, set);
        for (uint16_t at = set->first_sig; at != RRSETS_NONE; at = sets.next[at]) {
            struct rrsig sig;
            if (!rrsig_read(&sig, rrsets_rdata(&sets, at)))
                continue;
            enum rrsig_fault fault = rrsig_check(&sig, owner, set->type, &clock);
            MUST(fault != RRSIG_USABLE || name_is_below(owner, sig.signer));
            write_set(set, &sig);
        }
        write_by_root(set, 0);
        write_by_root(set, (uint8_t)name_label_count(owner));
    }
    return 0;
}
