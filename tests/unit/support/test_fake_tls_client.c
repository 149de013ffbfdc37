/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Clients of the fake network that speak TLS, against accepted links of src/net that echo. */

#include "tls_world.h"

#include <openssl/ssl.h>

static void on_accept(void *owner, struct tcp *tcp)
{
    struct world *world = owner;
    struct link_options how = link_how(tls_server(world->accepting));

    if (world->link)
        link_close(&world->link);
    world->words[0] = 0;
    assert_int_equal(link_accept(&world->link, world->loop, &tcp, &how, &link_events, world),
                     ERR_OK);
}

static int set_up_listener(void **state)
{
    struct world *world;
    struct addr listen = fake_addr("127.0.0.1@853");

    set_up(state);
    world = *state;
    struct listen_socket socket = fake_listen_at(&listen, LISTEN_TCP);
    return acceptor_open(&world->acceptor, world->loop, &socket, on_accept, world) == ERR_OK ? 0
                                                                                             : -1;
}

static struct fake_conn *call(struct world *world, struct fake_tls_client_options options)
{
    struct addr from = fake_addr("127.0.0.9@4000");
    struct fake_conn *client =
        fake_client_tls_open(world->net, acceptor_local(world->acceptor), &from, &options);

    settle(world);
    return client;
}

/* Returns true if the echo came back whole. */
static bool echoes(struct world *world, struct fake_conn *client)
{
    struct span message;

    fake_conn_send_message(client, query_of(world));
    settle(world);
    return fake_conn_next_message(client, &message) && span_equal(message, query_of(world));
}

/* ---------------------------------------------------------------- correct clients */

static void test_a_client_asks_and_reads_the_answer(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.alpn = "dot"});
    const struct fake_tls_facts *facts = fake_conn_tls_facts(client);

    assert_true(echoes(world, client));
    assert_string_equal(world->words, "open msg");
    assert_true(facts->finished && !facts->resumed);
    assert_int_equal(facts->version, FAKE_TLS_1_3);
    assert_string_equal(facts->alpn, "dot");
    assert_memory_equal(facts->pin, world->cert->pin, 32);
    assert_false(facts->plain_first);
    assert_int_equal(facts->plain_in, world->query_len + 2);
    assert_false(fake_conn_tls_raw_has(client, query_of(world)));
}

static void test_bytes_sent_before_the_handshake_wait_for_it(void **state)
{
    struct world *world = *state;
    struct addr from = fake_addr("127.0.0.9@4000");
    struct fake_conn *client =
        fake_client_tls_open(world->net, acceptor_local(world->acceptor), &from, NULL);
    struct span message;

    fake_conn_send_message(client, query_of(world));
    settle(world);
    assert_true(fake_conn_next_message(client, &message));
    assert_true(span_equal(message, query_of(world)));
}

static void test_a_client_may_speak_tls_1_2_only(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.only = FAKE_TLS_1_2});

    assert_true(echoes(world, client));
    assert_int_equal(fake_conn_tls_facts(client)->version, FAKE_TLS_1_2);
}

static void test_a_client_of_an_old_version_is_refused(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.only = FAKE_TLS_1_1});

    assert_false(fake_conn_tls_facts(client)->finished);
    assert_int_equal(fake_conn_tls_facts(client)->got_alert, SSL_AD_PROTOCOL_VERSION);
}

static void test_a_client_resumes(void **state)
{
    static const enum fake_tls_version versions[] = {FAKE_TLS_1_2, FAKE_TLS_1_3};
    struct world *world = *state;

    for (size_t i = 0; i < 2; i++) {
        struct fake_conn *first =
            call(world, (struct fake_tls_client_options){.only = versions[i]});
        struct fake_conn *second =
            call(world, (struct fake_tls_client_options){.only = versions[i], .resume = first});
        assert_true(fake_conn_tls_facts(first)->tickets > 0);
        assert_false(fake_conn_tls_facts(first)->resumed);
        assert_true(fake_conn_tls_facts(second)->resumed);
        assert_true(echoes(world, second));
    }
}

static void test_early_data_that_is_not_allowed_comes_after_the_handshake(void **state)
{
    struct world *world = *state;
    struct fake_conn *first = call(world, (struct fake_tls_client_options){0});
    uint8_t framed[2 + QUERY_MAX];
    struct fake_conn *second;
    struct span message;

    put_u16(framed, (uint16_t)world->query_len);
    memcpy(framed + 2, world->query, world->query_len);
    second = call(world, (struct fake_tls_client_options){
                             .resume = first, .early = span_of(framed, world->query_len + 2)});
    assert_false(fake_conn_tls_facts(second)->early_accepted);
    assert_true(fake_conn_next_message(second, &message));
    assert_true(span_equal(message, query_of(world)));
}

static void test_a_client_may_name_the_server_and_use_a_group_and_cipher_of_its_choice(void **state)
{
    struct world *world = *state;
    struct fake_conn *client =
        call(world, (struct fake_tls_client_options){.only = FAKE_TLS_1_3,
                                                     .sni = "dns.test",
                                                     .groups = "P-384",
                                                     .ciphers = "TLS_CHACHA20_POLY1305_SHA256"});

    assert_true(echoes(world, client));
    assert_string_equal(tls_facts(link_tls(world->link)).cipher, "TLS_CHACHA20_POLY1305_SHA256");
}

/* ---------------------------------------------------------------- ALPN */

static void test_a_client_of_another_protocol_is_refused(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.alpn = "h2,http/1.1"});

    assert_false(fake_conn_tls_facts(client)->finished);
    assert_int_equal(fake_conn_tls_facts(client)->got_alert, SSL_AD_NO_APPLICATION_PROTOCOL);
}

