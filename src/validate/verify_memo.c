/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/verify_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "base/siphash.h"
#include "validate/verify.h"

enum { MEMO_SETS = VERIFY_MEMO_PLACES / VERIFY_MEMO_WAYS, MEMO_HALVES = 2 };

struct verify_memo {
    uint8_t key[MEMO_HALVES][SIPHASH_KEY_BYTES];
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

/* Hashes the parts one by one, and then their hashes with their lengths, so that no bytes can move
 * from one part to another. */
static uint64_t memo_hash(const uint8_t key[SIPHASH_KEY_BYTES], const struct verify_job *job)
{
    const uint64_t parts[] = {
        job->algorithm,
        job->key.len,
        siphash_2_4(key, job->key.data, job->key.len),
        job->data.len,
        siphash_2_4(key, job->data.data, job->data.len),
        job->signature.len,
        siphash_2_4(key, job->signature.data, job->signature.len),
    };
    return siphash_2_4(key, parts, sizeof(parts));
}

struct verify_mark verify_memo_mark(const struct verify_memo *memo, const struct verify_job *job)
{
    struct verify_mark mark;
    for (unsigned i = 0; i < MEMO_HALVES; i++)
        mark.half[i] = memo_hash(memo->key[i], job);
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
