/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A worker's client side opens, drains and closes. */
#include "unit/serve/harness.h"

#include "serve/session.h"

static int setup_without_server(void **state)
{
    (void)state;
    harness_begin();
    assert_int_equal(prefix_set_freeze(options.access), ERR_OK);
    quota = server_quota_new(&options, NULL);
    return 0;
}

static void test_every_address_listens_on_both_transports(void **state)
{
    (void)state;
    for (size_t i = 0; i < options.listen_count; i++) {
        here = listens[i];
        assert_true(addr_equal(listen_sockets_local(sockets, i), &here));
        me = fake_addr(i ? "::1@7000" : "127.0.0.1@7000");
        udp_ask("hit.example", 1);
        assert_true(udp_got());
        struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
        fake_loop_settle(loop);
        assert_true(fake_conn_is_held(conn));
    }
}

static void test_an_address_that_is_missing_does_not_matter(void **state)
{
    (void)state;
    fake_net_fail_listen(net, &listens[1], ERR_ADDRESS_UNKNOWN);
    harness_serve();
    assert_null(listen_sockets_local(sockets, 1));
    udp_ask("hit.example", 1);
    assert_true(udp_got());
}

static void test_both_transports_get_the_same_free_port(void **state)
{
    (void)state;
    addr_set_port(&listens[0], 0);
    harness_serve();
    here = *listen_sockets_local(sockets, 0);
    assert_int_not_equal(addr_port(&here), 0);
    udp_ask("hit.example", 1);
    assert_true(udp_got());
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    assert_true(fake_conn_is_held(conn));
}

/* ---- draining ---- */

static unsigned drained;

static void on_drained(void *context)
{
    assert_ptr_equal(context, &drained);
    drained++;
}

static void drain(void)
{
    drained = 0;
    server_drain(server, on_drained, &drained);
}

/* A drain reads the sockets until they are empty, which takes a moment. */
static void test_an_idle_server_is_drained_as_soon_as_its_sockets_are_empty(void **state)
{
    (void)state;
    drain();
    assert_int_equal(drained, 0);
    fake_loop_advance(loop, UDP_SERVER_END_US);
    assert_int_equal(drained, 1);
}

static void test_idle_sessions_are_closed_by_draining(void **state)
{
    (void)state;
    struct fake_conn *conns[10];
    for (int i = 0; i < 10; i++)
        conns[i] = fake_client_tcp_open(net, &here, &me);
    fake_loop_advance(loop, SESSION_NEW_US);
    drain();
    fake_loop_advance(loop, UDP_SERVER_END_US);
    assert_int_equal(drained, 1);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fake_conn_state(conns[i]), FAKE_CONN_CLOSED);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
}

static void test_waiting_queries_are_answered_before_the_drain_is_over(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    udp_ask("udp.example", 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    drain();
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 0);
    stub_answer(false);
    assert_true(udp_got());
    assert_int_equal(drained, 0);
    stub_answer(false);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
    assert_int_equal(fake_conn_messages(conn), 1);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

static bool is_answered(uint16_t id)
{
    return udp_got() && got.id == id && message_rcode(&got) == RCODE_NOERROR;
}

/* No other daemon takes over our own sockets, so they must serve until the end. */
static void test_own_sockets_serve_as_before_while_old_queries_wait(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    drain();
    udp_ask("hit.example", 2);
    assert_true(is_answered(2));
    udp_ask("miss.example", 3);
    assert_false(udp_got());
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    make_query("hit.example", 4);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_messages(conn), 1);
    assert_true(stub_answer(true));
    assert_true(is_answered(3));
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 0);
    assert_true(stub_answer(false));
    assert_true(is_answered(1));
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
}

/* New queries must not prolong the stop. */
static void test_new_queries_do_not_prolong_the_time_that_own_sockets_serve(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    drain();
    udp_ask("new.example", 2);
    assert_true(stub_answer(false));
    assert_true(is_answered(1));
    fake_loop_advance(loop, UDP_SERVER_END_US);
    udp_ask("hit.example", 3); /* the kernel refuses this query */
    assert_false(udp_got());
    assert_int_equal(drained, 0);
    assert_true(stub_answer(false)); /* the waiting query is still answered */
    assert_true(is_answered(2));
    assert_int_equal(drained, 1);
}

static void test_own_sockets_do_not_serve_for_ever_while_a_query_waits(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    drain();
    fake_loop_advance(loop, SERVER_LAST_US - 1000);
    udp_ask("hit.example", 2);
    assert_true(is_answered(2));
    fake_loop_advance(loop, 1000 + 2 * UDP_SERVER_END_US);
    udp_ask("hit.example", 3);
    assert_false(udp_got());
    assert_int_equal(drained, 0);
    assert_true(stub_answer(false));
    assert_true(is_answered(1));
    assert_int_equal(drained, 1);
}

