/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The cache: one mapping of the allowed size that holds up to 64 shards, their buckets and their
 * heaps. Only `grace` lives outside, and its few bytes are counted too, so the bound holds by
 * construction. Pages not yet used cost no memory.
 *
 * Readers take no lock, writers take the lock of one shard. `bucket` chooses the way to evict,
 * `heap` finds free memory, `grace` says when readers have left.
 *
 * Invariants: exactly one way refers to a used block of a heap, or exactly one of the retired lists
 * holds it. No thread waits for readers while it holds a lock, because a reader may want the lock.
 */
#include "cache/cache.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/check.h"
#include "base/rand.h"
#include "cache/bucket.h"
#include "cache/entry.h"
#include "cache/grace.h"
#include "cache/heap.h"
#include "cache/spans.h"

enum {
    SHARDS_MAX = 64,
    SHARD_BYTES_MIN = 2 * 1024 * 1024, /* smaller shards would be too uneven, and a large answer
                                        * would take too large a part of one */
    BYTES_PER_WAY = 88, /* a twelfth of the size is table; a cache full of the smallest answers uses
                         * 13 of 16 ways. SIEVE within a bucket works best when the bucket is full:
                         * with 72 bytes per way, 1.5 percentage points fewer lookups were hits */

    SPARE_MIN_BYTES = 64 * 1024,
    SPARE_SHARE = 32,  /* a 32nd of the heap is free or about to be */
    BATCH_SHARE = 4,   /* a quarter of the spare memory is retired under one ticket */
    GIVE_BACK_MAX = 4, /* entries given back per store, so that no store pays for many */
    SWEEP_LOOKS = 2,   /* buckets examined for a victim */
    ROOM_TRIES = 6,    /* other threads may take the room first */
};

/* Evicted entries that are not yet given back to the heap, linked by next_retired. */
struct retired {
    uint32_t head, tail;
    uint32_t granules;
};

/* A part of the cache with its own buckets, heap and lock. */
struct shard {
    /* Used by readers; constant, except for keeps_stale. */
    struct bucket *buckets;
    uint32_t bucket_count;
    uint8_t *base; /* the heap's region */
    struct grace *grace;
    uint64_t seed;
    _Atomic bool keeps_stale; /* expired answers may still serve */

    /* Used by writers, under the lock. */
    pthread_mutex_t lock __attribute__((aligned(64)));
    struct heap heap;
    struct retired open;          /* retired since the last ticket */
    struct retired sealed;        /* may be given back when ticket has passed */
    uint32_t waited_for_granules; /* retired, and a thread waits for their readers */
    uint64_t ticket;
    uint32_t spare_granules; /* kept free or retired, so that a store finds room at once */
    uint32_t sweep;          /* the next bucket to examine for victims */
    struct bucket *chosen;   /* the bucket of the next victim, or NULL */
    uint64_t entries, evictions, stores;
};

/* Options that a reload may change while others read. Each value is atomic alone. */
struct settings {
    _Atomic uint32_t min_ttl_s, max_ttl_s, min_negative_ttl_s, max_negative_ttl_s, failure_ttl_s;
    _Atomic uint32_t serve_stale_s, stale_ttl_s;
    _Atomic bool prefetch;
    _Atomic uint64_t stale_timeout_us; /* 0: stale answers do not serve */
};

struct cache {
    struct settings settings;
    _Atomic uint64_t rules; /* of the verdicts */
    uint64_t seed;
    uint64_t mapped_bytes, table_bytes, bytes_max;
    struct grace *grace;
    struct spans *spans;
    unsigned shard_bits;
    struct shard shards[];
};

static size_t shard_count(const struct cache *cache)
{
    return (size_t)1 << cache->shard_bits;
}

/* The highest bits of a hash choose the shard, the middle bits the bucket; the lowest eight are the
 * tag. */
static struct shard *shard_for(struct cache *cache, const struct cache_key *key)
{
    return &cache->shards[key->hash >> 40 >> (24 - cache->shard_bits)];
}

