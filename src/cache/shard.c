/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Finds without a lock, stores under one. Which way goes is the bucket's choice, which bytes are
 * free the heap's, when readers have left grace's.
 *
 * Invariants: a block of the heap is referred to by exactly one way, or is in exactly one of the
 * retired lists; nobody waits for readers while holding the lock, since a reader may want it.
 */
#include "cache/shard.h"

#include <stdatomic.h>

#include "base/check.h"
#include "cache/entry.h"

enum {
    SPARE_MIN_BYTES = 64 * 1024,
    SPARE_SHARE = 32,  /* the part of the heap kept free or about to be */
    BATCH_SHARE = 4,   /* the part of that which is retired under one ticket */
    GIVE_BACK_MAX = 4, /* entries given back per store, so that no store pays for many */
    SWEEP_LOOKS = 2,   /* buckets looked at for a victim */
    ROOM_TRIES = 6,    /* other threads may take the room first */
};

static struct bucket *bucket_for(const struct shard *shard, uint64_t hash)
{
    return &shard->buckets[(hash >> 8 & UINT32_MAX) * shard->bucket_count >> 32];
}

static uint8_t shard_tag_of(uint64_t hash)
{
    return (uint8_t)hash;
}

static struct entry *entry_at(const struct shard *shard, uint32_t ref)
{
    return heap_at(shard->base, ref);
}

void shard_init(struct shard *shard, const struct shard_parts *parts)
{
    *shard = (struct shard){
        .buckets = parts->buckets,
        .bucket_count = parts->bucket_count,
        .base = parts->heap,
        .grace = parts->grace,
        .seed = parts->seed,
    };
    pthread_mutex_init(&shard->lock, NULL);
    heap_init(&shard->heap, parts->heap, parts->heap_bytes);
    /* In small shards a larger part, or stores would wait for readers all the time. */
    uint32_t least = MIN(shard->heap.granules / 8, (uint32_t)SPARE_MIN_BYTES / HEAP_GRANULE);
    shard->spare_granules = MAX(shard->heap.granules / SPARE_SHARE, least);
}

void shard_keep_stale(struct shard *shard, bool keep)
{
    atomic_store_explicit(&shard->keeps_stale, keep, memory_order_relaxed);
}

void shard_deinit(struct shard *shard)
{
    pthread_mutex_destroy(&shard->lock);
}

/* ---- finding ---- */

/* A line from memory takes as long as hundreds of instructions: both of a bucket are asked for at
 * once, and so are the first two of an entry. */
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

void shard_prefetch(const struct shard *shard, const struct cache_key *key)
{
    prefetch_bucket(bucket_for(shard, key->hash));
}

void shard_prefetch_entry(const struct shard *shard, const struct cache_key *key)
{
    const struct bucket *bucket = bucket_for(shard, key->hash);
    unsigned ways = bucket_match(bucket, shard_tag_of(key->hash));
    if (ways)
        prefetch_entry(shard, bucket_ref(bucket, (unsigned)__builtin_ctz(ways)));
}

/* The way of the bucket that the key's entry lies in, or -1; *entry is that entry. */
static int shard_find_way(const struct shard *shard, const struct bucket *bucket,
                          const struct cache_key *key, const struct entry **entry)
{
    for (unsigned ways = bucket_match(bucket, shard_tag_of(key->hash)); ways; ways &= ways - 1) {
        unsigned way = (unsigned)__builtin_ctz(ways);
        uint32_t ref = bucket_ref(bucket, way);
        *entry = entry_at(shard, ref);
        if (ref && entry_matches(*entry, key))
            return (int)way;
    }
    return -1;
}

/* An answer that was found before, so asked for again, and that nobody refreshes yet. */
static bool is_due(const struct bucket *bucket, unsigned way, const struct answer *answer)
{
    return answer->kind != ANSWER_FAILURE && bucket_is_marked(bucket, way) &&
           !bucket_is_claimed(bucket, way);
}

