/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* How sessions over TLS end, and the bounds on their memory until then. */
#include "unit/serve/harness_tls.h"

/* ---- ends ---- */

static void test_a_client_may_leave_without_close_notify(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    fake_conn_close(client->conn);
    dot_settle(client, loop);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(fake_conn_state(client->conn), FAKE_CONN_CLOSED);
}

static void test_a_half_closed_client_gets_its_answers(void **state)
{
    (void)state;
    for (int with_fin = 0; with_fin < 2; with_fin++) {
        struct dot_client *client = open_client();
        tls_ask(client, "one.example", 1);
        tls_ask(client, "two.example", 2);
        dot_end(client);
        if (with_fin)
            fake_conn_close(client->conn);
        dot_settle(client, loop);
        assert_false(closes_within(client->conn, 5 * US_PER_S));
        stub_answer(false);
        assert_true(tls_got(client));
        assert_false(closes_within(client->conn, 5 * US_PER_S));
        stub_answer(false);
        assert_true(closes_within(client->conn, US_PER_S));
        assert_true(tls_got(client));
        assert_int_equal(got.id, 2);
        assert_true(client->got_notify);
    }
}

static void test_after_a_fin_without_close_notify_waiting_queries_are_answered(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "one.example", 1);
    fake_conn_close(client->conn);
    fake_loop_settle(loop);
    stub_answer(false);
    assert_true(closes_within(client->conn, US_PER_S));
    assert_true(tls_got(client));
}

static void test_queries_right_before_the_end_are_answered(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    send_many(client, "hit.example", 10);
    dot_end(client);
    fake_conn_close(client->conn);
    fake_loop_advance(loop, US_PER_S);
    for (int i = 0; i < 10; i++)
        assert_true(tls_got(client));
    assert_true(client->got_notify);
    assert_true(fake_conn_was_closed(client->conn));
}

/* The session reads everything at once, and its last query makes it busy. No unread bytes remain
 * that would show it the end. */
static void test_an_end_right_behind_as_many_queries_as_may_wait_is_noticed(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    client->holds = true;
    send_many(client, "slow.example", SESSION_IN_FLIGHT_MAX);
    dot_end(client);
    client->holds = false;
    assert_true(dot_send_wire(client));
    fake_loop_settle(loop);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX; i++)
        stub_answer(false);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX; i++)
        assert_true(tls_got(client));
    assert_true(closes_within(client->conn, US_PER_S));
    dot_settle(client, loop);
    assert_true(client->got_notify);
}

static void test_a_reset_ends_waiting_queries(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    fake_conn_reset(client->conn);
    fake_loop_settle(loop);
    expect_orphans(1);
    assert_int_equal(server_quota_clients(quota), 0);
}

/* ---- draining ---- */

static unsigned drained;

static void on_drained(void *context)
{
    (void)context;
    drained++;
}

static void test_draining_ends_idle_clients_with_close_notify(void **state)
{
    (void)state;
    struct dot_client *idle = open_client();
    fake_loop_advance(loop, SESSION_NEW_US);
    struct fake_conn *securing = connect_from("127.0.0.9@4001");
    drained = 0;
    server_drain(server, on_drained, NULL);
    dot_settle(idle, loop);
    assert_true(idle->got_notify);
    assert_false(fake_conn_was_closed(securing)); /* the handshake may still finish */
    fake_loop_advance(loop, SESSION_NEW_US + 1000);
    assert_int_equal(drained, 1);
    assert_true(idle->got_notify);
    assert_int_equal(fake_conn_state(idle->conn), FAKE_CONN_CLOSED);
    assert_true(fake_conn_was_closed(securing));
    assert_int_equal(stats.client_tls_failed + stats.client_tls_timeout, 0);
}

static void test_draining_waits_for_answers(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    drained = 0;
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 0);
    stub_answer(false);
    assert_true(tls_got(client));
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
    dot_settle(client, loop);
    assert_true(client->got_notify);
}

static void test_a_draining_listener_takes_no_client(void **state)
{
    (void)state;
    server_drain(server, on_drained, NULL);
    assert_int_equal(fake_conn_state(connect_from("127.0.0.9@4000")), FAKE_CONN_FAILED);
}

/* The client gets its answer and the close_notify, although it keeps asking. */
static void test_draining_ends_busy_clients_with_close_notify(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    tls_ask(client, "slow.example", 2);
    drained = 0;
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, SESSION_LAST_US);
    assert_true(stub_answer(false));
    tls_ask(client, "hit.example", 3);
    assert_true(tls_got(client));
    assert_int_equal(got.id, 2);
    fake_loop_advance(loop, 2 * SESSION_LAST_LOOK_US);
    dot_settle(client, loop);
    assert_true(client->got_notify);
    assert_int_equal(fake_conn_state(client->conn), FAKE_CONN_CLOSED);
    assert_int_equal(drained, 0);
    fake_loop_advance(loop, SESSION_QUIET_US);
    assert_int_equal(drained, 1);
}

/* ---- bounds ---- */

static void test_a_client_that_does_not_read_is_not_read_and_then_closed(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    fake_conn_stop_reading(client->conn, 1000);
    stub.records = 2000; /* 32 KB per answer */
    send_many(client, "hit.example", 200);
    fake_loop_settle(loop);
    assert_in_range(stub.finds, 1, SESSION_UNSENT_MAX / 32000);
    assert_int_equal(stats.dropped_full, 0);
    unsigned finds = stub.finds;
    assert_false(closes_within(client->conn, SESSION_STALL_US - US_PER_S));
    assert_int_equal(stub.finds, finds);
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(stub.finds, finds);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_false(fake_conn_is_held(client->conn));
}

