/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The window and the draw of backoff.h. */

#include "upstream/backoff.h"

#include "base/check.h"

uint64_t backoff_fail(struct backoff *backoff, uint64_t now, uint64_t random)
{
    uint32_t doublings = MIN(backoff->failures, 10u);
    uint64_t window = MIN(BACKOFF_FIRST_US << doublings, BACKOFF_CAP_US);
    uint64_t rest = BACKOFF_FLOOR_US + random % (window - BACKOFF_FLOOR_US + 1);

    backoff->failures++;
    backoff->until_at = now + rest;
    return backoff->until_at;
}

void backoff_reset(struct backoff *backoff)
{
    backoff->failures = 0;
    backoff->until_at = 0;
}
