/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Addresses have one length and contain no names, so the addresses of an RRset can change places
 * while all other bytes stay. They are read from the answer, which never changes, and written to
 * the copy.
 */
#include "serve/rotate.h"

#include <string.h>

#include "base/check.h"
#include "base/span.h"
#include "dns/header.h"
#include "dns/rrtype.h"

enum { RDLENGTH_AT = 4, RDATA_AT = 6 }; /* from the first byte of the TTL */

enum { POINTER = 0xc000, POINTER_MAX = 0x3fff }; /* RFC 1035 section 4.1.4 */

/* A record, found by the place of its TTL. */
struct record {
    size_t owner_at, owner_len;
    size_t rdata_at;
    uint16_t type, rdata_len;
};

static bool rotate_read_record(const struct answer *answer, size_t owner_at, size_t ttl_at,
                               struct record *out)
{
    const uint8_t *message = answer->message.data;
    if (ttl_at < owner_at + 4 || ttl_at + RDATA_AT > answer->message.len)
        return false;
    *out = (struct record){
        .owner_at = owner_at,
        .owner_len = ttl_at - 4 - owner_at,
        .rdata_at = ttl_at + RDATA_AT,
        .type = get_u16(message + ttl_at - 4),
        .rdata_len = get_u16(message + ttl_at + RDLENGTH_AT),
    };
    return out->rdata_at + out->rdata_len <= answer->message.len;
}

static bool rotate_is_address(const struct record *record)
{
    return (record->type == RRTYPE_A && record->rdata_len == 4) ||
           (record->type == RRTYPE_AAAA && record->rdata_len == 16);
}

/* The owners have the same bytes, or one is a pointer to the first. Two spellings of a name count
 * as two names, and such an RRset stays as it is. */
static bool is_same_owner(const uint8_t *message, const struct record *first,
                          const struct record *record)
{
    const uint8_t *owner = message + record->owner_at;
    if (record->owner_len == 2 && first->owner_at <= POINTER_MAX &&
        get_u16(owner) == (POINTER | first->owner_at))
        return true;
    return record->owner_len == first->owner_len &&
           memcmp(owner, message + first->owner_at, first->owner_len) == 0;
}

/* The number of records from the first on that are one RRset; *end_at is the end of the last one.
 */
static size_t set_len(const struct answer *answer, size_t at, size_t count, size_t owner_at,
                      struct record *first, size_t *end_at)
{
    struct record record;
    size_t len = 0;
    *end_at = owner_at;
    while (at + len < count &&
           rotate_read_record(answer, *end_at, answer->ttl_offsets[at + len], &record)) {
        if (len == 0)
            *first = record;
        else if (record.type != first->type || record.rdata_len != first->rdata_len ||
                 !is_same_owner(answer->message.data, first, &record))
            break;
        *end_at = record.rdata_at + record.rdata_len;
        len++;
    }
    return len;
}

static void rotate_set(const struct answer *answer, uint8_t *copy, size_t at, size_t len,
                       uint16_t rdata_len, uint32_t turn)
{
    const uint16_t *ttls = answer->ttl_offsets + at;
    size_t from = turn % len;
    for (size_t i = 0; i < len; i++) {
        memcpy(copy + ttls[i] + RDATA_AT, answer->message.data + ttls[from] + RDATA_AT, rdata_len);
        from = from + 1 < len ? from + 1 : 0;
    }
}

void rotate_addresses(const struct answer *answer, uint8_t *copy, size_t len, size_t names_at,
                      uint32_t turn)
{
    struct record first = {0};
    size_t count = MIN(header_count(answer->message.data, SECTION_ANSWER), answer->ttl_count);
    size_t owner_at = names_at, end_at, records;
    for (size_t at = 0; at < count; at += records, owner_at = end_at) {
        records = set_len(answer, at, count, owner_at, &first, &end_at);
        if (records == 0 || end_at > len)
            return;
        if (records > 1 && rotate_is_address(&first))
            rotate_set(answer, copy, at, records, first.rdata_len, turn);
    }
}
