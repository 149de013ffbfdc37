/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_WATCH_H
#define NAILUP_CTL_WATCH_H

/*
 * A command asked again and again, with rates between two answers. On a terminal it is drawn over
 * the last one until q or Ctrl-C; elsewhere, and as JSON (a document a line), each answer is
 * printed below the one before. A daemon that is not there is waited for.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ask.h"

#define WATCH_PERIOD_US UINT64_C(2000000)
#define WATCH_PERIOD_MIN_US UINT64_C(100000)
#define WATCH_PERIOD_MAX_US UINT64_C(3600000000)

/* Seconds, also with a fraction. False: no number, or out of the bounds above. */
bool watch_parse_period(const char *text, uint64_t *us);

/* Until it is told to end, or refused; the exit code. ask.stop is not looked at. */
int watch_run(const struct ask *ask, uint64_t period_us);

#endif
