/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Clients over TLS, the friendly and the others. What sessions do alike over TCP is in
 * test_session.c. */
#include "unit/serve/harness.h"

#include <stdio.h>

#include "net/tls_ticket_keys.h"
#include "serve/session.h"
#include "unit/serve/dot_client.h"

enum { CLIENTS_MAX = 8 };

static struct addr tls_listen[1];
static struct tls_cert *cert;
static struct tls_ticket_keys *keys;
static struct tls_ticket_keys *keys_before[2]; /* as long as connections made with them live */
static struct dot_client clients[CLIENTS_MAX];
static size_t client_count;

static void use_certificate(const struct tls_cert *which)
{
    struct tls_context *context = dot_make_context(which, keys);
    server_set_tls(server, &context);
    assert_null(context);
}

static void begin(void)
{
    harness_begin();
    tls_listen[0] = fake_addr("127.0.0.1@853");
    options.listen_tls = tls_listen;
    options.listen_tls_count = 1;
    keys = tls_ticket_keys_new(0);
    client_count = 0;
}

static void open_server(void)
{
    harness_open();
    use_certificate(cert);
}

static int setup(void **state)
{
    (void)state;
    begin();
    open_server();
    return 0;
}

static int teardown(void **state)
{
    for (size_t i = 0; i < client_count; i++)
        dot_free(&clients[i]);
    int result = harness_teardown(state);
    tls_ticket_keys_free(keys);
    for (size_t i = 0; i < 2; i++)
        tls_ticket_keys_free(keys_before[i]);
    memset(keys_before, 0, sizeof(keys_before));
    log_set_sink(NULL);
    return result;
}

static int make_certificate(void **state)
{
    (void)state;
    cert = tls_certs_make(&(struct tls_cert_wish){.name = "localhost"});
    return 0;
}

static int free_certificate(void **state)
{
    (void)state;
    tls_certs_free_cert(cert);
    return 0;
}

/* ---- clients ---- */

static struct fake_conn *connect_from(const char *from)
{
    struct addr client = fake_addr(from);
    struct fake_conn *conn = fake_client_tcp_open(net, &tls_listen[0], &client);
    fake_loop_settle(loop);
    return conn;
}

static struct dot_client *begin_client(const char *from, int version, SSL_SESSION *session)
{
    assert_in_range(client_count, 0, CLIENTS_MAX - 1);
    struct dot_client *client = &clients[client_count++];
    dot_begin(client, connect_from(from), version, session);
    return client;
}

static struct dot_client *open_client_with(int version, SSL_SESSION *session)
{
    struct dot_client *client = begin_client("127.0.0.9@4000", version, session);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    return client;
}

static struct dot_client *open_client(void)
{
    return open_client_with(0, NULL);
}

static void tls_ask(struct dot_client *client, const char *name, uint16_t id)
{
    make_query(name, id);
    dot_send_message(client, span_of(sent, sent_len));
    dot_settle(client, loop);
}

static bool tls_got(struct dot_client *client)
{
    struct span message;
    dot_settle(client, loop);
    if (!dot_next_message(client, &message))
        return false;
    got_message(message);
    return true;
}

/* So many queries in as few records as they fit in. */
static void send_many(struct dot_client *client, const char *name, unsigned count)
{
    uint8_t *bytes = malloc(count * 512u);
    size_t len = 0;
    for (unsigned i = 0; i < count; i++) {
        make_query(name, (uint16_t)i);
        put_u16(bytes + len, (uint16_t)sent_len);
        memcpy(bytes + len + 2, sent, sent_len);
        len += 2 + sent_len;
    }
    dot_send(client, span_of(bytes, len));
    free(bytes);
}

static bool closes_within(struct fake_conn *conn, uint64_t us)
{
    fake_loop_advance(loop, us);
    return fake_conn_was_closed(conn);
}

/* ---- the ordinary life ---- */

static void test_queries_are_answered_over_both_versions(void **state)
{
    (void)state;
    const int versions[] = {TLS1_2_VERSION, TLS1_3_VERSION};
    for (size_t i = 0; i < 2; i++) {
        struct dot_client *client = open_client_with(versions[i], NULL);
        assert_int_equal(SSL_version(client->ssl), versions[i]);
        tls_ask(client, "hit.Example", 7);
        assert_true(tls_got(client));
        assert_int_equal(got.id, 7);
        assert_memory_equal(got.question.name.wire, "\3hit\7Example", 13);
        assert_int_equal(stats.queries_tls, i + 1);
    }
    assert_int_equal(stats.queries_tcp, 0);
    assert_int_equal(stats.client_tls_full, 2);
    assert_int_equal((int64_t)stats.stream_clients, 2);
}

