/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DNS_TTL_H
#define NAILUP_DNS_TTL_H

/*
 * How long an answer may be kept, and ageing a copy of it. Seconds throughout. Pure.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "dns/message.h"

#define TTL_NONE UINT32_MAX /* no record that has one: above every TTL */

/* The least TTL of the answer section, OPT and the like left out; TTL_NONE when it is empty. */
uint32_t ttl_of_answer(const struct message *message);

/* The least TTL of all sections, OPT, TSIG and the like left out; TTL_NONE when there is none. */
uint32_t ttl_of_all(const struct message *message);

/*
 * Negative TTL (RFC 2308 section 5): the lesser of TTL and MINIMUM of the first SOA in authority.
 * False when there is no sound SOA: such an answer is not to be kept as a negative one. *soa, when
 * not NULL, is that record.
 */
MUST_USE bool ttl_of_negative(const struct message *message, uint32_t *ttl, struct rr *soa);

static inline uint32_t ttl_clamp(uint32_t ttl, uint32_t min, uint32_t max)
{
    return ttl < min ? (min < max ? min : max) : ttl > max ? max : ttl;
}

/* Offsets of the TTL fields of all records but OPT, TSIG and the like, in order. Returns how many
 * there are; at most max of them are written. */
size_t ttl_collect(const struct message *message, uint16_t *offsets, size_t max);

/* Subtracts elapsed from the TTL at each offset of bytes; none falls below floor, one that
 * already was below it is raised to it. Offsets are those of ttl_collect() for these bytes. */
void ttl_age(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t elapsed,
             uint32_t floor);

/* Writes ttl into each; for failures and stale answers. */
void ttl_set(uint8_t *bytes, const uint16_t *offsets, size_t count, uint32_t ttl);

#endif
