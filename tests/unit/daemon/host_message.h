/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_HOST_MESSAGE_H
#define NAILUP_TESTS_HOST_MESSAGE_H

/* Answers about the addresses of host names, for the tests of daemon/host_*. Include it after
 * cmocka. */

#include <arpa/inet.h>
#include <string.h>

#include "dns/name.h"
#include "dns/rrtype.h"

/* A record whose data is an address or the target of an alias, as text. owner NULL ends a list. */
struct host_record {
    const char *owner;
    uint16_t type;
    uint32_t ttl;
    const char *data;
};

static inline size_t host_put_name(uint8_t *out, const char *text)
{
    struct name name;
    assert_int_equal(name_parse(&name, out, text, strlen(text)), ERR_OK);
    return name.len;
}

static inline size_t host_put_u16(uint8_t *out, unsigned value)
{
    out[0] = (uint8_t)(value >> 8);
    out[1] = (uint8_t)value;
    return 2;
}

static inline size_t host_put_record(uint8_t *out, const struct host_record *record)
{
    size_t at = host_put_name(out, record->owner), rdata;
    at += host_put_u16(out + at, record->type);
    at += host_put_u16(out + at, RRCLASS_IN);
    at += host_put_u16(out + at, record->ttl >> 16);
    at += host_put_u16(out + at, record->ttl & 0xffff);
    if (record->type == RRTYPE_CNAME)
        rdata = host_put_name(out + at + 2, record->data);
    else if (record->type == RRTYPE_A)
        rdata = 4 * (size_t)inet_pton(AF_INET, record->data, out + at + 2);
    else
        rdata = 16 * (size_t)inet_pton(AF_INET6, record->data, out + at + 2);
    host_put_u16(out + at, (unsigned)rdata);
    return at + 2 + rdata;
}

/* Writes the answer to a query, with an rcode and these records. Returns its length. */
static inline size_t host_message(uint8_t *out, struct span query, unsigned rcode,
                                  const struct host_record *records)
{
    size_t at = 12, count = 0;
    while (query.data[at])
        at += query.data[at] + 1u;
    at += 5;
    memcpy(out, query.data, at);
    host_put_u16(out + 2, 0x8180 | rcode);
    for (; records && records[count].owner; count++)
        at += host_put_record(out + at, &records[count]);
    host_put_u16(out + 6, (unsigned)count);
    memset(out + 8, 0, 4);
    return at;
}

/* Returns the type that a query asks for. */
static inline uint16_t host_query_type(struct span query)
{
    size_t at = 12;
    while (query.data[at])
        at += query.data[at] + 1u;
    return (uint16_t)(query.data[at + 1] << 8 | query.data[at + 2]);
}

#endif
