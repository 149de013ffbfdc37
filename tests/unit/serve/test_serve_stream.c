/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Who gets a session. */
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

static void test_a_refused_client_is_told_so_once(void **state)
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
    assert_true(keepalive.has_timeout); /* RFC 7828 section 3.4: 0 says close */
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
    fake_loop_advance(loop, 31 * US_PER_S); /* all idle */
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
        HARNESS_TEST(test_a_refused_client_is_told_so_once),
        HARNESS_TEST(test_a_refused_client_that_says_nothing_has_little_time),
        HARNESS_TEST(test_refused_clients_take_no_place_of_allowed_ones),
        HARNESS_TEST(test_connections_over_the_limit_are_closed_at_once),
        HARNESS_TEST(test_one_address_cannot_take_all),
        HARNESS_TEST(test_clients_that_come_and_go_leave_no_trace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
