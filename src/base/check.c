/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * How a bug of ours ends the process: one line on stderr and a core. It takes no lock and no
 * memory, so it works wherever MUST() stands.
 */
#include "base/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

_Noreturn void check_failed(const char *condition, const char *file, int line)
{
    char text[512];
    int len =
        snprintf(text, sizeof(text), "%s:%d: bug: MUST(%s) does not hold\n", file, line, condition);
    if (len > 0) {
        ssize_t written = write(STDERR_FILENO, text, MIN((size_t)len, sizeof(text) - 1));
        (void)written; /* there is nobody left to tell */
    }
    abort();
}