static void test_older_versions_are_refused(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", TLS1_1_VERSION, NULL);
    SSL_set_security_level(client->ssl, 0);
    dot_settle(client, loop);
    assert_false(client->is_secured);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(stats.client_tls_failed, 1);
}

static void test_dot_is_chosen_among_protocols(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_set_alpn_protos(client->ssl, (const unsigned char *)"\2h2\3dot", 7);
    dot_settle(client, loop);
    const unsigned char *chosen;
    unsigned len;
    SSL_get0_alpn_selected(client->ssl, &chosen, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(chosen, "dot", 3);
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
}

static void test_a_client_of_another_protocol_is_refused(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_set_alpn_protos(client->ssl, (const unsigned char *)"\2h2", 3);
    dot_settle(client, loop);
    assert_true(client->has_failed);
    assert_true(fake_conn_was_closed(client->conn));
    assert_int_equal(stats.client_tls_failed, 1);
}

static void test_pipelined_queries_take_one_read_and_one_write(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    uint64_t reads = fake_conn_reads(client->conn), writes = fake_conn_writes(client->conn);
    size_t records = client->records;
    send_many(client, "hit.example", 100);
    for (uint16_t i = 0; i < 100; i++) {
        assert_true(tls_got(client));
        assert_int_equal(got.id, i);
    }
    assert_int_equal(fake_conn_reads(client->conn) - reads, 1);
    assert_int_equal(fake_conn_writes(client->conn) - writes, 1);
    assert_int_equal(client->records - records, 1);
    assert_int_equal(stats.queries_tls, 100);
}

static void test_answers_come_in_the_order_in_which_they_are_ready(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    tls_ask(client, "hit.example", 2);
    assert_true(tls_got(client));
    assert_int_equal(got.id, 2);
    assert_true(stub_answer(true));
    assert_true(tls_got(client));
    assert_int_equal(got.id, 1);
}

static void test_a_query_may_come_with_the_end_of_the_handshake(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", TLS1_3_VERSION, NULL);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_settle(loop);
    assert_true(dot_take_wire(client));
    assert_int_equal(SSL_do_handshake(client->ssl), 1); /* its Finished waits to be sent */
    client->is_secured = true;
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
}

static void test_answers_of_any_size_come_whole(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    stub.records = 4000; /* four records of TLS */
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    assert_int_equal(got.counts[SECTION_ANSWER], 4000);
}

static void test_a_client_may_send_one_byte_at_a_time(void **state)
{
    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        struct dot_client *client = begin_client("127.0.0.9@4000", version, NULL);
        client->piece = 1;
        dot_settle(client, loop);
        assert_true(client->is_secured);
        tls_ask(client, "hit.example", 1);
        assert_true(tls_got(client));
    }
}

static void test_what_the_kernel_takes_byte_by_byte_arrives(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    fake_conn_set_write_max(client->conn, 1);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
}

/* ---- options ---- */

static void ask_with(struct dot_client *client, bool keepalive, bool padding)
{
    struct canned_query query = {"hit.example", 1,     RRTYPE_A,  HEADER_RD,
                                 1232,          false, keepalive, padding};
    sent_len = canned_query(sent, &query);
    dot_send_message(client, span_of(sent, sent_len));
    assert_true(tls_got(client));
}

static void test_padded_queries_get_padded_answers(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    struct span padding;
    ask_with(client, false, true);
    assert_int_equal(got.bytes.len, EDNS_PADDING_ANSWER);
    assert_int_equal(edns_find(&got.edns, EDNS_PADDING, &padding), EDNS_FOUND);
    stub.records = 100;
    ask_with(client, true, true);
    assert_int_equal(got.bytes.len % EDNS_PADDING_ANSWER, 0);
    ask_with(client, true, false);
    assert_int_equal(edns_find(&got.edns, EDNS_PADDING, &padding), EDNS_ABSENT);
}

