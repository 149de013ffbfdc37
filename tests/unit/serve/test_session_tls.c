/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Clients over TLS. test_session.c tests what they share with TCP. */
#include "unit/serve/harness_tls.h"

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
    /* some clients stall on records with two messages */
    assert_int_equal(client->records - records, 100);
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
    assert_int_equal(SSL_do_handshake(client->ssl), 1); /* the client's Finished is not sent yet */
    client->is_secured = true;
    tls_ask(client, "hit.example", 1);
    assert_true(tls_got(client));
}

static void test_answers_of_any_size_come_whole(void **state)
{
    (void)state;
    struct dot_client *client = open_client();
    stub.records = 4000; /* each answer needs four TLS records */
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

static void test_answers_that_the_kernel_takes_byte_by_byte_arrive(void **state)
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

/* Contexts of other workers and of a renewed certificate have the same keys. */
static void test_sessions_are_resumed_with_whichever_worker(void **state)
{
    (void)state;
    for (int version = TLS1_2_VERSION; version <= TLS1_3_VERSION; version++) {
        struct dot_client *first = open_client_with(version, NULL);
        tls_ask(first, "hit.example", 1); /* tickets of TLS 1.3 follow the handshake */
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

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(test_queries_are_answered_over_both_versions),
        TEST(test_older_versions_are_refused),
        TEST(test_dot_is_chosen_among_protocols),
        TEST(test_a_client_of_another_protocol_is_refused),
        TEST(test_pipelined_queries_take_one_read_and_one_write),
        TEST(test_answers_come_in_the_order_in_which_they_are_ready),
        TEST(test_a_query_may_come_with_the_end_of_the_handshake),
        TEST(test_answers_of_any_size_come_whole),
        TEST(test_a_client_may_send_one_byte_at_a_time),
        TEST(test_answers_that_the_kernel_takes_byte_by_byte_arrive),
        TEST(test_padded_queries_get_padded_answers),
        TEST(test_answers_that_had_to_wait_are_padded_too),
        TEST(test_the_same_query_over_tcp_is_not_padded),
        TEST(test_keepalive_tells_the_idle_timeout),
        TEST(test_a_new_certificate_leaves_open_clients_alone),
        TEST(test_sessions_are_resumed_with_whichever_worker),
        TEST(test_tickets_of_other_keys_mean_a_full_handshake),
    };
    return cmocka_run_group_tests(tests, make_certificate, free_certificate);
}
