/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Which clients get a session. */
#include "unit/serve/harness.h"

#include <stdio.h>

#include "serve/session.h"

static struct fake_conn *connect_from(const char *from)
{
    struct addr client = fake_addr(from);
    return fake_client_tcp_open(net, &here, &client);
}

static void test_a_client_to_be_dropped_gets_no_session(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("192.0.2.66@1000");
    fake_loop_advance(loop, 1000);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(stats.clients_refused_acl, 1);
    assert_int_equal((int64_t)stats.stream_clients, 0);
}

static void test_a_refused_client_gets_one_answer(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("192.0.2.1@1000");
    struct canned_query asks = {"hit.example", 1, RRTYPE_A, HEADER_RD, 1232, false, true, false};
    struct edns_keepalive keepalive;
    struct span message;
    sent_len = canned_query(sent, &asks);
    fake_loop_settle(loop);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_true(fake_conn_next_message(conn, &message));
    got_message(message);
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    assert_int_equal(edns_find_keepalive(&got.edns, &keepalive), EDNS_FOUND);
    assert_true(keepalive.has_timeout); /* RFC 7828 section 3.4: 0 tells the client to close */
    assert_int_equal(keepalive.timeout_100ms, 0);
    assert_int_equal(stub.finds, 0);
    fake_loop_advance(loop, 2 * SESSION_LOOK_US);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

static void test_a_refused_client_that_says_nothing_has_little_time(void **state)
{
    (void)state;
    connect_from("192.0.2.1@1000");
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 1);
    fake_loop_advance(loop, SESSION_REFUSED_US + 1000);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_refused_clients_take_no_place_of_allowed_ones(void **state)
{
    (void)state;
    char text[ADDR_TEXT_MAX];
    for (unsigned i = 0; i < 400; i++) {
        snprintf(text, sizeof(text), "192.0.2.%u@%u", i % 20 + 1, 1000 + i);
        connect_from(text);
    }
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), SERVER_QUOTA_REFUSED_MAX);
    assert_int_equal(stats.clients_refused_acl, 400 - SERVER_QUOTA_REFUSED_MAX);
    for (unsigned i = 0; i < options.max_clients; i++) {
        snprintf(text, sizeof(text), "127.0.1.%u@1000", i + 1);
        struct fake_conn *conn = connect_from(text);
        fake_loop_settle(loop);
        assert_true(fake_conn_is_held(conn));
    }
    assert_int_equal(stats.clients_refused_full, 0);
}

static void test_connections_over_the_limit_are_closed_at_once(void **state)
{
    (void)state;
    char text[ADDR_TEXT_MAX];
    for (unsigned i = 0; i < 10000; i++) {
        snprintf(text, sizeof(text), "127.0.%u.%u@1000", i / 250, i % 250 + 1);
        struct fake_conn *conn = connect_from(text);
        fake_loop_settle(loop);
        assert_int_equal(fake_conn_is_held(conn), i < options.max_clients);
    }
    assert_int_equal(stats.clients_refused_full, 9900);
    assert_int_equal(server_quota_clients(quota), 100);
    fake_loop_advance(loop, 31 * US_PER_S); /* all sessions are idle */
    assert_int_equal(server_quota_clients(quota), 0);
    connect_from("127.0.0.1@1");
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 1);
}

static void test_one_address_cannot_take_all(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 60; i++)
        connect_from("127.0.0.5@0");
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), options.max_clients_per_address);
    assert_int_equal(stats.clients_refused_full, 10);
    struct fake_conn *other = connect_from("127.0.0.6@7");
    fake_loop_settle(loop);
    assert_true(fake_conn_is_held(other));
}

