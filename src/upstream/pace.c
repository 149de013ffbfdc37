/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The bucket as one instant: each token taken moves it by what one costs. */

#include "upstream/pace.h"

#include "base/check.h"
#include "base/units.h"

uint64_t pace_take(struct pace *pace, uint64_t now, uint32_t per_s)
{
    uint64_t cost = US_PER_S / per_s;
    uint64_t full_at = MAX(pace->full_at, now) + MAX(cost, UINT64_C(1));
    if (full_at - now > US_PER_S)
        return full_at - US_PER_S;
    pace->full_at = full_at;
    return now;
}
