/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Only the columns of states, health and errors have colours. */

#include "ctl/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"

#define GREEN "\033[32m"
#define YELLOW "\033[33m"
#define RED "\033[31m"

static bool begins_with_any(const char *cell, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(cell, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

const char *colour_of(const struct column *column, const char *cell)
{
    static const char *const green[] = {"good", "ready"};
    static const char *const red[] = {"ill", "resting", "strips", "degraded", "no route"};
    if (!*cell || column->type != COLUMN_TEXT)
        return "";
    if (strcmp(column->name, "error") == 0 || strcmp(column->name, "reasons") == 0)
        return RED;
    if (strcmp(column->name, "health") != 0 && strcmp(column->name, "state") != 0)
        return "";
    if (begins_with_any(cell, green, ARRAY_LEN(green)))
        return GREEN;
    return begins_with_any(cell, red, ARRAY_LEN(red)) ? RED : YELLOW;
}

bool colour_is_wanted(const char *when, FILE *out)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    if (strcmp(when, "auto") != 0)
        return strcmp(when, "always") == 0;
    return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0 && !(no && *no);
}
