/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Clients that pipeline thousands of queries share their worker with the others. */
#include "unit/serve/harness.h"

#include "serve/session.h"

enum {
    MANY = 5000,
    QUERY_BYTES = 42,        /* a query for "hit.example" with its two length bytes */
    READ_QUERIES_MAX = 1500, /* how many queries fit in a client's receive buffer */
};

static struct addr polite;

static struct fake_conn *open_client_at(const struct addr *from)
{
    struct fake_conn *conn = fake_client_tcp_open(net, &here, from);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_OPEN);
    return conn;
}

/* Sends queries that are all in the kernel when the session first reads. */
static void send_many(struct fake_conn *conn, unsigned count)
{
    uint8_t *bytes = malloc((size_t)count * QUERY_BYTES), *end = bytes;
    for (unsigned i = 0; i < count; i++) {
        make_query("hit.example", (uint16_t)i);
        assert_int_equal(2 + sent_len, QUERY_BYTES);
        put_u16(end, (uint16_t)sent_len);
        memcpy(end + 2, sent, sent_len);
        end += QUERY_BYTES;
    }
    fake_conn_send(conn, span_of(bytes, (size_t)(end - bytes)));
    free(bytes);
}

static void send_one(struct fake_conn *conn)
{
    make_query("hit.example", 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
}

/* Returns how many answers came since the last call. Their ids continue at *next. */
static unsigned take_answers(struct fake_conn *conn, unsigned *next)
{
    struct span message;
    unsigned count = 0;
    for (; fake_conn_next_message(conn, &message); count++) {
        got_message(message);
        assert_int_equal(got.id, (uint16_t)(*next)++);
    }
    return count;
}

static void expect_all_answered(struct fake_conn *conn, unsigned next)
{
    take_answers(conn, &next);
    assert_int_equal(next, MANY);
}

/* ---- shares ---- */

static void test_a_polite_client_is_answered_after_one_read_of_a_greedy_one(void **state)
{
    (void)state;
    struct fake_conn *greedy = open_client_at(&me), *other = open_client_at(&polite);
    unsigned greedy_next = 0;
    send_many(greedy, MANY);
    send_one(other);
    while (fake_conn_messages(other) == 0)
        assert_true(fake_loop_step(loop));
    take_answers(greedy, &greedy_next);
    assert_in_range(greedy_next, 0, READ_QUERIES_MAX);
    fake_loop_settle(loop);
    expect_all_answered(greedy, greedy_next);
}

static void test_a_datagram_is_answered_after_one_read_of_a_greedy_client(void **state)
{
    (void)state;
    struct fake_conn *greedy = open_client_at(&me);
    unsigned greedy_next = 0;
    send_many(greedy, MANY);
    make_query("hit.example", 1);
    fake_client_udp_send(net, &here, &polite, span_of(sent, sent_len));
    while (fake_client_udp_waiting(net) == 0)
        assert_true(fake_loop_step(loop));
    take_answers(greedy, &greedy_next);
    assert_in_range(greedy_next, 0, READ_QUERIES_MAX);
    fake_loop_settle(loop);
    expect_all_answered(greedy, greedy_next);
}

static void test_greedy_clients_take_turns(void **state)
{
    enum { CLIENTS = 5 };
    (void)state;
    struct fake_conn *conns[CLIENTS];
    unsigned next[CLIENTS] = {0}, least = 0;
    for (unsigned i = 0; i < CLIENTS; i++)
        conns[i] = open_client_at(&me);
    for (unsigned i = 0; i < CLIENTS; i++)
        send_many(conns[i], MANY);
    while (least < MANY) {
        unsigned most = 0;
        assert_true(fake_loop_step(loop));
        least = MANY;
        for (unsigned i = 0; i < CLIENTS; i++) {
            take_answers(conns[i], &next[i]);
            most = MAX(most, next[i]);
            least = MIN(least, next[i]);
        }
        assert_true(most - least <= READ_QUERIES_MAX);
    }
}

/* ---- queries left in the kernel ---- */

static void test_a_full_session_leaves_the_rest_in_the_kernel_and_does_not_spin(void **state)
{
    (void)state;
    struct fake_conn *greedy = open_client_at(&me);
    unsigned next = 0;
    fake_conn_stop_reading(greedy, 1000);
    send_many(greedy, 3 * MANY);
    fake_loop_advance(loop, US_PER_S);
    uint64_t reads = fake_conn_reads(greedy), turns = fake_loop_turns(loop);
    assert_true(reads * READ_QUERIES_MAX < 3 * MANY);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(fake_conn_reads(greedy), reads);
    assert_true(fake_loop_turns(loop) - turns < 10);
    fake_conn_start_reading(greedy);
    fake_loop_advance(loop, US_PER_S);
    take_answers(greedy, &next);
    assert_int_equal(next, 3 * MANY);
    assert_int_equal(stats.dropped_full, 0);
}

static void test_a_busy_session_continues_with_the_queries_that_are_left(void **state)
{
    (void)state;
    struct fake_conn *greedy = open_client_at(&me);
    for (unsigned i = 0; i < SESSION_IN_FLIGHT_MAX; i++) {
        make_query("slow.example", (uint16_t)i);
        fake_conn_send_message(greedy, span_of(sent, sent_len));
    }
    send_many(greedy, MANY);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_messages(greedy), 0);
    while (stub_answer(false))
        continue;
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_messages(greedy), SESSION_IN_FLIGHT_MAX + MANY);
}

