/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_LIFETIME_H
#define NAILUP_CACHE_LIFETIME_H

/* Decides how long an answer of each kind is kept. Pure. */

#include <stdint.h>

#include "cache/answer.h"

/* Seconds. When two bounds contradict each other, the shorter lifetime wins. */
struct lifetime_bounds {
    uint32_t min_ttl_s;          /* raises every TTL, also of negative answers */
    uint32_t max_ttl_s;          /* the bound for every answer */
    uint32_t min_negative_ttl_s; /* raises NODATA and NXDOMAIN */
    uint32_t max_negative_ttl_s; /* the bound for NODATA and NXDOMAIN (RFC 2308 section 5) */
    uint32_t failure_ttl_s;      /* replaces the TTL of failures (RFC 9520) */
};

/* RFC 9520 section 3.2: a failure must not be kept for more than five minutes. */
enum { LIFETIME_FAILURE_MAX_S = 300 };

/* Returns ttl_s within the bounds for its kind. A TTL above 2^31 - 1 counts as 0 (RFC 2181
 * section 8). */
uint32_t lifetime_ttl(const struct lifetime_bounds *bounds, enum answer_kind kind, uint32_t ttl_s);

#endif
