/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_CACHE_H
#define NAILUP_CACHE_CACHE_H

/*
 * The cache of answers that all workers share. Readers take no lock, allocate nothing and do not
 * write to a shared cache line that is already marked. Writers lock one of many shards. The bound
 * in bytes counts everything: the table, entries, entries that wait for readers to leave,
 * bookkeeping.
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
struct spans;

struct cache_options {
    uint64_t size_bytes;
    uint32_t min_ttl_s;
    uint32_t max_ttl_s;
    uint32_t min_negative_ttl_s;
    uint32_t max_negative_ttl_s;
    uint32_t failure_ttl_s;
    bool prefetch;
    uint32_t serve_stale_s;           /* 0: never */
    uint32_t stale_answer_ttl_s;      /* 0: the value that RFC 8767 recommends */
    uint64_t stale_answer_timeout_us; /* 0: at once */
};

/* Returns NULL when out of memory. The bound is at least CACHE_SIZE_MIN. The cache takes address
 * space at once and memory as it fills. Do not fork after the first store: liburcu has a thread
 * from then on. */
enum { CACHE_SIZE_MIN = 1024 * 1024 };
struct cache *cache_new(const struct cache_options *options);

/* Changes all options except size_bytes while the cache is in use. They apply to later lookups and
 * stores; stored answers keep their lifetimes. A worker may see one new value a moment before
 * another. Any thread may call this, one at a time. */
void cache_set_options(struct cache *cache, const struct cache_options *options);

/* Sets the number of the rules by which verdicts in the cache were found. A snapshot keeps it, and
 * a cache with another one does not believe the verdicts in that snapshot. While rules change, it
 * must be a number that is never used again. 0 at first. One thread. */
void cache_set_rules(struct cache *cache, uint64_t rules);

/* Returns that number. Any thread. */
uint64_t cache_rules(const struct cache *cache);

/* Returns the spans that answer for names without an entry (cache/spans.h). They belong to the
 * cache, have their own bound, and are not in snapshots. */
struct spans *cache_spans(const struct cache *cache);

/* All threads must have stopped reading and unregistered. */
void cache_free(struct cache *cache);

/* Each thread that reads or stores calls these once, before and after (liburcu's registration). */
void cache_thread_begin(void);
void cache_thread_end(void);

/* Makes the key of a question. cache/key.h has the flags, the views, the spaces and
 * cache_key_equal(). */
void cache_key_init(struct cache_key *key, const struct cache *cache,
                    const struct question *question, uint8_t flags, uint8_t view, uint32_t space);

/* A found answer stays valid from cache_read_begin() to cache_read_end(). Read sections may nest.
 * Nothing in them may wait. */
void cache_read_begin(void);
void cache_read_end(void);

/* Finds the key's answer if it is fresh at now_us. Sets out->is_due when at most a tenth of its
 * lifetime is left, it was found before and no thread refreshes it. A caller that wants to refresh
 * it then calls cache_claim(). */
bool cache_find(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct answer *out);

/* Finds an answer that may serve when nothing better is available (RFC 8767): it expired at most
 * serve_stale_s ago and is not a failure. out->stale_s says how long ago it expired, 0 if it is
 * fresh. */
bool cache_find_stale(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                      struct answer *out);

/* Shows the key's entry, fresh or expired, without a trace: it sets no mark, so SIEVE does not
 * notice. answer.is_due has the value that cache_find() would give. Returns false when there is
 * no entry. */
bool cache_peek(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out);

/* Returns how long after its expiry an answer may serve (option). */
uint32_t cache_serves_stale_s(const struct cache *cache);

/* Returns how long upstreams may take before a stale answer serves (option). 0: stale answers never
 * serve. */
uint64_t cache_stale_timeout_us(const struct cache *cache);

/* Returns the TTL of stale records (option). */
uint32_t cache_stale_ttl_s(const struct cache *cache);

/* Claims the refresh of the key's answer. Returns true for exactly one caller among all threads;
 * afterwards the answer is no longer due. Call it in a read section. */
bool cache_claim(struct cache *cache, const struct cache_key *key);

/* Ends a claim whose refresh failed: the answer may be due again. Call it in a read section. */
void cache_unclaim(struct cache *cache, const struct cache_key *key);

/* Returns whether answers that are due get a refresh (option). */
bool cache_prefetches(const struct cache *cache);

/*
 * Hints for a batch of lookups: call cache_prefetch() for each key, then cache_prefetch_entry() for
 * each, then cache_find() for each. Three passes over 16 keys wait for memory about twice; one pass
 * waits 32 times. The second pass needs a read section.
 */
void cache_prefetch(struct cache *cache, const struct cache_key *key);
void cache_prefetch_entry(struct cache *cache, const struct cache_key *key);

/* Stores a copy of the answer in place of one with the same key. The caller has clamped ttl_s with
 * cache_ttl(). Evicts (SIEVE) to make room. Returns false when the answer is not stored:
 *  - ttl_s is 0, or the message is larger than CACHE_ANSWER_MAX;
 *  - the message's question is not the key's in lower case;
 *  - the answer is a failure or stale, and the cache has a fresh answer that is not a failure;
 *  - the caller is in a read section, and memory is not free without a wait.
 * Outside a read section the call may wait some microseconds for readers to leave. */
enum { CACHE_ANSWER_MAX = 65535 };
bool cache_store(struct cache *cache, const struct cache_key *key, const struct answer *answer);

/* Removes the entry of the key, fresh or expired, if there is one. Readers that see it keep it to
 * the end of their read section. Any thread. */
void cache_remove(struct cache *cache, const struct cache_key *key);

/* Applies the options' bounds to the TTL of an answer of this kind. */
uint32_t cache_ttl(const struct cache *cache, enum answer_kind kind, uint32_t ttl_s);

/*
 * Shows visit() every entry of the next part of the cache, fresh or expired, in no order, and drops
 * the entries that it does not keep. *place is the position of the walk, 0 at the start. Returns
 * false at the end. A part is a number of buckets with at most BUCKET_WAYS entries each, in one
 * read section of the calling thread; the walk takes a lock only to drop an entry. A walk shows
 * each entry that stays in the cache once; it may miss an entry that is stored meanwhile.
 */
bool cache_walk(struct cache *cache, uint64_t *place, unsigned buckets, cache_visit visit,
                void *context);

/* Sums over the shards; exact when no thread writes. */
struct cache_usage {
    uint64_t bytes; /* everything that counts against size_bytes */
    uint64_t bytes_max;
    uint64_t entries;
    uint64_t evictions;
    uint64_t stores;
};
void cache_usage(const struct cache *cache, struct cache_usage *out);

#endif
