/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_WATCH_H
#define NAILUP_CTL_WATCH_H

/*
 * Repeats a command and shows rates between two answers. On a terminal, each answer replaces the
 * last one until q or Ctrl-C. Elsewhere, and as JSON (one document per line), each answer is
 * printed below the previous one. Waits for a daemon that is absent.
 */

#include <stdbool.h>
#include <stdint.h>

#include "ctl/ask.h"

#define WATCH_PERIOD_US UINT64_C(2000000)
#define WATCH_PERIOD_MIN_US UINT64_C(100000)
#define WATCH_PERIOD_MAX_US UINT64_C(3600000000)

/* Reads seconds, which may have a fraction. False: not a number, or out of the bounds above. */
bool watch_parse_period(const char *text, uint64_t *us);

/* Runs until the user or a signal ends it, or the daemon refuses. Returns the exit code. Ignores
 * ask.stop. */
int watch_run(const struct ask *ask, uint64_t period_us);

#endif
