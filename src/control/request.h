/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_REQUEST_H
#define NAILUP_CONTROL_REQUEST_H

/* Reads and runs a client's request: a line of nailup/control.h. Main loop's thread only. */

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "nailup/control.h"

struct call;

/* Runs the request: a line without its newline. Refuses a line that is not a command. The call may
 * be done and gone when this returns. */
void request_run(struct call *call, struct span line);

/* Splits a line at its tabs into words, in place; needs room for one byte more. False: too many
 * words, an empty word, or a byte that no word may have. */
bool request_split(char *line, size_t len, int *argc, const char *argv[CONTROL_WORDS_MAX]);

#endif
