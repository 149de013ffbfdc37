/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CONTROL_REQUEST_H
#define NAILUP_CONTROL_REQUEST_H

/* What a client asks: a line of nailup/control.h. The main loop's thread. */

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "nailup/control.h"

struct call;

/* Runs the request: a line without its newline. One that is no command is refused. The call may be
 * done, and gone, when this returns. */
void request_run(struct call *call, struct span line);

/* Cuts a line at its tabs into words, in place; there must be room for one byte more. False: too
 * many words, an empty one, or bytes that no word may have. */
bool request_split(char *line, size_t len, int *count, const char *words[CONTROL_WORDS_MAX]);

#endif
