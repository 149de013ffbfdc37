/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Clients on streams, friendly and hostile. */
#include "unit/serve/harness.h"

#include "net/listen_socket.h"
#include "serve/session.h"

static struct fake_conn *open_client(void)
{
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_OPEN);
    return conn;
}

static void tcp_ask(struct fake_conn *conn, const char *name, uint16_t id)
{
    make_query(name, id);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
}

static bool tcp_got(struct fake_conn *conn)
{
    struct span message;
    fake_loop_settle(loop);
    if (!fake_conn_next_message(conn, &message))
        return false;
    got_message(message);
    return true;
}

/* Takes all answers that have arrived, and counts them. */
static unsigned count_answers(struct fake_conn *conn)
{
    unsigned count = 0;
    while (tcp_got(conn))
        count++;
    return count;
}

/* Sends this many queries in a single write. */
static void send_many(struct fake_conn *conn, const char *name, unsigned count)
{
    uint8_t *bytes = malloc(count * 512u);
    size_t len = 0;
    for (unsigned i = 0; i < count; i++) {
        make_query(name, (uint16_t)i);
        put_u16(bytes + len, (uint16_t)sent_len);
        memcpy(bytes + len + 2, sent, sent_len);
        len += 2 + sent_len;
    }
    fake_conn_send(conn, span_of(bytes, len));
    free(bytes);
}

/* Returns whether the session closes within us from now. */
static bool closes_within(struct fake_conn *conn, uint64_t us)
{
    fake_loop_advance(loop, us);
    return fake_conn_was_closed(conn);
}

/* ---- the ordinary life ---- */

static void test_queries_are_pipelined_and_answers_leave_in_one_write(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    send_many(conn, "hit.Example", 100);
    for (uint16_t i = 0; i < 100; i++) {
        assert_true(tcp_got(conn));
        assert_int_equal(got.id, i);
        assert_memory_equal(got.question.name.wire, "\3hit\7Example", 13);
    }
    assert_int_equal(fake_conn_writes(conn), 1);
    assert_int_equal(stats.queries_tcp, 100);
    assert_int_equal((int64_t)stats.stream_clients, 1);
}

static void test_answers_come_in_the_order_in_which_they_are_ready(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    tcp_ask(conn, "slower.example", 2);
    tcp_ask(conn, "hit.example", 3);
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 3);
    assert_true(stub_answer(true));
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 2);
    assert_true(stub_answer(true));
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 1);
}

static void test_a_stream_gives_large_answers_whole(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    stub.records = 4000;
    tcp_ask(conn, "hit.example", 1);
    assert_true(tcp_got(conn));
    assert_int_equal(got.counts[SECTION_ANSWER], 4000);
    assert_false(got.flags & HEADER_TC);
}

static void test_keepalive_tells_the_idle_timeout(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    struct canned_query query = {"hit.example", 1, RRTYPE_A, HEADER_RD, 1232, false, true, false};
    sent_len = canned_query(sent, &query);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    assert_true(tcp_got(conn));
    struct edns_keepalive keepalive;
    assert_int_equal(edns_find_keepalive(&got.edns, &keepalive), EDNS_FOUND);
    assert_int_equal(keepalive.timeout_100ms, 300);
}

static void test_errors_keep_the_stream(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    make_query("hit.example", 1);
    sent[5] = 9;
    fake_conn_send_message(conn, span_of(sent, sent_len));
    assert_true(tcp_got(conn));
    assert_int_equal(message_rcode(&got), RCODE_FORMERR);
    tcp_ask(conn, "hit.example", 2);
    assert_true(tcp_got(conn));
}

/* ---- the idle timeout ---- */