static void test_a_slow_reader_gets_everything(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    fake_conn_stop_reading(client->conn, 1000);
    stub.records = 2000;
    send_many(client, "hit.example", 50);
    fake_loop_advance(loop, 5 * US_PER_S);
    fake_conn_start_reading(client->conn);
    unsigned answers = 0;
    for (int i = 0; i < 100; i++) {
        fake_loop_advance(loop, US_PER_MS);
        while (tls_got(client))
            answers++;
    }
    assert_int_equal(answers, 50);
    assert_false(fake_conn_was_closed(client->conn));
}

static void test_sealed_answers_count_as_unsent(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    fake_conn_stop_reading(client->conn, 1000);
    stub.records = 2000;
    send_many(client, "slow.example", 100);
    fake_loop_settle(loop);
    for (int i = 0; i < 100; i++) { /* one per turn, so that each is sealed at once */
        stub_answer(false);
        fake_loop_settle(loop);
    }
    assert_int_equal(stats.dropped_full, 0);
    assert_true(stats.answers_noerror <= 2 + SESSION_UNSENT_MAX / 32000);
    fake_loop_advance(loop, SESSION_STALL_US + US_PER_MS);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_queries_in_flight_are_bounded_and_none_is_lost(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    send_many(client, "slow.example", 600); /* these queries need more than one record */
    fake_loop_settle(loop);
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX);
    unsigned answers = 0;
    do {
        while (tls_got(client))
            answers++;
    } while (stub_answer(false));
    assert_int_equal(answers, 600);
}

static void test_a_close_notify_behind_queries_that_wait_is_not_lost(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    send_many(client, "slow.example", 300);
    dot_end(client);
    fake_conn_close(client->conn);
    unsigned answers = 0;
    do {
        while (tls_got(client))
            answers++;
    } while (stub_answer(false));
    assert_int_equal(answers, 300);
    assert_true(closes_within(client->conn, US_PER_S));
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_client_that_only_sends_is_given_up_in_bounded_time(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    fake_conn_stop_reading(client->conn, 1000);
    stub.records = 2000;
    for (uint64_t us = 0; us < SESSION_STALL_US - US_PER_S; us += 100 * US_PER_MS) {
        send_many(client, "hit.example", 10);
        fake_loop_advance(loop, 100 * US_PER_MS);
        assert_int_equal(server_quota_clients(quota), 1);
    }
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_dribbled_bytes_do_not_keep_a_session(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    uint8_t length[2] = {2, 88};
    dot_send(client, span_of(length, 2));
    for (int s = 0; s < 29; s++) { /* a record each second, never a message */
        dot_send(client, span_of("x", 1));
        assert_false(closes_within(client->conn, US_PER_S));
    }
    assert_true(closes_within(client->conn, US_PER_S + 2000));
}

/* max_clients is an option, and a larger one costs handshakes without proving more */
enum { CROWD = 300 };

static int setup_crowd(void **state)
{
    (void)state;
    begin();
    options.max_clients = CROWD;
    options.max_clients_per_address = CROWD;
    options.client_idle_timeout_us = 3600 * US_PER_S;
    open_server();
    return 0;
}

static void test_idle_clients_are_held_up_to_the_limit_and_the_next_is_refused(void **state)
{
    (void)state;
    static struct fake_conn *crowd[CROWD];
    for (size_t i = 0; i < CROWD; i++) {
        struct dot_client *client = open_client();
        crowd[i] = client->conn;
        dot_free(client);
        client_count--;
    }
    assert_int_equal((int64_t)stats.stream_clients, CROWD);
    assert_true(fake_conn_was_closed(connect_from("127.0.0.9@4000")));
    fake_loop_advance(loop, 600 * US_PER_S);
    for (size_t i = 0; i < CROWD; i++)
        assert_true(fake_conn_is_held(crowd[i]));
    drained = 0;
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, UDP_SERVER_END_US);
    assert_int_equal(drained, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_a_client_may_leave_without_close_notify),
        TEST(test_a_half_closed_client_gets_its_answers),
        TEST(test_after_a_fin_without_close_notify_waiting_queries_are_answered),
        TEST(test_queries_right_before_the_end_are_answered),
        TEST(test_an_end_right_behind_as_many_queries_as_may_wait_is_noticed),
        TEST(test_a_reset_ends_waiting_queries),
        TEST(test_draining_ends_idle_clients_with_close_notify),
        TEST(test_draining_waits_for_answers),
        TEST(test_draining_ends_busy_clients_with_close_notify),
        TEST(test_a_draining_listener_takes_no_client),
        TEST(test_a_client_that_does_not_read_is_not_read_and_then_closed),
        TEST(test_a_slow_reader_gets_everything),
        TEST(test_sealed_answers_count_as_unsent),
        TEST(test_queries_in_flight_are_bounded_and_none_is_lost),
        TEST(test_a_close_notify_behind_queries_that_wait_is_not_lost),
        TEST(test_a_client_that_only_sends_is_given_up_in_bounded_time),
        TEST(test_dribbled_bytes_do_not_keep_a_session),
        cmocka_unit_test_setup_teardown(
            test_idle_clients_are_held_up_to_the_limit_and_the_next_is_refused, setup_crowd,
            teardown),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
