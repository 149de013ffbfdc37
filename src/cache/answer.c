/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies answers and ages the TTLs of the copy. Never writes to the answer. */
#include "cache/answer.h"

#include <string.h>

#include "base/check.h"
#include "dns/header.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"

void answer_copy(const struct answer *answer, size_t len, uint64_t now_us, uint8_t *out)
{
    memcpy(out, answer->message.data, len);
    uint32_t age_s = answer_age(answer, now_us);
    size_t ttls = answer->ttl_count;
    while (ttls > 0 && answer->ttl_offsets[ttls - 1] >= len)
        ttls--;
    if (age_s > 0)
        ttl_age(out, answer->ttl_offsets, ttls, age_s, ANSWER_TTL_FLOOR_S);
}

const char *security_name(uint8_t security)
{
    static const char *const names[] = {
        [SECURITY_UNCHECKED] = "",
        [SECURITY_INSECURE] = "insecure",
        [SECURITY_SECURE] = "secure",
        [SECURITY_BOGUS] = "bogus",
    };
    MUST(security < ARRAY_LEN(names));
    return names[security];
}

const char *answer_kind_name(uint8_t kind)
{
    static const char *const names[ANSWER_KINDS] = {
        [ANSWER_POSITIVE] = "positive",
        [ANSWER_NODATA] = "nodata",
        [ANSWER_NXDOMAIN] = "nxdomain",
        [ANSWER_FAILURE] = "failure",
    };
    MUST(kind < ANSWER_KINDS);
    return names[kind];
}

/* A chain begins with its first alias, whose owner is the QNAME as a pointer. A message whose first
 * owner is no pointer is read in full. */
bool answer_may_have_alias(struct span message, struct name qname)
{
    size_t at = HEADER_LEN + qname.len + 4u;
    if (message.len < at + 4 || get_u16(message.data + 6) == 0)
        return false;
    if ((message.data[at] & 0xC0) != 0xC0)
        return true;
    uint16_t type = get_u16(message.data + at + 2);
    return type == RRTYPE_CNAME || type == RRTYPE_DNAME;
}
