/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Fields of DNSKEY and DS records. algorithm.c knows which algorithms count. Invariant: the tag is
 * that of the RDATA as it was sent, so a key that changes one flag has another tag.
 */
#include "validate/dnskey.h"

#include <endian.h>

#include "dns/word.h"
#include "validate/verify.h"

enum { FIELDS = 4 }; /* bytes before the key and before the digest */

/* RFC 4034 appendix B: the sum of all pairs of bytes. Algorithm 1 has its own rule and is not
 * supported. */
static uint16_t key_tag(struct span rdata)
{
    static const uint64_t pairs = UINT64_C(0x0000ffff0000ffff);
    uint64_t sums = 0; /* two of 32 bits each, which the longest RDATA does not fill */
    size_t at = 0;
    for (; at + 8 <= rdata.len; at += 8) {
        uint64_t word = be64toh(word_load(rdata.data + at));
        sums += (word & pairs) + (word >> 16 & pairs);
    }
    uint32_t sum = (uint32_t)sums + (uint32_t)(sums >> 32);
    for (; at < rdata.len; at++)
        sum += (uint32_t)rdata.data[at] << (at % 2 ? 0 : 8);
    return (uint16_t)(sum + (sum >> 16));
}

bool dnskey_read(struct dnskey *out, struct span rdata)
{
    if (rdata.len <= FIELDS)
        return false;
    out->flags = get_u16(rdata.data);
    out->protocol = rdata.data[2];
    out->algorithm = rdata.data[3];
    out->tag = key_tag(rdata);
    out->key = span_of(rdata.data + FIELDS, rdata.len - FIELDS);
    out->rdata = rdata;
    return true;
}

bool ds_read(struct ds *out, struct span rdata)
{
    if (rdata.len <= FIELDS)
        return false;
    out->tag = get_u16(rdata.data);
    out->algorithm = rdata.data[2];
    out->digest_type = rdata.data[3];
    out->digest = span_of(rdata.data + FIELDS, rdata.len - FIELDS);
    return true;
}

bool ds_fits(const struct ds *ds, struct name owner, const struct dnskey *key)
{
    if (ds->tag != key->tag || ds->algorithm != key->algorithm)
        return false;
    uint8_t wire[NAME_WIRE_MAX], digest[VERIFY_DIGEST_MAX];
    struct name folded = name_fold(owner, wire);
    size_t len =
        verify_digest(ds->digest_type, span_of(folded.wire, folded.len), key->rdata, digest);
    return len > 0 && span_equal(ds->digest, span_of(digest, len));
}
