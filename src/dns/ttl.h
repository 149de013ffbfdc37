/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_TTL_H
#define NAILUP_DNS_TTL_H

/*
 * Finds how long an answer may be kept, and ages copies. All times are in seconds. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/message.h"

#define TTL_NONE UINT32_MAX /* no record has a TTL; above every TTL */

/* Returns the smallest TTL of the answer section without meta records (OPT, TSIG), or TTL_NONE. */
uint32_t ttl_of_answer(const struct message *message);

/* Returns the smallest TTL of all sections without meta records, or TTL_NONE. */
uint32_t ttl_of_all(const struct message *message);

/*
 * Finds the negative TTL (RFC 2308 section 5): the smaller of TTL and MINIMUM of the first SOA in
 * authority. Returns false when there is no sound SOA: such an answer is not cached as a negative
 * one. Sets *soa to that record unless soa is NULL.
 */
MUST_USE bool ttl_of_negative(const struct message *message, uint32_t *ttl, struct rr *soa);

static inline uint32_t ttl_clamp(uint32_t ttl, uint32_t min, uint32_t max)
{
    return ttl < min ? (min < max ? min : max) : ttl > max ? max : ttl;
}

/* Collects the offsets of the TTL fields of all records except meta records, in order. Returns
 * their number; writes at most max of them. */
size_t ttl_collect(const struct message *message, uint16_t *offsets, size_t max);

/* Subtracts elapsed from the TTL at each offset of bytes. No TTL stays below floor. The offsets
 * come from ttl_collect() for these bytes. */
void ttl_age(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t elapsed,
             uint32_t floor);

/* Sets every TTL, for stale answers. */
void ttl_set(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t ttl);

#endif