static void ask(struct fake_conn *conn, const char *name)
{
    make_query(name, 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

/* Fills all places. Each client takes several. */
static void fill(struct fake_conn *conns[])
{
    char text[ADDR_TEXT_MAX];
    for (unsigned i = 0; i < options.max_clients; i++) {
        snprintf(text, sizeof(text), "127.0.1.%u@%u", i / 5 + 1, 1000 + i);
        conns[i] = connect_from(text);
        fake_loop_advance(loop, US_PER_MS);
        assert_true(fake_conn_is_held(conns[i]));
    }
}

static void test_a_new_client_takes_the_place_of_the_longest_idle_session(void **state)
{
    (void)state;
    struct fake_conn *conns[100];
    fill(conns);
    ask(conns[0], "hit.example");
    ask(conns[1], "slow.example"); /* this session waits for its answer */
    fake_loop_advance(loop, SESSION_SPARED_US);
    struct fake_conn *late = connect_from("127.0.2.1@1000");
    fake_loop_settle(loop);
    assert_true(fake_conn_is_held(late));
    assert_true(fake_conn_is_held(conns[0]));
    assert_true(fake_conn_is_held(conns[1]));
    assert_true(fake_conn_was_closed(conns[2]));
    assert_true(fake_conn_is_held(conns[3]));
    assert_int_equal(stats.clients_displaced, 1);
    assert_int_equal(stats.clients_refused_full, 0);
    assert_int_equal(server_quota_clients(quota), options.max_clients);
    while (stub_answer(false))
        continue;
}

static void test_no_session_that_was_busy_lately_is_displaced(void **state)
{
    (void)state;
    struct fake_conn *conns[100];
    fill(conns);
    for (unsigned i = 0; i < options.max_clients; i++)
        ask(conns[i], "hit.example");
    fake_loop_advance(loop, SESSION_SPARED_US - US_PER_MS);
    assert_false(fake_conn_is_held(connect_from("127.0.2.1@1000")));
    fake_loop_settle(loop);
    assert_int_equal(stats.clients_refused_full, 1);
    fake_loop_advance(loop, US_PER_MS);
    connect_from("127.0.2.1@1001");
    fake_loop_settle(loop);
    assert_int_equal(stats.clients_displaced, 1);
}

/* A client is not idle if its query has arrived, even if the session has not read it. */
static void test_few_sessions_are_tried_and_none_with_a_query_in_the_kernel(void **state)
{
    (void)state;
    struct fake_conn *conns[100];
    fill(conns);
    fake_loop_advance(loop, SESSION_SPARED_US);
    make_query("hit.example", 1);
    /* the new client comes first, and the queries arrive before it is accepted */
    connect_from("127.0.2.1@1000");
    for (unsigned i = 0; i < SESSION_DISPLACE_TRIES; i++)
        fake_conn_send_message(conns[i], span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_int_equal(stats.clients_refused_full, 1);
    assert_int_equal(stats.clients_displaced, 0);
    connect_from("127.0.2.1@1001");
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(conns[SESSION_DISPLACE_TRIES]));
    for (unsigned i = 0; i < SESSION_DISPLACE_TRIES; i++)
        assert_true(fake_conn_is_held(conns[i]));
}

static void test_garbage_does_not_make_a_session_less_idle(void **state)
{
    (void)state;
    struct fake_conn *conns[100];
    fill(conns);
    fake_loop_advance(loop, SESSION_SPARED_US);
    make_query("hit.example", 1);
    put_u16(sent + 4, 2); /* two questions lead to FORMERR */
    fake_conn_send_message(conns[0], span_of(sent, sent_len));
    fake_loop_settle(loop);
    connect_from("127.0.2.1@1000");
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(conns[0]));
}

static void test_a_client_above_its_bound_displaces_its_own_session(void **state)
{
    (void)state;
    struct fake_conn *other = connect_from("127.0.0.6@7"), *first = connect_from("127.0.0.5@1");
    fake_loop_advance(loop, US_PER_MS);
    for (unsigned i = 1; i < options.max_clients_per_address; i++)
        connect_from("127.0.0.5@0");
    fake_loop_advance(loop, SESSION_SPARED_US);
    struct fake_conn *late = connect_from("127.0.0.5@2");
    fake_loop_settle(loop);
    assert_true(fake_conn_is_held(late));
    assert_true(fake_conn_is_held(other));
    assert_true(fake_conn_was_closed(first));
    assert_int_equal(stats.clients_displaced, 1);
}

static void test_a_refused_client_displaces_no_session_and_frees_no_place(void **state)
{
    (void)state;
    struct fake_conn *conns[100];
    connect_from("192.0.2.1@1000");
    fill(conns);
    fake_loop_advance(loop, SESSION_SPARED_US);
    for (unsigned i = 0; i < 20; i++)
        connect_from("192.0.2.7@0");
    fake_loop_settle(loop);
    assert_int_equal(stats.clients_displaced, 0);
    connect_from("127.0.2.1@1000");
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(conns[0]));
}

static void test_clients_that_come_and_go_leave_no_trace(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 1000; i++) {
        struct fake_conn *conn = connect_from("127.0.0.5@0");
        fake_loop_settle(loop);
        if (i % 2)
            fake_conn_reset(conn);
        else
            fake_conn_close(conn);
        fake_loop_settle(loop);
    }
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.clients_refused_full, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_a_client_to_be_dropped_gets_no_session),
        HARNESS_TEST(test_a_refused_client_gets_one_answer),
        HARNESS_TEST(test_a_refused_client_that_says_nothing_has_little_time),
        HARNESS_TEST(test_refused_clients_take_no_place_of_allowed_ones),
        HARNESS_TEST(test_connections_over_the_limit_are_closed_at_once),
        HARNESS_TEST(test_one_address_cannot_take_all),
        HARNESS_TEST(test_a_new_client_takes_the_place_of_the_longest_idle_session),
        HARNESS_TEST(test_no_session_that_was_busy_lately_is_displaced),
        HARNESS_TEST(test_few_sessions_are_tried_and_none_with_a_query_in_the_kernel),
        HARNESS_TEST(test_garbage_does_not_make_a_session_less_idle),
        HARNESS_TEST(test_a_client_above_its_bound_displaces_its_own_session),
        HARNESS_TEST(test_a_refused_client_displaces_no_session_and_frees_no_place),
        HARNESS_TEST(test_clients_that_come_and_go_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
