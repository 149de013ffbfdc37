/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Cookies and the rate limit, in a whole server in virtual time. */
#include <stdio.h>

#include "serve/cookie.h"
#include "unit/serve/harness.h"

enum { QPS = 20 };

static uint8_t cookie[40]; /* the last one received, and the next to send */
static uint16_t cookie_len;

static int setup_with(uint32_t qps, uint32_t slip)
{
    harness_begin();
    options.rate_limit_qps = qps;
    options.rate_limit_slip = slip;
    memcpy(cookie, "my own c", 8);
    cookie_len = 0;
    harness_open();
    return 0;
}

static int setup(void **state)
{
    (void)state;
    return setup_with(QPS, 0);
}

static int setup_slipping(void **state)
{
    (void)state;
    return setup_with(QPS, 1);
}

static int setup_unlimited(void **state)
{
    (void)state;
    return setup_with(0, 2);
}

/* Makes a query with a cookie of cookie_len bytes, or without one. "": a query without a question.
 */
static void make(const char *name)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct build build;
    build_init(&build, sent, 512);
    build_header(&build, 7, HEADER_RD);
    if (*name) {
        struct question question = canned_question(name, RRTYPE_A, wire);
        build_question(&build, &question);
    }
    build_opt_begin(&build, 1232, 0, 0, false);
    if (cookie_len)
        build_option(&build, EDNS_COOKIE, cookie, cookie_len);
    build_opt_end(&build);
    sent_len = build_finish(&build);
    assert_true(sent_len > 0);
}

static void keep_cookie(void)
{
    struct edns_cookie back;
    assert_int_equal(edns_find_cookie(&got.edns, &back), EDNS_FOUND);
    assert_memory_equal(back.client.data, cookie, 8);
    assert_int_equal(back.server.len, COOKIE_SERVER_BYTES);
    memcpy(cookie + 8, back.server.data, COOKIE_SERVER_BYTES);
    cookie_len = COOKIE_BYTES;
}

/* Asks, and returns the rcode of the answer, or -1 if there is no answer. */
static int ask(const char *name)
{
    make(name);
    udp_send_from(&me);
    return udp_got() ? message_rcode(&got) : -1;
}

static unsigned ask_often(const char *name, unsigned times)
{
    unsigned answers = 0;
    while (times--)
        answers += ask(name) >= 0;
    return answers;
}

static bool has_cookie(void)
{
    struct span data;
    return edns_find(&got.edns, EDNS_COOKIE, &data) != EDNS_ABSENT;
}

/* ---- cookies ---- */

static void test_a_client_gets_a_cookie_and_is_known_by_it(void **state)
{
    (void)state;
    cookie_len = 8;
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    assert_int_equal(got.counts[SECTION_ANSWER], 1);
    keep_cookie();
    assert_int_equal(stats.cookies_new, 1);
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    keep_cookie();
    assert_int_equal(stats.cookies_valid, 1);
    assert_int_equal(stats.cookies_bad, 0);
}

static void test_a_client_without_a_cookie_gets_none(void **state)
{
    (void)state;
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    assert_false(has_cookie());
}

static void test_errors_and_late_answers_carry_the_cookie_too(void **state)
{
    (void)state;
    cookie_len = 8;
    make("hit.example");
    header_set_opcode(sent, OPCODE_STATUS);
    udp_send_from(&me);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOTIMP);
    keep_cookie();
    assert_int_equal(ask("slow.example"), -1);
    stub_answer(false);
    assert_true(udp_got());
    keep_cookie();
    me = fake_addr("192.0.2.1@4000"); /* a client that the access list refuses */
    assert_int_equal(ask("hit.example"), RCODE_REFUSED);
    keep_cookie();
}

static void test_a_cookie_of_impossible_length_is_a_format_error(void **state)
{
    (void)state;
    const uint16_t lengths[] = {1, 7, 9, 15};
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        cookie_len = lengths[i];
        assert_int_equal(ask("hit.example"), RCODE_FORMERR);
        assert_false(has_cookie());
    }
    assert_int_equal(stub.finds, 0);
}

static void test_a_query_for_a_cookie_alone_gets_it(void **state)
{
    (void)state;
    cookie_len = 8;
    assert_int_equal(ask(""), RCODE_NOERROR);
    assert_int_equal(got.counts[SECTION_QUESTION], 0);
    keep_cookie();
    assert_int_equal(ask(""), RCODE_NOERROR);
    cookie[20] ^= 1;
    assert_int_equal(ask(""), RCODE_BADCOOKIE);
    keep_cookie();
    assert_int_equal(ask(""), RCODE_NOERROR);
    cookie_len = 0;
    assert_int_equal(ask(""), RCODE_FORMERR);
}

