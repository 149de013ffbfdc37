/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The door: lays the whole cache out in one mapping of the size allowed, chooses the shard, sums
 * up. Nothing of the cache lives elsewhere, but the few bytes of grace, which are counted too; so
 * the bound holds by construction. Pages not yet used cost no memory.
 */
#include "cache/cache.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/rand.h"
#include "cache/grace.h"
#include "cache/shard.h"

enum {
    SHARDS_MAX = 64,
    SHARD_BYTES_MIN = 2 * 1024 * 1024, /* smaller shards would be too uneven, and large answers
                                        * too large a part of them */
    BYTES_PER_WAY = 88, /* of the size: a twelfth of it is table, and a cache full of the smallest
                         * answers has 13 of 16 ways in use. SIEVE within a bucket needs it full: at
                         * 72 it found a point and a half less of a hundred */
};

/* What a reload may change while others read: each value by itself, in no order. */
struct settings {
    _Atomic uint32_t min_ttl_s, max_ttl_s, min_negative_ttl_s, max_negative_ttl_s, failure_ttl_s;
    _Atomic uint32_t serve_stale_s, stale_ttl_s;
    _Atomic bool prefetch;
    _Atomic uint64_t stale_timeout_us; /* 0: stale answers do not serve */
};

struct cache {
    struct settings settings;
    uint64_t seed;
    uint64_t mapped_bytes, table_bytes, bytes_max;
    struct grace *grace;
    unsigned shard_bits;
    struct shard shards[];
};

static unsigned shard_bits_for(uint64_t bytes)
{
    unsigned bits = 0;
    while (2u << bits <= SHARDS_MAX && (uint64_t)SHARD_BYTES_MIN << (bits + 1) <= bytes)
        bits++;
    return bits;
}

static uint64_t round_up(uint64_t bytes, uint64_t unit)
{
    return (bytes + unit - 1) / unit * unit;
}

/* Where things lie in the mapping: the cache with its shards, all buckets, the heaps. */
struct layout {
    uint64_t total, shards, buckets_at, buckets_each, heaps_at, heap_bytes_each;
};

static struct layout lay_out(uint64_t size_bytes, unsigned shard_bits)
{
    struct layout l = {.shards = UINT64_C(1) << shard_bits};
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    l.total = (size_bytes - grace_bytes()) / page * page;
    l.buckets_at = round_up(sizeof(struct cache) + l.shards * sizeof(struct shard), page);
    l.buckets_each = l.total / l.shards / (BYTES_PER_WAY * BUCKET_WAYS);
    l.heaps_at = round_up(l.buckets_at + l.shards * l.buckets_each * sizeof(struct bucket), page);
    l.heap_bytes_each = (l.total - l.heaps_at) / l.shards / 64 * 64;
    return l;
}

static void init_shards(struct cache *cache, const struct layout *l)
{
    uint8_t *start = (uint8_t *)cache;
    struct bucket *buckets = (struct bucket *)(void *)(start + l->buckets_at);
    for (uint64_t i = 0; i < l->shards; i++) {
        struct shard_parts parts = {
            .buckets = buckets + i * l->buckets_each,
            .bucket_count = (uint32_t)l->buckets_each,
            .heap = start + l->heaps_at + i * l->heap_bytes_each,
            .heap_bytes = l->heap_bytes_each,
            .grace = cache->grace,
            .seed = cache->seed,
        };
        shard_init(&cache->shards[i], &parts);
    }
}

/* The table is touched at random all over: with large pages a look-up has a TLB miss less. A wish
 * that the kernel may refuse. The heaps keep small pages, so that memory grows with use. */
static void wish_large_pages(struct cache *cache, const struct layout *l)
{
    (void)madvise((uint8_t *)cache + l->buckets_at, l->heaps_at - l->buckets_at, MADV_HUGEPAGE);
}

#define SET(value, to) atomic_store_explicit(&(value), (to), memory_order_relaxed)
#define GET(value) atomic_load_explicit(&(value), memory_order_relaxed)

static size_t shard_count(const struct cache *cache)
{
    return (size_t)1 << cache->shard_bits;
}

void cache_set_options(struct cache *cache, const struct cache_options *options)
{
    struct settings *settings = &cache->settings;
    bool serves_stale = options->serve_stale_s > 0;
    SET(settings->min_ttl_s, options->min_ttl_s);
    SET(settings->max_ttl_s, options->max_ttl_s);
    SET(settings->min_negative_ttl_s, options->min_negative_ttl_s);
    SET(settings->max_negative_ttl_s, options->max_negative_ttl_s);
    SET(settings->failure_ttl_s, options->failure_ttl_s);
    SET(settings->prefetch, options->prefetch);
    SET(settings->serve_stale_s, options->serve_stale_s);
    SET(settings->stale_ttl_s, options->stale_answer_ttl_s);
    SET(settings->stale_timeout_us,
        serves_stale ? MAX(options->stale_answer_timeout_us, UINT64_C(1)) : 0);
    for (size_t i = 0; i < shard_count(cache); i++)
        shard_keep_stale(&cache->shards[i], serves_stale);
}