/* ---- stops ---- */

static unsigned drained;

static void on_drained(void *context)
{
    (void)context;
    drained++;
}

static void test_a_stop_answers_all_that_greedy_and_polite_clients_have_sent(void **state)
{
    (void)state;
    struct fake_conn *greedy = open_client_at(&me), *other = open_client_at(&polite);
    drained = 0;
    send_many(greedy, MANY);
    send_one(other);
    fake_loop_step(loop); /* the query has arrived */
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(drained, 1);
    expect_all_answered(greedy, 0);
    assert_int_equal(fake_conn_messages(other), 1);
    assert_int_equal(fake_conn_state(greedy), FAKE_CONN_CLOSED);
    assert_int_equal(fake_conn_state(other), FAKE_CONN_CLOSED);
}

/* Others are served first, and the last call of this session ends before its turn. */
static void test_a_stop_waits_for_the_turn_of_a_session_that_was_not_read_yet(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client_at(&polite);
    send_one(conn);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_messages(conn), 1);
    drained = 0;
    send_one(conn);
    fake_conn_delay_reads(conn, 10 * SESSION_LAST_US);
    fake_loop_step(loop); /* the query has arrived */
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, 3 * US_PER_S);
    assert_int_equal(fake_conn_messages(conn), 2);
    assert_int_equal(drained, 1);
}

static void test_a_stop_does_not_wait_for_a_turn_longer_than_the_bound(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client_at(&polite);
    send_one(conn);
    fake_loop_settle(loop);
    drained = 0;
    send_one(conn);
    fake_conn_delay_reads(conn, 3600 * US_PER_S);
    fake_loop_step(loop); /* the query has arrived */
    server_drain(server, on_drained, NULL);
    fake_loop_advance(loop, SESSION_LAST_US + SESSION_ROUND_US - 1000);
    assert_int_equal(drained, 0);
    fake_loop_advance(loop, 1000 + SESSION_DRAIN_LINGER_US + SESSION_LOOK_US);
    assert_int_equal(drained, 1);
    assert_int_equal(fake_conn_messages(conn), 1);
}

int main(void)
{
    polite = fake_addr("127.0.0.8@4000");
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_a_polite_client_is_answered_after_one_read_of_a_greedy_one),
        HARNESS_TEST(test_a_datagram_is_answered_after_one_read_of_a_greedy_client),
        HARNESS_TEST(test_greedy_clients_take_turns),
        HARNESS_TEST(test_a_full_session_leaves_the_rest_in_the_kernel_and_does_not_spin),
        HARNESS_TEST(test_a_busy_session_continues_with_the_queries_that_are_left),
        HARNESS_TEST(test_a_stop_answers_all_that_greedy_and_polite_clients_have_sent),
        HARNESS_TEST(test_a_stop_waits_for_the_turn_of_a_session_that_was_not_read_yet),
        HARNESS_TEST(test_a_stop_does_not_wait_for_a_turn_longer_than_the_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