static struct bucket *bucket_for(const struct shard *shard, uint64_t hash)
{
    return &shard->buckets[(hash >> 8 & UINT32_MAX) * shard->bucket_count >> 32];
}

static uint8_t hash_tag(uint64_t hash)
{
    return (uint8_t)hash;
}

static struct entry *entry_at(const struct shard *shard, uint32_t ref)
{
    return heap_at(shard->base, ref);
}

/* ---- life of the cache ---- */

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

/* The mapping in order: the cache with its shards, all buckets, the heaps. */
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
        struct shard *shard = &cache->shards[i];
        *shard = (struct shard){
            .buckets = buckets + i * l->buckets_each,
            .bucket_count = (uint32_t)l->buckets_each,
            .base = start + l->heaps_at + i * l->heap_bytes_each,
            .grace = cache->grace,
            .seed = cache->seed,
        };
        pthread_mutex_init(&shard->lock, NULL);
        heap_init(&shard->heap, shard->base, l->heap_bytes_each);
        /* Small shards keep a larger part, or stores would often wait for readers. */
        uint32_t small_spare = MIN(shard->heap.granules / 8, SPARE_MIN_BYTES / HEAP_GRANULE + 0u);
        shard->spare_granules = MAX(shard->heap.granules / SPARE_SHARE, small_spare);
    }
}

/* Large pages save a TLB miss per lookup in the table, which is read at random places. The kernel
 * may refuse. The heaps keep small pages, so that memory grows with use. */
static void request_large_pages(struct cache *cache, const struct layout *l)
{
    (void)madvise((uint8_t *)cache + l->buckets_at, l->heaps_at - l->buckets_at, MADV_HUGEPAGE);
}

struct cache *cache_new(const struct cache_options *options)
{
    uint64_t size_max = (uint64_t)SHARDS_MAX * HEAP_BYTES_MAX;
    uint64_t size = MIN(MAX(options->size_bytes, (uint64_t)CACHE_SIZE_MIN), size_max);
    unsigned shard_bits = shard_bits_for(size);
    struct layout l = lay_out(size, shard_bits);
    struct grace *grace = grace_new();
    struct spans *spans = spans_new(SPANS_BYTES_MAX);
    struct cache *cache = !grace || !spans
                              ? MAP_FAILED
                              : mmap(NULL, l.total, PROT_READ | PROT_WRITE,
                                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (cache == MAP_FAILED) {
        if (grace)
            grace_free(grace);
        spans_free(spans);
        return NULL;
    }
    request_large_pages(cache, &l);
    cache->seed = rand_u64();
    cache->mapped_bytes = l.total;
    cache->table_bytes = l.heaps_at + grace_bytes();
    cache->bytes_max = size;
    cache->grace = grace;
    cache->spans = spans;
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
        pthread_mutex_destroy(&cache->shards[i].lock);
    spans_free(cache->spans);
    grace_free(cache->grace);
    munmap(cache, cache->mapped_bytes);
}

struct spans *cache_spans(const struct cache *cache)
{
    return cache->spans;
}

/* ---- options ---- */

#define SET(value, to) atomic_store_explicit(&(value), (to), memory_order_relaxed)
#define GET(value) atomic_load_explicit(&(value), memory_order_relaxed)

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
        SET(cache->shards[i].keeps_stale, serves_stale);
}

void cache_set_rules(struct cache *cache, uint64_t rules)
{
    atomic_store(&cache->rules, rules);
}

uint64_t cache_rules(const struct cache *cache)
{
    return atomic_load(&cache->rules);
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

bool cache_prefetches(const struct cache *cache)
{
    return GET(cache->settings.prefetch);
}

uint32_t cache_ttl(const struct cache *cache, enum answer_kind kind, uint32_t ttl_s)
{
    struct lifetime_bounds bounds = {
        .min_ttl_s = GET(cache->settings.min_ttl_s),
        .max_ttl_s = GET(cache->settings.max_ttl_s),
        .min_negative_ttl_s = GET(cache->settings.min_negative_ttl_s),
        .max_negative_ttl_s = GET(cache->settings.max_negative_ttl_s),
        .failure_ttl_s = GET(cache->settings.failure_ttl_s),
    };
    return lifetime_ttl(&bounds, kind, ttl_s);
}

/* ---- readers ---- */

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
                    const struct question *question, uint8_t flags, uint8_t view, uint32_t space)
{
    key->name_len = name_fold(question->name, key->name).len;
    key->type = question->type;
    key->cls = question->cls;
    key->flags = flags;
    key->view = view;
    key->space = space;
    key->hash = key_hash(key, cache->seed);
}

