/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_FIT_H
#define NAILUP_CTL_FIT_H

/* Cuts text to the size of a window. */

#include <stdio.h>

/* The text before and after each printed line. */
struct fit_frame {
    const char *begin, *end;
};

/*
 * Prints at most height lines of text, each at most width characters wide (a UTF-8 character counts
 * once, a colour not at all). If there are more lines, the last one says how many. Returns the
 * number of lines printed.
 */
unsigned fit_print(const char *text, unsigned width, unsigned height, const struct fit_frame *frame,
                   FILE *out);

#endif
