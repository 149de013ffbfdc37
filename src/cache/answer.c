/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Copies an answer out with its TTLs aged in the copy. Never writes to the answer. */
#include "cache/answer.h"

#include <string.h>

#include "dns/ttl.h"

size_t answer_copy(const struct answer *answer, uint64_t now_us, uint8_t *out)
{
    memcpy(out, answer->message.data, answer->message.len);
    uint32_t elapsed_s = answer_age(answer, now_us);
    if (elapsed_s > 0)
        ttl_age(out, answer->ttl_offsets, answer->ttl_count, elapsed_s, ANSWER_TTL_FLOOR_S);
    return answer->message.len;
}