/* A cache line from memory takes as long as hundreds of instructions. Both lines of a bucket are
 * requested at once, and so are the first two of an entry. */
static void prefetch_bucket(const struct bucket *bucket)
{
    __builtin_prefetch(bucket);
    __builtin_prefetch(&bucket->refs);
}

static void prefetch_entry(const struct shard *shard, uint32_t ref)
{
    __builtin_prefetch(entry_at(shard, ref));
    __builtin_prefetch((const uint8_t *)entry_at(shard, ref) + 64);
}

void cache_prefetch(struct cache *cache, const struct cache_key *key)
{
    prefetch_bucket(bucket_for(shard_for(cache, key), key->hash));
}

void cache_prefetch_entry(struct cache *cache, const struct cache_key *key)
{
    const struct shard *shard = shard_for(cache, key);
    const struct bucket *bucket = bucket_for(shard, key->hash);
    unsigned ways = bucket_match(bucket, hash_tag(key->hash));
    if (ways)
        prefetch_entry(shard, bucket_ref(bucket, (unsigned)__builtin_ctz(ways)));
}

/* Returns the way of the bucket that holds the key's entry, or -1. Sets *entry to that entry. */
static int find_way(const struct shard *shard, const struct bucket *bucket,
                    const struct cache_key *key, const struct entry **entry)
{
    for (unsigned ways = bucket_match(bucket, hash_tag(key->hash)); ways; ways &= ways - 1) {
        unsigned way = (unsigned)__builtin_ctz(ways);
        uint32_t ref = bucket_ref(bucket, way);
        *entry = entry_at(shard, ref);
        if (ref && entry_matches(*entry, key))
            return (int)way;
    }
    return -1;
}

/* A mark means that the answer was found before, so clients ask for it again. */
static bool is_due(const struct bucket *bucket, unsigned way, const struct answer *answer)
{
    return answer->kind != ANSWER_FAILURE && bucket_is_marked(bucket, way) &&
           !bucket_is_claimed(bucket, way);
}

bool cache_find(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct answer *out)
{
    const struct shard *shard = shard_for(cache, key);
    struct bucket *bucket = bucket_for(shard, key->hash);
    prefetch_bucket(bucket);
    const struct entry *entry;
    int way = find_way(shard, bucket, key, &entry);
    if (way < 0)
        return false;
    entry_view(entry, out);
    uint32_t age_s = answer_age(out, now_us);
    if (age_s >= out->ttl_s)
        return false;
    if (answer_is_ending(out, age_s))
        out->is_due = is_due(bucket, (unsigned)way, out);
    bucket_mark(bucket, (unsigned)way);
    return true;
}

bool cache_find_stale(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                      struct answer *out)
{
    const struct shard *shard = shard_for(cache, key);
    const struct entry *entry;
    if (find_way(shard, bucket_for(shard, key->hash), key, &entry) < 0)
        return false;
    entry_view(entry, out);
    out->stale_s = answer_staleness(out, answer_age(out, now_us));
    return out->kind != ANSWER_FAILURE && out->stale_s <= GET(cache->settings.serve_stale_s);
}

static void fill_item(const struct bucket *bucket, unsigned way, const struct entry *entry,
                      struct cache_item *out)
{
    entry_view(entry, &out->answer);
    out->flags = entry_flags(entry);
    out->view = entry->view;
    out->space = entry->space;
    out->is_marked = bucket_is_marked(bucket, way);
}