static void test_an_idle_session_is_closed_with_a_fin(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    assert_false(closes_within(conn, 30 * US_PER_S - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

static void test_a_complete_query_restarts_the_idle_time(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    for (int i = 0; i < 5; i++) {
        assert_false(closes_within(conn, 20 * US_PER_S));
        tcp_ask(conn, "hit.example", 1);
        assert_true(tcp_got(conn));
    }
    assert_false(closes_within(conn, 30 * US_PER_S - 1000));
    assert_true(closes_within(conn, 2000));
}

static void test_dribbled_bytes_do_not_keep_a_session(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    make_query("hit.example", 1);
    uint8_t framed[600];
    put_u16(framed, 600);
    memset(framed + 2, 0, sizeof(framed) - 2);
    fake_conn_send_pieces(conn, span_of(framed, sizeof(framed)), 1, US_PER_S);
    assert_false(closes_within(conn, 30 * US_PER_S - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

static void test_a_dribbled_query_in_time_is_answered(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    uint8_t framed[600];
    make_query("hit.example", 1);
    put_u16(framed, (uint16_t)sent_len);
    memcpy(framed + 2, sent, sent_len);
    fake_conn_send_pieces(conn, span_of(framed, sent_len + 2), 1, 1000);
    fake_loop_advance(loop, US_PER_S);
    assert_true(tcp_got(conn));
    assert_false(closes_within(conn, 25 * US_PER_S));
}

static void test_messages_that_are_no_queries_do_not_keep_a_session(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    make_query("hit.example", 1);
    header_put(sent, HEADER_QR, true);
    for (int i = 0; i < 29; i++) {
        fake_conn_send_message(conn, span_of(sent, sent_len));
        assert_false(closes_within(conn, US_PER_S));
    }
    assert_true(closes_within(conn, US_PER_S + 2000));
    assert_false(tcp_got(conn));
}

/* Queries that are answered, but do not keep the connection open. */
struct odd_query {
    const char *name;
    uint16_t type, flags;
    uint8_t question_count;
    size_t trailing; /* how many bytes follow the query */
    uint16_t rcode;
    uint16_t local_rcode; /* what the local answer for the name has */
};

static const struct odd_query odd_queries[] = {
    {"hit.example", RRTYPE_A, HEADER_RD, 9, 0, RCODE_FORMERR, 0},
    {"hit.example", RRTYPE_OPT, HEADER_RD, 1, 0, RCODE_FORMERR, 0},
    {"hit.example", RRTYPE_A, 4 << 11, 1, 0, RCODE_NOTIMP, 0},
    {"hit.example", RRTYPE_A, 5 << 11, 1, 0, RCODE_NOTIMP, 0},
    {"hit.example", RRTYPE_AXFR, HEADER_RD, 1, 0, RCODE_REFUSED, 0},
    {"miss.example", RRTYPE_A, 0, 1, 0, RCODE_REFUSED, 0},
    {"hit.example", RRTYPE_A, HEADER_RD, 1, 0, RCODE_REFUSED, RCODE_REFUSED},
    {"hit.example", RRTYPE_A, HEADER_RD, 1, 1, RCODE_NOERROR, 0},
    {"hit.example", RRTYPE_A, HEADER_RD, 1, 400, RCODE_NOERROR, 0},
};

static void ask_oddly(struct fake_conn *conn, const struct odd_query *odd)
{
    struct canned_query query = {odd->name, 1, odd->type, odd->flags, 1232, false, false, false};
    sent_len = canned_query(sent, &query);
    sent[5] = odd->question_count;
    memset(sent + sent_len, 0, odd->trailing);
    fake_conn_send_message(conn, span_of(sent, sent_len + odd->trailing));
    assert_true(tcp_got(conn));
    assert_int_equal(message_rcode(&got), odd->rcode);
}

static void test_garbage_that_is_answered_does_not_keep_a_session(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(odd_queries); i++) {
        struct fake_conn *conn = open_client();
        stub.flags = odd_queries[i].local_rcode;
        for (int s = 0; s < 29; s++) {
            ask_oddly(conn, &odd_queries[i]);
            assert_false(closes_within(conn, US_PER_S));
        }
        assert_true(closes_within(conn, US_PER_S + 2000));
    }
}

static void test_a_query_that_waits_with_bytes_behind_it_does_not_keep_a_session(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    for (int s = 0; s < 29; s++) {
        make_query("slow.example", 1);
        sent[sent_len] = 0;
        fake_conn_send_message(conn, span_of(sent, sent_len + 1));
        assert_false(closes_within(conn, US_PER_S));
        assert_true(stub_answer(false));
        assert_true(tcp_got(conn));
    }
    assert_true(closes_within(conn, US_PER_S + 2000));
}

static void test_queries_that_wait_at_the_idle_timeout_are_answered_first(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    assert_false(closes_within(conn, 40 * US_PER_S));
    tcp_ask(conn, "hit.example", 2); /* this query comes too late to be read */
    assert_false(tcp_got(conn));
    assert_true(stub_answer(false));
    fake_loop_settle(loop);
    assert_true(closes_within(conn, US_PER_S));
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 1);
}

/* ---- ends ---- */

static void test_a_half_closed_client_gets_its_answers(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "one.example", 1);
    tcp_ask(conn, "two.example", 2);
    fake_conn_close(conn);
    fake_loop_settle(loop);
    assert_false(closes_within(conn, 5 * US_PER_S));
    stub_answer(false);
    assert_true(tcp_got(conn));
    assert_false(closes_within(conn, 5 * US_PER_S));
    stub_answer(false);
    assert_true(closes_within(conn, US_PER_S));
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 2);
}

static void test_queries_right_before_a_fin_are_answered(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    send_many(conn, "hit.example", 10);
    fake_conn_close(conn);
    fake_loop_advance(loop, US_PER_S);
    for (int i = 0; i < 10; i++)
        assert_true(tcp_got(conn));
    assert_true(fake_conn_was_closed(conn));
}

static void test_a_fin_without_queries_closes_at_once(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_close(conn);
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_reset_ends_the_session_and_waiting_queries_keep_their_places(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    fake_conn_reset(conn);
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 0);
    expect_orphans(1);
}

static void test_a_reset_after_a_fin_ends_in_bounded_time(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    fake_conn_close(conn);
    fake_loop_settle(loop);
    fake_conn_reset(conn);
    fake_loop_settle(loop);
    stub_answer(false);
    fake_loop_advance(loop, SESSION_LINGER_US + SESSION_LOOK_US + 1000);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_message_shorter_than_a_header_ends_the_session(void **state)
{
    (void)state;
    for (size_t len = 0; len < HEADER_LEN; len++) {
        struct fake_conn *conn = open_client();
        uint8_t scrap[HEADER_LEN] = {0};
        fake_conn_send_message(conn, span_of(scrap, len));
        fake_loop_settle(loop);
        assert_true(fake_conn_was_closed(conn));
        assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
    }
}

static void test_a_scrap_does_not_cost_earlier_queries_their_answers(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    fake_conn_send_message(conn, span_of("", 0));
    fake_loop_settle(loop);
    assert_false(fake_conn_was_closed(conn));
    stub_answer(false);
    assert_true(closes_within(conn, US_PER_S));
    assert_true(tcp_got(conn));
}

static void test_garbage_is_survived(void **state)
{
    (void)state;
    rand_seed_for_tests(7);
    for (int round = 0; round < 200; round++) {
        struct fake_conn *conn = open_client();
        uint8_t noise[300];
        rand_bytes(noise, sizeof(noise));
        noise[0] = 0;
        fake_conn_send_pieces(conn, span_of(noise, sizeof(noise)), 1 + rand_below(100), 0);
        fake_conn_close(conn);
        fake_loop_advance(loop, 10 * US_PER_S);
        while (stub_answer(false))
            ;
        fake_loop_advance(loop, 10 * US_PER_S);
        assert_int_equal(server_quota_clients(quota), 0);
    }
}

static void test_the_longest_message_is_answered(void **state)
{
    (void)state;
    static uint8_t longest[65535];
    struct fake_conn *conn = open_client();
    make_query("hit.example", 1);
    memcpy(longest, sent, sent_len);
    fake_conn_send_message(conn, span_of(longest, sizeof(longest)));
    assert_true(tcp_got(conn));
    tcp_ask(conn, "hit.example", 2);
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 2);
}

static void test_a_long_message_costs_no_more_memory_than_a_query_may_have(void **state)
{
    (void)state;
    static uint8_t longest[2 + 65535];
    struct fake_conn *conn = open_client();
    make_query("hit.example", 1);
    put_u16(longest, 65535);
    memcpy(longest + 2, sent, sent_len);
    fake_conn_send_pieces(conn, span_of(longest, sizeof(longest) - 1), 1000, 0);
    fake_loop_settle(loop);
    assert_false(tcp_got(conn));
    fake_conn_send(conn, span_of("", 1));
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 1);
    tcp_ask(conn, "hit.example", 2);
    assert_true(tcp_got(conn));
    assert_int_equal(got.id, 2);
}

/* If a record extends beyond the kept bytes, the query is malformed, wherever the cut is. */
static void test_a_query_that_is_stuffed_beyond_the_bound_is_malformed(void **state)
{
    (void)state;
    static uint8_t framed[2 + 8000];
    for (size_t piece = 700; piece <= sizeof(framed); piece += 7300) {
        struct fake_conn *conn = open_client();
        make_query("hit.example", 1);
        put_u16(framed, 8000);
        memcpy(framed + 2, sent, sent_len);
        /* the length of the OPT record */
        put_u16(framed + 2 + sent_len - 2, (uint16_t)(8000 - sent_len));
        put_u16(framed + 2 + sent_len, EDNS_PADDING);
        put_u16(framed + 2 + sent_len + 2, (uint16_t)(8000 - sent_len - 4));
        fake_conn_send_pieces(conn, span_of(framed, sizeof(framed)), piece, 0);
        assert_true(tcp_got(conn));
        assert_int_equal(message_rcode(&got), RCODE_FORMERR);
        tcp_ask(conn, "hit.example", 2);
        assert_true(tcp_got(conn));
    }
}

/* ---- bounds ---- */

static void test_queries_in_flight_are_bounded_and_none_is_lost(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    send_many(conn, "slow.example", 600);
    fake_loop_settle(loop);
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX / 2 - 1; i++)
        stub_answer(false);
    fake_loop_settle(loop);
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX / 2 + 1);
    stub_answer(false);
    fake_loop_settle(loop);
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX);
    unsigned answers = 0;
    do {
        while (tcp_got(conn))
            answers++;
    } while (stub_answer(false));
    assert_int_equal(answers, 600);
}

