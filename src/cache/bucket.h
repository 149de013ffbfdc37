/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_BUCKET_H
#define NAILUP_CACHE_BUCKET_H

/*
 * Sixteen ways that refs of entries lie in, and who of them goes when room is needed: SIEVE (Zhang
 * et al., NSDI 2024) over the ways in the order they were filled. Found entries are only marked;
 * a hand walks from the oldest to the newest, takes marks away, and evicts the first that has none.
 * New entries start behind the hand's way back, so names asked for once leave soon.
 *
 * Readers match tags and read refs without a lock and set marks; all else needs the shard's lock.
 * Bounded by construction: a flood of names into one bucket evicts within it and slows nobody.
 */

#include <stdbool.h>
#include <stdint.h>

enum { BUCKET_WAYS = 16 };

/* Two cache lines: the first has what a miss needs. */
struct bucket {
    uint64_t tags[2];            /* a byte each, way 0 the lowest; stale where a way is empty */
    uint64_t order;              /* the used ways, four bits each, the oldest the lowest */
    uint16_t used;               /* a bit each */
    uint16_t visited;            /* marks of readers */
    uint8_t count;               /* of used */
    uint8_t hand;                /* position in order */
    uint16_t claimed;            /* marks of who refreshes the entry */
    uint16_t ticks[BUCKET_WAYS]; /* when each is over, roughly: bucket_tick() */
    uint32_t refs[BUCKET_WAYS];  /* 0: empty */
} __attribute__((aligned(128)));

/* Instants in a bucket: units of four seconds that wrap around after three days. Only a hint for
 * choosing victims; whether an answer is live, its entry says. */
enum { BUCKET_TICK_US = 4000000, BUCKET_TICKS_MAX = 0x7000 };

static inline uint16_t bucket_tick(uint64_t now_us)
{
    return (uint16_t)(now_us / BUCKET_TICK_US);
}

/* The tick by which a life of ttl_s from now_us is certainly over, or three days from it. */
uint16_t bucket_end_tick(uint64_t now_us, uint32_t ttl_s);

/* The bytes of word that equal tag, a bit each. */
static inline unsigned bucket_match_word(uint64_t word, uint8_t tag)
{
    const uint64_t ones = 0x0101010101010101u, low7 = 0x7f * ones;
    uint64_t diff = word ^ tag * ones;
    uint64_t zero = ~(((diff & low7) + low7) | diff | low7); /* 0x80 where a byte of diff is 0 */
    return (unsigned)((zero >> 7) * 0x0102040810204080u >> 56);
}

/* The ways that may hold the tag, a bit each. Readers too. */
static inline unsigned bucket_match(const struct bucket *bucket, uint8_t tag)
{
    uint64_t low = __atomic_load_n(&bucket->tags[0], __ATOMIC_RELAXED);
    uint64_t high = __atomic_load_n(&bucket->tags[1], __ATOMIC_RELAXED);
    return bucket_match_word(low, tag) | bucket_match_word(high, tag) << 8;
}

/* What lies in a way, 0 for nothing. Readers too: the entry behind the ref is whole. */
static inline uint32_t bucket_ref(const struct bucket *bucket, unsigned way)
{
    return __atomic_load_n(&bucket->refs[way], __ATOMIC_ACQUIRE);
}

/* Marks a way as visited; writes nothing when it is. Readers too. A mark that arrives when the way
 * has changed its entry does no harm. */
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

/* The second mark of a way: somebody refreshes its entry. It goes with the entry. Readers too. */
static inline bool bucket_is_claimed(const struct bucket *bucket, unsigned way)
{
    return __atomic_load_n(&bucket->claimed, __ATOMIC_RELAXED) >> way & 1;
}

/* Sets it; true for the one of all threads who did. Readers too. */
static inline bool bucket_claim(struct bucket *bucket, unsigned way)
{
    uint16_t bit = (uint16_t)(1u << way);
    return !(__atomic_fetch_or(&bucket->claimed, bit, __ATOMIC_RELAXED) & bit);
}

/* Takes it away: whoever refreshed it failed. Readers too. */
static inline void bucket_unclaim(struct bucket *bucket, unsigned way)
{
    if (bucket_is_claimed(bucket, way))
        __atomic_fetch_and(&bucket->claimed, (uint16_t) ~(1u << way), __ATOMIC_RELAXED);
}

static inline unsigned bucket_count(const struct bucket *bucket)
{
    return bucket->count;
}

/* Puts a new entry into an empty way, as the newest; there must be one. */
void bucket_add(struct bucket *bucket, uint8_t tag, uint32_t ref, uint16_t end_tick);

/* Puts another entry of the same key into the way: its place and first mark stay. */
void bucket_replace(struct bucket *bucket, unsigned way, uint32_t ref, uint16_t end_tick);

/* Empties the way. */
void bucket_remove(struct bucket *bucket, unsigned way);

/* A way whose time is over, or -1. spare_marked: only one without a mark, as what was asked for
 * again may be of use past its end. */
int bucket_expired(const struct bucket *bucket, uint16_t now_tick, bool spare_marked);

/* The way SIEVE gives up next; moves the hand and takes marks away. Must not be empty. */
unsigned bucket_victim(struct bucket *bucket);

#endif
