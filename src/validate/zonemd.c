/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Digests all records in canonical form and order (RFC 8976 section 3). Invariant: the zone gives
 * its records in that order, each once, so nothing is sorted here.
 */
#include "validate/zonemd.h"

#include <openssl/evp.h>
#include <string.h>

#include "base/check.h"
#include "dns/name.h"
#include "dns/rdata.h"
#include "dns/rrtype.h"
#include "validate/canonical.h"
#include "zone/zone_data.h"

enum {
    SCHEME_SIMPLE = 1,
    HASH_SHA384 = 1,
    HASH_SHA512 = 2,
    HEAD = 6, /* serial, scheme, hash algorithm */
};

/* Section 3.4: the ZONEMD records of the origin and their signatures are left out. */
static bool is_digested(const struct zone_data *data, const struct zone_record *record)
{
    if (record->owner.len != zone_data_origin(data).len)
        return true;
    if (record->type == RRTYPE_RRSIG)
        return get_u16(record->rdata.data) != RRTYPE_ZONEMD;
    return record->type != RRTYPE_ZONEMD;
}

/* A signature has the TTL of the records that it covers (RFC 4034 section 3). */
static uint32_t ttl_of(const struct zone_data *data, const struct zone_record *record)
{
    struct zone_rrset covered;
    if (record->type == RRTYPE_RRSIG &&
        zone_data_find(data, record->owner, get_u16(record->rdata.data), &covered))
        return covered.ttl;
    return record->ttl;
}

/* Digests the RDATA with its names in lower case, where RFC 4034 section 6.2 says so. */
static bool digest_rdata(EVP_MD_CTX *context, uint16_t type, struct span rdata)
{
    struct rdata_parts parts;
    uint8_t names[2 * NAME_WIRE_MAX];
    MUST(rdata_split_plain(type, rdata, &parts));
    if (!canonical_has_folded_names(type))
        return EVP_DigestUpdate(context, rdata.data, rdata.len) == 1;
    size_t len = (size_t)parts.tail_offset - parts.names_offset;
    MUST(len <= sizeof(names));
    for (size_t i = 0; i < len; i++)
        names[i] = name_fold_byte(rdata.data[parts.names_offset + i]);
    return EVP_DigestUpdate(context, rdata.data, parts.names_offset) == 1 &&
           EVP_DigestUpdate(context, names, len) == 1 &&
           EVP_DigestUpdate(context, rdata.data + parts.tail_offset,
                            rdata.len - parts.tail_offset) == 1;
}

static bool digest_record(EVP_MD_CTX *context, const struct zone_data *data,
                          const struct zone_record *record)
{
    uint8_t head[NAME_WIRE_MAX + 10];
    struct name owner = name_fold(record->owner, head);
    uint8_t *at = head + owner.len;
    put_u16(at, record->type);
    put_u16(at + 2, RRCLASS_IN);
    put_u32(at + 4, ttl_of(data, record));
    put_u16(at + 8, (uint16_t)record->rdata.len);
    return EVP_DigestUpdate(context, head, (size_t)owner.len + 10) == 1 &&
           digest_rdata(context, record->type, record->rdata);
}

/* Returns the length of the digest, or 0 when out of memory. */
static unsigned digest_zone(const struct zone_data *data, const EVP_MD *algorithm,
                            uint8_t out[EVP_MAX_MD_SIZE])
{
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    struct zone_iter iter;
    struct zone_record record;
    unsigned len = 0;
    bool is_sound = context && EVP_DigestInit_ex(context, algorithm, NULL) == 1;
    zone_iter_init(&iter, data);
    while (is_sound && zone_iter_next(&iter, &record))
        if (is_digested(data, &record))
            is_sound = digest_record(context, data, &record);
    is_sound = is_sound && EVP_DigestFinal_ex(context, out, &len) == 1;
    EVP_MD_CTX_free(context);
    return is_sound ? len : 0;
}

static const EVP_MD *algorithm_of(struct span rdata)
{
    if (rdata.data[4] != SCHEME_SIMPLE)
        return NULL;
    return rdata.data[5] == HASH_SHA384   ? EVP_sha384()
           : rdata.data[5] == HASH_SHA512 ? EVP_sha512()
                                          : NULL;
}

static enum zonemd_result check_one(const struct zone_data *data, struct span rdata)
{
    uint8_t digest[EVP_MAX_MD_SIZE];
    if (rdata.len <= HEAD || get_u32(rdata.data) != zone_data_soa(data)->serial)
        return ZONEMD_DIFFERS;
    const EVP_MD *algorithm = algorithm_of(rdata);
    if (!algorithm)
        return ZONEMD_UNKNOWN;
    unsigned len = digest_zone(data, algorithm, digest);
    if (len == 0)
        return ZONEMD_NO_MEMORY;
    bool is_equal = rdata.len == HEAD + len && memcmp(rdata.data + HEAD, digest, len) == 0;
    return is_equal ? ZONEMD_MATCHES : ZONEMD_DIFFERS;
}

/* Section 4: two records with one scheme and algorithm are an error. */
static bool has_twins(struct zone_rrset rrset)
{
    uint8_t seen[3] = {0};
    struct span rdata;
    while (zone_rrset_next(&rrset, &rdata))
        if (rdata.len > HEAD && algorithm_of(rdata) && seen[rdata.data[5]]++)
            return true;
    return false;
}

enum zonemd_result zonemd_check(const struct zone_data *data)
{
    struct zone_rrset rrset;
    struct span rdata;
    enum zonemd_result result = ZONEMD_UNKNOWN;
    if (!zone_data_find(data, zone_data_origin(data), RRTYPE_ZONEMD, &rrset))
        return ZONEMD_ABSENT;
    if (has_twins(rrset))
        return ZONEMD_DIFFERS;
    while (zone_rrset_next(&rrset, &rdata)) {
        enum zonemd_result one = check_one(data, rdata);
        if (one == ZONEMD_MATCHES || one == ZONEMD_NO_MEMORY)
            return one;
        if (one == ZONEMD_DIFFERS)
            result = one;
    }
    return result;
}