static void test_a_client_that_does_not_read_is_not_read_and_then_closed(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000; /* 32 KB per answer */
    send_many(conn, "hit.example", 200);
    fake_loop_settle(loop);
    assert_in_range(stub.finds, 1, SESSION_UNSENT_MAX / 32000);
    assert_int_equal(stats.dropped_full, 0);
    unsigned finds = stub.finds;
    assert_false(closes_within(conn, SESSION_STALL_US - US_PER_S));
    assert_int_equal(stub.finds, finds);
    assert_int_equal(stats.client_resets_stalled, 0);
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(stub.finds, finds); /* the rest is discarded */
    assert_int_equal(server_quota_clients(quota), 0);
    assert_false(fake_conn_is_held(conn));
    /* a reset frees the kernel's buffers */
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_FAILED);
    assert_int_equal(stats.client_resets_stalled, 1);
}

static void test_no_answer_is_lost_on_the_way_to_a_full_session(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    for (unsigned i = 0; i < 40; i++) { /* the longest answer has room behind any waiting bytes */
        stub.records = i % 2 ? 4000 : 1 + i * 20;
        send_many(conn, "hit.example", 1);
        fake_loop_settle(loop);
    }
    fake_conn_start_reading(conn);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(count_answers(conn), 40);
    assert_int_equal(stats.dropped_full, 0);
}

