/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_COLOUR_H
#define NAILUP_CTL_COLOUR_H

/* Which colour a cell has on a terminal. Pure, except for colour_is_wanted(). */

#include <stdbool.h>
#include <stdio.h>

#include "ctl/answer.h"

#define COLOUR_END "\033[0m"

/* The sequence that begins the cell's colour, or "". Colour repeats what the words say: green is
 * fine, yellow is on its way, red is at fault. */
const char *colour_of(const struct column *column, const char *cell);

/* when: "always", "never", or "auto": the output is a terminal that can draw, and NO_COLOR is not
 * set. */
bool colour_is_wanted(const char *when, FILE *out);

#endif