static void test_answers_that_had_to_wait_are_padded_too(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    struct canned_query query = {"slow.example", 1, RRTYPE_A, HEADER_RD, 1232, false, false, true};
    sent_len = canned_query(sent, &query);
    dot_send_message(client, span_of(sent, sent_len));
    dot_settle(client, loop);
    assert_true(stub_answer(false));
    assert_true(tls_got(client));
    assert_int_equal(got.bytes.len, EDNS_PADDING_ANSWER);
}

static void test_the_same_query_over_tcp_is_not_padded(void **state)
{
    (void)state;
    struct fake_conn *conn = fake_client_tcp_open(net, &here, &me);
    struct canned_query query = {"hit.example", 1, RRTYPE_A, HEADER_RD, 1232, false, false, true};
    struct span message;
    sent_len = canned_query(sent, &query);
    fake_conn_send_message(conn, span_of(sent, sent_len));
    fake_loop_settle(loop);
    assert_true(fake_conn_next_message(conn, &message));
    got_message(message);
    assert_int_equal(got.edns.options.len, 0);
}

static void test_keepalive_tells_the_idle_timeout(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    struct edns_keepalive keepalive;
    ask_with(client, true, true);
    assert_int_equal(edns_find_keepalive(&got.edns, &keepalive), EDNS_FOUND);
    assert_int_equal(keepalive.timeout_100ms, 300);
}

/* ---- handshakes that come to nothing ---- */