static void test_a_session_keeps_its_place_until_its_answers_have_arrived(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_delay_acks(conn, 300 * US_PER_MS);
    send_many(conn, "hit.example", 10);
    fake_conn_close(conn);
    fake_loop_advance(loop, 200 * US_PER_MS);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED); /* the FIN comes at once */
    assert_int_equal(server_quota_clients(quota), 1);
    fake_loop_advance(loop, 200 * US_PER_MS + SESSION_LOOK_US);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.client_resets_stalled, 0);
}

static void test_answers_that_never_arrive_are_thrown_away_with_a_reset(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    tcp_ask(conn, "slow.example", 1);
    fake_conn_close(conn);
    fake_loop_settle(loop);
    fake_conn_delay_acks(conn, 3600 * US_PER_S);
    assert_true(stub_answer(false));
    fake_loop_advance(loop, SESSION_LINGER_US - US_PER_S);
    assert_int_equal(server_quota_clients(quota), 1);
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.client_resets_stalled, 1);
}

static void test_a_client_that_is_given_up_gets_nothing_more(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 5);
    send_many(conn, "hit.example", 20);
    fake_loop_advance(loop, SESSION_STALL_US + 1000);
    expect_orphans(5);
}

static void test_a_client_that_only_sends_is_given_up_in_bounded_time(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    for (uint64_t us = 0; us < SESSION_STALL_US - US_PER_S; us += 100 * US_PER_MS) {
        send_many(conn, "hit.example", 10);
        fake_loop_advance(loop, 100 * US_PER_MS);
        assert_int_equal(server_quota_clients(quota), 1);
    }
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_slow_reader_gets_everything(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "hit.example", 50);
    fake_loop_advance(loop, 5 * US_PER_S);
    fake_conn_start_reading(conn);
    unsigned answers = 0;
    for (int i = 0; i < 100; i++) {
        fake_loop_advance(loop, US_PER_MS);
        while (tcp_got(conn))
            answers++;
    }
    assert_int_equal(answers, 50);
    assert_false(fake_conn_was_closed(conn));
}

