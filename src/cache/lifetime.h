/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_LIFETIME_H
#define NAILUP_CACHE_LIFETIME_H

/* How long an answer of a kind is kept. Pure. */

#include <stdint.h>

#include "cache/answer.h"

/* Seconds. Where two bounds contradict each other the shorter life wins. */
struct lifetime_bounds {
    uint32_t min_ttl_s;          /* raises, also what is negative */
    uint32_t max_ttl_s;          /* of everything */
    uint32_t min_negative_ttl_s; /* raises NODATA and NXDOMAIN */
    uint32_t max_negative_ttl_s; /* of NODATA and NXDOMAIN (RFC 2308 section 5) */
    uint32_t failure_ttl_s;      /* of failures, whatever their ttl_s says (RFC 9520) */
};

/* RFC 9520 section 3.2: a failure must not be kept for more than five minutes. */
enum { LIFETIME_FAILURE_MAX_S = 300 };

/* ttl_s within the bounds for its kind. RFC 2181 section 8: above 2^31 - 1 it counts as 0. */
uint32_t lifetime_ttl(const struct lifetime_bounds *bounds, enum answer_kind kind, uint32_t ttl_s);

#endif
