/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Applies the bounds to a TTL that dns/ttl found. Invariant: the result never exceeds an upper
 * bound, whatever min_ttl_s says. */
#include "cache/lifetime.h"

#include "base/check.h"

static uint32_t lifetime_clamp(uint32_t ttl_s, uint32_t min_s, uint32_t max_s)
{
    return MIN(MAX(ttl_s, min_s), max_s);
}

uint32_t lifetime_ttl(const struct lifetime_bounds *bounds, enum answer_kind kind, uint32_t ttl_s)
{
    if (ttl_s > INT32_MAX)
        ttl_s = 0;
    switch (kind) {
    case ANSWER_FAILURE:
        return MIN(bounds->failure_ttl_s, (uint32_t)LIFETIME_FAILURE_MAX_S);
    case ANSWER_NODATA:
    case ANSWER_NXDOMAIN:
        return lifetime_clamp(ttl_s, MAX(bounds->min_ttl_s, bounds->min_negative_ttl_s),
                              MIN(bounds->max_negative_ttl_s, bounds->max_ttl_s));
    case ANSWER_POSITIVE:
        break;
    }
    return lifetime_clamp(ttl_s, bounds->min_ttl_s, bounds->max_ttl_s);
}
