/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The bounds that all workers share. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>

#include "base/rand.h"
#include "serve/server_quota.h"

static struct server_quota *quota;

static void quota_of(uint32_t clients, uint32_t per_address, uint32_t waiting)
{
    const struct server_options options = {
        .max_clients = clients, .max_clients_per_address = per_address, .max_waiting = waiting};
    quota = server_quota_new(&options);
    assert_non_null(quota);
}

static int teardown(void **state)
{
    (void)state;
    server_quota_free(quota);
    quota = NULL;
    return 0;
}

/* Client i, at a port of its own. */
static struct addr client(uint32_t i)
{
    struct addr addr = {.in = {.sin_family = AF_INET}};
    addr.in.sin_addr.s_addr = htonl(0x0a000000 + i);
    addr_set_port(&addr, (uint16_t)rand_below(65536));
    return addr;
}

static bool take(uint32_t i)
{
    struct addr addr = client(i);
    return server_quota_take_client(quota, &addr);
}

static void give(uint32_t i)
{
    struct addr addr = client(i);
    server_quota_give_client(quota, &addr);
}

static void test_waiting_queries_are_bounded(void **state)
{
    (void)state;
    quota_of(1, 1, 3);
    for (int i = 0; i < 3; i++)
        assert_true(server_quota_take_waiting(quota));
    for (int i = 0; i < 10; i++)
        assert_false(server_quota_take_waiting(quota));
    assert_int_equal(server_quota_waiting(quota), 3);
    server_quota_give_waiting(quota);
    assert_true(server_quota_take_waiting(quota));
}

static void test_clients_are_bounded_in_all(void **state)
{
    (void)state;
    quota_of(5, 5, 1);
    for (uint32_t i = 0; i < 5; i++)
        assert_true(take(i));
    assert_false(take(0));
    assert_false(take(99));
    give(3);
    assert_true(take(99));
    assert_int_equal(server_quota_clients(quota), 5);
}

static void test_clients_of_one_address_are_bounded(void **state)
{
    (void)state;
    quota_of(100, 3, 1);
    for (int i = 0; i < 3; i++)
        assert_true(take(1));
    assert_false(take(1));
    assert_true(take(2));
    give(1);
    assert_true(take(1));
    assert_false(take(1));
    assert_int_equal(server_quota_clients(quota), 4);
}

static void test_bounds_of_zero_let_nobody_in(void **state)
{
    (void)state;
    quota_of(0, 0, 0);
    assert_false(take(1));
    assert_false(server_quota_take_waiting(quota));
}

static void test_both_families_are_counted_apart(void **state)
{
    (void)state;
    quota_of(10, 1, 1);
    struct addr six;
    assert_int_equal(addr_parse(&six, "2001:db8::1", 53), ERR_OK);
    assert_true(server_quota_take_client(quota, &six));
    assert_false(server_quota_take_client(quota, &six));
    addr_set_port(&six, 54);
    assert_false(server_quota_take_client(quota, &six));
    assert_true(take(1));
}

/* Many addresses come and go in any order: the table never loses a place. */
static void test_places_do_not_leak(void **state)
{
    (void)state;
    enum { ADDRESSES = 500, ROUNDS = 200000 };
    static uint8_t held[ADDRESSES];
    uint32_t total = 0;
    quota_of(100, 3, 1);
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = (uint32_t)rand_below(ADDRESSES);
        if (rand_below(2) && held[i] > 0) {
            give(i);
            held[i]--;
            total--;
        } else {
            bool expected = total < 100 && held[i] < 3;
            assert_int_equal(take(i), expected);
            held[i] = (uint8_t)(held[i] + expected);
            total += expected;
        }
    }
    assert_int_equal(server_quota_clients(quota), total);
}

static atomic_int over;

static void *hammer(void *arg)
{
    uint32_t mine = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < 20000; i++) {
        bool waiting = server_quota_take_waiting(quota);
        if (take(mine % 2)) {
            if (server_quota_clients(quota) > 3)
                atomic_fetch_add(&over, 1);
            give(mine % 2);
        }
        if (waiting)
            server_quota_give_waiting(quota);
    }
    return NULL;
}

static void test_threads_share_the_bounds(void **state)
{
    (void)state;
    pthread_t threads[4];
    quota_of(3, 2, 2);
    for (uintptr_t i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, (void *)i), 0);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(over, 0);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(server_quota_waiting(quota), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_waiting_queries_are_bounded),        TEST(test_clients_are_bounded_in_all),
        TEST(test_clients_of_one_address_are_bounded), TEST(test_bounds_of_zero_let_nobody_in),
        TEST(test_both_families_are_counted_apart),    TEST(test_places_do_not_leak),
        TEST(test_threads_share_the_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
