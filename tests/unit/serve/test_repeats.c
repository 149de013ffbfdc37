/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* UDP queries that wait: a repeat joins the first query, old queries of a crowd get no answer, and
 * copies give way. */
#include <stdio.h>

#include "serve/request.h"
#include "unit/serve/harness.h"

enum { TIMEOUT_US = 1900 * 1000 };

static int setup(void **state)
{
    (void)state;
    harness_begin();
    options.discard_timeout_us = TIMEOUT_US;
    harness_open();
    return 0;
}

static void ask_from_port(const char *name, uint16_t id, uint16_t port)
{
    struct addr from = me;
    addr_set_port(&from, port);
    make_query(name, id);
    udp_send_from(&from);
}

/* Sends count queries, each from its own port, with ids from 0. */
static void ask_many(const char *name, uint16_t count)
{
    for (uint16_t i = 0; i < count; i++)
        ask_from_port(name, i, (uint16_t)(5000 + i));
}

static unsigned count_answers(void)
{
    unsigned count = 0;
    while (udp_got())
        count++;
    return count;
}

static unsigned answer_all(void)
{
    while (stub_answer(false))
        continue;
    return count_answers();
}

/* ---- repeats ---- */

static void test_a_repeat_of_a_waiting_query_joins_it(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++)
        udp_ask("miss.example", 7);
    assert_int_equal(stub.waiting, 1);
    assert_int_equal(server_quota_waiting(quota), 1);
    assert_int_equal(stats.dropped_repeat, 2);
    assert_int_equal(answer_all(), 1);
    assert_int_equal(got.id, 7);
}

static void test_a_repeat_after_the_answer_is_a_new_query(void **state)
{
    (void)state;
    udp_ask("miss.example", 7);
    assert_int_equal(answer_all(), 1);
    udp_ask("miss.example", 7);
    assert_int_equal(stub.waiting, 1);
    assert_int_equal(stats.dropped_repeat, 0);
    assert_int_equal(answer_all(), 1);
}

/* A client that randomises the case of letters accepts only its own spelling. */
static void test_a_query_in_other_case_is_another_query(void **state)
{
    (void)state;
    udp_ask("miss.example", 7);
    udp_ask("MISS.Example", 7);
    udp_ask("MISS.Example", 7);
    assert_int_equal(stub.waiting, 2);
    assert_int_equal(stats.dropped_repeat, 1);
    assert_int_equal(answer_all(), 2);
    assert_memory_equal(got.question.name.wire, "\4MISS\7Example", 14);
}

static void test_a_repeat_of_a_hit_is_answered(void **state)
{
    (void)state;
    udp_ask("hit.example", 7);
    udp_ask("hit.example", 7);
    assert_int_equal(count_answers(), 2);
}

static void send_variant(const struct canned_query *query, const struct addr *from)
{
    sent_len = canned_query(sent, query);
    udp_send_from(from);
}

/* Each of these queries differs in something that changes the answer. */
static void test_a_query_that_needs_a_different_answer_is_no_repeat(void **state)
{
    (void)state;
    const struct canned_query first = {"miss.example", 7,     RRTYPE_A, HEADER_RD,
                                       1232,           false, false,    false};
    struct canned_query id = first, type = first, name = first, cd = first, size = first,
                        plain = first, dnssec = first;
    id.id = 8;
    type.type = RRTYPE_AAAA;
    name.name = "other.example";
    cd.flags |= HEADER_CD;
    size.edns_size = 512;
    plain.edns_size = 0; /* a query without EDNS */
    dnssec.dnssec_ok = true;
    const struct canned_query *const queries[] = {&first, &id,   &type,  &name,
                                                  &cd,    &size, &plain, &dnssec};
    for (size_t i = 0; i < ARRAY_LEN(queries); i++)
        send_variant(queries[i], &me);
    assert_int_equal(stub.waiting, ARRAY_LEN(queries));
    struct addr port = me, address = fake_addr("127.0.0.8@4000");
    addr_set_port(&port, 4001);
    send_variant(&first, &port);
    send_variant(&first, &address);
    assert_int_equal(stub.waiting, ARRAY_LEN(queries) + 2);
    assert_int_equal(stats.dropped_repeat, 0);
    assert_int_equal(answer_all(), ARRAY_LEN(queries) + 2);
}

static void test_repeats_join_over_ipv6_and_at_one_listener_only(void **state)
{
    (void)state;
    me = fake_addr("::1@999");
    here = listens[1];
    udp_ask("miss.example", 7);
    udp_ask("miss.example", 7);
    assert_int_equal(stub.waiting, 1);
    here = listens[0];
    udp_ask("miss.example", 7);
    assert_int_equal(stub.waiting, 2);
    assert_int_equal(answer_all(), 2);
}

