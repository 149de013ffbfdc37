/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Both clocks run at one pace, as the kernel corrects them together, so their difference changes
 * when one is set and never else. Seconds are enough to notice that, and cost a few instructions.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/check.h"

#define UNKNOWN INT64_MIN

/* Written when the wall clock is set, which is next to never. */
static _Atomic uint64_t passed_us;
static _Atomic int64_t ahead_us = UNKNOWN;
static _Atomic int64_t ahead_s; /* the same in whole seconds */

static struct timespec clock_read_clock(clockid_t clock)
{
    struct timespec now;

    MUST(clock_gettime(clock, &now) == 0);
    return now;
}

static int64_t to_us(struct timespec time)
{
    return (int64_t)time.tv_sec * (int64_t)US_PER_S + time.tv_nsec / 1000;
}

static int64_t read_us(clockid_t clock)
{
    return to_us(clock_read_clock(clock));
}

static bool is_step(int64_t before, int64_t now)
{
    return before == UNKNOWN || now - before >= (int64_t)CLOCK_STEP_US ||
           before - now >= (int64_t)CLOCK_STEP_US;
}

uint64_t clock_step_us(int64_t before, int64_t now)
{
    if (before == UNKNOWN || !is_step(before, now) || now < before)
        return 0;
    uint64_t step = (uint64_t)(now - before);
    return step < CLOCK_STEP_MAX_US ? step : CLOCK_STEP_MAX_US;
}

/* Read anew: who moves both clocks may have done so between two readings. One thread counts it. */
static void on_set(void)
{
    int64_t boot = read_us(CLOCK_BOOTTIME);
    int64_t ahead = read_us(CLOCK_REALTIME) - boot;
    int64_t before = atomic_load(&ahead_us);

    if (read_us(CLOCK_BOOTTIME) - boot >= (int64_t)CLOCK_STEP_US)
        return;
    atomic_store(&ahead_s, ahead / (int64_t)US_PER_S);
    if (is_step(before, ahead) && atomic_compare_exchange_strong(&ahead_us, &before, ahead))
        atomic_fetch_add(&passed_us, clock_step_us(before, ahead));
}

uint64_t clock_now_us(void)
{
    return (uint64_t)read_us(CLOCK_BOOTTIME) +
           atomic_load_explicit(&passed_us, memory_order_relaxed);
}

/* Whole seconds of two clocks are one off at most, and the division of what is negative another. */
uint64_t clock_look_us(void)
{
    struct timespec boot = clock_read_clock(CLOCK_BOOTTIME);
    int64_t more = time(NULL) - boot.tv_sec - atomic_load_explicit(&ahead_s, memory_order_relaxed);

    if (more > 2 || more < -2)
        on_set();
    return (uint64_t)to_us(boot) + atomic_load_explicit(&passed_us, memory_order_relaxed);
}
