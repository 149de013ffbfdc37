/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Concurrent readers and writers: a reader always finds one whole answer to its question. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

#include "unit/cache/made_answers.h"

enum { READERS = 2, WRITERS = 2, STORES = 100000, NAMES = 3000 };

static struct cache *cache;
static atomic_int writers_left;
static atomic_uint found_count, refused_count;

static uint32_t step(uint32_t *random)
{
    return *random = *random * 1664525 + 1013904223;
}

/* The bytes behind the first record depend on the mark in it, so a torn answer is detected. */
static bool is_whole(const struct answer *answer, const struct made *asked)
{
    const uint8_t *bytes = answer->message.data;
    size_t name_len = asked->question.name.len;
    if (memcmp(bytes + 12, asked->question.name.wire, name_len) != 0 || answer->ttl_count != 1)
        return false;
    size_t record_at = 12 + name_len + 4;
    if (answer->ttl_offsets[0] != record_at + 6 || get_u32(bytes + record_at + 6) != MADE_TTL)
        return false;
    uint32_t mark = get_u32(bytes + record_at + 12);
    for (size_t i = record_at + 16; i < answer->message.len; i++)
        if (bytes[i] != (uint8_t)(mark + (uint32_t)i))
            return false;
    return true;
}

static void *run_writer(void *arg)
{
    static _Thread_local struct made made;
    uint32_t random = (uint32_t)(uintptr_t)arg;
    uintptr_t bad = 0;
    cache_thread_begin();
    for (int n = 0; n < STORES; n++) {
        bool is_reader = step(&random) >> 24 == 0;
        make_question(&made, (step(&random) >> 8) % NAMES);
        make_answer(&made, 1, (step(&random) >> 8) % 600, step(&random), 0);
        if (is_reader)
            cache_read_begin();
        if (!store_made(cache, &made, 0) && !is_reader)
            atomic_fetch_add(&refused_count, 1);
        if (is_reader)
            cache_read_end();
        if (n % 5000 == 0) {
            struct cache_usage usage;
            const struct cache_options options = {.max_ttl_s = 1000,
                                                  .serve_stale_s = step(&random) >> 31};
            flush_name(cache, made.question.name);
            cache_set_options(cache, &options);
            cache_usage(cache, &usage);
            bad += usage.bytes > usage.bytes_max;
        }
    }
    cache_thread_end();
    atomic_fetch_sub(&writers_left, 1);
    return (void *)bad;
}

enum { HELD = 512 };

/* Finds HELD answers and checks them afterwards: they must not have changed. */
static unsigned read_some(uint32_t *random, uintptr_t *torn)
{
    static _Thread_local struct made asked;
    static _Thread_local uint8_t out[CACHE_ANSWER_MAX];
    struct answer answers[HELD];
    uint32_t numbers[HELD];
    unsigned count = 0;
    for (int i = 0; i < HELD; i++) {
        struct cache_key key;
        numbers[count] = (step(random) >> 8) % NAMES;
        make_question(&asked, numbers[count]);
        cache_key_init(&key, cache, &asked.question, 0, 0, CACHE_SPACE_SHARED);
        count += cache_find(cache, &key, SECOND, &answers[count]);
    }
    for (unsigned i = 0; i < count; i++) {
        make_question(&asked, numbers[i]);
        *torn += !is_whole(&answers[i], &asked);
        answer_copy(&answers[i], answers[i].message.len, 2 * SECOND, out);
        *torn += get_u32(out + answers[i].ttl_offsets[0]) != MADE_TTL - 2;
    }
    return count;
}

static void *run_reader(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg;
    uintptr_t torn = 0;
    unsigned found = 0;
    cache_thread_begin();
    while (atomic_load(&writers_left) > 0) {
        cache_read_begin();
        found += read_some(&random, &torn);
        cache_read_end();
        sched_yield(); /* with few CPUs, most threads would otherwise be preempted inside a section
                        */
    }
    cache_thread_end();
    atomic_fetch_add(&found_count, found);
    return (void *)torn;
}

static void test_readers_find_only_whole_answers_while_others_write(void **state)
{
    (void)state;
    pthread_t threads[READERS + WRITERS];
    cache =
        /* too small for all names, so the cache constantly reuses memory */
        made_cache(CACHE_SIZE_MIN);
    atomic_store(&writers_left, WRITERS);
    for (int i = 0; i < READERS + WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, i < WRITERS ? run_writer : run_reader,
                                        (void *)(uintptr_t)(i + 1)),
                         0);
    for (int i = 0; i < READERS + WRITERS; i++) {
        void *bad;
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    assert_true(atomic_load(&found_count) > 0);
    /* Other threads may take the room that a store has waited for, but seldom several times in
     * succession. */
    assert_true(atomic_load(&refused_count) < WRITERS * STORES / 100);
    cache_free(cache);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_find_only_whole_answers_while_others_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
