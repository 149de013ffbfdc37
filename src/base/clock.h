/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_CLOCK_H
#define NAILUP_BASE_CLOCK_H

/*
 * The clock of deadlines and TTLs, one for the process: CLOCK_BOOTTIME, which counts while a laptop
 * sleeps and which nobody sets, and beyond it what the wall clock was set forward by. That alone
 * tells a virtual machine that it was paused for a day; so do test harnesses that set the time
 * (libfaketime). A wall clock that is set back changes nothing. It never goes backward. Any thread.
 */

#include <stdint.h>

#include "base/units.h"

/* Less is a clock that is being corrected. */
#define CLOCK_STEP_US (3 * US_PER_S)
/* More has no meaning for any TTL. */
#define CLOCK_STEP_MAX_US (30ULL * 86400 * US_PER_S)

/* In microseconds. */
uint64_t clock_now_us(void);

/* The same, after a look at the wall clock; steps are noticed here only. */
uint64_t clock_look_us(void);

/* The decision alone: how much time passed when the wall clock, which was ahead of CLOCK_BOOTTIME
 * by `before`, is ahead by `now`, both in us. */
uint64_t clock_step_us(int64_t before, int64_t now);

#endif
