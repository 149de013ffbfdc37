/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The ways of one bucket. cache.c knows what the refs mean and when memory is free again.
 * Invariants: order lists exactly the used ways, each once; hand is a position in it, or 0; count
 * is the number of used ways; a way is unused if and only if its ref is 0. */
#include "cache/bucket.h"

#include "base/check.h"

_Static_assert(sizeof(struct bucket) == 128, "a bucket is two cache lines");

uint16_t bucket_end_tick(uint64_t now_us, uint32_t ttl_s)
{
    uint64_t ticks = ((uint64_t)ttl_s * 1000000 + BUCKET_TICK_US - 1) / BUCKET_TICK_US + 1;
    return (uint16_t)(bucket_tick(now_us) + MIN(ticks, (uint64_t)BUCKET_TICKS_MAX));
}

static unsigned order_at(uint64_t order, unsigned position)
{
    return order >> 4 * position & 15;
}

static uint64_t order_without(uint64_t order, unsigned position)
{
    uint64_t low = (UINT64_C(1) << 4 * position) - 1;
    return (order & low) | (order >> 4 & ~low);
}

static unsigned order_position(const struct bucket *bucket, unsigned way)
{
    unsigned position = 0;
    while (order_at(bucket->order, position) != way)
        position++;
    return position;
}

static void set_tag(struct bucket *bucket, unsigned way, uint8_t tag)
{
    unsigned shift = way % 8 * 8;
    uint64_t *word = &bucket->tags[way / 8];
    uint64_t value = (*word & ~(UINT64_C(0xff) << shift)) | (uint64_t)tag << shift;
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

static void set_ref(struct bucket *bucket, unsigned way, uint32_t ref)
{
    __atomic_store_n(&bucket->refs[way], ref, __ATOMIC_RELEASE);
}

static void clear_mark(struct bucket *bucket, unsigned way)
{
    __atomic_fetch_and(&bucket->visited, (uint16_t) ~(1u << way), __ATOMIC_RELAXED);
}

void bucket_add(struct bucket *bucket, uint8_t tag, uint32_t ref, uint16_t end_tick)
{
    MUST(bucket->used != UINT16_MAX);
    unsigned way = (unsigned)__builtin_ctz(~(unsigned)bucket->used);
    unsigned count = bucket_count(bucket);
    bucket->order = (bucket->order & ~(UINT64_C(15) << 4 * count)) | (uint64_t)way << 4 * count;
    bucket->used |= (uint16_t)(1u << way);
    bucket->count++;
    bucket->ticks[way] = end_tick;
    if (bucket_is_marked(bucket, way))
        clear_mark(bucket, way);
    bucket_unclaim(bucket, way);
    set_tag(bucket, way, tag);
    set_ref(bucket, way, ref);
}

void bucket_replace(struct bucket *bucket, unsigned way, uint32_t ref, uint16_t end_tick)
{
    bucket->ticks[way] = end_tick;
    bucket_unclaim(bucket, way);
    set_ref(bucket, way, ref);
}

void bucket_remove(struct bucket *bucket, unsigned way)
{
    MUST(bucket->used >> way & 1);
    unsigned position = order_position(bucket, way);
    bucket->order = order_without(bucket->order, position);
    bucket->used &= (uint16_t) ~(1u << way);
    bucket->count--;
    set_ref(bucket, way, 0);
    if (position < bucket->hand)
        bucket->hand--;
    if (bucket->hand >= bucket_count(bucket))
        bucket->hand = 0; /* past the newest: continue at the oldest */
}

int bucket_expired(const struct bucket *bucket, uint16_t now_tick, bool spare_marked)
{
    /* The loop has no branch, because nearly always no way has expired. */
    unsigned alive = 0;
    for (unsigned way = 0; way < BUCKET_WAYS; way++)
        alive |= (unsigned)((uint16_t)(now_tick - bucket->ticks[way]) >> 15) << way;
    unsigned expired = bucket->used & ~alive;
    if (spare_marked)
        expired &= ~(unsigned)__atomic_load_n(&bucket->visited, __ATOMIC_RELAXED);
    return expired ? __builtin_ctz(expired) : -1;
}

unsigned bucket_victim(struct bucket *bucket)
{
    unsigned count = bucket_count(bucket);
    MUST(count > 0);
    /* Two rounds are the bound: a reader may set a mark again behind the hand. */
    for (unsigned steps = 0; steps < 2 * BUCKET_WAYS; steps++) {
        unsigned way = order_at(bucket->order, bucket->hand);
        if (!bucket_is_marked(bucket, way))
            return way;
        clear_mark(bucket, way);
        bucket->hand = (uint8_t)((bucket->hand + 1u) % count);
    }
    return order_at(bucket->order, bucket->hand);
}
