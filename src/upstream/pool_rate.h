/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_RATE_H
#define NAILUP_UPSTREAM_POOL_RATE_H

/*
 * How many queries an upstream gets, as far as that says how early a spare must be dialled: the
 * count of a tenth of a second and the most of one turn. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

struct pool_rate {
    uint64_t window_at, turn_at;
    uint32_t window, before; /* queries of this window and of the one before */
    uint32_t turn, burst;    /* queries of this turn; the most of a turn, slowly forgotten */
};

/* One more query. */
void pool_rate_count(struct pool_rate *rate, uint64_t now);

/* Queries that may come while a dial of dial_us takes place (plan_lead). */
uint32_t pool_rate_lead(const struct pool_rate *rate, uint64_t dial_us);

/* Queries came within the last second. */
bool pool_rate_is_lively(const struct pool_rate *rate, uint64_t now);

#endif
