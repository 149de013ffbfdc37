/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/verify_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/rand.h"
#include "base/siphash.h"
#include "validate/verify.h"

enum {
    MEMO_SETS = VERIFY_MEMO_PLACES / VERIFY_MEMO_WAYS,
    SIGNER_MAX = 520, /* RSA with 4096 bits; a longer key is not kept */
};

/* The key of the last job, and the hash that begins with it. The signatures of a message mostly
 * have one key, which is as long as the rest of a job. */
struct last_signer {
    bool is_kept;
    uint8_t algorithm;
    size_t len;
    uint8_t key[SIGNER_MAX];
    struct siphash hash;
};

struct verify_memo {
    uint8_t key[SIPHASH_KEY_BYTES];
    struct last_signer last;
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

/* Whether the kept hash begins as the job's does. */
static bool is_by_last_signer(const struct last_signer *last, const struct verify_job *job)
{
    return last->is_kept && last->algorithm == job->algorithm &&
           span_equal(span_of(last->key, last->len), job->key);
}

/* Returns the hash of the algorithm and the key. */
static struct siphash hash_signer(struct verify_memo *memo, const struct verify_job *job)
{
    struct last_signer *last = &memo->last;
    if (is_by_last_signer(last, job))
        return last->hash;
    siphash_begin(&last->hash, memo->key);
    siphash_add(&last->hash, span_of(&job->algorithm, 1));
    siphash_add(&last->hash, job->key);
    last->is_kept = job->key.len > 0 && job->key.len <= SIGNER_MAX;
    if (last->is_kept) {
        last->algorithm = job->algorithm;
        last->len = job->key.len;
        memcpy(last->key, job->key.data, job->key.len);
    }
    return last->hash;
}

struct verify_mark verify_memo_mark(struct verify_memo *memo, const struct verify_job *job)
{
    struct verify_mark mark;
    struct siphash hash = hash_signer(memo, job);
    siphash_add(&hash, job->data);
    siphash_add(&hash, job->signature);
    siphash_end(hash, mark.half);
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