static void test_a_cookie_ages_and_is_replaced(void **state)
{
    (void)state;
    uint8_t first[COOKIE_BYTES];
    cookie_len = 8;
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    keep_cookie();
    memcpy(first, cookie, sizeof(first));
    fake_loop_advance(loop, COOKIE_FRESH_S * US_PER_S);
    ask("hit.example");
    keep_cookie();
    assert_memory_equal(cookie, first, sizeof(first));
    fake_loop_advance(loop, US_PER_S);
    ask("hit.example");
    keep_cookie();
    assert_memory_not_equal(cookie, first, sizeof(first));
    assert_int_equal(stats.cookies_valid, 2);
    fake_loop_advance(loop, (COOKIE_LIFE_S + 1) * US_PER_S);
    ask("hit.example");
    assert_int_equal(stats.cookies_bad, 1);
}

static void test_cookies_outlive_midnight(void **state)
{
    (void)state;
    uint64_t to_midnight_s = COOKIE_SECRET_DAY_S - FAKE_LOOP_WALL_S % COOKIE_SECRET_DAY_S;
    fake_loop_advance(loop, (to_midnight_s - 1) * US_PER_S);
    cookie_len = 8;
    ask("hit.example");
    keep_cookie();
    fake_loop_advance(loop, 2 * US_PER_S);
    ask("hit.example");
    assert_int_equal(stats.cookies_valid, 1);
    keep_cookie();
    ask("hit.example");
    assert_int_equal(stats.cookies_valid, 2);
}

static void test_cookies_may_be_off(void **state)
{
    (void)state;
    options.cookies = false;
    cookie_len = 8;
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    assert_false(has_cookie());
    assert_int_equal(ask(""), RCODE_FORMERR);
    assert_int_equal(stats.cookies_new, 0);
}

static void test_streams_carry_cookies(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    cookie_len = 8;
    make("hit.example");
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_int_equal(stats.cookies_new, 1);
    assert_int_equal(fake_conn_messages(conn), 1);
}

/* ---- the limit ---- */

static void test_a_client_is_answered_as_often_as_the_limit_says(void **state)
{
    (void)state;
    assert_int_equal(ask_often("hit.example", 100), QPS);
    assert_int_equal(stats.limited_dropped, 100 - QPS);
    assert_int_equal(stub.finds, QPS); /* a limited query causes no look-up */
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(ask_often("hit.example", 100), QPS);
}

static void test_misses_and_errors_count_like_hits(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < 100; i++) {
        addr_set_port(&me, (uint16_t)(4000 + i)); /* from one port, the queries would be repeats */
        ask("miss.example");
    }
    assert_int_equal(stub.waiting, QPS);
    me = fake_addr("192.0.2.1@4000");
    assert_int_equal(ask_often("hit.example", 100), QPS); /* the replies are REFUSED */
    me = fake_addr("127.0.0.10@4000");
    cookie_len = 9;
    assert_int_equal(ask_often("hit.example", 100), QPS); /* the replies are FORMERR */
}

static void test_ports_of_one_address_are_one_client(void **state)
{
    (void)state;
    unsigned answers = 0;
    for (uint16_t port = 4000; port < 4100; port++) {
        addr_set_port(&me, port);
        answers += ask("hit.example") >= 0;
    }
    assert_int_equal(answers, QPS);
}

static void test_a_flood_does_not_cut_its_neighbours(void **state)
{
    (void)state;
    ask_often("miss.example", 500);
    me = fake_addr("127.0.0.10@4000");
    assert_int_equal(ask_often("hit.example", QPS), QPS);
}

static void test_a_query_that_slips_through_is_sent_to_a_stream(void **state)
{
    (void)state;
    ask_often("hit.example", QPS);
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    assert_true(got.flags & HEADER_TC);
    assert_true(got.flags & HEADER_RA);
    assert_int_equal(got.counts[SECTION_ANSWER], 0);
    assert_memory_equal(got.question.name.wire, "\3hit\7example", 13);
    assert_int_equal(stats.limited_truncated, 1);
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    for (int i = 0; i < 5 * QPS; i++)
        fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_messages(conn), 5 * QPS);
}

static void test_a_known_client_is_never_limited_when_its_address_is_forged(void **state)
{
    (void)state;
    cookie_len = 8;
    ask("hit.example");
    keep_cookie();
    cookie_len = 0;
    ask_often("hit.example", 1000); /* an attacker forges the address */
    cookie_len = COOKIE_BYTES;
    assert_int_equal(ask_often("hit.example", 100), 100);
    assert_int_equal(got.counts[SECTION_ANSWER], 1);
}

static void test_a_new_client_in_the_flood_gets_its_cookie_and_comes_back(void **state)
{
    (void)state;
    ask_often("hit.example", 1000);
    cookie_len = 8;
    assert_int_equal(ask("hit.example"), RCODE_BADCOOKIE);
    assert_false(got.flags & HEADER_TC);
    keep_cookie();
    assert_int_equal(stats.limited_badcookie, 1);
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    assert_int_equal(got.counts[SECTION_ANSWER], 1);
}

static void test_forged_cookies_open_nothing(void **state)
{
    (void)state;
    unsigned whole = 0;
    cookie_len = COOKIE_BYTES;
    for (int i = 0; i < 500; i++) {
        rand_bytes(cookie, sizeof(cookie));
        whole += ask("hit.example") == RCODE_NOERROR;
    }
    assert_int_equal(whole, QPS);
    assert_int_equal(stats.cookies_bad, 500);
}

