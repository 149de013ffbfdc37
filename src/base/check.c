/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Ends the process after a bug with one line on stderr and a core dump. Takes no lock and no
 * memory, so MUST() works everywhere.
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void check_failed(const char *condition, const char *file, int line)
{
    char text[512];
    int len = snprintf(text, sizeof(text), "%s:%d: bug in nailup: MUST(%s) does not hold\n", file,
                       line, condition);
    if (len > 0) {
        ssize_t written = write(STDERR_FILENO, text, MIN((size_t)len, sizeof(text) - 1));
        (void)written; /* no place is left for a report */
    }
    abort();
}