bool cache_peek(struct cache *cache, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out)
{
    const struct shard *shard = shard_for(cache, key);
    const struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = find_way(shard, bucket, key, &entry);
    if (way < 0)
        return false;
    fill_item(bucket, (unsigned)way, entry, out);
    uint32_t age_s = answer_age(&out->answer, now_us);
    if (age_s < out->answer.ttl_s && answer_is_ending(&out->answer, age_s))
        out->answer.is_due = is_due(bucket, (unsigned)way, &out->answer);
    return true;
}

bool cache_claim(struct cache *cache, const struct cache_key *key)
{
    const struct shard *shard = shard_for(cache, key);
    struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = find_way(shard, bucket, key, &entry);
    return way >= 0 && bucket_claim(bucket, (unsigned)way);
}

void cache_unclaim(struct cache *cache, const struct cache_key *key)
{
    const struct shard *shard = shard_for(cache, key);
    struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = find_way(shard, bucket, key, &entry);
    if (way >= 0)
        bucket_unclaim(bucket, (unsigned)way);
}

/* ---- giving memory back ---- */

static void retire(struct shard *shard, uint32_t ref)
{
    struct retired *open = &shard->open;
    heap_set_leaving(&shard->heap, ref);
    entry_at(shard, ref)->next_retired = 0;
    if (open->tail)
        entry_at(shard, open->tail)->next_retired = ref;
    else
        open->head = ref;
    open->tail = ref;
    open->granules += heap_block_granules(&shard->heap, ref);
}

static uint32_t retired_granules(const struct shard *shard)
{
    return shard->open.granules + shard->sealed.granules + shard->waited_for_granules;
}

/* Gives the first entries of the list back to the heap, at most max of them. */
static void give_back(struct shard *shard, struct retired *list, unsigned max)
{
    for (; list->head && max > 0; max--) {
        uint32_t ref = list->head;
        list->head = entry_at(shard, ref)->next_retired;
        list->granules -= heap_block_granules(&shard->heap, ref);
        heap_give(&shard->heap, ref);
    }
    if (!list->head)
        *list = (struct retired){0};
}

/* Gives back at most max entries that no reader can see any longer. Draws the next ticket when at
 * least batch granules wait for one. */
static void reclaim(struct shard *shard, unsigned max, uint32_t batch)
{
    if (shard->sealed.head && grace_has_passed(shard->grace, shard->ticket))
        give_back(shard, &shard->sealed, max);
    if (shard->sealed.head || !shard->open.head || shard->open.granules < batch)
        return;
    shard->sealed = shard->open;
    shard->open = (struct retired){0};
    shard->ticket = grace_ticket(shard->grace);
    (void)grace_has_passed(shard->grace, shard->ticket);
}

/* Waits for the readers of everything retired so far and gives it back. Releases the lock
 * meanwhile, so the caller must look at buckets again. */
static void reclaim_all_waiting(struct shard *shard)
{
    struct retired open = shard->open, sealed = shard->sealed;
    uint32_t granules = open.granules + sealed.granules;
    shard->open = shard->sealed = (struct retired){0};
    shard->waited_for_granules += granules;
    pthread_mutex_unlock(&shard->lock);
    grace_wait();
    pthread_mutex_lock(&shard->lock);
    shard->waited_for_granules -= granules;
    give_back(shard, &open, UINT32_MAX);
    give_back(shard, &sealed, UINT32_MAX);
}

/* ---- evicting ---- */

static void remove_way(struct shard *shard, struct bucket *bucket, unsigned way)
{
    uint32_t ref = bucket->refs[way];
    bucket_remove(bucket, way);
    retire(shard, ref);
    shard->entries--;
}

static struct bucket *sweep_next(struct shard *shard)
{
    struct bucket *bucket = &shard->buckets[shard->sweep];
    shard->sweep = shard->sweep + 1 < shard->bucket_count ? shard->sweep + 1 : 0;
    return bucket;
}

/* While stale answers may serve, an expired entry with a mark stays until SIEVE clears the mark.
 * The hand moves only when memory is short. */
static int expired_way(const struct shard *shard, const struct bucket *bucket, uint16_t now_tick)
{
    return bucket_expired(bucket, now_tick, GET(shard->keeps_stale));
}

