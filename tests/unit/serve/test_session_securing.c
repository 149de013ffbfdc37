/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Handshakes that fail, and the bounds on clients that begin one. */
#include "unit/serve/harness_tls.h"

/* ---- handshakes that fail ---- */

static void test_a_client_that_sends_nothing_is_closed(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("127.0.0.9@4000");
    assert_false(closes_within(conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
    assert_int_equal(stats.client_tls_failed, 0);
}

static void test_a_client_that_dribbles_its_handshake_is_closed(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    char *hello;
    SSL_do_handshake(client->ssl);
    long len = BIO_get_mem_data(SSL_get_wbio(client->ssl), &hello);
    fake_conn_send_pieces(client->conn, span_of(hello, (size_t)len), 1, 100 * US_PER_MS);
    assert_false(closes_within(client->conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(client->conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
}

static void test_a_client_that_stops_in_the_middle_is_closed(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_settle(loop);
    assert_true(fake_conn_received(client->conn).len > 0); /* the server's flight has arrived */
    assert_false(closes_within(client->conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(client->conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
}

static void test_a_client_that_does_not_take_our_flight_is_reset(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    fake_conn_delay_acks(client->conn, 3600 * US_PER_S);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_advance(loop, SESSION_SECURE_US + 1000);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(fake_conn_state(client->conn), FAKE_CONN_FAILED);
    assert_int_equal(stats.client_resets_stalled, 1);
}

static void test_idle_time_begins_with_the_end_of_the_handshake(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    fake_loop_advance(loop, SESSION_SECURE_US - US_PER_S);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    assert_false(closes_within(client->conn, 30 * US_PER_S - 2000));
    assert_true(closes_within(client->conn, 4000));
    dot_settle(client, loop);
    assert_true(client->got_notify);
    assert_int_equal(fake_conn_state(client->conn), FAKE_CONN_CLOSED);
    assert_int_equal(stats.client_tls_timeout, 0);
}

static void test_a_fin_in_the_handshake_closes_at_once(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_settle(loop);
    fake_conn_close(client->conn);
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.client_tls_failed, 1);
}

static void test_a_scan_of_ports_closes_at_once(void **state)
{
    (void)state;
    fake_conn_close(connect_from("127.0.0.9@4000"));
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 0);
    fake_conn_reset(connect_from("127.0.0.9@4001"));
    fake_loop_settle(loop);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.client_tls_failed, 2);
}

static void test_plain_dns_is_not_answered(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("127.0.0.9@4000");
    make_query("hit.example", 1);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(stub.finds, 0);
    assert_int_equal(stats.queries_tls + stats.queries_tcp, 0);
    assert_int_equal(stats.client_tls_failed, 1);
}

static void test_garbage_is_survived(void **state)
{
    (void)state;
    rand_seed_for_tests(11);
    for (int round = 0; round < 200; round++) {
        struct fake_conn *conn = connect_from("127.0.0.9@4000");
        uint8_t noise[300];
        rand_bytes(noise, sizeof(noise));
        if (round & 1) /* half of them begin like a handshake */
            memcpy(noise, "\x16\x03\x01\x01\x00\x01\x00\x00\xfc\x03\x03", 11);
        fake_conn_send_pieces(conn, span_of(noise, sizeof(noise)), 1 + rand_below(100), 0);
        fake_loop_advance(loop, SESSION_SECURE_US + 1000);
        assert_int_equal(server_quota_clients(quota), 0);
    }
    assert_int_equal(stats.client_tls_failed + stats.client_tls_timeout, 200);
}

static void test_garbage_after_the_handshake_ends_the_session(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    fake_conn_send(client->conn,
                   span_of("\x17\x03\x03\x00\x20garbagegarbagegarbagegarbagegarb", 37));
    fake_loop_settle(loop);
    assert_true(fake_conn_was_closed(client->conn));
    expect_orphans(1);
    assert_int_equal(stats.client_tls_failed, 0);
}

static void test_renegotiation_is_refused(void **state)
{
    (void)state;
    struct dot_client *client = open_client_with(TLS1_2_VERSION, NULL);
    assert_int_equal(SSL_renegotiate(client->ssl), 1);
    SSL_do_handshake(client->ssl);
    dot_settle(client, loop);
    assert_true(client->has_failed); /* an alert tells the client */
    fake_conn_close(client->conn);
    fake_loop_settle(loop);
    assert_int_equal(stats.client_tls_full, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_keys_may_be_changed(void **state)
{
    (void)state;
    struct dot_client *client = open_client_with(TLS1_3_VERSION, NULL);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(SSL_key_update(client->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        tls_ask(client, "hit.example", 1);
        assert_true(tls_got(client));
    }
}

static void test_an_alert_ends_the_session_and_its_waiting_queries(void **state)
{
    (void)state;
    struct dot_client *client = open_client_with(TLS1_2_VERSION, NULL);
    tls_ask(client, "slow.example", 1);
    /* A record that cannot be opened makes the client send bad_record_mac. */
    BIO_write(SSL_get_rbio(client->ssl), "\x17\x03\x03\x00\x20garbagegarbagegarbagegarbagegarb",
              37);
    dot_settle(client, loop);
    assert_true(client->has_failed);
    expect_orphans(1);
    assert_int_equal(server_quota_clients(quota), 0);
    assert_int_equal(stats.client_tls_failed, 0);
}

static char logged[1024];
static enum log_level logged_level;

static void keep_line(enum log_level level, const char *line)
{
    logged_level = level;
    snprintf(logged, sizeof(logged), "%s", line);
}

static void test_a_client_that_does_not_trust_us_shows_in_the_log(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_set_verify(client->ssl, SSL_VERIFY_PEER, NULL);
    log_set_sink(keep_line);
    log_set_level(LOG_INFO);
    dot_settle(client, loop);
    assert_true(client->has_failed);
    fake_conn_close(client->conn);
    fake_loop_settle(loop);
    assert_int_equal(stats.client_tls_failed, 1);
    assert_int_equal(logged_level, LOG_INFO);
    assert_non_null(strstr(logged, "127.0.0.9@4000"));
    assert_non_null(strstr(logged, "unknown ca"));
}

/* ---- handshakes take turns ---- */

/* Opens more clients at this address. All their handshakes begin in one turn. */
static void begin_together(const char *from, size_t count)
{
    for (size_t i = 0; i < count; i++)
        SSL_do_handshake(begin_client(from, 0, NULL)->ssl);
}

static void send_hellos(void)
{
    for (size_t i = 0; i < client_count; i++)
        dot_send_wire(&clients[i]);
}

static bool has_our_flight(const struct dot_client *client)
{
    return fake_conn_bytes(client->conn) > 0;
}

static unsigned flights(void)
{
    unsigned count = 0;
    for (size_t i = 0; i < client_count; i++)
        count += has_our_flight(&clients[i]);
    return count;
}

/* Datagrams that arrive meanwhile are answered between two steps. */
static void test_few_handshakes_go_on_in_a_turn(void **state)
{
    (void)state;
    begin_together("127.0.0.9@0", CLIENTS_MAX);
    send_hellos();
    unsigned before = 0, turns = 0;
    while (flights() < CLIENTS_MAX) {
        assert_true(fake_loop_step(loop));
        assert_in_range(flights() - before, 0, HANDSHAKE_STEPS_PER_TURN);
        turns += flights() > before;
        before = flights();
    }
    assert_in_range(turns, CLIENTS_MAX / HANDSHAKE_STEPS_PER_TURN, CLIENTS_MAX);
    for (unsigned i = 0; i < CLIENTS_MAX; i++) {
        dot_settle(&clients[i], loop);
        assert_true(clients[i].is_secured);
    }
    assert_int_equal(stats.client_tls_full, CLIENTS_MAX);
    assert_true(stats.client_tls_waited > 0);
}

static void test_a_client_with_many_handshakes_does_not_delay_another(void **state)
{
    (void)state;
    begin_together("127.0.0.9@0", CLIENTS_MAX - 1);
    begin_together("127.0.0.10@0", 1);
    send_hellos();
    while (!has_our_flight(&clients[CLIENTS_MAX - 1]))
        assert_true(fake_loop_step(loop));
    assert_in_range(flights(), 1, 2 * HANDSHAKE_STEPS_PER_TURN);
}

static void test_a_client_that_leaves_while_it_waits_costs_no_flight(void **state)
{
    (void)state;
    begin_together("127.0.0.9@0", CLIENTS_MAX);
    send_hellos();
    for (unsigned i = 4; i < CLIENTS_MAX; i++)
        fake_conn_close(clients[i].conn);
    fake_loop_settle(loop);
    assert_int_equal(flights(), 4);
    assert_int_equal(stats.client_tls_failed, CLIENTS_MAX - 4);
}

/* ---- clients that get a session ---- */

static void test_a_client_to_be_dropped_gets_no_byte(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("192.0.2.66@1000");
    fake_loop_advance(loop, 1000);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(fake_conn_bytes(conn), 0);
    assert_int_equal(stats.clients_refused_acl, 1);
}

static void test_a_refused_client_gets_no_handshake(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("192.0.2.1@1000", 0, NULL);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_advance(loop, 1000);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(fake_conn_bytes(client->conn), 0);
    assert_int_equal(stats.clients_refused_acl, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_an_address_has_its_limit_over_tcp_and_tls_together(void **state)
{
    (void)state;
    harness_end_server();
    server_quota_free(quota);
    options.max_clients_per_address = 2;
    quota = server_quota_new(&options, NULL);
    harness_serve();
    use_certificate(cert);
    fake_client_tcp_open(net, &here, &me);
    open_client();
    struct fake_conn *third = connect_from("127.0.0.9@4002");
    assert_true(fake_conn_was_closed(third));
    assert_int_equal(stats.clients_refused_full, 1);
    assert_true(fake_conn_is_held(connect_from("127.0.0.10@4000")));
}

static void test_a_handshake_that_does_not_end_makes_room(void **state)
{
    (void)state;
    struct fake_conn *conns[50];
    for (unsigned i = 0; i < options.max_clients_per_address; i++)
        conns[i] = connect_from("127.0.0.9@0");
    fake_loop_advance(loop, SESSION_SPARED_US);
    struct dot_client *late = begin_client("127.0.0.9@0", 0, NULL);
    dot_settle(late, loop);
    assert_true(late->is_secured);
    assert_true(fake_conn_was_closed(conns[0]));
    assert_true(fake_conn_is_held(conns[1]));
    assert_int_equal(stats.clients_displaced, 1);
}

/* The clients of the first flights are idle, and the others wait for us. The last newcomer takes
 * the place of the client with most of the waiting handshakes. */
static void test_a_handshake_that_waits_for_us_is_not_idle(void **state)
{
    enum { NEWCOMERS = HANDSHAKE_STEPS_PER_TURN + 1 };
    (void)state;
    harness_end_server();
    server_quota_free(quota);
    options.max_clients = CLIENTS_MAX - NEWCOMERS;
    quota = server_quota_new(&options, NULL);
    harness_serve();
    use_certificate(cert);
    begin_together("127.0.0.9@0", CLIENTS_MAX - NEWCOMERS);
    send_hellos();
    while (flights() == 0)
        assert_true(fake_loop_step(loop));
    fake_loop_jump(loop, 2 * SESSION_SPARED_US);
    struct addr newcomer = fake_addr("127.0.0.10@0");
    for (int i = 0; i < NEWCOMERS; i++)
        fake_client_tcp_open(net, &tls_listen[0], &newcomer);
    while (stats.clients_displaced + stats.client_tls_crowded < NEWCOMERS)
        assert_true(fake_loop_step(loop));
    assert_int_equal(stats.clients_displaced, HANDSHAKE_STEPS_PER_TURN);
    assert_int_equal(stats.client_tls_crowded, 1);
    assert_int_equal(stats.clients_refused_full, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        /* This test reads the first log line, because later ones are limited. */
        TEST(test_a_client_that_does_not_trust_us_shows_in_the_log),
        TEST(test_a_client_that_sends_nothing_is_closed),
        TEST(test_a_client_that_dribbles_its_handshake_is_closed),
        TEST(test_a_client_that_stops_in_the_middle_is_closed),
        TEST(test_a_client_that_does_not_take_our_flight_is_reset),
        TEST(test_idle_time_begins_with_the_end_of_the_handshake),
        TEST(test_a_fin_in_the_handshake_closes_at_once),
        TEST(test_a_scan_of_ports_closes_at_once),
        TEST(test_plain_dns_is_not_answered),
        TEST(test_garbage_is_survived),
        TEST(test_garbage_after_the_handshake_ends_the_session),
        TEST(test_renegotiation_is_refused),
        TEST(test_keys_may_be_changed),
        TEST(test_an_alert_ends_the_session_and_its_waiting_queries),
        TEST(test_few_handshakes_go_on_in_a_turn),
        TEST(test_a_client_with_many_handshakes_does_not_delay_another),
        TEST(test_a_client_that_leaves_while_it_waits_costs_no_flight),
        TEST(test_a_client_to_be_dropped_gets_no_byte),
        TEST(test_a_refused_client_gets_no_handshake),
        TEST(test_an_address_has_its_limit_over_tcp_and_tls_together),
        TEST(test_a_handshake_that_does_not_end_makes_room),
        TEST(test_a_handshake_that_waits_for_us_is_not_idle),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
