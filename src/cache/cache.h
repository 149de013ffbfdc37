/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_CACHE_H
#define NAILUP_CACHE_CACHE_H

/*
 * The cache of answers that all workers share. Readers take no lock, allocate nothing and write no
 * shared cache line that is already marked; writers lock one of many shards. The bound in bytes
 * counts everything: table, entries, what waits for readers to leave, bookkeeping.
 *
 * Time is an argument: microseconds of the loop's clock.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/answer.h"
#include "cache/key.h"
#include "cache/lifetime.h"
#include "dns/question.h"

struct cache;

struct cache_options {
    uint64_t size_bytes;
    uint32_t min_ttl_s;
    uint32_t max_ttl_s;
    uint32_t max_negative_ttl_s;
    uint32_t failure_ttl_s;
};

/* NULL when out of memory. The bound is at least CACHE_SIZE_MIN. Address space is taken at once,
 * memory as it fills. Do not fork after the first store: liburcu has a thread from then on. */
enum { CACHE_SIZE_MIN = 1024 * 1024 };
struct cache *cache_new(const struct cache_options *options);

/* No thread may be reading or registered any more. */
void cache_free(struct cache *cache);

/* Each thread that reads or stores calls these once, before and after (liburcu's registration). */
void cache_thread_begin(void);
void cache_thread_end(void);

/* Keys are compared with cache_key_equal() of cache/key.h, which also has the flags. */
void cache_key_init(struct cache_key *key, const struct cache *cache,
                    const struct question *question, uint8_t flags, uint8_t view);

/* What is found stays valid from cache_read_begin() to cache_read_end(). Sections may nest; nothing
 * in them may wait. */
void cache_read_begin(void);
void cache_read_end(void);

/* The live answer for the key at now_us, into *out; false when there is none or its time is over.
 */
bool cache_find(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct answer *out);

/*
 * Hints for who looks up a batch of keys: first cache_prefetch() for each, then
 * cache_prefetch_entry() for each, then cache_find() for each. Three passes over 16 keys wait for
 * memory about twice, one pass 32 times. The second belongs into a read section.
 */
void cache_prefetch(struct cache *cache, const struct cache_key *key);
void cache_prefetch_entry(struct cache *cache, const struct cache_key *key);

/* Stores a copy of the answer; one of the same key is replaced. The answer's ttl_s is clamped by
 * cache_ttl() by whoever made it. Answers with ttl_s 0 or larger than CACHE_ANSWER_MAX are not
 * stored. Memory for it is made by evicting (SIEVE); false when it could not be stored: also when
 * the message's question is not the key's in lower case, when it is a failure and the cache has a
 * live answer that is none, or when memory would have to be waited for
 * in a read section. Outside of one the call may wait some microseconds for readers to leave. */
enum { CACHE_ANSWER_MAX = 65535 };
bool cache_store(struct cache *cache, const struct cache_key *key, const struct answer *answer);

/* The options' bounds applied to a TTL of this kind. */
uint32_t cache_ttl(const struct cache *cache, enum answer_kind kind, uint32_t ttl_s);

/* Forgets one name: all types and flags of it; returns how many. */
size_t cache_flush(struct cache *cache, const struct cache_key *key);

/* Sums over the shards; exact when nobody writes. */
struct cache_usage {
    uint64_t bytes; /* everything that counts against size_bytes */
    uint64_t bytes_max;
    uint64_t entries;
    uint64_t evictions;
    uint64_t stores;
};
void cache_usage(const struct cache *cache, struct cache_usage *out);

#endif