/* The session reads the last query long before it has room for the answer. */
static void test_a_slow_reader_gets_everything_after_the_idle_timeout(void **state)
{
    (void)state;
    options.client_idle_timeout_us = US_PER_S;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "hit.example", 50);
    fake_loop_advance(loop, 5 * US_PER_S);
    fake_conn_start_reading(conn);
    unsigned answers = 0;
    for (int i = 0; i < 100; i++) {
        fake_loop_advance(loop, US_PER_MS);
        while (tcp_got(conn))
            answers++;
    }
    assert_int_equal(answers, 50);
}

/* More queries have been read than may wait, and the client waits for us. */
static void test_a_busy_session_gets_everything_after_the_idle_timeout(void **state)
{
    (void)state;
    options.client_idle_timeout_us = US_PER_S;
    struct fake_conn *conn = open_client();
    send_many(conn, "slow.example", SESSION_IN_FLIGHT_MAX + 50);
    fake_loop_advance(loop, 5 * US_PER_S);
    assert_int_equal(stub.waiting, SESSION_IN_FLIGHT_MAX);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX + 50; i++) {
        stub_answer(false);
        fake_loop_advance(loop, US_PER_MS);
    }
    unsigned answers = 0;
    while (tcp_got(conn))
        answers++;
    assert_int_equal(answers, SESSION_IN_FLIGHT_MAX + 50);
}

static void test_a_session_that_was_busy_ends_when_it_is_idle(void **state)
{
    (void)state;
    options.client_idle_timeout_us = US_PER_S;
    struct fake_conn *conn = open_client();
    send_many(conn, "slow.example", SESSION_IN_FLIGHT_MAX);
    fake_loop_advance(loop, 5 * US_PER_S);
    for (int i = 0; i < SESSION_IN_FLIGHT_MAX; i++)
        stub_answer(false);
    assert_false(fake_conn_was_closed(conn));
    fake_loop_advance(loop, SESSION_ROUND_US + SESSION_LINGER_US);
    assert_true(fake_conn_was_closed(conn));
}

static void test_many_small_answers_of_one_turn_are_not_held_up(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    send_many(conn, "hit.example", 3000); /* their answers are 170 KB, more than the bound */
    fake_loop_settle(loop);
    unsigned answers = 0;
    uint64_t begun = loop_now(loop);
    while (answers < 3000 && loop_now(loop) - begun < US_PER_MS) {
        fake_loop_step(loop);
        while (tcp_got(conn))
            answers++;
    }
    assert_int_equal(answers, 3000);
}

static void test_answers_to_waiting_queries_are_bounded_too(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 200);
    fake_loop_settle(loop);
    while (stub_answer(false))
        ;
    fake_loop_settle(loop);
    assert_true(fake_conn_bytes(conn) + stats.stream_memory_bytes <
                2 * SESSION_UNSENT_MAX + LISTEN_SOCKET_SEND_BYTES + 200 * 1024);
    assert_in_range(stats.answers_noerror, 1, SESSION_UNSENT_MAX / 32000);
    fake_loop_advance(loop, SESSION_STALL_US + US_PER_MS);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(server_quota_waiting(quota), 0);
}

static void answer_all(void)
{
    do
        fake_loop_advance(loop, US_PER_MS);
    while (stub_answer(false));
}

