/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_BUCKET_H
#define NAILUP_CACHE_BUCKET_H

/*
 * Sixteen ways that hold refs of entries, and the choice of the next victim: SIEVE (Zhang et al.,
 * NSDI 2024) over the ways in the order they were filled. A lookup only marks the entry it finds. A
 * hand walks from the oldest to the newest entry, clears marks, and evicts the first entry without
 * one. It reaches a new entry before it returns to the ones that it spared, so names that clients
 * ask for only once leave soon.
 *
 * Readers match tags, read refs and set marks without a lock; all else needs the shard's lock. A
 * flood of names into one bucket evicts only entries of that bucket.
 */

#include <stdbool.h>
#include <stdint.h>

enum { BUCKET_WAYS = 16 };

/* Two cache lines. A miss needs only the first. */
struct bucket {
    uint64_t tags[2];            /* one byte per way, way 0 the lowest; undefined for empty ways */
    uint64_t order;              /* the used ways, four bits each, the oldest in the lowest bits */
    uint16_t used;               /* one bit per way */
    uint16_t visited;            /* one bit per way: marks that readers set */
    uint8_t count;               /* how many ways are used */
    uint8_t hand;                /* a position in order */
    uint16_t claimed;            /* one bit per way: a thread refreshes the entry */
    uint16_t ticks[BUCKET_WAYS]; /* rough expiry of each way: bucket_end_tick() */
    uint32_t refs[BUCKET_WAYS];  /* 0: empty */
} __attribute__((aligned(128)));

/* Instants in a bucket: units of four seconds that wrap around after three days. They are hints for
 * choosing victims; only the entry says whether an answer is live. */
enum { BUCKET_TICK_US = 4000000, BUCKET_TICKS_MAX = 0x7000 };

static inline uint16_t bucket_tick(uint64_t now_us)
{
    return (uint16_t)(now_us / BUCKET_TICK_US);
}

/* Returns a tick by which a TTL of ttl_s from now_us has certainly expired, or that is three days
 * ahead. */
uint16_t bucket_end_tick(uint64_t now_us, uint32_t ttl_s);

/* Returns which bytes of the word equal the tag, one bit per byte. */
static inline unsigned bucket_match_word(uint64_t word, uint8_t tag)
{
    const uint64_t ones = 0x0101010101010101u, low7 = 0x7f * ones;
    uint64_t diff = word ^ tag * ones;
    uint64_t zero = ~(((diff & low7) + low7) | diff | low7); /* 0x80 where diff has a zero byte */
    return (unsigned)((zero >> 7) * 0x0102040810204080u >> 56);
}

/* Returns which ways may hold the tag, one bit per way. Readers may call this. */
static inline unsigned bucket_match(const struct bucket *bucket, uint8_t tag)
{
    uint64_t low = __atomic_load_n(&bucket->tags[0], __ATOMIC_RELAXED);
    uint64_t high = __atomic_load_n(&bucket->tags[1], __ATOMIC_RELAXED);
    return bucket_match_word(low, tag) | bucket_match_word(high, tag) << 8;
}

/* Returns the ref in a way; 0: empty. Readers may call this: the entry behind the ref is complete.
 */
static inline uint32_t bucket_ref(const struct bucket *bucket, unsigned way)
{
    return __atomic_load_n(&bucket->refs[way], __ATOMIC_ACQUIRE);
}

/* Marks a way as visited; writes nothing if it is marked already. Readers may call this. A mark
 * that arrives after the way has got another entry does no harm. */
static inline void bucket_mark(struct bucket *bucket, unsigned way)
{
    uint16_t bit = (uint16_t)(1u << way);
    if (!(__atomic_load_n(&bucket->visited, __ATOMIC_RELAXED) & bit))
        __atomic_fetch_or(&bucket->visited, bit, __ATOMIC_RELAXED);
}

static inline bool bucket_is_marked(const struct bucket *bucket, unsigned way)
{
    return __atomic_load_n(&bucket->visited, __ATOMIC_RELAXED) >> way & 1;
}

/* Returns whether a thread refreshes the entry. The claim ends with the entry. Readers may call
 * this. */
static inline bool bucket_is_claimed(const struct bucket *bucket, unsigned way)
{
    return __atomic_load_n(&bucket->claimed, __ATOMIC_RELAXED) >> way & 1;
}

/* Claims the refresh. Returns true for exactly one of all threads. Readers may call this. */
static inline bool bucket_claim(struct bucket *bucket, unsigned way)
{
    uint16_t bit = (uint16_t)(1u << way);
    return !(__atomic_fetch_or(&bucket->claimed, bit, __ATOMIC_RELAXED) & bit);
}

/* Ends a claim whose refresh failed. Readers may call this. */
static inline void bucket_unclaim(struct bucket *bucket, unsigned way)
{
    if (bucket_is_claimed(bucket, way))
        __atomic_fetch_and(&bucket->claimed, (uint16_t) ~(1u << way), __ATOMIC_RELAXED);
}

static inline unsigned bucket_count(const struct bucket *bucket)
{
    return bucket->count;
}

/* Puts a new entry into an empty way as the newest. There must be an empty way. */
void bucket_add(struct bucket *bucket, uint8_t tag, uint32_t ref, uint16_t end_tick);

/* Puts another entry of the same key into the way. Its position and its mark stay; a claim ends. */
void bucket_replace(struct bucket *bucket, unsigned way, uint32_t ref, uint16_t end_tick);

/* Empties the way. */
void bucket_remove(struct bucket *bucket, unsigned way);

/* Returns an expired way, or -1. spare_marked: only a way without a mark, because an expired answer
 * that clients ask for may still serve as stale. */
int bucket_expired(const struct bucket *bucket, uint16_t now_tick, bool spare_marked);

/* Returns SIEVE's next victim; moves the hand and clears marks. The bucket must not be empty. */
unsigned bucket_victim(struct bucket *bucket);

#endif
