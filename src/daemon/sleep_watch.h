/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SLEEP_WATCH_H
#define NAILUP_DAEMON_SLEEP_WATCH_H

/*
 * Did this machine sleep? CLOCK_BOOTTIME counts then and CLOCK_MONOTONIC does not. They are only
 * looked at when the system's clock was set, which waking up does too: a timerfd tells, and costs
 * nothing until then. One loop's thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

#define SLEEP_MIN_US (2 * US_PER_S) /* less is no matter for a connection */

struct loop;
struct sleep_watch;

/* on_woke comes when the machine has slept. ERR_NO_MEMORY, ERR_NO_FILES, ERR_IO. */
MUST_USE enum err sleep_watch_open(struct sleep_watch **out, struct loop *loop,
                                   void (*on_woke)(void *context, uint64_t slept_us),
                                   void *context);

/* *watch becomes NULL; NULL is fine. */
void sleep_watch_close(struct sleep_watch **watch);

/* Pure: how long it slept since the last call, by both clocks; 0: not long enough. *slept_us is
 * what CLOCK_BOOTTIME was ahead at the last call. */
uint64_t sleep_since(uint64_t *slept_us, uint64_t boottime_us, uint64_t monotonic_us);

#endif