/* Returns the cache way to evict next: an expired one, else SIEVE's victim. A second call without a
 * change in between returns the same way unless a reader has set a mark. */
static unsigned next_victim(const struct shard *shard, struct bucket *bucket, uint16_t now_tick)
{
    int expired = expired_way(shard, bucket, now_tick);
    return expired >= 0 ? (unsigned)expired : bucket_victim(bucket);
}

static void evict_from(struct shard *shard, struct bucket *bucket, uint16_t now_tick)
{
    remove_way(shard, bucket, next_victim(shard, bucket, now_tick));
    shard->evictions++;
}

/*
 * Chooses the bucket of the next victim. The sweep examines a few buckets and takes one with an
 * expired entry, or else the fullest. So all buckets stay about equally full, and a bucket with few
 * entries keeps its popular ones. The shard must not be empty.
 */
static struct bucket *choose_bucket(struct shard *shard, uint16_t now_tick)
{
    struct bucket *fullest = sweep_next(shard);
    for (unsigned looks = 1; looks < SWEEP_LOOKS || bucket_count(fullest) == 0; looks++) {
        if (expired_way(shard, fullest, now_tick) >= 0)
            break;
        struct bucket *other = sweep_next(shard);
        if (expired_way(shard, other, now_tick) >= 0 || bucket_count(other) > bucket_count(fullest))
            fullest = other;
    }
    return fullest;
}

/* Evicts the entry in this block. */
static void evict_block(struct shard *shard, uint32_t ref)
{
    struct cache_key key;
    entry_key(entry_at(shard, ref), shard->seed, &key);
    struct bucket *bucket = bucket_for(shard, key.hash);
    unsigned way = 0;
    while (way < BUCKET_WAYS && bucket->refs[way] != ref)
        way++;
    MUST(way < BUCKET_WAYS);
    remove_way(shard, bucket, way);
    shard->evictions++;
}

/* Returns the block where clear_run() starts: the next victim that the sweep meets. */
static uint32_t run_start(struct shard *shard)
{
    for (uint32_t i = 0; shard->entries > 0 && i < shard->bucket_count; i++) {
        struct bucket *bucket = sweep_next(shard);
        if (bucket_count(bucket) > 0)
            return bucket->refs[bucket_victim(bucket)];
    }
    return heap_first(&shard->heap);
}

/* Evicts the entries of neighbouring blocks until their memory holds this many bytes. Evicting
 * small answers here and there makes no room for a large one. */
static void clear_run(struct shard *shard, size_t bytes)
{
    const struct heap *heap = &shard->heap;
    uint32_t wanted = heap_run_for(bytes), run = 0;
    bool has_wrapped = false;
    for (uint32_t ref = run_start(shard); run < wanted;) {
        enum heap_block state = heap_state(heap, ref);
        if (state == HEAP_END) {
            if (has_wrapped)
                return;
            has_wrapped = true;
            run = 0;
            ref = heap_first(heap);
            continue;
        }
        if (state == HEAP_USED)
            evict_block(shard, ref);
        run += heap_block_granules(heap, ref);
        ref = heap_next(heap, ref);
    }
}

/* ---- storing ---- */

/* Evicts until a block for this many bytes is free. Returns 0 if that fails. Rare, and not inlined:
 * its loops would take the registers of every store. */
static __attribute__((noinline)) uint32_t cache_make_room(struct shard *shard, size_t bytes)
{
    uint32_t ref = 0;
    for (int tries = 0; !ref && tries < ROOM_TRIES; tries++) {
        if (tries > 0 || retired_granules(shard) < heap_run_for(bytes))
            clear_run(shard, bytes);
        if (grace_is_reading()) {
            /* This thread is a reader and would wait for itself. There is room if the other readers
             * have left already. */
            reclaim(shard, UINT32_MAX, 0);
            return heap_take(&shard->heap, bytes);
        }
        reclaim_all_waiting(shard);
        ref = heap_take(&shard->heap, bytes);
    }
    return ref;
}

/* Takes a block for this many bytes, or returns 0. May evict, and may release the lock for a
 * while. */
