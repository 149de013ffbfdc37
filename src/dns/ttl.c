/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * TTLs of a message: the smallest, the negative TTL, and ageing a copy. Invariant: meta records are
 * left out, because the field has another meaning in OPT and TSIG.
 */
#include "dns/ttl.h"

#include "dns/rrtype.h"

static uint32_t ttl_smallest(struct rr_iter iter)
{
    uint32_t ttl = TTL_NONE;
    for (struct rr rr; message_rr_next(&iter, &rr);)
        if (rr.ttl < ttl && !rrtype_is_meta(rr.type))
            ttl = rr.ttl;
    return ttl;
}

uint32_t ttl_of_answer(const struct message *message)
{
    return ttl_smallest(message_rrs(message, SECTION_ANSWER));
}

uint32_t ttl_of_all(const struct message *message)
{
    return ttl_smallest(message_all_rrs(message));
}

bool ttl_of_negative(const struct message *message, uint32_t *ttl, struct rr *soa)
{
    struct rr_iter iter = message_rrs(message, SECTION_AUTHORITY);
    struct rr rr;
    do {
        if (!message_rr_next(&iter, &rr))
            return false;
    } while (rr.type != RRTYPE_SOA);
    if (!message_check_rr(message, &rr) || rr.rdata_len < 4)
        return false;
    struct span rdata = message_rdata(message, &rr);
    uint32_t minimum = get_u32(rdata.data + rdata.len - 4);
    if (minimum >> 31)
        minimum = 0;
    *ttl = rr.ttl < minimum ? rr.ttl : minimum;
    if (soa)
        *soa = rr;
    return true;
}

size_t ttl_collect(const struct message *message, uint16_t *offsets, size_t max)
{
    size_t count = 0;
    struct rr_iter iter = message_all_rrs(message);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        if (rrtype_is_meta(rr.type))
            continue;
        if (count < max)
            offsets[count] = message_ttl_offset(&rr);
        count++;
    }
    return count;
}

void ttl_age(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t elapsed,
             uint32_t floor)
{
    for (size_t i = 0; i < count; i++) {
        uint8_t *at = bytes + offsets[i];
        uint32_t ttl = get_u32(at);
        uint32_t left = ttl > elapsed ? ttl - elapsed : 0;
        put_u32(at, left > floor ? left : floor);
    }
}

void ttl_set(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t ttl)
{
    for (size_t i = 0; i < count; i++)
        put_u32(bytes + offsets[i], ttl);
}
