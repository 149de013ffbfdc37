/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_PACE_H
#define NAILUP_UPSTREAM_PACE_H

/* A token bucket: a bounded rate per second, with bursts of one second's tokens. Pure: the instant
 * is an argument. Zeroed memory is a full bucket. */

#include <stdint.h>

struct pace {
    uint64_t full_at; /* when the bucket will be full */
};

/* Takes a token and returns now, or takes none and returns the instant of the next token. */
uint64_t pace_take(struct pace *pace, uint64_t now, uint32_t per_s);

/* Returns a token that was taken at the same rate. */
void pace_give(struct pace *pace, uint32_t per_s);

#endif