static void test_a_client_that_knows_dot_too_is_served(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.alpn = "h2,dot"});

    assert_true(echoes(world, client));
    assert_string_equal(fake_conn_tls_facts(client)->alpn, "dot");
}

/* ---------------------------------------------------------------- faulty clients */

static const char *outcome(struct world *world, struct fake_tls_manner manner)
{
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.manner = manner});

    fake_conn_send_message(client, query_of(world));
    settle(world);
    assert_null(strstr(world->words, "msg"));
    return world->words;
}

static void test_a_client_may_stop_at_any_byte_of_its_hello(void **state)
{
    struct world *world = *state;

    for (size_t bytes = 0; bytes < 200; bytes += 11) {
        assert_string_equal(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_STALL,
                                                                    .after_bytes = bytes}),
                            "");
        assert_non_null(strstr(
            outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_FIN, .after_bytes = bytes}),
            err_str(ERR_TLS_CLOSED)));
        assert_non_null(strstr(
            outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_RST, .after_bytes = bytes}),
            "failed:"));
    }
}

static void test_a_client_may_stop_before_it_is_finished(void **state)
{
    struct world *world = *state;

    assert_string_equal(
        outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_STALL, .after_flights = 1}),
        "");
}

static void test_a_client_may_begin_without_tls(void **state)
{
    struct world *world = *state;

    assert_non_null(
        strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_GARBAGE}), "failed:"));
    assert_non_null(
        strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_PLAIN}), "failed:"));
    assert_non_null(
        strstr(outcome(world, (struct fake_tls_manner){.trouble = FAKE_TLS_REFUSE}), "failed:"));
}

static void test_a_client_may_send_a_byte_at_a_time(void **state)
{
    struct world *world = *state;
    struct fake_conn *client =
        call(world, (struct fake_tls_client_options){.manner = {.piece_bytes = 1}});

    assert_true(echoes(world, client));
    assert_true(fake_conn_reads(client) > 300);
}

/* ---------------------------------------------------------------- after the handshake */

static void test_a_client_closes_politely(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){0});

    fake_conn_close(client);
    settle(world);
    assert_string_equal(world->words, "open fin");
    hang_up(world);
    assert_true(fake_conn_tls_facts(client)->sent_close_notify);
    assert_true(fake_conn_tls_facts(client)->got_close_notify);
}

static void test_a_client_closes_without_close_notify(void **state)
{
    struct world *world = *state;
    struct fake_conn *client =
        call(world, (struct fake_tls_client_options){.manner = {.ending = FAKE_TLS_END_ABRUPT}});

    fake_conn_close(client);
    settle(world);
    assert_string_equal(world->words, "open fin");
    assert_false(fake_conn_tls_facts(client)->sent_close_notify);
}

static void test_a_client_closes_tls_and_keeps_tcp(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){0});

    fake_conn_tls_notify(client);
    settle(world);
    assert_string_equal(world->words, "open fin");
    assert_int_equal(fake_conn_state(client), FAKE_CONN_OPEN);
}

static void test_a_client_may_want_to_renegotiate(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){.only = FAKE_TLS_1_2});

    fake_conn_tls_renegotiate(client);
    settle(world);
    assert_int_equal(fake_conn_tls_facts(client)->got_alert, SSL_AD_NO_RENEGOTIATION);
}

static void test_a_clients_new_keys_change_nothing(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){0});

    fake_conn_tls_update_keys(client);
    settle(world);
    assert_true(echoes(world, client));
}

static void test_a_client_may_send_a_late_alert(void **state)
{
    struct world *world = *state;
    struct fake_conn *client = call(world, (struct fake_tls_client_options){0});

    fake_conn_tls_alert(client);
    settle(world);
    assert_non_null(strstr(world->words, err_str(ERR_TLS_ALERT)));
}

static void test_a_port_without_a_listener_refuses(void **state)
{
    struct world *world = *state;
    struct addr nobody = fake_addr("127.0.0.1@854"), from = fake_addr("127.0.0.9@4000");
    struct fake_conn *client = fake_client_tls_open(world->net, &nobody, &from, NULL);

    settle(world);
    assert_int_equal(fake_conn_state(client), FAKE_CONN_FAILED);
    assert_false(fake_conn_tls_facts(client)->finished);
}

#undef TEST
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_listener, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_client_asks_and_reads_the_answer),
        TEST(test_bytes_sent_before_the_handshake_wait_for_it),
        TEST(test_a_client_may_speak_tls_1_2_only),
        TEST(test_a_client_of_an_old_version_is_refused),
        TEST(test_a_client_resumes),
        TEST(test_early_data_that_is_not_allowed_comes_after_the_handshake),
        TEST(test_a_client_may_name_the_server_and_use_a_group_and_cipher_of_its_choice),
        TEST(test_a_client_of_another_protocol_is_refused),
        TEST(test_a_client_that_knows_dot_too_is_served),
        TEST(test_a_client_may_stop_at_any_byte_of_its_hello),
        TEST(test_a_client_may_stop_before_it_is_finished),
        TEST(test_a_client_may_begin_without_tls),
        TEST(test_a_client_may_send_a_byte_at_a_time),
        TEST(test_a_client_closes_politely),
        TEST(test_a_client_closes_without_close_notify),
        TEST(test_a_client_closes_tls_and_keeps_tcp),
        TEST(test_a_client_may_want_to_renegotiate),
        TEST(test_a_clients_new_keys_change_nothing),
        TEST(test_a_client_may_send_a_late_alert),
        TEST(test_a_port_without_a_listener_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
