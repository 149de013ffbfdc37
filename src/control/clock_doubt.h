/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_CLOCK_DOUBT_H
#define NAILUP_CONTROL_CLOCK_DOUBT_H

/* Is the clock of this machine wrong, or likely wrong? Only main's thread. */

#include <stdbool.h>
#include <stdint.h>

struct control_view;

enum { CLOCK_DOUBT_MAX = 128 };

/*
 * Writes why the clock is in doubt: it is earlier than the build, or the signatures over the keys
 * of a trust anchor are all expired or not yet valid. The second reason ends when the clock is set,
 * or when any worker validates keys of the zone. now_us is the loops' clock. False: it is not in
 * doubt, and out is "".
 */
bool clock_doubt_tell(const struct control_view *view, uint64_t now_us, char out[CLOCK_DOUBT_MAX]);

#endif
