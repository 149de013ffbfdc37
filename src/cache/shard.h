/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SHARD_H
#define NAILUP_CACHE_SHARD_H

/*
 * One part of the cache: its buckets, its memory, its lock for those who write. A shard is a cache
 * by itself; cache.c only chooses among them. Its bound is the region its heap was given, and
 * entries that wait for readers to leave still lie in it.
 */

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cache/answer.h"
#include "cache/bucket.h"
#include "cache/grace.h"
#include "cache/heap.h"
#include "cache/key.h"
#include "cache/visit.h"

/* Entries taken away and not yet given back, linked by next_retired. */
struct retired {
    uint32_t head, tail;
    uint32_t granules;
};

struct shard {
    /* What readers need; constant, but for the last. */
    struct bucket *buckets;
    uint32_t bucket_count;
    uint8_t *base; /* of the heap's region */
    struct grace *grace;
    uint64_t seed;
    _Atomic bool keeps_stale; /* answers may be of use past their end */

    /* Of those who write. */
    pthread_mutex_t lock __attribute__((aligned(64)));
    struct heap heap;
    struct retired open;          /* taken away since the last ticket */
    struct retired sealed;        /* may be given back when ticket has passed */
    uint32_t waited_for_granules; /* retired, and some thread waits for their readers */
    uint64_t ticket;
    uint32_t spare_granules; /* kept free or retired, so that a store finds room at once */
    uint32_t sweep;          /* the bucket that is looked at next for victims */
    struct bucket *chosen;   /* gives up the next victim, if it still has one; or NULL */
    uint64_t entries, evictions, stores;
};

/* What a shard is made of; all of it lent for the shard's life. buckets: zeroed. */
struct shard_parts {
    struct bucket *buckets;
    uint32_t bucket_count;
    void *heap;
    size_t heap_bytes;
    struct grace *grace;
    uint64_t seed;
};

void shard_init(struct shard *shard, const struct shard_parts *parts);

/* Whether answers may be of use past their end: not before this says so. Any thread. */
void shard_keep_stale(struct shard *shard, bool keep);

void shard_deinit(struct shard *shard);

/* As cache_find(), cache_store(); in a read section and anywhere, respectively. */
bool shard_find(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                struct answer *out);
bool shard_store(struct shard *shard, const struct cache_key *key, const struct answer *answer);

/* As cache_find_stale(), with the most that the end may be past. */
bool shard_find_stale(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                      uint32_t most_s, struct answer *out);

/* As cache_peek(). */
bool shard_peek(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out);

/* As cache_claim(). */
bool shard_claim(const struct shard *shard, const struct cache_key *key);

/* As cache_unclaim(). */
void shard_unclaim(const struct shard *shard, const struct cache_key *key);

/* As cache_prefetch() and cache_prefetch_entry(). */
void shard_prefetch(const struct shard *shard, const struct cache_key *key);
void shard_prefetch_entry(const struct shard *shard, const struct cache_key *key);

/* As cache_walk(), for one bucket of the shard. */
void shard_walk(struct shard *shard, uint32_t bucket, cache_visit visit, void *context);

struct shard_usage {
    uint64_t heap_bytes; /* in blocks, those of retired entries included */
    uint64_t entries, evictions, stores;
};
void shard_usage(struct shard *shard, struct shard_usage *out);

#endif
