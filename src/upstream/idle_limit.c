/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The estimate of idle_limit.h. hold.c uses it. */

#include "upstream/idle_limit.h"

#include "base/check.h"

enum { ACCIDENT = 4 }; /* a close after this many times the estimate disproves it */

bool idle_limit_closed(struct idle_limit *limit, uint64_t idle_us, uint64_t survived_us)
{
    bool is_early = idle_us + idle_us / 8 < survived_us;
    if (is_early && ++limit->early < IDLE_LIMIT_EARLY)
        return false;
    limit->early = 0;
    if (limit->has_grown)
        limit->patience = limit->patience < IDLE_LIMIT_PATIENCE_CONFIRMED
                              ? IDLE_LIMIT_PATIENCE_CONFIRMED
                              : MIN(2 * limit->patience, (uint32_t)IDLE_LIMIT_PATIENCE_MAX);
    limit->has_grown = false;
    limit->held = 0;
    if (limit->observed_us == 0 || idle_us < limit->observed_us ||
        idle_us > ACCIDENT * limit->observed_us)
        limit->observed_us = MAX(idle_us, UINT64_C(1));
    return true;
}

static void idle_limit_grow(struct idle_limit *limit)
{
    limit->held = 0;
    limit->has_grown = true;
    limit->observed_us += limit->observed_us / 4;
    if (limit->observed_us > IDLE_LIMIT_UNKNOWN_US)
        *limit = (struct idle_limit){.announced_us = limit->announced_us};
}

void idle_limit_held(struct idle_limit *limit, uint64_t idle_us)
{
    if (limit->observed_us == 0 || idle_us < limit->observed_us / 2)
        return;
    if (idle_us > limit->observed_us) { /* the connection outlived the estimate */
        limit->observed_us = idle_us;
        limit->held = 0;
        return;
    }
    uint32_t patience = MAX(limit->patience, (uint32_t)IDLE_LIMIT_PATIENCE);
    if (++limit->held >= patience)
        idle_limit_grow(limit);
}

uint64_t idle_limit_us(const struct idle_limit *limit)
{
    if (limit->announced_us && limit->observed_us)
        return MIN(limit->announced_us, limit->observed_us);
    return limit->announced_us ? limit->announced_us : limit->observed_us;
}
