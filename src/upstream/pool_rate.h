/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_RATE_H
#define NAILUP_UPSTREAM_POOL_RATE_H

/*
 * How many queries an upstream gets, which tells the pool how early to dial a spare: the count of a
 * tenth of a second and the largest count of one turn. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

struct pool_rate {
    uint64_t window_at, turn_at;
    uint32_t window, before; /* queries of this window and of the previous one */
    uint32_t turn, burst;    /* queries of this turn; the largest count of a turn, which decays */
};

/* One more query. */
void pool_rate_count(struct pool_rate *rate, uint64_t now);

/* Queries that may come during a dial of dial_us (plan_lead). */
uint32_t pool_rate_lead(const struct pool_rate *rate, uint64_t dial_us);

/* Queries came within the last second. */
bool pool_rate_is_lively(const struct pool_rate *rate, uint64_t now);

#endif
