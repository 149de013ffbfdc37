/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The bound in bytes holds, whatever fills the cache. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit/cache/made_answers.h"

static struct made made;

static int set_up(void **state)
{
    (void)state;
    cache_thread_begin();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    cache_thread_end();
    return 0;
}

static struct cache_usage usage_of(struct cache *cache)
{
    struct cache_usage usage;
    cache_usage(cache, &usage);
    assert_true(usage.bytes <= usage.bytes_max);
    return usage;
}

static uint32_t random_state = 1;

static uint32_t random_u32(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 17;
    random_state ^= random_state << 5;
    return random_state;
}

/* Most answers are small, some have a kilobyte or more, and a few have any size. */
static size_t random_size(void)
{
    uint32_t kind = random_u32() % 1000;
    if (kind < 900)
        return random_u32() % 300;
    return kind < 995 ? random_u32() % 4000 : random_u32() % (CACHE_ANSWER_MAX + 1);
}

static void store_random(struct cache *cache, uint32_t numbers, uint64_t now_us, unsigned *stored)
{
    make_question(&made, random_u32() % numbers);
    make_answer(&made, 1, random_size(), random_u32(), now_us);
    *stored += store_made(cache, &made, 0);
}

static void test_the_bound_holds_under_churn_of_random_sizes(void **state)
{
    (void)state;
    const uint64_t sizes[] = {0, 1 << 20, (3 << 20) + 12345, 16 << 20};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct cache *cache = made_cache(sizes[i]);
        unsigned stored = 0;
        for (int n = 0; n < 60000; n++) {
            store_random(cache, 200000, (uint64_t)n * 1000, &stored);
            if (n % 100 == 0)
                usage_of(cache);
        }
        assert_int_equal(stored, 60000); /* a store outside a read section always succeeds */
        struct cache_usage usage = usage_of(cache);
        assert_int_equal(usage.bytes_max, sizes[i] < CACHE_SIZE_MIN ? CACHE_SIZE_MIN : sizes[i]);
        assert_true(usage.bytes > usage.bytes_max / 10 * 8); /* the cache uses most of its memory */
        cache_free(cache);
    }
}

struct parked {
    pthread_t thread;
    sem_t is_reading, may_leave;
};

static void *run_parked(void *arg)
{
    struct parked *parked = arg;
    cache_thread_begin();
    cache_read_begin();
    sem_post(&parked->is_reading);
    sem_wait(&parked->may_leave);
    cache_read_end();
    cache_thread_end();
    return NULL;
}

static void park_reader(struct parked *parked)
{
    sem_init(&parked->is_reading, 0, 0);
    sem_init(&parked->may_leave, 0, 0);
    assert_int_equal(pthread_create(&parked->thread, NULL, run_parked, parked), 0);
    sem_wait(&parked->is_reading);
}

static void release_reader(struct parked *parked)
{
    sem_post(&parked->may_leave);
    pthread_join(parked->thread, NULL);
    sem_destroy(&parked->is_reading);
    sem_destroy(&parked->may_leave);
}

/* Another thread stays in its read section, so no memory becomes free. A store from a read section
 * is then refused, because waiting would block others, and the bound holds. */
static void test_the_bound_holds_while_a_reader_is_parked(void **state)
{
    (void)state;
    struct cache *cache = made_cache(2 << 20);
    struct parked parked;
    unsigned stored = 0;
    for (int n = 0; n < 20000; n++)
        store_random(cache, 200000, 0, &stored);
    park_reader(&parked);
    stored = 0;
    cache_read_begin();
    for (int n = 0; n < 20000; n++) {
        store_random(cache, 200000, 0, &stored);
        if (n % 100 == 0)
            usage_of(cache);
    }
    cache_read_end();
    assert_true(stored < 20000);
    release_reader(&parked);
    for (int n = 0; n < 1000; n++) {
        unsigned now_stored = 0;
        store_random(cache, 200000, 0, &now_stored);
        assert_int_equal(now_stored, 1);
    }
    usage_of(cache);
    cache_free(cache);
}

static void test_a_store_in_a_read_section_is_refused_and_does_not_hang(void **state)
{
    (void)state;
    struct cache *cache = made_cache(CACHE_SIZE_MIN);
    unsigned stored = 0;
    cache_read_begin();
    for (int n = 0; n < 30000; n++)
        store_random(cache, 200000, 0, &stored);
    cache_read_end();
    assert_in_range(stored, 100, 29999);
    usage_of(cache);
    make_question(&made, 1);
    make_answer(&made, 1, CACHE_ANSWER_MAX, 1, 0);
    assert_true(store_made(cache, &made, 0));
    cache_free(cache);
}

static void test_large_answers_find_room_among_small_ones(void **state)
{
    (void)state;
    struct cache *cache = made_cache(CACHE_SIZE_MIN);
    for (uint64_t n = 0; n < 20000; n++)
        assert_true(store_number(cache, n, 0));
    for (uint64_t n = 0; n < 50; n++) {
        make_question(&made, 1000000 + n);
        make_answer(&made, 1, CACHE_ANSWER_MAX, 1, 0);
        assert_true(store_made(cache, &made, 0));
        assert_true(find_number(cache, 1000000 + n, 0));
    }
    usage_of(cache);
    cache_free(cache);
}