static void test_a_cookie_is_for_its_address_alone(void **state)
{
    (void)state;
    cookie_len = 8;
    ask("hit.example");
    keep_cookie();
    me = fake_addr("127.0.0.10@4000"); /* another client has stolen the cookie */
    uint8_t stolen[COOKIE_BYTES];
    memcpy(stolen, cookie, sizeof(stolen));
    unsigned answers = 0;
    for (int i = 0; i < 100; i++) {
        memcpy(cookie, stolen, sizeof(stolen));
        answers += ask("hit.example") >= 0;
    }
    assert_int_equal(answers, QPS);
}

static void test_cut_answers_are_no_larger_than_their_queries(void **state)
{
    (void)state;
    ask_often("hit.example", QPS);
    make("hit.example");
    udp_send_from(&me);
    assert_true(udp_got());
    assert_true(got.bytes.len <= sent_len);
    cookie_len = 8;
    assert_int_equal(ask("hit.example"), RCODE_BADCOOKIE);
    assert_true(got.bytes.len <= sent_len + COOKIE_SERVER_BYTES);
}

static void test_without_a_limit_no_client_is_limited(void **state)
{
    (void)state;
    assert_int_equal(ask_often("hit.example", 2000), 2000);
}

/* ---- what waits ---- */

static void test_one_client_cannot_take_all_that_may_wait(void **state)
{
    (void)state;
    me = fake_addr("127.0.0.77@4000");
    char name[32];
    for (uint32_t i = 0; i < options.max_waiting_per_client; i++) {
        snprintf(name, sizeof(name), "miss%u.example", i);
        assert_int_equal(ask(name), -1);
    }
    assert_int_equal(ask("miss.example"), RCODE_SERVFAIL);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&got.edns, &ede), EDNS_FOUND);
    assert_true(ede.text.len > 0);
    assert_int_equal(stats.waiting_refused_client, 1);
    assert_int_equal(ask("hit.example"), RCODE_NOERROR);
    me = fake_addr("127.0.0.78@4000");
    assert_int_equal(ask("miss.example"), -1);
    me = fake_addr("127.0.0.77@4001");
    stub_answer(false);
    assert_true(udp_got() || true);
    assert_int_equal(ask("miss.example"), -1);
}

/* A client asks over a stream and leaves, many times: its orphaned queries still count for it. */
static void test_a_client_that_asks_and_leaves_stays_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < 40; i++) {
        struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
        fake_loop_settle(loop);
        make("miss.example");
        for (int k = 0; k < 10; k++)
            fake_conn_send_message(conn, span_of(sent, sent_len));
        fake_loop_settle(loop);
        fake_conn_reset(conn);
        fake_loop_settle(loop);
        assert_in_range(stub.waiting, 0, options.max_waiting_per_client);
    }
    assert_int_equal(server_quota_clients(quota), 0);
    expect_orphans(options.max_waiting_per_client);
    assert_int_equal(ask("miss.example"), -1);
    assert_int_equal(stub.waiting, 1);
}

static int setup_few_waiting(void **state)
{
    (void)state;
    harness_begin();
    options.max_waiting_per_client = 25;
    cookie_len = 0;
    harness_open();
    return 0;
}

int main(void)
{
#define TEST(how, name) cmocka_unit_test_setup_teardown(name, how, harness_teardown)
    const struct CMUnitTest tests[] = {
        TEST(setup, test_a_client_gets_a_cookie_and_is_known_by_it),
        TEST(setup, test_a_client_without_a_cookie_gets_none),
        TEST(setup, test_errors_and_late_answers_carry_the_cookie_too),
        TEST(setup, test_a_cookie_of_impossible_length_is_a_format_error),
        TEST(setup, test_a_query_for_a_cookie_alone_gets_it),
        TEST(setup_unlimited, test_a_cookie_ages_and_is_replaced),
        TEST(setup_unlimited, test_cookies_outlive_midnight),
        TEST(setup, test_cookies_may_be_off),
        TEST(setup, test_streams_carry_cookies),
        TEST(setup, test_a_client_is_answered_as_often_as_the_limit_says),
        TEST(setup, test_misses_and_errors_count_like_hits),
        TEST(setup, test_ports_of_one_address_are_one_client),
        TEST(setup, test_a_flood_does_not_cut_its_neighbours),
        TEST(setup_slipping, test_a_query_that_slips_through_is_sent_to_a_stream),
        TEST(setup_slipping, test_a_known_client_is_never_limited_when_its_address_is_forged),
        TEST(setup_slipping, test_a_new_client_in_the_flood_gets_its_cookie_and_comes_back),
        TEST(setup, test_forged_cookies_open_nothing),
        TEST(setup, test_a_cookie_is_for_its_address_alone),
        TEST(setup_slipping, test_cut_answers_are_no_larger_than_their_queries),
        TEST(setup_unlimited, test_without_a_limit_no_client_is_limited),
        TEST(setup_few_waiting, test_one_client_cannot_take_all_that_may_wait),
        TEST(setup_few_waiting, test_a_client_that_asks_and_leaves_stays_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
