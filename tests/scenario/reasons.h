/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_REASONS_H
#define NAILUP_TESTS_SCENARIO_REASONS_H

/* Why scenarios were skipped, for the summary of a run: each reason with a count. */

#include <stddef.h>

enum { REASONS_MAX = 256, REASON_MAX = 160 /* in bytes; a longer reason is cut */ };

struct reason {
    char text[REASON_MAX];
    unsigned times;
};

struct reasons {
    size_t count;
    struct reason reason[REASONS_MAX];
};

void reasons_add(struct reasons *reasons, const char *text);

/* Prints a line for each reason, the most frequent first. */
void reasons_print(struct reasons *reasons);

#endif
