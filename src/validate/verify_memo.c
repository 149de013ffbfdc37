/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/verify_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "base/siphash.h"
#include "validate/verify.h"

enum { MEMO_SETS = VERIFY_MEMO_PLACES / VERIFY_MEMO_WAYS };

struct verify_memo {
    uint8_t key[SIPHASH_KEY_BYTES];
    uint8_t next_way;                                      /* to displace */
    struct verify_mark place[MEMO_SETS][VERIFY_MEMO_WAYS]; /* all zeros: empty */
};

struct verify_memo *verify_memo_new(void)
{
    struct verify_memo *memo = calloc(1, sizeof(*memo));
    if (memo)
        rand_bytes(memo->key, sizeof(memo->key));
    return memo;
}

void verify_memo_free(struct verify_memo *memo)
{
    free(memo);
}

struct verify_mark verify_memo_mark(const struct verify_memo *memo, const struct verify_job *job)
{
    struct verify_mark mark;
    const struct span parts[] = {span_of(&job->algorithm, 1), job->key, job->data, job->signature};
    siphash_2_4_parts(mark.half, memo->key, parts, ARRAY_LEN(parts));
    mark.half[1] |= 1; /* never empty */
    return mark;
}

static bool marks_are_equal(const struct verify_mark *a, const struct verify_mark *b)
{
    return a->half[0] == b->half[0] && a->half[1] == b->half[1];
}

bool verify_memo_knows(const struct verify_memo *memo, const struct verify_mark *mark)
{
    const struct verify_mark *set = memo->place[mark->half[0] % MEMO_SETS];
    for (unsigned way = 0; way < VERIFY_MEMO_WAYS; way++)
        if (marks_are_equal(&set[way], mark))
            return true;
    return false;
}

void verify_memo_add(struct verify_memo *memo, const struct verify_mark *mark)
{
    struct verify_mark *set = memo->place[mark->half[0] % MEMO_SETS];
    for (unsigned way = 0; way < VERIFY_MEMO_WAYS; way++) {
        if (set[way].half[1] != 0 && !marks_are_equal(&set[way], mark))
            continue;
        set[way] = *mark;
        return;
    }
    set[memo->next_way++ % VERIFY_MEMO_WAYS] = *mark;
}
