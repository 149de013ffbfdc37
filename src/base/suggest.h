/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_SUGGEST_H
#define NAILUP_BASE_SUGGEST_H

/* "Did you mean ...?": the word most like a mistyped one. */

#include <stddef.h>

enum { SUGGEST_WORD_MAX = 48 }; /* longer words are like none */

struct suggestion {
    const char *wanted;
    const char *word; /* the best so far, or NULL */
    unsigned distance;
};

void suggest_init(struct suggestion *suggestion, const char *wanted);

/* Offers a word. It is taken when it is more like the wanted one than those before, and like it
 * at all: at most a third of its characters differ. The word is borrowed. */
void suggest_offer(struct suggestion *suggestion, const char *word);

#endif
