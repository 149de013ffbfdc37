/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_FIT_H
#define NAILUP_CTL_FIT_H

/* Text cut to the size of a window. */

#include <stdio.h>

/* What stands around each line that is printed. */
struct fit_frame {
    const char *begin, *end;
};

/*
 * Prints the lines of text: at most height of them, each at most width characters wide (a character
 * of UTF-8 is one). When there are more, the last line says how many. Returns how many lines were
 * printed.
 */
unsigned fit_print(const char *text, unsigned width, unsigned height, const struct fit_frame *frame,
                   FILE *out);

#endif
