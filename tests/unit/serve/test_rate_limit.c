/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Limits the rate of each client's queries, in virtual time. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/rand.h"
#include "serve/rate_limit.h"

#define SECOND UINT64_C(1000000)

static struct rate_limit *limit;
static uint64_t now = 12345678901;

static void limit_to(uint32_t queries_per_second, uint32_t clients)
{
    limit = rate_limit_new(queries_per_second, clients, NULL);
    assert_non_null(limit);
}

static int teardown(void **state)
{
    (void)state;
    rate_limit_free(limit);
    limit = NULL;
    return 0;
}

/* Returns a hash as random as those of addresses. */
static uint64_t hash_of(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    i = (i ^ i >> 27) * UINT64_C(0x94d049bb133111eb);
    return i ^ i >> 31;
}

static bool ask(uint64_t client)
{
    return rate_limit_take(limit, hash_of(client), now);
}

static unsigned ask_often(uint64_t client, unsigned times)
{
    unsigned passed = 0;
    while (times--)
        passed += ask(client);
    return passed;
}

static void test_a_second_of_queries_may_come_at_once(void **state)
{
    (void)state;
    const uint32_t rates[] = {1, 2, 7, 100, 1000, 100000};
    for (size_t i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
        limit_to(rates[i], 64);
        assert_int_equal(ask_often(1, 2 * rates[i]), rates[i]);
        assert_int_equal(ask_often(2, 2 * rates[i]), rates[i]);
        teardown(NULL);
    }
}

static void test_thereafter_the_rate_holds(void **state)
{
    (void)state;
    limit_to(50, 64);
    assert_int_equal(ask_often(1, 1000), 50);
    for (int i = 0; i < 100; i++) { /* a flood of ten seconds */
        now += SECOND / 10;
        assert_in_range(ask_often(1, 1000), 4, 6);
    }
    now += SECOND;
    assert_in_range(ask_often(1, 1000), 49, 51);
}

static void test_a_client_within_the_rate_is_never_limited(void **state)
{
    (void)state;
    limit_to(100, 64);
    for (int i = 0; i < 10000; i++) {
        now += SECOND / 100;
        assert_true(ask(1));
    }
}

static void test_a_flood_does_not_delay_its_own_end(void **state)
{
    (void)state;
    limit_to(10, 64);
    ask_often(1, 100000); /* refused queries have no later cost */
    now += SECOND;
    assert_int_equal(ask_often(1, 100), 10);
}

static void test_the_rate_holds_up_to_the_largest(void **state)
{
    (void)state;
    limit_to(RATE_LIMIT_QPS_MAX, 8);
    unsigned passed = ask_often(1, 2 * RATE_LIMIT_QPS_MAX);
    assert_in_range(passed, RATE_LIMIT_QPS_MAX - 10000, RATE_LIMIT_QPS_MAX + 10000);
}

static void test_one_client_leaves_the_others_alone(void **state)
{
    (void)state;
    limit_to(5, 4096);
    for (uint64_t i = 0; i < 1000; i++)
        assert_int_equal(ask_often(i, 10), 5);
}

static void test_the_busiest_client_is_forgotten_last(void **state)
{
    (void)state;
    limit_to(100, RATE_LIMIT_CLIENTS_MIN); /* the table has one line of places */
    assert_int_equal(ask_often(7, 1000), 100);
    for (uint64_t i = 0; i < 100000; i++) /* forged addresses, one query from each */
        assert_true(ask(1000 + i));
    assert_int_equal(ask_often(7, 1000), 0);
}

static void test_a_place_unused_for_long_counts_as_free(void **state)
{
    (void)state;
    /* one instant in ten thousand, stored as a part of the time, looks like two seconds ago */
    rand_seed_for_tests(5);
    limit_to(10, 64);
    for (uint64_t i = 0; i < 200; i++) {
        assert_int_equal(ask_often(1, 100), 10);
        now += rand_below(UINT64_C(400) * 86400 * SECOND) + 2 * SECOND;
    }
}

static void test_clocks_of_threads_may_differ(void **state)
{
    (void)state;
    limit_to(10, 64);
    assert_int_equal(ask_often(1, 100), 10);
    now -= SECOND / 2; /* the turn of another worker began earlier */
    assert_int_equal(ask_often(1, 100), 0);
    now += SECOND / 2;
    assert_int_equal(ask_often(1, 100), 0);
}

static void test_the_clock_may_begin_at_zero(void **state)
{
    (void)state;
    uint64_t before = now;
    limit_to(3, 64);
    now = 0;
    assert_int_equal(ask_often(1, 10), 3);
    assert_int_equal(ask_often(2, 10), 3);
    now = before;
}

static atomic_uint passed_in_all;

static void *hammer(void *arg)
{
    (void)arg;
    for (uint64_t i = 0; i < 20000; i++)
        if (rate_limit_take(limit, hash_of(i % 2), now))
            atomic_fetch_add(&passed_in_all, 1);
    return NULL;
}

/* A query that loses four races against other workers passes without being counted. */
static void test_threads_share_the_limit(void **state)
{
    (void)state;
    pthread_t threads[4];
    limit_to(1000, 64);
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, NULL), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(passed_in_all, 2000, 2400);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_second_of_queries_may_come_at_once),
        TEST(test_thereafter_the_rate_holds),
        TEST(test_a_client_within_the_rate_is_never_limited),
        TEST(test_a_flood_does_not_delay_its_own_end),
        TEST(test_the_rate_holds_up_to_the_largest),
        TEST(test_one_client_leaves_the_others_alone),
        TEST(test_the_busiest_client_is_forgotten_last),
        TEST(test_a_place_unused_for_long_counts_as_free),
        TEST(test_clocks_of_threads_may_differ),
        TEST(test_the_clock_may_begin_at_zero),
        TEST(test_threads_share_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
