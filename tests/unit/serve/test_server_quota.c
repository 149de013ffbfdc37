/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The quota: bounds that all workers share. */
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

static void quota_with(const struct server_options *options)
{
    quota = server_quota_new(options, NULL);
    assert_non_null(quota);
}

static void quota_of(uint32_t clients, uint32_t per_address, uint32_t waiting)
{
    quota_with(&(struct server_options){.max_clients = clients,
                                        .max_clients_per_address = per_address,
                                        .max_waiting = waiting,
                                        .max_waiting_per_client = waiting,
                                        .client_prefix_v4 = 32,
                                        .client_prefix_v6 = 56});
}

static int teardown(void **state)
{
    (void)state;
    server_quota_free(quota);
    quota = NULL;
    return 0;
}

/* Returns the address of client i, with its own port. */
static struct addr client(uint32_t i)
{
    struct addr addr = {.in = {.sin_family = AF_INET}};
    addr.in.sin_addr.s_addr = htonl(0x0a000000 + i);
    addr_set_port(&addr, (uint16_t)rand_below(65536));
    return addr;
}

static struct client_place place(uint32_t i, enum place_kind kind)
{
    return (struct client_place){client(i), kind};
}

static enum server_quota_result take_kind(uint32_t i, enum place_kind kind)
{
    struct client_place wanted = place(i, kind);
    return server_quota_take_client(quota, &wanted);
}

static void give_kind(uint32_t i, enum place_kind kind)
{
    struct client_place held = place(i, kind);
    server_quota_give_client(quota, &held);
}

static bool take(uint32_t i)
{
    return take_kind(i, PLACE_ALLOWED) == QUOTA_TAKEN;
}

static void give(uint32_t i)
{
    give_kind(i, PLACE_ALLOWED);
}

static enum server_quota_result take_addr(const struct addr *addr)
{
    struct client_place wanted = {*addr, PLACE_ALLOWED};
    return server_quota_take_client(quota, &wanted);
}

static uint64_t number_of(uint32_t i)
{
    struct addr addr = client(i);
    return server_quota_client(quota, &addr);
}

static enum server_quota_result take_waiting(uint32_t i)
{
    return server_quota_take_waiting(quota, number_of(i));
}

static void give_waiting(uint32_t i)
{
    server_quota_give_waiting(quota, number_of(i));
}