/* The queries leave the table in a different order. */
static void test_repeats_are_found_among_many(void **state)
{
    (void)state;
    ask_many("miss.example", 500);
    for (int i = 0; i < 250; i++)
        assert_true(stub_answer(i % 2));
    assert_int_equal(count_answers(), 250);
    ask_many("miss.example", 500);
    assert_int_equal(stub.waiting, 500);
    assert_int_equal(stats.dropped_repeat, 250);
    answer_all();
}

/* ---- old queries of a crowd ---- */

static void test_beyond_32_old_queries_of_a_client_are_not_answered(void **state)
{
    (void)state;
    ask_many("miss.example", REQUEST_DISCARD_ABOVE + 100);
    fake_loop_advance(loop, TIMEOUT_US + 10000);
    assert_int_equal(answer_all(), REQUEST_DISCARD_ABOVE);
    assert_int_equal(got.id, REQUEST_DISCARD_ABOVE + 99); /* the newest queries are answered */
    assert_int_equal(stats.dropped_late, 100);
}

static void test_up_to_32_old_queries_are_answered(void **state)
{
    (void)state;
    ask_many("miss.example", REQUEST_DISCARD_ABOVE);
    fake_loop_advance(loop, 10 * TIMEOUT_US);
    assert_int_equal(answer_all(), REQUEST_DISCARD_ABOVE);
    assert_int_equal(stats.dropped_late, 0);
}

static void test_young_queries_of_a_crowd_are_answered(void **state)
{
    (void)state;
    ask_many("miss.example", 200);
    fake_loop_advance(loop, TIMEOUT_US - 100000);
    assert_int_equal(answer_all(), 200);
    assert_int_equal(stats.dropped_late, 0);
}

static void test_a_crowd_is_no_concern_of_other_clients(void **state)
{
    (void)state;
    struct addr other = fake_addr("127.0.0.10@4000");
    make_query("miss.example", 77);
    udp_send_from(&other);
    ask_many("miss.example", 200);
    fake_loop_advance(loop, TIMEOUT_US + 10000);
    assert_true(stub_answer(false)); /* the first answer is for the other client */
    fake_loop_settle(loop);
    struct fake_reply reply;
    assert_true(fake_client_udp_next(net, &other, &reply));
    assert_int_equal(answer_all(), REQUEST_DISCARD_ABOVE);
}

/* A client that repeats its query after a while is still waiting for the answer. */
static void test_a_repeat_keeps_a_query_young(void **state)
{
    (void)state;
    ask_many("miss.example", 200);
    fake_loop_advance(loop, TIMEOUT_US - 10000);
    ask_from_port("miss.example", 0, 5000);
    fake_loop_advance(loop, 20000);
    assert_int_equal(stats.dropped_repeat, 1);
    assert_true(stub_answer(false));
    assert_true(udp_got());
    assert_int_equal(got.id, 0);
    answer_all();
}

static void test_streams_of_a_crowd_are_answered(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    make_query("slow.example", 99);
    uint8_t framed[600] = {(uint8_t)(sent_len >> 8), (uint8_t)sent_len};
    memcpy(framed + 2, sent, sent_len);
    fake_conn_send(conn, span_of(framed, sent_len + 2));
    fake_loop_settle(loop);
    ask_many("miss.example", 200);
    fake_loop_advance(loop, TIMEOUT_US + 10000);
    uint64_t answers = stats.answers_noerror;
    assert_true(stub_answer(false));
    assert_int_equal(stats.answers_noerror, answers + 1);
    answer_all();
}

static void test_with_a_timeout_of_0_all_are_answered(void **state)
{
    (void)state;
    options.discard_timeout_us = 0;
    ask_many("miss.example", 200);
    fake_loop_advance(loop, 20 * TIMEOUT_US);
    assert_int_equal(answer_all(), 200);
}

/* The attack: many copies from one forged address wait, and are then answered all at once. */
static void test_answers_to_copies_are_smaller_than_their_queries(void **state)
{
    (void)state;
    size_t in = 0, out = 0;
    stub.rdata_len = 1000;
    for (uint16_t i = 0; i < 900; i++) {
        ask_from_port("bomb.example", i, (uint16_t)(5000 + i));
        in += sent_len;
    }
    fake_loop_advance(loop, 4 * US_PER_S);
    while (stub_answer(false))
        continue;
    while (udp_got())
        out += got.bytes.len;
    assert_in_range(out, 1, in);
}

/* ---- copies give way ---- */

static int setup_few_places(void **state)
{
    (void)state;
    harness_begin();
    options.discard_timeout_us = TIMEOUT_US;
    options.max_waiting = 60;
    options.max_waiting_per_client = 40;
    harness_open();
    return 0;
}