bool shard_find(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                struct answer *out)
{
    struct bucket *bucket = bucket_for(shard, key->hash);
    prefetch_bucket(bucket);
    const struct entry *entry;
    int way = shard_find_way(shard, bucket, key, &entry);
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

bool shard_find_stale(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                      uint32_t most_s, struct answer *out)
{
    const struct entry *entry;
    if (shard_find_way(shard, bucket_for(shard, key->hash), key, &entry) < 0)
        return false;
    entry_view(entry, out);
    out->stale_s = answer_staleness(out, answer_age(out, now_us));
    return out->kind != ANSWER_FAILURE && out->stale_s <= most_s;
}

static void shard_show(const struct bucket *bucket, unsigned way, const struct entry *entry,
                       struct cache_item *out)
{
    entry_view(entry, &out->answer);
    out->flags = entry->flags;
    out->view = entry->view;
    out->marked = bucket_is_marked(bucket, way);
}

bool shard_peek(const struct shard *shard, const struct cache_key *key, uint64_t now_us,
                struct cache_item *out)
{
    const struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = shard_find_way(shard, bucket, key, &entry);
    if (way < 0)
        return false;
    shard_show(bucket, (unsigned)way, entry, out);
    uint32_t age_s = answer_age(&out->answer, now_us);
    if (age_s < out->answer.ttl_s && answer_is_ending(&out->answer, age_s))
        out->answer.is_due = is_due(bucket, (unsigned)way, &out->answer);
    return true;
}

void shard_unclaim(const struct shard *shard, const struct cache_key *key)
{
    struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = shard_find_way(shard, bucket, key, &entry);
    if (way >= 0)
        bucket_unclaim(bucket, (unsigned)way);
}

bool shard_claim(const struct shard *shard, const struct cache_key *key)
{
    struct bucket *bucket = bucket_for(shard, key->hash);
    const struct entry *entry;
    int way = shard_find_way(shard, bucket, key, &entry);
    return way >= 0 && bucket_claim(bucket, (unsigned)way);
}

/* ---- giving memory back ---- */

static void shard_retire(struct shard *shard, uint32_t ref)
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

/* Gives the first entries of the list back to the heap, at most max of them. */
static void shard_give_back(struct shard *shard, struct retired *list, unsigned max)
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

/* Gives back at most max of what readers have left, and draws the next ticket when at least batch
 * granules wait for one. */
static void reclaim(struct shard *shard, unsigned max, uint32_t batch)
{
    if (shard->sealed.head && grace_has_passed(shard->grace, shard->ticket))
        shard_give_back(shard, &shard->sealed, max);
    if (shard->sealed.head || !shard->open.head || shard->open.granules < batch)
        return;
    shard->sealed = shard->open;
    shard->open = (struct retired){0};
    shard->ticket = grace_ticket(shard->grace);
    (void)grace_has_passed(shard->grace, shard->ticket);
}

/* Waits for the readers of everything retired so far and gives it back. Lets go of the lock
 * meanwhile: what the caller knew of buckets is void. */
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
    shard_give_back(shard, &open, UINT32_MAX);
    shard_give_back(shard, &sealed, UINT32_MAX);
}

/* ---- evicting ---- */

static void remove_way(struct shard *shard, struct bucket *bucket, unsigned way)
{
    uint32_t ref = bucket->refs[way];
    bucket_remove(bucket, way);
    shard_retire(shard, ref);
    shard->entries--;
}

static struct bucket *sweep_next(struct shard *shard)
{
    struct bucket *bucket = &shard->buckets[shard->sweep];
    shard->sweep = shard->sweep + 1 < shard->bucket_count ? shard->sweep + 1 : 0;
    return bucket;
}

/* With stale answers in use one that was asked for again stays until SIEVE has taken its mark away:
 * the hand moves only when memory is short. */
