/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies answers and ages the TTLs of the copy. Never writes to the answer. */
#include "cache/answer.h"

#include <string.h>

#include "base/check.h"
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
