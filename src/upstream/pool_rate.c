/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts queries for pool_rate.h. */

#include "upstream/pool_rate.h"

#include "base/check.h"
#include "base/units.h"
#include "upstream/pool_plan.h"

#define WINDOW_US (100 * US_PER_MS)

static void open_window(struct pool_rate *rate, uint64_t now)
{
    bool adjacent = now - rate->window_at < 2 * WINDOW_US;
    rate->before = adjacent ? rate->window : 0;
    rate->burst = adjacent ? rate->burst - rate->burst / 4 : 0;
    rate->window = 0;
    rate->window_at = now;
}

void pool_rate_count(struct pool_rate *rate, uint64_t now)
{
    if (now - rate->window_at >= WINDOW_US)
        open_window(rate, now);
    if (now != rate->turn_at) {
        rate->turn_at = now;
        rate->turn = 0;
    }
    rate->window++;
    rate->turn++;
    rate->burst = MAX(rate->burst, rate->turn);
}

uint32_t pool_rate_lead(const struct pool_rate *rate, uint64_t dial_us)
{
    uint64_t a_second = (uint64_t)MAX(rate->window, rate->before) * (US_PER_S / WINDOW_US);
    uint32_t burst = rate->burst > 1 ? rate->burst : 0;
    return plan_lead(burst, a_second, dial_us);
}

bool pool_rate_is_lively(const struct pool_rate *rate, uint64_t now)
{
    return rate->window > 0 && now - rate->window_at < US_PER_S;
}