static void test_a_client_that_never_reads_leaves_the_places_to_others(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 200);
    fake_loop_settle(loop);
    uint64_t before = stats.stream_memory_bytes;
    while (stub_answer(false))
        ;
    fake_loop_settle(loop);
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_true(stats.stream_memory_bytes > before + 32 * 1024);
}

/* The cache has lost the answers meanwhile, so the queries have to wait again. */
static void test_a_query_that_finds_no_room_and_later_no_place_gets_an_error(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 200);
    fake_loop_settle(loop);
    while (stub_answer(false))
        ;
    fake_loop_settle(loop);
    uint64_t client = server_quota_client(quota, &me);
    for (int i = 0; i < 990; i++)
        assert_int_equal(server_quota_take_waiting(quota, client), QUOTA_TAKEN);
    fake_conn_start_reading(conn);
    answer_all();
    assert_int_equal(count_answers(conn), 200);
    assert_true(stats.answers_servfail > 0 && stats.answers_noerror > 10);
    for (int i = 0; i < 990; i++)
        server_quota_give_waiting(quota, client);
}

static void test_answers_that_found_no_room_come_when_there_is_room(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 200);
    answer_all();
    fake_loop_advance(loop, SESSION_STALL_US / 2);
    fake_conn_start_reading(conn);
    answer_all();
    assert_int_equal(count_answers(conn), 200);
    assert_int_equal(stats.dropped_full, 0);
    assert_false(fake_conn_was_closed(conn));
}

static void test_answers_that_found_no_room_come_to_a_client_that_has_finished(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 50);
    fake_conn_close(conn);
    answer_all();
    fake_conn_start_reading(conn);
    for (int i = 0; i < 100; i++) {
        fake_loop_advance(loop, SESSION_LOOK_US);
        answer_all();
    }
    assert_int_equal(count_answers(conn), 50);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_a_client_that_finished_and_reads_nothing_is_reset(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 50);
    fake_conn_close(conn);
    answer_all();
    fake_loop_advance(loop, SESSION_STALL_US + SESSION_LOOK_US + US_PER_MS);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_int_equal(stats.client_resets_stalled, 1);
}

static void test_a_client_that_finished_and_reads_a_little_is_reset(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 50);
    fake_conn_close(conn);
    answer_all();
    for (uint64_t us = 0; us < 2 * SESSION_STALL_US; us += US_PER_S) {
        fake_conn_start_reading(conn);
        fake_conn_stop_reading(conn, 100);
        fake_loop_advance(loop, US_PER_S);
    }
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(server_quota_waiting(quota), 0);
    assert_int_equal(stats.client_resets_stalled, 1);
}

static void test_large_answers_of_one_turn_reach_a_client_that_reads(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    stub.records = 2000; /* 32 KB per answer, in total far more than SESSION_UNSENT_MAX */
    send_many(conn, "slow.example", 200);
    fake_loop_settle(loop);
    while (stub_answer(false))
        ;
    fake_loop_settle(loop);
    assert_int_equal(count_answers(conn), 200);
    assert_int_equal(stats.dropped_full, 0);
}

static void test_a_client_that_still_sends_at_the_end_gets_a_fin(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 1000);
    stub.records = 2000;
    send_many(conn, "slow.example", 2);
    fake_conn_send_message(conn, span_of("", 0)); /* an empty message makes the session finish */
    fake_loop_settle(loop);
    while (stub_answer(false))
        ;
    send_many(conn, "hit.example", 10); /* to close with these unread would cause a reset */
    fake_loop_settle(loop);
    fake_conn_start_reading(conn);
    fake_loop_advance(loop, 2 * SESSION_LOOK_US);
    assert_int_equal(server_quota_clients(quota), 1);
    fake_loop_advance(loop, SESSION_QUIET_US);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

