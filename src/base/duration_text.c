/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "base/duration_text.h"

#include <stdio.h>

#include "base/check.h"

const char *duration_text(char out[DURATION_TEXT_MAX], uint32_t seconds)
{
    static const struct {
        uint32_t seconds;
        const char *name;
    } units[] = {{86400, "day"}, {3600, "hour"}, {60, "minute"}, {1, "second"}};
    unsigned at = 0;
    while (at + 1 < ARRAY_LEN(units) && seconds < 2 * units[at].seconds)
        at++;
    uint32_t count = seconds / units[at].seconds;
    snprintf(out, DURATION_TEXT_MAX, "%u %s%s", count, units[at].name, count == 1 ? "" : "s");
    return out;
}
