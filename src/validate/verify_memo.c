/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "validate/verify_memo.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/hash.h"
#include "base/rand.h"
#include "base/siphash.h"
#include "validate/verify.h"

enum {
    MEMO_SETS = VERIFY_MEMO_PLACES / VERIFY_MEMO_WAYS,
    SIGNER_MAX = 520, /* RSA with 4096 bits; a longer key is not kept */
    TAIL_BYTES = 8,   /* of a signature, which differ from those of nearly all others */
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

struct place {
    uint64_t half[2]; /* both 0: empty */
};

struct verify_memo {
    uint8_t key[SIPHASH_KEY_BYTES];
    uint64_t seed; /* of the choice of a set */
    struct last_signer last;
    uint8_t next_way; /* to displace */
    struct place place[MEMO_SETS][VERIFY_MEMO_WAYS];
};

struct verify_memo *verify_memo_new(void)
{
    struct verify_memo *memo = calloc(1, sizeof(*memo));
    if (!memo)
        return NULL;
    rand_bytes(memo->key, sizeof(memo->key));
    memo->seed = rand_u64();
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

static size_t memo_set_of(const struct verify_memo *memo, struct span signature)
{
    size_t len = MIN(signature.len, (size_t)TAIL_BYTES);
    return hash_bytes(signature.data + signature.len - len, len, memo->seed) % MEMO_SETS;
}

/* The set comes from memory while the job is hashed. */
struct verify_mark verify_memo_mark(struct verify_memo *memo, const struct verify_job *job)
{
    struct verify_mark mark = {.set = (uint32_t)memo_set_of(memo, job->signature)};
    __builtin_prefetch(memo->place[mark.set]);
    struct siphash hash = hash_signer(memo, job);
    siphash_add(&hash, job->data);
    siphash_add(&hash, job->signature);
    siphash_end(hash, mark.half);
    mark.half[1] |= 1; /* never empty */
    return mark;
}

static bool is_in_place(const struct verify_mark *mark, const struct place *place)
{
    return place->half[0] == mark->half[0] && place->half[1] == mark->half[1];
}

bool verify_memo_knows(const struct verify_memo *memo, const struct verify_mark *mark)
{
    const struct place *set = memo->place[mark->set];
    for (unsigned way = 0; way < VERIFY_MEMO_WAYS; way++)
        if (is_in_place(mark, &set[way]))
            return true;
    return false;
}

void verify_memo_add(struct verify_memo *memo, const struct verify_mark *mark)
{
    struct place *set = memo->place[mark->set];
    unsigned way = 0;
    while (way < VERIFY_MEMO_WAYS && set[way].half[1] != 0 && !is_in_place(mark, &set[way]))
        way++;
    if (way == VERIFY_MEMO_WAYS)
        way = memo->next_way++ % VERIFY_MEMO_WAYS;
    memcpy(set[way].half, mark->half, sizeof(set[way].half));
}
