/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Opening, draining and closing a worker's client side. */
#include "unit/serve/harness.h"

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

static void test_an_idle_server_is_drained_at_once(void **state)
{
    (void)state;
    drain();
    assert_int_equal(drained, 1);
}

static void test_idle_sessions_are_closed_by_draining(void **state)
{
    (void)state;
    struct fake_conn *conns[10];
    for (int i = 0; i < 10; i++)
        conns[i] = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    drain();
    assert_int_equal(drained, 1);
    fake_loop_settle(loop);
    for (int i = 0; i < 10; i++)
        assert_int_equal(fake_conn_state(conns[i]), FAKE_CONN_CLOSED);
    fake_loop_advance(loop, US_PER_S);
    assert_int_equal(drained, 1);
}

static void test_what_waits_is_answered_before_the_drain_is_over(void **state)
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

static void test_nothing_new_waits_while_draining(void **state)
{
    (void)state;
    udp_ask("slow.example", 1);
    drain();
    udp_ask("miss.example", 2);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_SERVFAIL);
    struct edns_ede ede;
    assert_int_equal(edns_find_ede(&got.edns, &ede), EDNS_FOUND);
    assert_int_equal(ede.code, EDE_NOT_READY);
    udp_ask("hit.example", 3);
    assert_true(udp_got());
    assert_int_equal(message_rcode(&got), RCODE_NOERROR);
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    fake_loop_settle(loop);
    assert_int_equal(fake_conn_state(conn), FAKE_CONN_FAILED);
    stub_answer(false);
    fake_loop_settle(loop);
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
    for (int i = 0; i < 10; i++) {
        struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
        fake_loop_settle(loop);
        make_query("slow.example", 1);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        HARNESS_TEST(test_every_address_listens_on_both_transports),
        BARE_TEST(test_an_address_that_is_missing_does_not_matter),
        BARE_TEST(test_both_transports_get_the_same_free_port),
        HARNESS_TEST(test_an_idle_server_is_drained_at_once),
        HARNESS_TEST(test_idle_sessions_are_closed_by_draining),
        HARNESS_TEST(test_what_waits_is_answered_before_the_drain_is_over),
        HARNESS_TEST(test_nothing_new_waits_while_draining),
        HARNESS_TEST(test_the_server_may_be_freed_when_drained),
        HARNESS_TEST(test_a_server_may_be_freed_in_the_middle_of_everything),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
