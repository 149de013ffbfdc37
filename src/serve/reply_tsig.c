/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Turns the TSIG record of a query into the record that refuses it. We have no keys, so nothing is
 * verified or signed. This parses the query a second time: hardly any client signs, and the other
 * clients must not pay for it. Invariant: the record is no longer than the query's own one allows.
 */
#include "serve/reply_tsig.h"

#include <string.h>

#include "base/check.h"
#include "dns/message.h"
#include "dns/rrtype.h"

enum {
    TIMES_LEN = 8, /* time signed and fudge, which follow the algorithm's name */
    TAIL_LEN = 8,  /* MAC size, original id, error, other length */
    RR_FIXED = 10,
};

/* Names and times of a TSIG record. */
struct tsig {
    uint8_t owner_wire[NAME_WIRE_MAX];
    struct name owner, algorithm;
    const uint8_t *times;
    uint16_t id;
};

static bool read_tsig(struct tsig *out, struct span query)
{
    struct message message;
    struct rr rr;
    if (message_parse(&message, query) != MESSAGE_OK)
        return false;
    struct rr_iter iter = message_rrs(&message, SECTION_ADDITIONAL);
    do {
        if (!message_rr_next(&iter, &rr))
            return false;
    } while (rr.type != RRTYPE_TSIG);

    struct span rdata = message_rdata(&message, &rr);
    size_t after = name_view(rdata, 0, &out->algorithm);
    if (after == 0 || rdata.len - after < TIMES_LEN)
        return false;
    out->owner = message_owner(&message, &rr, out->owner_wire);
    out->times = rdata.data + after;
    out->id = message.id;
    return true;
}

size_t reply_tsig_len(struct span query)
{
    struct tsig tsig;
    if (!read_tsig(&tsig, query))
        return 0;
    return tsig.owner.len + tsig.algorithm.len + (size_t)(RR_FIXED + TIMES_LEN + TAIL_LEN);
}

static uint8_t *write_bytes(uint8_t *at, const void *data, size_t len)
{
    memcpy(at, data, len);
    return at + len;
}

uint8_t *reply_tsig_write(struct span query, uint8_t *at)
{
    struct tsig tsig;
    MUST(read_tsig(&tsig, query));
    at = write_bytes(at, tsig.owner.wire, tsig.owner.len);
    put_u16(at, RRTYPE_TSIG);
    put_u16(at + 2, RRCLASS_ANY);
    put_u32(at + 4, 0);
    put_u16(at + 8, (uint16_t)(tsig.algorithm.len + TIMES_LEN + TAIL_LEN));
    at = write_bytes(at + RR_FIXED, tsig.algorithm.wire, tsig.algorithm.len);
    at = write_bytes(at, tsig.times, TIMES_LEN);
    put_u16(at, 0);
    put_u16(at + 2, tsig.id);
    put_u16(at + 4, RCODE_BADKEY);
    put_u16(at + 6, 0);
    return at + TAIL_LEN;
}
