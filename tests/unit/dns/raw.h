/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_DNS_RAW_H
#define NAILUP_TESTS_DNS_RAW_H

/* Builds messages byte by byte, so that a test can put faults into them. */

#include <assert.h>
#include <string.h>

#include "base/span.h"
#include "dns/header.h"

struct raw {
    uint8_t bytes[65536];
    size_t len;
};

static inline void raw_add(struct raw *raw, const void *data, size_t len)
{
    assert(raw->len + len <= sizeof(raw->bytes));
    if (len)
        memcpy(raw->bytes + raw->len, data, len);
    raw->len += len;
}

static inline void raw_u16(struct raw *raw, uint16_t value)
{
    uint8_t bytes[2];
    put_u16(bytes, value);
    raw_add(raw, bytes, 2);
}

/* Writes a header with one question: "q." A IN. */
static inline void raw_start(struct raw *raw, uint16_t flags)
{
    raw->len = 0;
    raw_u16(raw, 0xabcd);
    raw_u16(raw, flags);
    raw_u16(raw, 1);
    raw_add(raw, "\0\0\0\0\0\0\1q\0\0\1\0\1", 13);
}

/* Writes a record with this owner and counts it in the section. */
static inline void raw_rr(struct raw *raw, enum section section, struct span owner, uint16_t type,
                          uint16_t cls, uint32_t ttl, struct span rdata)
{
    raw_add(raw, owner.data, owner.len);
    raw_u16(raw, type);
    raw_u16(raw, cls);
    raw_u16(raw, (uint16_t)(ttl >> 16));
    raw_u16(raw, (uint16_t)ttl);
    raw_u16(raw, (uint16_t)rdata.len);
    raw_add(raw, rdata.data, rdata.len);
    header_set_count(raw->bytes, section, (uint16_t)(header_count(raw->bytes, section) + 1));
}

static inline struct span raw_span(const struct raw *raw)
{
    return span_of(raw->bytes, raw->len);
}

#endif
