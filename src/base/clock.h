/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_CLOCK_H
#define NAILUP_BASE_CLOCK_H

/*
 * The clock of deadlines and TTLs, one for the process. It is CLOCK_BOOTTIME, which also counts
 * while a laptop sleeps, plus the forward steps of the wall clock. Such a step is the only sign by
 * which a virtual machine learns that it was paused for a day; test harnesses (libfaketime) make
 * such steps too. Backward steps of the wall clock have no effect. The clock never goes backward.
 * Any thread.
 */

#include <stdint.h>

#include "base/units.h"

/* Smaller steps are corrections of the wall clock. */
#define CLOCK_STEP_US (3 * US_PER_S)
/* Larger steps are cut to this, because no TTL is longer. */
#define CLOCK_STEP_MAX_US (30ULL * 86400 * US_PER_S)

/* Returns the time. */
uint64_t clock_now_us(void);

/* Checks the wall clock for a step, then returns the time. */
uint64_t clock_look_us(void);

/* Pure: the time that passed if the wall clock's lead over CLOCK_BOOTTIME changed from `before` to
 * `now`, both in us. */
uint64_t clock_step_us(int64_t before, int64_t now);

#endif