static uint32_t take_room(struct shard *shard, size_t bytes)
{
    /* A store retires about one entry, so giving back one is enough unless the shard is behind. The
     * head of the list is in the CPU's cache because prefetch_next() requested it; the next entries
     * are not. */
    bool is_behind = retired_granules(shard) > shard->spare_granules / 4 * 3;
    reclaim(shard, is_behind ? GIVE_BACK_MAX : 1, shard->spare_granules / BATCH_SHARE);
    uint32_t ref = heap_take(&shard->heap, bytes);
    return ref ? ref : cache_make_room(shard, bytes);
}

/* Puts the new entry into the way of the same key, an empty way, or the way of a victim. */
static void place(struct shard *shard, const struct cache_key *key, uint32_t ref,
                  const struct answer *answer)
{
    struct bucket *bucket = bucket_for(shard, key->hash);
    uint16_t end_tick = bucket_end_tick(answer->stored_at, answer->ttl_s);
    const struct entry *old;
    int way = find_way(shard, bucket, key, &old);
    if (way >= 0) {
        uint32_t old_ref = bucket->refs[way];
        bucket_replace(bucket, (unsigned)way, ref, end_tick);
        retire(shard, old_ref);
        return;
    }
    if (bucket_count(bucket) == BUCKET_WAYS)
        evict_from(shard, bucket, bucket_tick(answer->stored_at));
    bucket_add(bucket, hash_tag(key->hash), ref, end_tick);
    shard->entries++;
}

static uint32_t spare_now(const struct shard *shard)
{
    return shard->heap.granules - shard->heap.used + retired_granules(shard);
}

static bool lacks_spare(const struct shard *shard)
{
    return spare_now(shard) < shard->spare_granules;
}

/* Evicts ahead of need, because memory becomes free only when its readers have left. */
static void keep_spare(struct shard *shard, struct bucket *own, uint16_t now_tick)
{
    if (lacks_spare(shard) && expired_way(shard, own, now_tick) >= 0)
        evict_from(shard, own, now_tick);
    while (shard->entries > 0 && lacks_spare(shard)) {
        struct bucket *from = shard->chosen;
        shard->chosen = NULL;
        if (!from || bucket_count(from) == 0)
            from = choose_bucket(shard, now_tick);
        evict_from(shard, from, now_tick);
    }
}

/* Requests a block from its header on: two cache lines for most blocks. */
static void prefetch_block(const struct shard *shard, uint32_t ref)
{
    __builtin_prefetch((const uint8_t *)entry_at(shard, ref) - HEAP_GRANULE);
    prefetch_entry(shard, ref);
}

/* Requests the memory that the next store into this shard needs, whatever its key: the next victim,
 * the buckets that the sweep visits after it, and the next entry to give back. The memory arrives
 * some microseconds from now; otherwise the store would wait for each. */
static void prefetch_next(struct shard *shard, uint16_t now_tick)
{
    if (shard->sealed.head)
        prefetch_block(shard, shard->sealed.head);
    /* A shard with much room evicts nothing soon. While it is nearly empty, the sweep would also
     * pass many empty buckets before it finds a victim. */
    if (shard->chosen || shard->entries == 0 || spare_now(shard) / 2 >= shard->spare_granules)
        return;
    shard->chosen = choose_bucket(shard, now_tick);
    prefetch_block(shard, shard->chosen->refs[next_victim(shard, shard->chosen, now_tick)]);
    for (uint32_t i = 0; i < SWEEP_LOOKS; i++)
        prefetch_bucket(&shard->buckets[(shard->sweep + i) % shard->bucket_count]);
}

static bool store_locked(struct shard *shard, const struct cache_key *key,
                         const struct answer *answer)
{
    uint16_t now_tick = bucket_tick(answer->stored_at);
    uint32_t ref = take_room(shard, entry_size(answer));
    if (ref) {
        entry_write(entry_at(shard, ref), key, answer);
        place(shard, key, ref, answer);
        shard->stores++;
    }
    keep_spare(shard, bucket_for(shard, key->hash), now_tick);
    prefetch_next(shard, now_tick);
    return ref != 0;
}