static void test_queries_left_in_the_kernel_are_still_taken_while_finishing(void **state)
{
    (void)state;
    struct fake_conn *conn = open_client();
    fake_conn_stop_reading(conn, 100);
    stub.records = 1000;
    tcp_ask(conn, "hit.example", 1);
    fake_conn_close(conn);
    fake_loop_advance(loop, SESSION_LINGER_US - US_PER_S);
    assert_int_equal(server_quota_clients(quota), 1);
    fake_conn_start_reading(conn);
    fake_loop_advance(loop, 2 * SESSION_LOOK_US);
    assert_true(tcp_got(conn));
    assert_int_equal(server_quota_clients(quota), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_queries_are_pipelined_and_answers_leave_in_one_write),
        HARNESS_TEST(test_answers_come_in_the_order_in_which_they_are_ready),
        HARNESS_TEST(test_a_stream_gives_large_answers_whole),
        HARNESS_TEST(test_keepalive_tells_the_idle_timeout),
        HARNESS_TEST(test_errors_keep_the_stream),
        HARNESS_TEST(test_an_idle_session_is_closed_with_a_fin),
        HARNESS_TEST(test_a_complete_query_restarts_the_idle_time),
        HARNESS_TEST(test_dribbled_bytes_do_not_keep_a_session),
        HARNESS_TEST(test_a_dribbled_query_in_time_is_answered),
        HARNESS_TEST(test_messages_that_are_no_queries_do_not_keep_a_session),
        HARNESS_TEST(test_garbage_that_is_answered_does_not_keep_a_session),
        HARNESS_TEST(test_a_query_that_waits_with_bytes_behind_it_does_not_keep_a_session),
        HARNESS_TEST(test_queries_that_wait_at_the_idle_timeout_are_answered_first),
        HARNESS_TEST(test_a_half_closed_client_gets_its_answers),
        HARNESS_TEST(test_queries_right_before_a_fin_are_answered),
        HARNESS_TEST(test_a_fin_without_queries_closes_at_once),
        HARNESS_TEST(test_a_reset_ends_the_session_and_waiting_queries_keep_their_places),
        HARNESS_TEST(test_a_reset_after_a_fin_ends_in_bounded_time),
        HARNESS_TEST(test_a_message_shorter_than_a_header_ends_the_session),
        HARNESS_TEST(test_a_scrap_does_not_cost_earlier_queries_their_answers),
        HARNESS_TEST(test_garbage_is_survived),
        HARNESS_TEST(test_the_longest_message_is_answered),
        HARNESS_TEST(test_a_long_message_costs_no_more_memory_than_a_query_may_have),
        HARNESS_TEST(test_a_query_that_is_stuffed_beyond_the_bound_is_malformed),
        HARNESS_TEST(test_queries_in_flight_are_bounded_and_none_is_lost),
        HARNESS_TEST(test_a_client_that_does_not_read_is_not_read_and_then_closed),
        HARNESS_TEST(test_no_answer_is_lost_on_the_way_to_a_full_session),
        HARNESS_TEST(test_a_session_keeps_its_place_until_its_answers_have_arrived),
        HARNESS_TEST(test_answers_that_never_arrive_are_thrown_away_with_a_reset),
        HARNESS_TEST(test_a_client_that_is_given_up_gets_nothing_more),
        HARNESS_TEST(test_a_client_that_only_sends_is_given_up_in_bounded_time),
        HARNESS_TEST(test_a_slow_reader_gets_everything),
        HARNESS_TEST(test_a_slow_reader_gets_everything_after_the_idle_timeout),
        HARNESS_TEST(test_a_busy_session_gets_everything_after_the_idle_timeout),
        HARNESS_TEST(test_a_session_that_was_busy_ends_when_it_is_idle),
        HARNESS_TEST(test_many_small_answers_of_one_turn_are_not_held_up),
        HARNESS_TEST(test_answers_to_waiting_queries_are_bounded_too),
        HARNESS_TEST(test_a_client_that_never_reads_leaves_the_places_to_others),
        HARNESS_TEST(test_a_query_that_finds_no_room_and_later_no_place_gets_an_error),
        HARNESS_TEST(test_answers_that_found_no_room_come_when_there_is_room),
        HARNESS_TEST(test_answers_that_found_no_room_come_to_a_client_that_has_finished),
        HARNESS_TEST(test_a_client_that_finished_and_reads_a_little_is_reset),
        HARNESS_TEST(test_a_client_that_finished_and_reads_nothing_is_reset),
        HARNESS_TEST(test_large_answers_of_one_turn_reach_a_client_that_reads),
        HARNESS_TEST(test_a_client_that_still_sends_at_the_end_gets_a_fin),
        HARNESS_TEST(test_queries_left_in_the_kernel_are_still_taken_while_finishing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
