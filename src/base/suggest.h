/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_SUGGEST_H
#define NAILUP_BASE_SUGGEST_H

/* "Did you mean ...?": finds the word that is most similar to a mistyped one. */

#include <stddef.h>

enum { SUGGEST_WORD_MAX = 48 }; /* longer words get no suggestion */

struct suggestion {
    const char *wanted;
    const char *word; /* the best so far, or NULL */
    unsigned distance;
};

void suggest_init(struct suggestion *suggestion, const char *wanted);

/* Offers a borrowed word. It becomes the suggestion if it is more similar than earlier ones and at
 * most a third of its characters differ. */
void suggest_offer(struct suggestion *suggestion, const char *word);

#endif
