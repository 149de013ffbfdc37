/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_REASONS_H
#define NAILUP_TESTS_SCENARIO_REASONS_H

/* Why scenarios were skipped, for the summary of a run: each reason with how many. */

#include <stddef.h>

enum { REASONS_MAX = 256, REASON_MAX = 160 /* bytes; what is longer is cut */ };

struct reason {
    char text[REASON_MAX];
    unsigned times;
};

struct reasons {
    size_t count;
    struct reason reason[REASONS_MAX];
};

void reasons_add(struct reasons *reasons, const char *text);

/* A line for each, the most frequent first; nothing when there is none. */
void reasons_print(struct reasons *reasons);

#endif