static void test_small_answers_reuse_the_memory_of_large_ones(void **state)
{
    (void)state;
    struct cache *cache = made_cache(4 << 20);
    for (uint64_t n = 0; n < 200; n++) {
        make_question(&made, n);
        make_answer(&made, 1, CACHE_ANSWER_MAX, 1, 0);
        assert_true(store_made(cache, &made, 0));
    }
    for (uint64_t n = 0; n < 100000; n++)
        assert_true(store_number(cache, n, 0));
    struct cache_usage usage = usage_of(cache);
    assert_true(usage.bytes > usage.bytes_max / 10 * 9);
    assert_true(usage.entries > 30000);
    cache_free(cache);
}

static void test_eviction_begins_only_when_the_cache_is_nearly_full(void **state)
{
    (void)state;
    struct cache *cache = made_cache(32 << 20); /* many shards */
    uint64_t n = 0;
    while (usage_of(cache).evictions < 20) { /* a few buckets fill up before the cache does */
        for (int i = 0; i < 100; i++, n++) {
            make_question(&made, n);
            make_answer(&made, 1, 150 + n % 200, 1, 0);
            assert_true(store_made(cache, &made, 0));
        }
    }
    struct cache_usage usage = usage_of(cache);
    assert_true(usage.bytes > usage.bytes_max / 100 * 92);
    cache_free(cache);
}

static void test_a_hundred_thousand_answers_take_less_than_two_hundred_bytes_each(void **state)
{
    (void)state;
    struct cache *cache = made_cache(20 << 20);
    for (uint64_t n = 0; n < 100000; n++)
        assert_true(store_number(cache, n, 0));
    struct cache_usage usage = usage_of(cache);
    assert_true(usage.entries >= 99950); /* some buckets fill up before others */
    assert_true(usage.bytes / usage.entries < 200);
    cache_free(cache);
}

static void test_expired_entries_are_evicted_before_live_ones(void **state)
{
    (void)state;
    struct cache *cache = made_cache(2 << 20);
    uint64_t living = 5000, short_lived = 6000;
    /* the entries that live are the oldest, and no query finds them again */
    for (uint64_t n = 0; n < living; n++)
        assert_true(store_number(cache, n, 0));
    for (uint64_t n = 0; n < short_lived; n++) {
        make_question(&made, 100000 + n);
        make_answer(&made, 1, 0, 1, 0);
        made.answer.ttl_s = 10;
        assert_true(store_made(cache, &made, 0));
    }
    assert_true(usage_of(cache).evictions < 100); /* some buckets may fill up by chance */
    uint64_t later_us = 60 * (uint64_t)SECOND, n = 200000;
    while (usage_of(cache).evictions < short_lived / 2)
        assert_true(store_number(cache, n++, later_us));
    unsigned left = 0;
    for (uint64_t i = 0; i < living; i++)
        left += find_number(cache, i, later_us);
    assert_true(left > living * 8 / 10);
    cache_free(cache);
}

/* An attacker who could make names collide would only evict other names of one bucket. */
static void test_a_flood_into_one_bucket_evicts_only_there(void **state)
{
    (void)state;
    struct cache *cache = made_cache(4 << 20);
    for (uint64_t n = 0; n < 5000; n++)
        assert_true(store_number(cache, n, 0));
    for (uint64_t n = 0; n < 10000; n++) {
        struct cache_key key;
        make_question(&made, 1000000 + n);
        make_answer(&made, 1, 0, 1, 0);
        cache_key_init(&key, cache, &made.question, 0, 0, CACHE_SPACE_SHARED);
        key.hash = 0x0123456789abcdef;
        assert_true(cache_store(cache, &key, &made.answer));
    }
    struct cache_usage usage = usage_of(cache);
    assert_true(usage.entries <= 5000 + 16);
    unsigned left = 0;
    for (uint64_t n = 0; n < 5000; n++)
        left += find_number(cache, n, 0);
    assert_true(left >= 5000 - 16);
    cache_free(cache);
}

static void test_memory_comes_back_after_a_flush(void **state)
{
    (void)state;
    struct cache *cache = made_cache(CACHE_SIZE_MIN);
    uint64_t empty = usage_of(cache).bytes;
    make_question(&made, 1);
    for (int round = 0; round < 50; round++) {
        for (uint16_t type = 1; type < 40; type++) {
            made.question.type = type;
            make_answer(&made, 1, 8000, type, 0);
            assert_true(store_made(cache, &made, 0));
        }
        assert_int_not_equal(flush_name(cache, made.question.name), 0);
        assert_int_equal(usage_of(cache).entries, 0);
    }
    assert_true(empty < CACHE_SIZE_MIN / 4);
    cache_free(cache);
}

#define SENTENCE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_the_bound_holds_under_churn_of_random_sizes),
        SENTENCE(test_the_bound_holds_while_a_reader_is_parked),
        SENTENCE(test_a_store_in_a_read_section_is_refused_and_does_not_hang),
        SENTENCE(test_large_answers_find_room_among_small_ones),
        SENTENCE(test_small_answers_reuse_the_memory_of_large_ones),
        SENTENCE(test_eviction_begins_only_when_the_cache_is_nearly_full),
        SENTENCE(test_a_hundred_thousand_answers_take_less_than_two_hundred_bytes_each),
        SENTENCE(test_expired_entries_are_evicted_before_live_ones),
        SENTENCE(test_a_flood_into_one_bucket_evicts_only_there),
        SENTENCE(test_memory_comes_back_after_a_flush),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
