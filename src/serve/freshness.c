/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the TTLs of a reply that leaves over HTTP (freshness.h). */
#include "serve/freshness.h"

#include "base/check.h"
#include "dns/header.h"
#include "dns/message.h"
#include "dns/ttl.h"

uint32_t freshness_of(struct span reply)
{
    struct message message;
    if (message_parse(&message, reply) != MESSAGE_OK || message.flags & HEADER_TC)
        return 0;
    uint16_t rcode = message.flags & HEADER_RCODE_MASK;
    if (rcode != RCODE_NOERROR && rcode != RCODE_NXDOMAIN)
        return 0;
    /* An alias that leads to a negative answer has both. */
    uint32_t ttl = ttl_of_answer(&message), negative = TTL_NONE;
    bool is_negative = ttl_of_negative(&message, &negative, NULL);
    if (rcode == RCODE_NXDOMAIN && !is_negative)
        return 0;
    ttl = MIN(ttl, negative);
    return ttl == TTL_NONE ? 0 : ttl;
}
