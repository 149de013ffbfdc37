/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CLOCK_H
#define NAILUP_BENCH_CLOCK_H

/* The clock of the bench: CLOCK_MONOTONIC, in microseconds or nanoseconds. */

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t clock_now_us(void)
{
    return clock_now_ns() / 1000;
}

#endif
