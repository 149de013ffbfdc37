/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WORDS_H
#define NAILUP_BENCH_WORDS_H

/* The words of a command line that a running responder or cable is given. */

#include <string.h>

/* Cuts the line at blanks; at most max words, what follows them is left out. Returns how many. */
static inline int words_split(char *line, char *words[], int max)
{
    char *rest = NULL;
    int count = 0;
    for (char *word = strtok_r(line, " \t\r", &rest); word && count < max;
         word = strtok_r(NULL, " \t\r", &rest))
        words[count++] = word;
    return count;
}

#endif
