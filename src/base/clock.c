/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The kernel corrects both clocks together, so their difference changes only when one is set. Whole
 * seconds suffice to notice that, and cost a few instructions.
 */
#include "base/clock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <time.h>

#include "base/check.h"

#define UNKNOWN INT64_MIN

/* Written only when the wall clock is set, which is rare. */
static _Atomic uint64_t passed_us;
static _Atomic int64_t ahead_us = UNKNOWN;
static _Atomic int64_t ahead_s; /* ahead_us in whole seconds */

static struct timespec clock_read(clockid_t clock)
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
    return to_us(clock_read(clock));
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

/* Reads both clocks again, because they may have moved between two readings. One thread counts the
 * step. */
static void count_step(void)
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

/* The whole seconds of two clocks differ by one at most, and the division of a negative number adds
 * another. */
uint64_t clock_look_us(void)
{
    struct timespec boot = clock_read(CLOCK_BOOTTIME);
    int64_t more = time(NULL) - boot.tv_sec - atomic_load_explicit(&ahead_s, memory_order_relaxed);

    if (more > 2 || more < -2)
        count_step();
    return (uint64_t)to_us(boot) + atomic_load_explicit(&passed_us, memory_order_relaxed);
}
