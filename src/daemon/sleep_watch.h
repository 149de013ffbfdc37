/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SLEEP_WATCH_H
#define NAILUP_DAEMON_SLEEP_WATCH_H

/*
 * Notices that the machine slept: CLOCK_BOOTTIME counts during sleep, CLOCK_MONOTONIC does not.
 * Compares them only when the system clock was set, which also happens at wake-up: a timerfd
 * reports it, and costs nothing until then. One loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

#define SLEEP_MIN_US (2 * US_PER_S) /* a connection survives a shorter sleep */

struct loop;
struct sleep_watch;

/* on_woke comes after the machine has slept. Errors: ERR_NO_MEMORY, ERR_NO_FILES, ERR_IO. */
MUST_USE enum err sleep_watch_open(struct sleep_watch **out, struct loop *loop,
                                   void (*on_woke)(void *context, uint64_t slept_us),
                                   void *context);

/* *watch becomes NULL; NULL is fine. */
void sleep_watch_close(struct sleep_watch **watch);

/* Pure. Returns how long the machine slept since the last call, according to the two clocks; 0:
 * less than SLEEP_MIN_US. *slept_us is the lead of CLOCK_BOOTTIME at the last call that reported
 * sleep. */
uint64_t sleep_watch_since(uint64_t *slept_us, uint64_t boottime_us, uint64_t monotonic_us);

#endif