static int expired_way(const struct shard *shard, const struct bucket *bucket, uint16_t now_tick)
{
    bool keeps_stale = atomic_load_explicit(&shard->keeps_stale, memory_order_relaxed);
    return bucket_expired(bucket, now_tick, keeps_stale);
}

/* The way that goes next: one that is over, or else the one SIEVE gives up. Asked twice without a
 * change between, the answer is the same but for marks that readers set. */
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
 * The bucket that is to give up an entry next: the sweep goes over a few and takes one with an
 * expired entry, else the fullest. So all buckets stay about equally full, and an unlucky one with
 * few ways does not have to give up what is popular. The shard must not be empty.
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

static uint32_t retired_granules(const struct shard *shard)
{
    return shard->open.granules + shard->sealed.granules + shard->waited_for_granules;
}

/* Takes away the entry of a block, wherever its way is. */
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

/* A block to begin clearing at: that of an entry the sweep comes across. */
static uint32_t any_block(struct shard *shard)
{
    for (uint32_t i = 0; shard->entries > 0 && i < shard->bucket_count; i++) {
        struct bucket *bucket = sweep_next(shard);
        if (bucket_count(bucket) > 0)
            return bucket->refs[bucket_victim(bucket)];
    }
    return heap_first(&shard->heap);
}

/* Large answers find no room among many small ones, however many of these go: their neighbours
 * must. Takes away the entries of neighbouring blocks until the run would hold that many bytes. */
