/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Edit distance that counts swapped neighbours once ("lsiten" is a common typing error).
 * Differences in case, and '_' for '-', do not count: max_clients is the right word.
 */
#include "base/suggest.h"

#include <string.h>

#include "base/check.h"

static char plain(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return c == '_' ? '-' : c;
}

/* Words have at most SUGGEST_WORD_MAX characters. Three rows of the usual table suffice. */
static unsigned distance(const char *a, size_t a_len, const char *b, size_t b_len)
{
    unsigned rows[3][SUGGEST_WORD_MAX + 1];
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    memset(rows, 0, sizeof(rows));
    for (size_t j = 0; j <= b_len; j++)
        last[j] = (unsigned)j;
    for (size_t i = 1; i <= a_len; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= b_len; j++) {
            unsigned changed = last[j - 1] + (plain(a[i - 1]) != plain(b[j - 1]));
            now[j] = MIN(changed, MIN(last[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && plain(a[i - 1]) == plain(b[j - 2]) &&
                plain(a[i - 2]) == plain(b[j - 1]))
                now[j] = MIN(now[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[b_len];
}

void suggest_init(struct suggestion *suggestion, const char *wanted)
{
    *suggestion = (struct suggestion){.wanted = wanted, .distance = ~0u};
}

void suggest_offer(struct suggestion *suggestion, const char *word)
{
    size_t wanted_len = strlen(suggestion->wanted), word_len = strlen(word);
    if (wanted_len > SUGGEST_WORD_MAX || word_len > SUGGEST_WORD_MAX)
        return;
    unsigned found = distance(suggestion->wanted, wanted_len, word, word_len);
    if (found >= suggestion->distance || found > (word_len + 2) / 3)
        return;
    suggestion->word = word;
    suggestion->distance = found;
}