static void test_who_says_nothing_is_cut(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("127.0.0.9@4000");
    assert_false(closes_within(conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
    assert_int_equal(stats.client_tls_failed, 0);
}

static void test_who_dribbles_its_handshake_is_cut(void **state)
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

static void test_who_stops_in_the_middle_is_cut(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("127.0.0.9@4000", 0, NULL);
    SSL_do_handshake(client->ssl);
    dot_send_wire(client);
    fake_loop_settle(loop);
    assert_true(fake_conn_received(client->conn).len > 0); /* our flight */
    assert_false(closes_within(client->conn, SESSION_SECURE_US - 1000));
    assert_true(closes_within(client->conn, 2000));
    assert_int_equal(stats.client_tls_timeout, 1);
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
        if (round & 1) /* like a handshake at first */
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
    assert_int_equal(stub.leaves, 1);
    assert_int_equal(stats.client_tls_failed, 0);
}

static void test_renegotiation_is_refused(void **state)
{
    (void)state;
    struct dot_client *client = open_client_with(TLS1_2_VERSION, NULL);
    assert_int_equal(SSL_renegotiate(client->ssl), 1);
    SSL_do_handshake(client->ssl);
    dot_settle(client, loop);
    assert_true(client->has_failed); /* told so by an alert */
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

static void test_an_alert_ends_the_session_and_what_waits(void **state)
{
    (void)state;
    struct dot_client *client = open_client_with(TLS1_2_VERSION, NULL);
    tls_ask(client, "slow.example", 1);
    /* A record that does not open makes the client say bad_record_mac. */
    BIO_write(SSL_get_rbio(client->ssl), "\x17\x03\x03\x00\x20garbagegarbagegarbagegarbagegarb",
              37);
    dot_settle(client, loop);
    assert_true(client->has_failed);
    assert_int_equal(stub.leaves, 1);
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

static void test_a_fin_without_close_notify_leaves_what_waits_to_be_answered(void **state)
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

static void test_a_reset_ends_what_waits(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    tls_ask(client, "slow.example", 1);
    fake_conn_reset(client->conn);
    fake_loop_settle(loop);
    assert_int_equal(stub.leaves, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

/* ---- who gets a session ---- */

static void test_a_client_to_be_dropped_gets_no_byte(void **state)
{
    (void)state;
    struct fake_conn *conn = connect_from("192.0.2.66@1000");
    fake_loop_advance(loop, 1000);
    assert_true(fake_conn_was_closed(conn));
    assert_int_equal(fake_conn_bytes(conn), 0);
    assert_int_equal(stats.clients_refused_acl, 1);
}

static void test_a_refused_client_is_told_so_after_the_handshake(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("192.0.2.1@1000", 0, NULL);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
    assert_int_equal(message_rcode(&got), RCODE_REFUSED);
    assert_int_equal(stub.finds, 0);
    fake_loop_advance(loop, 2 * SESSION_LOOK_US);
    assert_int_equal(fake_conn_state(client->conn), FAKE_CONN_CLOSED);
}

static void test_a_refused_client_that_says_nothing_has_little_time(void **state)
{
    (void)state;
    struct dot_client *client = begin_client("192.0.2.1@1000", 0, NULL);
    dot_settle(client, loop);
    assert_true(client->is_secured);
    fake_loop_advance(loop, SESSION_REFUSED_US + 1000);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_an_address_has_its_limit_over_tcp_and_tls_together(void **state)
{
    (void)state;
    server_free(server);
    server_quota_free(quota);
    options.max_clients_per_address = 2;
    quota = server_quota_new(&options);
    size_t which;
    assert_int_equal(server_open(&server, loop, &options, &stub, quota, &stats, &which), ERR_OK);
    use_certificate(cert);
    fake_client_tcp_open(net, &here, &me);
    open_client();
    struct fake_conn *third = connect_from("127.0.0.9@4002");
    assert_true(fake_conn_was_closed(third));
    assert_int_equal(stats.clients_refused_full, 1);
    assert_true(fake_conn_is_held(connect_from("127.0.0.10@4000")));
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
    struct fake_conn *securing = connect_from("127.0.0.9@4001");
    drained = 0;
    server_drain(server, on_drained, NULL);
    assert_int_equal(drained, 1);
    dot_settle(idle, loop);
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

static void test_a_draining_listener_takes_nobody(void **state)
{
    (void)state;
    server_drain(server, on_drained, NULL);
    assert_int_equal(fake_conn_state(connect_from("127.0.0.9@4000")), FAKE_CONN_FAILED);
}

/* ---- certificates and tickets ---- */

static void test_a_new_certificate_leaves_open_clients_alone(void **state)
{
    (void)state;
    struct tls_cert *renewed = tls_certs_make(&(struct tls_cert_wish){.name = "localhost"});
    struct dot_client *before = open_client();
    struct dot_client *between = begin_client("127.0.0.9@4001", TLS1_3_VERSION, NULL);
    SSL_do_handshake(between->ssl);
    dot_send_wire(between);
    fake_loop_settle(loop);
    use_certificate(renewed);
    struct dot_client *after = open_client();
    dot_settle(between, loop);
    assert_true(dot_was_shown(before, cert));
    assert_true(dot_was_shown(between, cert));
    assert_true(dot_was_shown(after, renewed));
    tls_certs_free_cert(renewed);
    for (size_t i = 0; i < client_count; i++) {
        tls_ask(&clients[i], "hit.example", 1);
        assert_true(tls_got(&clients[i]));
    }
}

/* Another worker is another context with the same keys: so is a renewed certificate. */
static void test_sessions_are_resumed_with_whichever_worker(void **state)
{
    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        struct dot_client *first = open_client_with(version, NULL);
        tls_ask(first, "hit.example", 1); /* tickets of TLS 1.3 come after the handshake */
        SSL_SESSION *session = SSL_get1_session(first->ssl);
        use_certificate(cert);
        struct dot_client *second = open_client_with(version, session);
        assert_true(SSL_session_reused(second->ssl));
        tls_ask(second, "hit.example", 2);
        assert_true(tls_got(second));
        SSL_SESSION_free(session);
    }
    assert_int_equal(stats.client_tls_full, 2);
    assert_int_equal(stats.client_tls_resumed, 2);
}

static void test_tickets_of_other_keys_mean_a_full_handshake(void **state)
{
    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        struct dot_client *first = open_client_with(version, NULL);
        tls_ask(first, "hit.example", 1);
        SSL_SESSION *session = SSL_get1_session(first->ssl);
        keys_before[version - TLS1_2_VERSION] = keys;
        keys = tls_ticket_keys_new(0);
        use_certificate(cert);
        struct dot_client *second = open_client_with(version, session);
        assert_false(SSL_session_reused(second->ssl));
        SSL_SESSION_free(session);
    }
    assert_int_equal(stats.client_tls_resumed, 0);
}

/* ---- bounds ---- */

static void test_a_client_that_does_not_read_is_not_read_and_then_closed(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    fake_conn_stop_reading(client->conn, 1000);
    stub.records = 2000; /* 32 KB each */
    send_many(client, "hit.example", 200);
    fake_loop_settle(loop);
    assert_in_range(stub.finds, 2, 2 + SESSION_UNSENT_MAX / 32000);
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
    for (int i = 0; i < 100; i++) { /* each in a turn of its own: it is sealed at once */
        stub_answer(false);
        fake_loop_settle(loop);
    }
    assert_true(stats.dropped_full > 0);
    assert_true(stats.answers_noerror <= 2 + SESSION_UNSENT_MAX / 32000);
    fake_loop_advance(loop, SESSION_LINGER_US + SESSION_LOOK_US + SESSION_QUIET_US);
    assert_int_equal(server_quota_clients(quota), 0);
}

static void test_queries_in_flight_are_bounded_and_none_is_lost(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    send_many(client, "slow.example", 600); /* more than a record */
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
    for (int ms = 0; ms < 14900; ms += 100) {
        send_many(client, "hit.example", 10);
        fake_loop_advance(loop, 100 * US_PER_MS);
        assert_int_equal(server_quota_clients(quota), 1);
    }
    fake_loop_advance(loop, US_PER_S);
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

enum { CROWD = 5000 };

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

static void test_five_thousand_idle_clients_are_held_and_the_next_is_not(void **state)
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
    assert_int_equal(drained, 1);
    assert_int_equal(server_quota_clients(quota), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        /* The first, since lines are limited. */
        TEST(test_a_client_that_does_not_trust_us_shows_in_the_log),
        TEST(test_queries_are_answered_over_both_versions),
        TEST(test_older_versions_are_refused),
        TEST(test_dot_is_chosen_among_protocols),
        TEST(test_a_client_of_another_protocol_is_refused),
        TEST(test_pipelined_queries_take_one_read_and_one_write),
        TEST(test_answers_come_in_the_order_in_which_they_are_ready),
        TEST(test_a_query_may_come_with_the_end_of_the_handshake),
        TEST(test_answers_of_any_size_come_whole),
        TEST(test_a_client_may_send_one_byte_at_a_time),
        TEST(test_what_the_kernel_takes_byte_by_byte_arrives),
        TEST(test_padded_queries_get_padded_answers),
        TEST(test_answers_that_had_to_wait_are_padded_too),
        TEST(test_the_same_query_over_tcp_is_not_padded),
        TEST(test_keepalive_tells_the_idle_timeout),
        TEST(test_who_says_nothing_is_cut),
        TEST(test_who_dribbles_its_handshake_is_cut),
        TEST(test_who_stops_in_the_middle_is_cut),
        TEST(test_idle_time_begins_with_the_end_of_the_handshake),
        TEST(test_a_fin_in_the_handshake_closes_at_once),
        TEST(test_a_scan_of_ports_closes_at_once),
        TEST(test_plain_dns_is_not_answered),
        TEST(test_garbage_is_survived),
        TEST(test_garbage_after_the_handshake_ends_the_session),
        TEST(test_renegotiation_is_refused),
        TEST(test_keys_may_be_changed),
        TEST(test_an_alert_ends_the_session_and_what_waits),
        TEST(test_a_client_may_leave_without_close_notify),
        TEST(test_a_half_closed_client_gets_its_answers),
        TEST(test_a_fin_without_close_notify_leaves_what_waits_to_be_answered),
        TEST(test_queries_right_before_the_end_are_answered),
        TEST(test_a_reset_ends_what_waits),
        TEST(test_a_client_to_be_dropped_gets_no_byte),
        TEST(test_a_refused_client_is_told_so_after_the_handshake),
        TEST(test_a_refused_client_that_says_nothing_has_little_time),
        TEST(test_an_address_has_its_limit_over_tcp_and_tls_together),
        TEST(test_draining_ends_idle_clients_with_close_notify),
        TEST(test_draining_waits_for_answers),
        TEST(test_a_draining_listener_takes_nobody),
        TEST(test_a_new_certificate_leaves_open_clients_alone),
        TEST(test_sessions_are_resumed_with_whichever_worker),
        TEST(test_tickets_of_other_keys_mean_a_full_handshake),
        TEST(test_a_client_that_does_not_read_is_not_read_and_then_closed),
        TEST(test_a_slow_reader_gets_everything),
        TEST(test_sealed_answers_count_as_unsent),
        TEST(test_queries_in_flight_are_bounded_and_none_is_lost),
        TEST(test_a_close_notify_behind_queries_that_wait_is_not_lost),
        TEST(test_a_client_that_only_sends_is_given_up_in_bounded_time),
        TEST(test_dribbled_bytes_do_not_keep_a_session),
        cmocka_unit_test_setup_teardown(
            test_five_thousand_idle_clients_are_held_and_the_next_is_not, setup_crowd, teardown),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
