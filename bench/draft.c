/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "draft.h"

#include <string.h>

#include "base/span.h"
#include "wire.h"

void draft_bytes(struct draft *draft, const void *bytes, size_t len)
{
    memcpy(draft->p, bytes, len);
    draft->p += len;
}

void draft_name(struct draft *draft, uint16_t name)
{
    if (name == DRAFT_ROOT) {
        *draft->p++ = 0;
        return;
    }
    put_u16(draft->p, name);
    draft->p += 2;
}

void draft_record(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                  uint16_t data_len)
{
    draft_name(draft, owner);
    put_u16(draft->p, type);
    put_u16(draft->p + 2, WIRE_CLASS_IN);
    put_u32(draft->p + 4, ttl_s);
    put_u16(draft->p + 8, data_len);
    draft->p += 10;
}

void draft_address(struct draft *draft, uint16_t owner, uint16_t type, uint32_t ttl_s,
                   uint64_t hash)
{
    uint8_t ip4[4] = {10, (uint8_t)(hash >> 16), (uint8_t)(hash >> 8), (uint8_t)hash};
    uint8_t ip6[16] = {0x20, 0x01, 0x0d, 0xb8};
    bool is_ip6 = type == WIRE_TYPE_AAAA;
    memcpy(ip6 + 8, &hash, sizeof(hash));
    draft_record(draft, owner, type, ttl_s, is_ip6 ? 16 : 4);
    draft_bytes(draft, is_ip6 ? ip6 : ip4, is_ip6 ? 16 : 4);
    draft->answers++;
}

void draft_soa(struct draft *draft, uint16_t zone, uint32_t ttl_s)
{
    static const uint32_t numbers[] = {1, 3600, 600, 86400}; /* serial, refresh, retry, expire */
    draft_record(draft, zone, WIRE_TYPE_SOA, ttl_s, zone == DRAFT_ROOT ? 2 + 20 : 4 + 20);
    draft_name(draft, zone);
    draft_name(draft, zone);
    for (int i = 0; i < 4; i++)
        put_u32(draft->p + 4 * i, numbers[i]);
    put_u32(draft->p + 16, ttl_s); /* RFC 2308: the TTL of negative answers */
    draft->p += 20;
}
