/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_BACKOFF_H
#define NAILUP_UPSTREAM_BACKOFF_H

/*
 * How long to rest after failures: a window that doubles with each failure up to a cap of seconds,
 * and a uniform draw from it ("full jitter"), so that thousands of resolvers do not come back
 * together. Pure: the instant and the randomness are arguments.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define BACKOFF_FIRST_US (1 * US_PER_S) /* window after the first failure */
#define BACKOFF_CAP_US (4 * US_PER_S)
#define BACKOFF_FLOOR_US (20 * US_PER_MS) /* prevents a hot loop */

struct backoff {
    uint32_t failures; /* failures in succession */
    uint64_t until_at; /* rest until then */
};

/* Notes a failure. Returns until_at, at most the cap from now. */
uint64_t backoff_fail(struct backoff *backoff, uint64_t now, uint64_t random);

/* Forgets the failures after a success. */
void backoff_reset(struct backoff *backoff);

static inline bool backoff_is_resting(const struct backoff *backoff, uint64_t now)
{
    return now < backoff->until_at;
}

#endif