/* Returns whether the cache has a better answer than this failure or stale answer. Another thread
 * may have stored it since this one looked. */
static bool is_worse(const struct shard *shard, const struct cache_key *key,
                     const struct answer *answer)
{
    const struct entry *entry;
    struct answer old;
    bool is_failure = answer->kind == ANSWER_FAILURE;
    if ((!is_failure && !answer->stale_s) ||
        find_way(shard, bucket_for(shard, key->hash), key, &entry) < 0)
        return false;
    entry_view(entry, &old);
    return old.kind != ANSWER_FAILURE && answer_is_live(&old, answer->stored_at) &&
           (is_failure || !old.stale_s);
}

/* Not inlined into cache_store(): there the compiler works out the shard's place again for every
 * field. */
static __attribute__((noinline)) bool shard_store(struct shard *shard, const struct cache_key *key,
                                                  const struct answer *answer)
{
    if (!entry_fits(key, answer))
        return false;
    prefetch_bucket(bucket_for(shard, key->hash));
    pthread_mutex_lock(&shard->lock);
    bool is_stored = !is_worse(shard, key, answer) && store_locked(shard, key, answer);
    pthread_mutex_unlock(&shard->lock);
    return is_stored;
}

bool cache_store(struct cache *cache, const struct cache_key *key, const struct answer *answer)
{
    return shard_store(shard_for(cache, key), key, answer);
}

void cache_remove(struct cache *cache, const struct cache_key *key)
{
    struct shard *shard = shard_for(cache, key);
    struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    pthread_mutex_lock(&shard->lock);
    int way = find_way(shard, bucket, key, &entry);
    if (way >= 0)
        remove_way(shard, bucket, (unsigned)way);
    reclaim(shard, GIVE_BACK_MAX, shard->spare_granules / BATCH_SHARE);
    pthread_mutex_unlock(&shard->lock);
}

/* ---- walking and counting ---- */

/* Removes the entry that a reader sees in the way, if it is still there. The reader's section keeps
 * the block from being used again, so an equal ref is the same entry. */
static void drop_way(struct shard *shard, struct bucket *bucket, unsigned way, uint32_t ref)
{
    pthread_mutex_lock(&shard->lock);
    if (bucket->refs[way] == ref)
        remove_way(shard, bucket, way);
    reclaim(shard, GIVE_BACK_MAX, shard->spare_granules / BATCH_SHARE);
    pthread_mutex_unlock(&shard->lock);
}

static void walk_bucket(struct shard *shard, struct bucket *bucket, cache_visit visit,
                        void *context)
{
    struct cache_item item;
    for (unsigned way = 0; way < BUCKET_WAYS; way++) {
        uint32_t ref = bucket_ref(bucket, way);
        if (!ref)
            continue;
        fill_item(bucket, way, entry_at(shard, ref), &item);
        if (visit(context, &item) == CACHE_DROP)
            drop_way(shard, bucket, way, ref);
    }
}

bool cache_walk(struct cache *cache, uint64_t *place, unsigned buckets, cache_visit visit,
                void *context)
{
    uint64_t each = cache->shards[0].bucket_count; /* all shards have the same */
    uint64_t end = each * shard_count(cache), stop = MIN(*place + buckets, end);
    cache_read_begin();
    for (; *place < stop; ++*place) {
        struct shard *shard = &cache->shards[*place / each];
        walk_bucket(shard, &shard->buckets[*place % each], visit, context);
    }
    cache_read_end();
    return *place < end;
}

void cache_usage(const struct cache *cache, struct cache_usage *out)
{
    *out = (struct cache_usage){.bytes = cache->table_bytes, .bytes_max = cache->bytes_max};
    for (size_t i = 0; i < shard_count(cache); i++) {
        struct shard *shard = (struct shard *)(uintptr_t)&cache->shards[i];
        pthread_mutex_lock(&shard->lock);
        out->bytes += (uint64_t)shard->heap.used * HEAP_GRANULE;
        out->entries += shard->entries;
        out->evictions += shard->evictions;
        out->stores += shard->stores;
        pthread_mutex_unlock(&shard->lock);
    }
}