static void test_waiting_queries_are_bounded(void **state)
{
    (void)state;
    quota_of(1, 1, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(take_waiting(i), QUOTA_TAKEN);
    for (uint32_t i = 0; i < 10; i++)
        assert_int_equal(take_waiting(i), QUOTA_FULL);
    assert_int_equal(server_quota_waiting(quota), 3);
    give_waiting(1);
    assert_int_equal(take_waiting(7), QUOTA_TAKEN);
}

static void test_waiting_queries_of_one_client_are_bounded(void **state)
{
    (void)state;
    quota_with(&(struct server_options){.max_waiting = 1000,
                                        .max_waiting_per_client = 3,
                                        .client_prefix_v4 = 32,
                                        .client_prefix_v6 = 56});
    for (int i = 0; i < 3; i++)
        assert_int_equal(take_waiting(1), QUOTA_TAKEN);
    for (int i = 0; i < 10; i++)
        assert_int_equal(take_waiting(1), QUOTA_CLIENT_FULL);
    assert_int_equal(server_quota_waiting(quota), 3);
    for (int i = 0; i < 3; i++)
        assert_int_equal(take_waiting(2), QUOTA_TAKEN);
    give_waiting(1);
    assert_int_equal(take_waiting(1), QUOTA_TAKEN);
    assert_int_equal(take_waiting(1), QUOTA_CLIENT_FULL);
}

/* Several clients share a counter. A client never gets more than its bound, and seldom less. */
static void test_clients_that_share_counters_hardly_hurt_each_other(void **state)
{
    (void)state;
    enum { CLIENTS = 2000, EACH = 5 };
    unsigned refused = 0;
    quota_with(&(struct server_options){.max_waiting = CLIENTS * EACH,
                                        .max_waiting_per_client = EACH,
                                        .client_prefix_v4 = 32,
                                        .client_prefix_v6 = 56});
    for (int round = 0; round < EACH; round++)
        for (uint32_t i = 0; i < CLIENTS; i++)
            refused += take_waiting(i) != QUOTA_TAKEN;
    for (uint32_t i = 0; i < CLIENTS; i++)
        assert_int_not_equal(take_waiting(i), QUOTA_TAKEN);
    assert_in_range(refused, 0, CLIENTS * EACH / 100);
}

static void test_waiting_places_do_not_leak(void **state)
{
    (void)state;
    enum { CLIENTS = 20, ROUNDS = 100000, EACH = 7 };
    uint32_t held[CLIENTS] = {0};
    quota_with(&(struct server_options){.max_waiting = 100000,
                                        .max_waiting_per_client = EACH,
                                        .client_prefix_v4 = 32,
                                        .client_prefix_v6 = 56});
    for (int round = 0; round < ROUNDS; round++) {
        uint32_t i = (uint32_t)rand_below(CLIENTS);
        if (rand_below(2) && held[i] > 0) {
            give_waiting(i);
            held[i]--;
            continue;
        }
        enum server_quota_result result = take_waiting(i);
        assert_int_equal(result, held[i] < EACH ? QUOTA_TAKEN : QUOTA_CLIENT_FULL);
        held[i] += result == QUOTA_TAKEN;
    }
}

static void test_a_prefix_is_one_client(void **state)
{
    (void)state;
    struct addr a, b, other;
    assert_int_equal(addr_parse(&a, "2001:db8:0:100::1", 53), ERR_OK);
    assert_int_equal(addr_parse(&b, "2001:db8:0:1ff:ffff::9", 54), ERR_OK);
    assert_int_equal(addr_parse(&other, "2001:db8:0:200::1", 53), ERR_OK);
    quota_of(100, 2, 10);
    assert_int_equal(server_quota_client(quota, &a), server_quota_client(quota, &b));
    assert_int_not_equal(server_quota_client(quota, &a), server_quota_client(quota, &other));
    assert_int_equal(take_addr(&a), QUOTA_TAKEN);
    assert_int_equal(take_addr(&b), QUOTA_TAKEN);
    assert_int_equal(take_addr(&a), QUOTA_CLIENT_FULL);
    assert_int_equal(take_addr(&other), QUOTA_TAKEN);
    struct client_place held = {a, PLACE_ALLOWED};
    server_quota_give_client(quota, &held);
    assert_int_equal(take_addr(&b), QUOTA_TAKEN);
}

static void test_there_is_a_rate_limit_when_one_is_wanted(void **state)
{
    (void)state;
    quota_of(1, 1, 1);
    assert_null(server_quota_rate_limit(quota, 0));
    server_quota_free(quota);
    quota_with(&(struct server_options){.rate_limit_qps = 10, .rate_limit_clients = 100});
    assert_non_null(server_quota_rate_limit(quota, 0));
}

static void test_an_unknown_view_has_the_rate_limit_of_all(void **state)
{
    (void)state;
    struct server_view views[] = {{.name = "lab", .limits_rate = true, .rate_limit_qps = 5}};
    quota_with(&(struct server_options){
        .rate_limit_qps = 10, .rate_limit_clients = 100, .views = views, .view_count = 1});
    assert_ptr_not_equal(server_quota_rate_limit(quota, 1), server_quota_rate_limit(quota, 0));
    assert_ptr_equal(server_quota_rate_limit(quota, 2), server_quota_rate_limit(quota, 0));
    assert_ptr_equal(server_quota_rate_limit(quota, 1000), server_quota_rate_limit(quota, 0));
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

/* The bound holds for all options, also after a reload that allows more. */
static void test_clients_are_bounded_by_the_files_there_are(void **state)
{
    (void)state;
    quota_of(5, 5, 1);
    server_quota_bound_files(quota, 3);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(take(i));
    struct addr next = client(3);
    assert_int_equal(take_addr(&next), QUOTA_NO_FILES);
    struct server_quota *before = quota;
    quota = server_quota_new(&(struct server_options){.max_clients = 100,
                                                      .max_clients_per_address = 5,
                                                      .max_waiting = 1,
                                                      .max_waiting_per_client = 1,
                                                      .client_prefix_v4 = 32,
                                                      .client_prefix_v6 = 56},
                             before);
    assert_int_equal(take_addr(&next), QUOTA_NO_FILES);
    for (uint32_t i = 0; i < 3; i++) {
        struct client_place held = place(i, PLACE_ALLOWED);
        server_quota_move_client(quota, before, &held);
    }
    server_quota_free(before);
    give(0);
    assert_int_equal(take_addr(&next), QUOTA_TAKEN);
    assert_int_equal(server_quota_clients(quota), 3);
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

static void test_bounds_of_zero_let_no_client_in(void **state)
{
    (void)state;
    quota_of(0, 0, 0);
    assert_false(take(1));
    assert_int_equal(take_waiting(1), QUOTA_FULL);
}

static void test_both_families_are_counted_apart(void **state)
{
    (void)state;
    quota_of(10, 1, 1);
    struct addr six;
    assert_int_equal(addr_parse(&six, "2001:db8::1", 53), ERR_OK);
    assert_int_equal(take_addr(&six), QUOTA_TAKEN);
    assert_int_equal(take_addr(&six), QUOTA_CLIENT_FULL);
    addr_set_port(&six, 54);
    assert_int_equal(take_addr(&six), QUOTA_CLIENT_FULL);
    assert_true(take(1));
}

/* Many addresses come and go in any order, and the table never loses a place. */
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
        bool waiting = take_waiting(mine % 2) == QUOTA_TAKEN;
        if (take(mine % 2)) {
            if (server_quota_clients(quota) > 3)
                atomic_fetch_add(&over, 1);
            give(mine % 2);
        }
        if (waiting)
            give_waiting(mine % 2);
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

/* Workers move to the new quota one by one, and all accept connections meanwhile. */
static void test_two_quotas_that_follow_each_other_keep_one_bound(void **state)
{
    (void)state;
    enum { BOUND = 60 };
    const struct server_options options = {.max_clients = BOUND,
                                           .max_clients_per_address = 1,
                                           .max_waiting = 1,
                                           .max_waiting_per_client = 1,
                                           .client_prefix_v4 = 32,
                                           .client_prefix_v6 = 56};
    quota_with(&options);
    struct server_quota *before = quota, *after = server_quota_new(&options, before);
    assert_non_null(after);
    for (uint32_t i = 0; i < BOUND; i++)
        assert_true(take(i));
    for (uint32_t i = 0; i < BOUND / 2; i++) {
        struct client_place held = place(i, PLACE_ALLOWED);
        server_quota_move_client(after, before, &held);
    }
    assert_false(take(100));
    quota = after;
    assert_false(take(101));
    quota = before;
    give(BOUND / 2);
    assert_true(take(102));
    quota = after;
    assert_false(take(103));
    give(0);
    assert_true(take(104));
    for (uint32_t i = BOUND / 2 + 1; i < BOUND; i++) {
        struct client_place held = place(i, PLACE_ALLOWED);
        server_quota_move_client(after, before, &held);
    }
    struct client_place held = place(102, PLACE_ALLOWED);
    server_quota_move_client(after, before, &held);
    assert_int_equal(server_quota_clients(before), 0);
    assert_int_equal(server_quota_clients(after), BOUND);
    server_quota_free(before);
    assert_false(take(105));
    give(104);
    assert_true(take(105));
}

static void test_refused_clients_have_separate_places(void **state)
{
    (void)state;
    quota_of(3, 3, 1);
    for (uint32_t i = 0; i < SERVER_QUOTA_REFUSED_MAX; i++)
        assert_int_equal(take_kind(100 + i, PLACE_REFUSED), QUOTA_TAKEN);
    assert_int_equal(take_kind(99, PLACE_REFUSED), QUOTA_FULL);
    for (uint32_t i = 0; i < 3; i++)
        assert_true(take(i));
    assert_false(take(3));
    give_kind(100, PLACE_REFUSED);
    assert_false(take(3));
    assert_int_equal(take_kind(99, PLACE_REFUSED), QUOTA_TAKEN);
}

static void test_one_refused_client_gets_few_places(void **state)
{
    (void)state;
    quota_of(100, 100, 1);
    for (uint32_t i = 0; i < SERVER_QUOTA_REFUSED_EACH_MAX; i++)
        assert_int_equal(take_kind(7, PLACE_REFUSED), QUOTA_TAKEN);
    assert_int_equal(take_kind(7, PLACE_REFUSED), QUOTA_CLIENT_FULL);
    assert_int_equal(take_kind(8, PLACE_REFUSED), QUOTA_TAKEN);
    assert_true(take(7)); /* a reload has allowed this client */
}

static void test_refused_clients_get_few_of_the_files(void **state)
{
    (void)state;
    enum { FILES = 2 * SERVER_QUOTA_REFUSED_FILES };
    quota_of(100, 100, 1);
    server_quota_bound_files(quota, FILES);
    assert_int_equal(take_kind(1, PLACE_REFUSED), QUOTA_TAKEN);
    assert_int_equal(take_kind(2, PLACE_REFUSED), QUOTA_TAKEN);
    assert_int_equal(take_kind(3, PLACE_REFUSED), QUOTA_NO_FILES);
    for (uint32_t i = 0; i < FILES - 4; i++) /* two places are for proxies */
        assert_true(take(i));
    assert_int_equal(take_kind(99, PLACE_ALLOWED), QUOTA_NO_FILES);
}

/* Until their headers come, all connections of a proxy have its address. */
static void test_a_proxy_has_no_bound_for_one_client(void **state)
{
    (void)state;
    quota_of(2, 1, 1);
    for (uint32_t i = 0; i < SERVER_QUOTA_PROXY_MAX; i++)
        assert_int_equal(take_kind(7, PLACE_PROXY), QUOTA_TAKEN);
    assert_int_equal(take_kind(8, PLACE_PROXY), QUOTA_FULL);
    assert_true(take(7)); /* the proxy as a client */
    struct client_place held = place(7, PLACE_PROXY), to = place(7, PLACE_ALLOWED);
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_CLIENT_FULL);
    to = place(9, PLACE_ALLOWED);
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_TAKEN);
    assert_int_equal(take_kind(8, PLACE_PROXY), QUOTA_TAKEN);
}

/* A proxy names the client after the connection has taken a place. */
static void test_a_connection_may_count_for_another_client(void **state)
{
    (void)state;
    quota_of(3, 2, 1);
    struct client_place held = place(1, PLACE_ALLOWED), to = place(2, PLACE_ALLOWED);
    assert_true(take(1));
    assert_true(take(1));
    assert_true(take(3));
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_TAKEN);
    assert_true(addr_equal(&held.client, &to.client));
    assert_int_equal(server_quota_clients(quota), 3);
    assert_false(take(1)); /* all places are taken */
    give(3);
    assert_true(take(1)); /* the first client has room again */
    give(1);
    assert_true(take(2));
    held = place(1, PLACE_ALLOWED);
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_CLIENT_FULL);
    assert_false(addr_equal_ip(&held.client, &to.client));
    give(2);
    give(2);
    give(1);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_connection_may_become_one_of_the_other_kind(void **state)
{
    (void)state;
    quota_of(1, 1, 1);
    struct client_place held = place(1, PLACE_ALLOWED), to = place(1, PLACE_REFUSED);
    assert_true(take(1));
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_TAKEN);
    assert_int_equal(held.kind, PLACE_REFUSED);
    assert_true(take(2)); /* the place is free for another client */
    to.kind = PLACE_ALLOWED;
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_FULL);
    assert_int_equal(held.kind, PLACE_REFUSED);
    give(2);
    assert_int_equal(server_quota_change_client(quota, &held, &to), QUOTA_TAKEN);
    assert_false(take(2));
    give(1);
    assert_int_equal(server_quota_clients(quota), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_teardown(name, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_waiting_queries_are_bounded),
        TEST(test_clients_are_bounded_in_all),
        TEST(test_clients_are_bounded_by_the_files_there_are),
        TEST(test_clients_of_one_address_are_bounded),
        TEST(test_bounds_of_zero_let_no_client_in),
        TEST(test_both_families_are_counted_apart),
        TEST(test_places_do_not_leak),
        TEST(test_threads_share_the_bounds),
        TEST(test_two_quotas_that_follow_each_other_keep_one_bound),
        TEST(test_waiting_queries_of_one_client_are_bounded),
        TEST(test_clients_that_share_counters_hardly_hurt_each_other),
        TEST(test_waiting_places_do_not_leak),
        TEST(test_a_prefix_is_one_client),
        TEST(test_there_is_a_rate_limit_when_one_is_wanted),
        TEST(test_an_unknown_view_has_the_rate_limit_of_all),
        TEST(test_refused_clients_have_separate_places),
        TEST(test_one_refused_client_gets_few_places),
        TEST(test_refused_clients_get_few_of_the_files),
        TEST(test_a_proxy_has_no_bound_for_one_client),
        TEST(test_a_connection_may_count_for_another_client),
        TEST(test_a_connection_may_become_one_of_the_other_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
