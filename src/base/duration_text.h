/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_DURATION_TEXT_H
#define NAILUP_BASE_DURATION_TEXT_H

/* Durations in sentences for people. */

#include <stdint.h>

enum { DURATION_TEXT_MAX = 19 };

/* Writes the duration in the largest unit of which it has at least two: "90 seconds", "3 days".
 * Returns out. */
const char *duration_text(char out[DURATION_TEXT_MAX], uint32_t seconds);

#endif
