/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_WORDS_H
#define NAILUP_BENCH_WORDS_H

/* Splits the command lines that a running responder or cable receives. */

#include <string.h>

/* Cuts the line at blanks into at most max words, and drops the rest. Returns how many words there
 * are. */
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
