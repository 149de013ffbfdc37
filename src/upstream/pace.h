/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_PACE_H
#define NAILUP_UPSTREAM_PACE_H

/* At most so many a second, in a burst as many as one second may have: a bucket of tokens. Pure:
 * the instant is an argument. Zeroed memory is a full bucket. */

#include <stdint.h>

struct pace {
    uint64_t full_at; /* when the bucket is full again */
};

/* Takes one and returns now; or takes none and returns the instant at which there will be one. */
uint64_t pace_take(struct pace *pace, uint64_t now, uint32_t per_s);

/* Puts one back that was taken at the same rate. */
void pace_give(struct pace *pace, uint32_t per_s);

#endif
