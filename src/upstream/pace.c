/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The bucket is one instant, which each token moves by its cost. */

#include "upstream/pace.h"

#include "base/check.h"
#include "base/units.h"

static uint64_t cost_us(uint32_t per_s)
{
    return MAX(US_PER_S / per_s, UINT64_C(1));
}

uint64_t pace_take(struct pace *pace, uint64_t now, uint32_t per_s)
{
    uint64_t full_at = MAX(pace->full_at, now) + cost_us(per_s);
    if (full_at - now > US_PER_S)
        return full_at - US_PER_S;
    pace->full_at = full_at;
    return now;
}

void pace_give(struct pace *pace, uint32_t per_s)
{
    pace->full_at -= MIN(pace->full_at, cost_us(per_s));
}
