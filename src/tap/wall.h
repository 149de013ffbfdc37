/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_WALL_H
#define NAILUP_TAP_WALL_H

/* Converts instants of the loop's clock to the wall clock. */

#include <stdint.h>
#include <time.h>

#include "base/check.h"
#include "base/clock.h"

/* Returns what to add to an instant of the loop's clock (base/clock.h) to get us since 1970. */
static inline int64_t wall_offset_us(void)
{
    struct timespec now;
    MUST(clock_gettime(CLOCK_REALTIME, &now) == 0);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000 - (int64_t)clock_now_us();
}

/* Returns us since 1970, or 0 for an earlier instant. */
static inline uint64_t wall_us(uint64_t at)
{
    int64_t us = (int64_t)at + wall_offset_us();
    return us > 0 ? (uint64_t)us : 0;
}

#endif
