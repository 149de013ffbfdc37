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
#include "cache/visit.h"
#include "dns/question.h"

struct cache;

struct cache_options {
    uint64_t size_bytes;
    uint32_t min_ttl_s;
    uint32_t max_ttl_s;
    uint32_t min_negative_ttl_s;
    uint32_t max_negative_ttl_s;
    uint32_t failure_ttl_s;
    bool prefetch;
    uint32_t serve_stale_s;           /* 0: never */
    uint32_t stale_answer_ttl_s;      /* 0: as RFC 8767 has it */
    uint64_t stale_answer_timeout_us; /* 0: at once */
};

/* NULL when out of memory. The bound is at least CACHE_SIZE_MIN. Address space is taken at once,
 * memory as it fills. Do not fork after the first store: liburcu has a thread from then on. */
enum { CACHE_SIZE_MIN = 1024 * 1024 };
struct cache *cache_new(const struct cache_options *options);

/* Other options while it is in use, but for size_bytes, which stays. They hold for what is asked
 * and stored from now on: answers that are there keep their lives, and some worker may see one
 * value a moment before another. Any thread, one at a time. */
void cache_set_options(struct cache *cache, const struct cache_options *options);

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
 * out->is_due when it has a tenth of its life left at most, was found before and nobody refreshes
 * it: then whoever wants to calls cache_claim(). */
bool cache_find(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct answer *out);

/* The answer for the key that may serve when nothing better can be had (RFC 8767): one whose end is
 * no longer past than the option serve_stale_s, and no failure. out->stale_s is how long at now_us,
 * 0 for one that is live. False when there is none. */
bool cache_find_stale(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                      struct answer *out);

/* Looks at what the key has, live or not, without a trace: nothing is marked, and SIEVE knows
 * nothing of it. answer.is_due as cache_find() would have it. False: there is nothing. */
bool cache_peek(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out);

/* How far past its end an answer may serve: the option. */
uint32_t cache_serves_stale_s(const struct cache *cache);

/* How long upstreams may take before a stale answer serves: the option. 0: stale ones never do. */
uint64_t cache_stale_timeout_us(const struct cache *cache);

/* The TTL of records that are stale: the option. */
uint32_t cache_stale_ttl_s(const struct cache *cache);

/* True for the one caller, of all threads, who is to refresh the answer of the key; it is not due
 * any more. In a read section. */
bool cache_claim(struct cache *cache, const struct cache_key *key);

/* Who claimed it could not refresh it: it may be due again. In a read section. */
void cache_unclaim(struct cache *cache, const struct cache_key *key);

/* Whether answers that are due are to be refreshed: the option. */
bool cache_prefetches(const struct cache *cache);

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
 * the message's question is not the key's in lower case, when it is a failure or a stale one and
 * the cache has a live answer that is neither, or when memory would have to be waited for in a read
 * section. Outside of one the call may wait some microseconds for readers to leave. */
enum { CACHE_ANSWER_MAX = 65535 };
bool cache_store(struct cache *cache, const struct cache_key *key, const struct answer *answer);

/* The options' bounds applied to a TTL of this kind. */
uint32_t cache_ttl(const struct cache *cache, enum answer_kind kind, uint32_t ttl_s);

/*
 * Shows visit() every answer of the next part of the cache, live or not, in no order, and takes
 * those away that it does not want to keep. *place is where the walk is: zero at its begin. Returns
 * false at its end. A part is so many buckets, of BUCKET_WAYS answers at most each, in one read
 * section of the calling thread; no lock is held but for a moment to take one away. Over a whole
 * walk each answer that is there all the time is shown once; what is stored meanwhile may be or
 * not.
 */
bool cache_walk(struct cache *cache, uint64_t *place, unsigned buckets, cache_visit visit,
                void *context);

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