static void test_the_oldest_copy_gives_its_place_to_a_new_query_of_the_client(void **state)
{
    (void)state;
    ask_many("bomb.example", 40);
    udp_ask("honest.example", 99);
    assert_false(udp_got());
    assert_int_equal(stub.waiting, 40);
    assert_int_equal(stats.dropped_late, 1);
    assert_true(stub_answer(true));
    assert_true(udp_got());
    assert_int_equal(got.id, 99);
    assert_true(stub_answer(false));
    assert_true(udp_got());
    assert_int_equal(got.id, 1); /* the query with id 0 has given way */
    answer_all();
}

static void test_queries_without_a_copy_keep_their_places(void **state)
{
    (void)state;
    char name[32];
    for (uint16_t i = 0; i < 40; i++) {
        snprintf(name, sizeof(name), "m%u.example", i);
        udp_ask(name, i);
    }
    udp_ask("honest.example", 99);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    assert_int_equal(stats.waiting_refused_client, 1);
    assert_int_equal(answer_all(), 40);
}

/* When all places are taken, copies of a crowd make room for other clients, too. */
static void test_a_crowd_makes_room_for_other_clients(void **state)
{
    (void)state;
    char name[32];
    struct addr other = fake_addr("127.0.0.10@4000");
    for (uint16_t i = 0; i < 20; i++) {
        snprintf(name, sizeof(name), "m%u.example", i);
        make_query(name, i);
        udp_send_from(&other);
    }
    ask_many("bomb.example", 40);
    make_query("late.example", 1);
    udp_send_from(&other);
    assert_int_equal(stats.waiting_refused_all, 0);
    assert_int_equal(stats.dropped_late, 1);
    assert_int_equal(stub.waiting, 60);
    assert_int_equal(answer_all(), 60);
}

static int setup_more_places(void **state)
{
    (void)state;
    harness_begin();
    options.max_waiting = options.max_waiting_per_client = REQUEST_DISPLACE_LOOKS + 2;
    harness_open();
    return 0;
}

/* Only the oldest queries are considered. Otherwise each refused query would cost a walk through
 * all that wait. */
static void test_copies_behind_many_others_keep_their_places(void **state)
{
    (void)state;
    char name[32];
    for (uint16_t i = 0; i < REQUEST_DISPLACE_LOOKS; i++) {
        snprintf(name, sizeof(name), "m%u.example", i);
        udp_ask(name, i);
    }
    ask_many("bomb.example", 2);
    udp_ask("honest.example", 999);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    assert_true(stub_answer(false));
    assert_true(udp_got());
    udp_ask("another.example", 998);
    udp_ask("honest.example", 999); /* the copies are among the oldest now */
    assert_false(udp_got());
    assert_int_equal(stats.dropped_late, 1);
    answer_all();
}

static void test_a_small_client_keeps_its_copies(void **state)
{
    (void)state;
    struct addr other = fake_addr("127.0.0.10@4000"), third = fake_addr("127.0.0.11@4000");
    ask_many("bomb.example", 30);
    for (uint16_t i = 0; i < 30; i++) {
        make_query("same.example", i);
        udp_send_from(&other);
    }
    make_query("late.example", 1);
    udp_send_from(&third);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    assert_int_equal(stats.waiting_refused_all, 1);
    assert_int_equal(answer_all(), 60);
}

int main(void)
{
#define TEST(how, name) cmocka_unit_test_setup_teardown(name, how, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(setup, test_a_repeat_of_a_waiting_query_joins_it),
        TEST(setup, test_a_repeat_after_the_answer_is_a_new_query),
        TEST(setup, test_a_query_in_other_case_is_another_query),
        TEST(setup, test_a_repeat_of_a_hit_is_answered),
        TEST(setup, test_a_query_that_needs_a_different_answer_is_no_repeat),
        TEST(setup, test_repeats_join_over_ipv6_and_at_one_listener_only),
        TEST(setup, test_repeats_are_found_among_many),
        TEST(setup, test_beyond_32_old_queries_of_a_client_are_not_answered),
        TEST(setup, test_up_to_32_old_queries_are_answered),
        TEST(setup, test_young_queries_of_a_crowd_are_answered),
        TEST(setup, test_a_crowd_is_no_concern_of_other_clients),
        TEST(setup, test_a_repeat_keeps_a_query_young),
        TEST(setup, test_streams_of_a_crowd_are_answered),
        TEST(setup, test_with_a_timeout_of_0_all_are_answered),
        TEST(setup, test_answers_to_copies_are_smaller_than_their_queries),
        TEST(setup_few_places, test_the_oldest_copy_gives_its_place_to_a_new_query_of_the_client),
        TEST(setup_few_places, test_queries_without_a_copy_keep_their_places),
        TEST(setup_few_places, test_a_crowd_makes_room_for_other_clients),
        TEST(setup_more_places, test_copies_behind_many_others_keep_their_places),
        TEST(setup_few_places, test_a_small_client_keeps_its_copies),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
