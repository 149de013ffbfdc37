/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Answers that are refreshed before they expire. */
#include "unit/resolve/clients.h"

static void test_an_answer_asked_for_twice_is_refreshed_in_its_last_tenth(void **state)
{
    (void)state;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 100 * SECOND);
    assert_true(query(WWW));
    fake_loop_advance(loop, 169 * SECOND);
    assert_true(query(WWW));
    assert_int_equal(asked_count, 1);
    fake_loop_advance(loop, 1 * SECOND);
    assert_true(query(WWW));
    assert_int_equal(asked_count, 2);
    assert_int_equal(stats.cache_refreshes, 1);
    assert_true(query(WWW)); /* a second hit starts no second refresh */
    assert_int_equal(asked_count, 2);
    answer(1, 0, WWW_A);
    fake_loop_advance(loop, 250 * SECOND);
    assert_true(query(WWW));
    assert_int_equal(asked_count, 2);
    fake_loop_advance(loop, 20 * SECOND); /* the next refresh works in the same way */
    assert_true(query(WWW));
    assert_int_equal(asked_count, 3);
    assert_int_equal(stats.cache_misses, 0);
}

static void test_an_answer_found_for_the_first_time_is_not_refreshed(void **state)
{
    (void)state;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 280 * SECOND);
    assert_true(query(WWW));
    assert_int_equal(asked_count, 1);
    assert_true(query(WWW));
    assert_int_equal(asked_count, 2);
}

static void test_a_client_that_comes_too_late_joins_the_refresh(void **state)
{
    (void)state;
    struct client client = {0};
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 299 * SECOND);
    query(WWW);
    query(WWW);
    fake_loop_advance(loop, 1 * SECOND);
    assert_false(query(WWW));
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_count, 2);
    answer(1, 0, WWW_A);
    assert_int_equal(client.answers, 1);
}

static void test_a_refresh_that_fails_leaves_the_answer_and_is_not_repeated(void **state)
{
    (void)state;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 280 * SECOND);
    query(WWW);
    query(WWW);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    for (int i = 0; i < 10; i++)
        assert_true(query(WWW));
    assert_int_equal(asked_count, 2);
    fake_loop_advance(loop, 20 * SECOND);
    assert_false(query(WWW));
}

static void test_failures_are_not_refreshed(void **state)
{
    (void)state;
    struct answer found;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    for (int i = 0; i < 5; i++) {
        assert_true(find(WWW, &found));
        assert_false(found.is_due);
        fake_loop_advance(loop, 1 * SECOND);
    }
    assert_int_equal(asked_count, 1);
}

static void test_a_refresh_asks_for_the_target_of_an_alias_too(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    answer(1, 0, (struct sections){.answer = {"a.test. 300 IN A 192.0.2.7"}});
    fake_loop_advance(loop, 280 * SECOND);
    query(WWW);
    query(WWW);
    assert_int_equal(asked_count, 3);
    answer(2, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(asked_count, 4); /* otherwise all refreshes would end within twenty seconds */
    assert_int_equal(stats.cache_refreshes, 1);
    answer(3, 0, (struct sections){.answer = {"a.test. 300 IN A 192.0.2.7"}});
    fake_loop_advance(loop, 100 * SECOND);
    assert_true(find(WWW, &found));
    assert_int_equal(resolver_tasks(resolver), 0);
}

static void test_refreshes_take_a_part_of_the_room_and_give_it_back(void **state)
{
    (void)state;
    char name[32], record[64];
    for (unsigned i = 0; i < MAX_TASKS / 2; i++) {
        snprintf(name, sizeof(name), "n%u.example", i);
        snprintf(record, sizeof(record), "n%u.example. 300 IN A 192.0.2.1", i);
        keep(name, record);
    }
    unsigned before = asked_count;
    fake_loop_advance(loop, 280 * SECOND);
    for (unsigned i = 0; i < MAX_TASKS; i++) {
        snprintf(name, sizeof(name), "n%u.example", i / 2);
        query(name);
    }
    assert_int_equal(asked_count - before, MAX_TASKS / 4);
    exchange_fails(before, (struct exchange_failure){.any_network = true});
    query("n70.example"); /* a client's query, which refreshes nothing */
    assert_int_equal(asked_count - before, MAX_TASKS / 4 + 1);
    end_resolver();
}

static void test_without_the_option_nothing_is_refreshed(void **state)
{
    (void)state;
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};
    struct cache *first = cache;
    end_resolver();
    cache = cache_new(&options);
    resolver = resolver_new(loop, cache, NULL, &zones.options, MAX_TASKS, &stats);
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 280 * SECOND);
    for (int i = 0; i < 3; i++)
        assert_true(query(WWW));
    assert_int_equal(asked_count, 1);
    end_resolver();
    cache_thread_end();
    cache_free(cache);
    cache_thread_begin();
    cache = first;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_an_answer_asked_for_twice_is_refreshed_in_its_last_tenth),
        SENTENCE(test_an_answer_found_for_the_first_time_is_not_refreshed),
        SENTENCE(test_a_client_that_comes_too_late_joins_the_refresh),
        SENTENCE(test_a_refresh_that_fails_leaves_the_answer_and_is_not_repeated),
        SENTENCE(test_failures_are_not_refreshed),
        SENTENCE(test_a_refresh_asks_for_the_target_of_an_alias_too),
        SENTENCE(test_refreshes_take_a_part_of_the_room_and_give_it_back),
        SENTENCE(test_without_the_option_nothing_is_refreshed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