struct cache *cache_new(const struct cache_options *options)
{
    uint64_t size_max = (uint64_t)SHARDS_MAX * HEAP_BYTES_MAX;
    uint64_t size = MIN(MAX(options->size_bytes, (uint64_t)CACHE_SIZE_MIN), size_max);
    unsigned shard_bits = shard_bits_for(size);
    struct layout l = lay_out(size, shard_bits);
    struct grace *grace = grace_new();
    if (!grace)
        return NULL;
    struct cache *cache = mmap(NULL, l.total, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cache == MAP_FAILED) {
        grace_free(grace);
        return NULL;
    }
    wish_large_pages(cache, &l);
    cache->seed = rand_u64();
    cache->mapped_bytes = l.total;
    cache->table_bytes = l.heaps_at + grace_bytes();
    cache->bytes_max = size;
    cache->grace = grace;
    cache->shard_bits = shard_bits;
    init_shards(cache, &l);
    cache_set_options(cache, options);
    return cache;
}

void cache_free(struct cache *cache)
{
    if (!cache)
        return;
    for (size_t i = 0; i < shard_count(cache); i++)
        shard_deinit(&cache->shards[i]);
    grace_free(cache->grace);
    munmap(cache, cache->mapped_bytes);
}

/* The highest bits choose the shard, those in the middle the bucket, the lowest eight are the tag.
 */
static struct shard *shard_for(struct cache *cache, const struct cache_key *key)
{
    return &cache->shards[key->hash >> 40 >> (24 - cache->shard_bits)];
}

void cache_thread_begin(void)
{
    grace_thread_begin();
}

void cache_thread_end(void)
{
    grace_thread_end();
}

void cache_read_begin(void)
{
    grace_read_begin();
}

void cache_read_end(void)
{
    grace_read_end();
}

void cache_key_init(struct cache_key *key, const struct cache *cache,
                    const struct question *question, uint8_t flags, uint8_t view)
{
    key_init(key, cache->seed, question, flags, view);
}

bool cache_find(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct answer *out)
{
    return shard_find(shard_for(cache, key), key, now_us, out);
}

bool cache_find_stale(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                      struct answer *out)
{
    return shard_find_stale(shard_for(cache, key), key, now_us, GET(cache->settings.serve_stale_s),
                            out);
}

bool cache_peek(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out)
{
    return shard_peek(shard_for(cache, key), key, now_us, out);
}

uint32_t cache_serves_stale_s(const struct cache *cache)
{
    return GET(cache->settings.serve_stale_s);
}

uint64_t cache_stale_timeout_us(const struct cache *cache)
{
    return GET(cache->settings.stale_timeout_us);
}

uint32_t cache_stale_ttl_s(const struct cache *cache)
{
    return GET(cache->settings.stale_ttl_s);
}

bool cache_claim(struct cache *cache, const struct cache_key *key)
{
    return shard_claim(shard_for(cache, key), key);
}

void cache_unclaim(struct cache *cache, const struct cache_key *key)
{
    shard_unclaim(shard_for(cache, key), key);
}

bool cache_prefetches(const struct cache *cache)
{
    return GET(cache->settings.prefetch);
}

void cache_prefetch(struct cache *cache, const struct cache_key *key)
{
    shard_prefetch(shard_for(cache, key), key);
}

void cache_prefetch_entry(struct cache *cache, const struct cache_key *key)
{
    shard_prefetch_entry(shard_for(cache, key), key);
}

bool cache_store(struct cache *cache, const struct cache_key *key, const struct answer *answer)
{
    return shard_store(shard_for(cache, key), key, answer);
}

uint32_t cache_ttl(const struct cache *cache, enum answer_kind kind, uint32_t ttl_s)
{
    const struct settings *settings = &cache->settings;
    struct lifetime_bounds bounds = {
        .min_ttl_s = GET(settings->min_ttl_s),
        .max_ttl_s = GET(settings->max_ttl_s),
        .min_negative_ttl_s = GET(settings->min_negative_ttl_s),
        .max_negative_ttl_s = GET(settings->max_negative_ttl_s),
        .failure_ttl_s = GET(settings->failure_ttl_s),
    };
    return lifetime_ttl(&bounds, kind, ttl_s);
}

bool cache_walk(struct cache *cache, uint64_t *place, unsigned buckets, cache_visit visit,
                void *context)
{
    /* All shards have as many buckets. */
    uint64_t each = cache->shards[0].bucket_count, end = each * shard_count(cache);
    uint64_t stop = MIN(*place + buckets, end);
    cache_read_begin();
    for (; *place < stop; ++*place)
        shard_walk(&cache->shards[*place / each], (uint32_t)(*place % each), visit, context);
    cache_read_end();
    return *place < end;
}

void cache_usage(const struct cache *cache, struct cache_usage *out)
{
    *out = (struct cache_usage){.bytes = cache->table_bytes, .bytes_max = cache->bytes_max};
    for (size_t i = 0; i < shard_count(cache); i++) {
        struct shard_usage part;
        shard_usage((struct shard *)(uintptr_t)&cache->shards[i], &part);
        out->bytes += part.heap_bytes;
        out->entries += part.entries;
        out->evictions += part.evictions;
        out->stores += part.stores;
    }
}