static void clear_run(struct shard *shard, size_t bytes)
{
    const struct heap *heap = &shard->heap;
    uint32_t wanted = heap_run_for(bytes), run = 0;
    bool again = false;
    for (uint32_t ref = any_block(shard); run < wanted;) {
        enum heap_block state = heap_state(heap, ref);
        if (state == HEAP_END) {
            if (again)
                return;
            again = true;
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

/* Room for one who must not wait: a thread that reads would wait for itself. There is some if the
 * readers of what is retired happen to have left; and sooner or later they will have. */
static uint32_t take_left_room(struct shard *shard, size_t bytes)
{
    reclaim(shard, UINT32_MAX, 0);
    return heap_take(&shard->heap, bytes);
}

/* Room for so many bytes, or 0. May let go of the lock for a while, and evict. */
static uint32_t take_room(struct shard *shard, size_t bytes)
{
    /* A store retires about one entry. The head of the list is in the CPU's cache, prefetch_next()
     * saw to it, and the others are not: more than one only when behind. */
    bool behind = retired_granules(shard) > shard->spare_granules / 4 * 3;
    reclaim(shard, behind ? GIVE_BACK_MAX : 1, shard->spare_granules / BATCH_SHARE);
    uint32_t ref = heap_take(&shard->heap, bytes);
    for (int tries = 0; !ref && tries < ROOM_TRIES; tries++) {
        if (tries > 0 || retired_granules(shard) < heap_run_for(bytes))
            clear_run(shard, bytes);
        if (grace_is_reading())
            return take_left_room(shard, bytes);
        reclaim_all_waiting(shard);
        ref = heap_take(&shard->heap, bytes);
    }
    return ref;
}

/* Lets a way refer to the new entry: that of the same key, an empty one, or a victim's. */
static void shard_place(struct shard *shard, const struct cache_key *key, uint32_t ref,
                        const struct answer *answer)
{
    struct bucket *bucket = bucket_for(shard, key->hash);
    uint16_t end_tick = bucket_end_tick(answer->stored_at, answer->ttl_s);
    const struct entry *old;
    int way = shard_find_way(shard, bucket, key, &old);
    if (way >= 0) {
        uint32_t old_ref = bucket->refs[way];
        bucket_replace(bucket, (unsigned)way, ref, end_tick);
        shard_retire(shard, old_ref);
        return;
    }
    if (bucket_count(bucket) == BUCKET_WAYS)
        evict_from(shard, bucket, bucket_tick(answer->stored_at));
    bucket_add(bucket, shard_tag_of(key->hash), ref, end_tick);
    shard->entries++;
}

static bool lacks_spare(const struct shard *shard)
{
    return shard->heap.granules - shard->heap.used + retired_granules(shard) <
           shard->spare_granules;
}

/* Evicts ahead, since an entry's memory is of use only when its readers have left. */
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

/* A block's memory from its header on: two lines for most. */
static void prefetch_block(const struct shard *shard, uint32_t ref)
{
    __builtin_prefetch((const uint8_t *)entry_at(shard, ref) - HEAP_GRANULE);
    prefetch_entry(shard, ref);
}

/* Asks for the memory that the next store into this shard will need, whatever its key: the next
 * victim, the buckets swept over after it, the entry given back first. Some microseconds from now
 * it is there, where each would cost a wait. */
static void prefetch_next(struct shard *shard, uint16_t now_tick)
{
    if (shard->sealed.head)
        prefetch_block(shard, shard->sealed.head);
    if (shard->chosen || shard->entries == 0)
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
        shard_place(shard, key, ref, answer);
        shard->stores++;
    }
    keep_spare(shard, bucket_for(shard, key->hash), now_tick);
    prefetch_next(shard, now_tick);
    return ref != 0;
}

/* A failure that comes when another thread has just stored an answer: who failed looked before, but
 * without the lock. A stale answer that comes then is worse than a fresh one. */
static bool is_worse(const struct shard *shard, const struct cache_key *key,
                     const struct answer *answer)
{
    const struct entry *entry;
    struct answer old;
    bool is_failure = answer->kind == ANSWER_FAILURE;
    if ((!is_failure && !answer->stale_s) ||
        shard_find_way(shard, bucket_for(shard, key->hash), key, &entry) < 0)
        return false;
    entry_view(entry, &old);
    return old.kind != ANSWER_FAILURE && answer_is_live(&old, answer->stored_at) &&
           (is_failure || !old.stale_s);
}

bool shard_store(struct shard *shard, const struct cache_key *key, const struct answer *answer)
{
    if (!entry_fits(key, answer))
        return false;
    prefetch_bucket(bucket_for(shard, key->hash));
    pthread_mutex_lock(&shard->lock);
    bool stored = !is_worse(shard, key, answer) && store_locked(shard, key, answer);
    pthread_mutex_unlock(&shard->lock);
    return stored;
}

/* ---- walking ---- */

/* Takes the entry away that a reader sees in the way; nothing if it went meanwhile. In the reader's
 * section its block is not given to another, so an equal ref is the same entry. */
static void shard_drop(struct shard *shard, struct bucket *bucket, unsigned way, uint32_t ref)
{
    pthread_mutex_lock(&shard->lock);
    if (bucket->refs[way] == ref)
        remove_way(shard, bucket, way);
    reclaim(shard, GIVE_BACK_MAX, shard->spare_granules / BATCH_SHARE);
    pthread_mutex_unlock(&shard->lock);
}

void shard_walk(struct shard *shard, uint32_t number, cache_visit visit, void *context)
{
    struct bucket *bucket = &shard->buckets[number];
    struct cache_item item;
    for (unsigned way = 0; way < BUCKET_WAYS; way++) {
        uint32_t ref = bucket_ref(bucket, way);
        if (!ref)
            continue;
        shard_show(bucket, way, entry_at(shard, ref), &item);
        if (visit(context, &item) == CACHE_DROP)
            shard_drop(shard, bucket, way, ref);
    }
}

/* ---- the rest ---- */

void shard_usage(struct shard *shard, struct shard_usage *out)
{
    pthread_mutex_lock(&shard->lock);
    out->heap_bytes = (uint64_t)shard->heap.used * HEAP_GRANULE;
    out->entries = shard->entries;
    out->evictions = shard->evictions;
    out->stores = shard->stores;
    pthread_mutex_unlock(&shard->lock);
}