/* When the drain begins, datagrams and connections have arrived that are not read yet. */
static void test_queries_in_the_kernel_are_answered(void **state)
{
    (void)state;
    make_query("hit.example", 1);
    fake_client_udp_send(net, &here, &me, span_of(sent, sent_len));
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_advance(loop, 0);
    drain();
    assert_true(is_answered(1));
    fake_loop_advance(loop, 2 * US_PER_S);
    assert_int_equal(fake_conn_messages(conn), 1);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
    assert_int_equal(drained, 1);
}

static void test_a_client_that_has_left_is_not_waited_for(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    make_query("slow.example", 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    drain();
    fake_loop_settle(loop);
    fake_conn_reset(conn);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
    expect_orphans(1);
}

/* ---- stream clients of a server that drains ---- */

static struct fake_conn *tcp_client(void)
{
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_advance(loop, SESSION_NEW_US);
    return conn;
}

static void tcp_ask(struct fake_conn *conn, const char *name)
{
    make_query(name, 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
}

/* A client that keeps asking gets a FIN at once. The reset of a closed socket must not reach it
 * before it has read its answers. */
static void test_a_busy_client_gets_a_fin_behind_its_answers(void **state)
{
    (void)state;
    struct fake_conn *conn = tcp_client();
    tcp_ask(conn, "hit.example");
    fake_loop_settle(loop);
    drain();
    fake_loop_advance(loop, SESSION_LAST_US);
    assert_int_equal(fake_conn_messages(conn), 1);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
    for (uint64_t us = 0; us < SESSION_DRAIN_LINGER_US - SESSION_LAST_US; us += 10000) {
        assert_int_equal(drained, 0);
        tcp_ask(conn, "hit.example");
        fake_loop_advance(loop, 10000);
    }
    fake_loop_advance(loop, 10000);
    assert_int_equal(drained, 1);
    assert_int_equal(fake_conn_messages(conn), 1);
}

static void test_a_busy_client_that_closes_at_a_fin_is_not_waited_for(void **state)
{
    (void)state;
    struct fake_conn *conn = tcp_client();
    tcp_ask(conn, "hit.example");
    fake_loop_settle(loop);
    drain();
    fake_loop_advance(loop, SESSION_LAST_US);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
    fake_conn_close(conn);
    fake_loop_settle(loop);
    assert_int_equal(drained, 1);
}

/* A session reads all bytes of its client from the kernel before it finishes, which may take
 * several reads. */
static void test_all_queries_of_a_client_are_answered_before_the_fin(void **state)
{
    (void)state;
    struct fake_conn *conn = tcp_client();
    tcp_ask(conn, "hit.example");
    fake_loop_settle(loop);
    for (int i = 0; i < 20; i++) {
        make_query(i % 2 ? "hit.example" : "miss.example", 1);
        uint8_t framed[514];
        put_u16(framed, (uint16_t)sent_len);
        memcpy(framed + 2, sent, sent_len);
        fake_conn_send_pieces(conn, span_of(framed, sent_len + 2), sent_len + 2, 0);
    }
    while (stub.finds < 3) /* some queries are read, some have arrived, and some are on their way */
        MUST(fake_loop_step(loop));
    drain();
    fake_loop_advance(loop, SESSION_LAST_US);
    while (stub_answer(false))
        continue;
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(fake_conn_messages(conn), 21);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_CLOSED);
    assert_int_equal(drained, 1);
}

/* The client's query is on its way, and a FIN in place of an answer would lose it. */
static void test_a_client_that_has_just_come_may_ask_once(void **state)
{
    (void)state;
    struct fake_conn *late = fake_client_tcp_open(net, &here, &me);
    struct fake_conn *silent = fake_client_tcp_open(net, &here, &me);
    fake_loop_advance(loop, SESSION_NEW_US / 2);
    drain();
    fake_loop_advance(loop, SESSION_NEW_US / 4);
    assert_true(fake_conn_is_held(silent));
    tcp_ask(late, "hit.example");
    fake_loop_advance(loop, SESSION_LAST_US);
    assert_int_equal(fake_conn_messages(late), 1);
    assert_int_equal(fake_conn_state(late), FAKE_CONN_CLOSED);
    fake_conn_close(late);
    fake_loop_advance(loop, SESSION_NEW_US / 4);
    assert_true(fake_conn_was_closed(silent));
    assert_int_equal(drained, 1);
}

/* ---- sockets that others share ---- */

static int given[4]; /* UDP and TCP sockets of both addresses */

static int setup_with_given_sockets(void **state)
{
    (void)state;
    char why[LISTEN_SOCKETS_WHY_MAX];
    harness_begin();
    assert_int_equal(prefix_set_freeze(options.access), ERR_OK);
    quota = server_quota_new(&options, NULL);
    sockets = listen_sockets_new(1);
    for (size_t i = 0; i < ARRAY_LEN(given); i++)
        given[i] = fake_foreign_socket(&listens[i / 2], i % 2 ? LISTEN_TCP : LISTEN_UDP);
    assert_int_equal(listen_sockets_adopt(sockets, given, ARRAY_LEN(given), &options, why), ERR_OK);
    harness_serve_from(sockets);
    return 0;
}

static void test_shared_sockets_are_left_at_once(void **state)
{
    (void)state;
    struct fake_conn *old = tcp_client();
    udp_ask("slow.example", 1);
    tcp_ask(old, "slow.example");
    fake_loop_settle(loop);
    drain();
    unsigned finds = stub.finds;
    udp_ask("hit.example", 2);
    udp_ask("miss.example", 3);
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    tcp_ask(conn, "hit.example");
    fake_loop_advance(loop, SERVER_LAST_US + US_PER_S);
    assert_int_equal(stub.finds, finds); /* later queries belong to the next daemon */
    assert_false(udp_got());
    assert_int_equal(drained, 0);
    assert_true(stub_answer(false));
    assert_true(stub_answer(false));
    assert_true(is_answered(1));
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(fake_conn_messages(old), 1);
    assert_int_equal(drained, 1);
}

static void test_idle_with_shared_sockets_is_drained_at_once(void **state)
{
    (void)state;
    drain();
    assert_int_equal(drained, 1);
}

static void free_server(void *context)
{
    (void)context;
    server_free(server);
    server = NULL;
    drained++;
}

static void test_the_server_may_be_freed_when_drained(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    udp_ask("slow.example", 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    drained = 0;
    server_drain(server, free_server, NULL);
    stub_answer(true);
    stub_answer(true);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
    assert_true(udp_got());
    assert_int_equal(fake_conn_messages(conn), 1);
}

static void test_a_server_may_be_freed_in_the_middle_of_everything(void **state)
{
    (void)state;
    for (uint16_t i = 0; i < 10; i++) {
        struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
        fake_loop_settle(loop);
        make_query("slow.example", i);
        fake_conn_send_message(conn, span_of(sent, sent_len));
        udp_send_from(&me);
    }
    drain();
    server_free(server);
    server = NULL;
    assert_int_equal(drained, 0);
    assert_int_equal(stub.leaves, 20);
}

#define BARE_TEST(name)                                                                            \
    cmocka_unit_test_setup_teardown(name, setup_without_server, harness_teardown)

#define GIVEN_TEST(name)                                                                           \
    cmocka_unit_test_setup_teardown(name, setup_with_given_sockets, harness_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_every_address_listens_on_both_transports),
        BARE_TEST(test_an_address_that_is_missing_does_not_matter),
        BARE_TEST(test_both_transports_get_the_same_free_port),
        HARNESS_TEST(test_an_idle_server_is_drained_as_soon_as_its_sockets_are_empty),
        HARNESS_TEST(test_idle_sessions_are_closed_by_draining),
        HARNESS_TEST(test_waiting_queries_are_answered_before_the_drain_is_over),
        HARNESS_TEST(test_own_sockets_serve_as_before_while_old_queries_wait),
        HARNESS_TEST(test_new_queries_do_not_prolong_the_time_that_own_sockets_serve),
        HARNESS_TEST(test_own_sockets_do_not_serve_for_ever_while_a_query_waits),
        HARNESS_TEST(test_queries_in_the_kernel_are_answered),
        HARNESS_TEST(test_a_client_that_has_left_is_not_waited_for),
        HARNESS_TEST(test_a_busy_client_gets_a_fin_behind_its_answers),
        HARNESS_TEST(test_a_busy_client_that_closes_at_a_fin_is_not_waited_for),
        HARNESS_TEST(test_all_queries_of_a_client_are_answered_before_the_fin),
        HARNESS_TEST(test_a_client_that_has_just_come_may_ask_once),
        GIVEN_TEST(test_shared_sockets_are_left_at_once),
        GIVEN_TEST(test_idle_with_shared_sockets_is_drained_at_once),
        HARNESS_TEST(test_the_server_may_be_freed_when_drained),
        HARNESS_TEST(test_a_server_may_be_freed_in_the_middle_of_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
