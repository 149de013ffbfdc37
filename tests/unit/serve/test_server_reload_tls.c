/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* TLS listeners that come and go with a reload. */
#include "serve/listener.h"
#include "unit/serve/harness_tls.h"

static unsigned ended;

static void on_ended(void *context)
{
    (void)context;
    ended++;
}

/* Reloads with the same options and quota, but with this many addresses of TLS. */
static void reload_tls(size_t count)
{
    static struct server_options next;
    size_t which;
    next = options;
    next.listen_tls_count = count;
    assert_int_equal(listen_sockets_prepare(sockets, &next, &which), ERR_OK);
    struct listen_share *share = listen_sockets_take(sockets, 0);
    listen_sockets_commit(sockets);
    ended = 0;
    server_reload(server, &next, &share, quota, on_ended, NULL);
}

static int setup_plain(void **state)
{
    (void)state;
    begin();
    options.listen_tls_count = 0;
    harness_open();
    return 0;
}

static void test_a_server_may_begin_to_serve_tls(void **state)
{
    (void)state;
    use_certificate(cert);
    reload_tls(1);
    assert_int_equal(ended, 1);
    struct dot_client *client = open_client();
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    assert_int_equal(stats.queries_tls, 1);
}

static void test_tls_sessions_live_through_a_reload(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    reload_tls(1);
    stub_answer(false);
    assert_true(tls_got(client));
    tls_ask(client, "hit.example", 2);
    assert_true(tls_got(client));
    assert_int_equal(server_quota_clients(quota), 1);
}

static void test_tls_sessions_of_a_removed_address_are_asked_to_close_and_finished(void **state)
{
    (void)state;
    struct edns_keepalive keepalive;
    struct dot_client *client = open_client();
    struct fake_conn *silent = connect_from("127.0.0.10@4000"); /* sends no ClientHello */
    reload_tls(0);
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    assert_int_equal(edns_find_keepalive(&got.edns, &keepalive), EDNS_FOUND);
    assert_int_equal(keepalive.timeout_100ms, 0);
    tls_ask(client, "slow.example", 2);
    fake_loop_advance(loop, LISTENER_END_US + 1000);
    assert_true(fake_conn_was_closed(silent));
    assert_int_equal(ended, 0);
    stub_answer(false);
    assert_true(tls_got(client));
    fake_loop_advance(loop, US_PER_S);
    dot_settle(client, loop);
    assert_true(client->got_notify);
    assert_int_equal(ended, 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_server_may_begin_to_serve_tls, setup_plain,
                                        teardown),
        TEST(test_tls_sessions_live_through_a_reload),
        TEST(test_tls_sessions_of_a_removed_address_are_asked_to_close_and_finished),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
