/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Large answers that leave together for one client are bounded in bytes. */
#include "serve/request.h"
#include "unit/serve/harness.h"

#include "serve/burst.h"

enum { LARGE = 1000, QUERY = 60, CLIENT = 7, NOW = 1000000 };

static struct bursts bursts;

static int setup_table(void **state)
{
    (void)state;
    bursts = (struct bursts){0};
    return 0;
}

static bool allows(uint64_t client, uint32_t waiting, size_t len, uint64_t now)
{
    return bursts_allow(&bursts, client, waiting, len, QUERY, now);
}

static unsigned count_whole(uint64_t client, uint64_t now)
{
    unsigned count = 0;
    for (int i = 0; i < 200; i++)
        count += allows(client, BURST_WAITING + 1, LARGE, now);
    return count;
}

/* ---- the table ---- */

static void test_a_client_with_few_waiting_queries_has_no_bound(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++)
        assert_true(allows(CLIENT, BURST_WAITING, LARGE, NOW));
}

static void test_a_burst_has_its_bytes_and_no_more(void **state)
{
    (void)state;
    assert_int_equal(count_whole(CLIENT, NOW), BURST_BYTES / LARGE);
    assert_int_equal(count_whole(CLIENT, NOW + BURST_WINDOW_US - 1), 0);
    assert_int_equal(count_whole(CLIENT, NOW + BURST_WINDOW_US), BURST_BYTES / LARGE);
}

static void test_the_last_answers_of_a_burst_are_bounded_too(void **state)
{
    (void)state;
    count_whole(CLIENT, NOW);
    assert_false(allows(CLIENT, 1, LARGE, NOW));
    assert_true(allows(CLIENT, 1, LARGE, NOW + BURST_WINDOW_US));
}

static void test_small_answers_are_always_whole(void **state)
{
    (void)state;
    count_whole(CLIENT, NOW);
    for (int i = 0; i < 1000; i++)
        assert_true(allows(CLIENT, 1000, (size_t)BURST_SMALL * QUERY, NOW));
    assert_false(allows(CLIENT, 1000, (size_t)BURST_SMALL * QUERY + LARGE, NOW));
}

static void test_each_client_has_its_own_bound_for_bursts(void **state)
{
    (void)state;
    count_whole(CLIENT, NOW);
    assert_int_equal(count_whole(CLIENT + 1, NOW), BURST_BYTES / LARGE);
    /* this client uses the same place of the table */
    assert_true(allows(CLIENT + BURST_PLACES, 1, LARGE, NOW));
    assert_int_equal(count_whole(CLIENT, NOW), 0);
}

/* ---- the server ---- */

static struct addr victim;

static int setup(void **state)
{
    (void)state;
    harness_begin();
    harness_access("198.51.100.0/24", SERVER_ALLOW);
    options.discard_timeout_us = 1900 * 1000;
    victim = fake_addr("198.51.100.7@4000");
    harness_open();
    stub.rdata_len = 1000;
    return 0;
}

static size_t ask_many_from(struct addr from, uint16_t count)
{
    size_t bytes = 0;
    for (uint16_t i = 0; i < count; i++) {
        addr_set_port(&from, (uint16_t)(5000 + i));
        make_query("bomb.example", i);
        udp_send_from(&from);
        bytes += sent_len;
    }
    return bytes;
}

struct outcome {
    unsigned whole, truncated;
    size_t bytes;
};

static struct outcome answer_all(void)
{
    struct outcome outcome = {0};
    while (stub_answer(false))
        continue;
    while (udp_got()) {
        bool is_truncated = got.flags & HEADER_TC;
        outcome.truncated += is_truncated;
        outcome.whole += !is_truncated;
        outcome.bytes += got.bytes.len;
    }
    return outcome;
}

/* No query here is older than discard-timeout. */
static void test_answers_to_a_pulse_of_young_queries_are_little_larger(void **state)
{
    (void)state;
    size_t in = ask_many_from(victim, 900);
    fake_loop_advance(loop, US_PER_S);
    struct outcome outcome = answer_all();
    assert_int_equal(outcome.whole + outcome.truncated, 900);
    assert_true(outcome.whole > 10);
    assert_true(outcome.bytes <= in + BURST_BYTES);
    assert_int_equal(stats.bursts_truncated, outcome.truncated);
}

/* Many clients share one address. Each gets its answer, whole or with TC, and answers over TCP have
 * no bound. */
static void test_honest_clients_of_one_address_lose_no_answer(void **state)
{
    (void)state;
    ask_many_from(victim, 100);
    fake_loop_advance(loop, US_PER_S);
    struct outcome outcome = answer_all();
    assert_int_equal(outcome.whole + outcome.truncated, 100);
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &victim);
    for (uint16_t i = 0; i < 100; i++) {
        make_query("hit.example", i);
        fake_conn_send_message(conn, span_of(sent, sent_len));
    }
    fake_loop_settle(loop);
    struct span message;
    unsigned answers = 0;
    for (; fake_conn_next_message(conn, &message); answers++) {
        got_message(message);
        assert_false(got.flags & HEADER_TC);
    }
    assert_int_equal(answers, 100);
}

static void test_small_answers_of_a_pulse_are_whole(void **state)
{
    (void)state;
    stub.rdata_len = 4;
    ask_many_from(victim, 900);
    struct outcome outcome = answer_all();
    assert_int_equal(outcome.whole, 900);
}

static void test_loopback_has_no_bound(void **state)
{
    (void)state;
    ask_many_from(me, 300);
    assert_int_equal(answer_all().whole, 300);
}

static void test_without_a_discard_timeout_there_is_no_bound(void **state)
{
    (void)state;
    options.discard_timeout_us = 0;
    ask_many_from(victim, 300);
    assert_int_equal(answer_all().whole, 300);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, harness_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_a_client_with_few_waiting_queries_has_no_bound, setup_table),
        cmocka_unit_test_setup(test_a_burst_has_its_bytes_and_no_more, setup_table),
        cmocka_unit_test_setup(test_the_last_answers_of_a_burst_are_bounded_too, setup_table),
        cmocka_unit_test_setup(test_small_answers_are_always_whole, setup_table),
        cmocka_unit_test_setup(test_each_client_has_its_own_bound_for_bursts, setup_table),
        TEST(test_answers_to_a_pulse_of_young_queries_are_little_larger),
        TEST(test_honest_clients_of_one_address_lose_no_answer),
        TEST(test_small_answers_of_a_pulse_are_whole),
        TEST(test_loopback_has_no_bound),
        TEST(test_without_a_discard_timeout_there_is_no_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
