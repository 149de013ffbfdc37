/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* A session resumes only with its own peer. Early data goes only to that peer, and arrives once. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <time.h>

#include "tls/tls_ticket_keys.h"
#include "tls/tls_tickets.h"
#include "tls/tls_verify.h"
#include "tls_raw.h"

static struct ends here;
static struct tls_ticket_keys *keys;
static struct tls_tickets *tickets;
static struct tls_rack *rack;

static int set_up(void **state)
{
    (void)state;
    keys = tls_ticket_keys_new(time(NULL));
    ends_init(&here, keys);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ends_deinit(&here);
    tls_ticket_keys_free(keys);
    return 0;
}

/* Each test starts without a ticket. */
static int set_up_rack(void **state)
{
    (void)state;
    tickets = tls_tickets_new();
    rack = tls_tickets_rack(tickets, text_span("the peer"));
    assert_non_null(rack);
    return 0;
}

static int tear_down_rack(void **state)
{
    (void)state;
    tls_tickets_free(tickets);
    return 0;
}

/* ---------------------------------------------------------------- our server: TLS 1.3 */

static void pair_init(struct end *client, struct end *server, struct tls_context *context)
{
    ends_client(&here, client, rack);
    end_init(server, tls_server(context));
    end_begin(client, text_span(""));
    settle(client, server, cut_none);
    assert_int_equal(client->err, ERR_OK);
    assert_int_equal(server->err, ERR_OK);
    assert_int_equal(client->secured, 1);
}

static void pair_deinit(struct end *client, struct end *server)
{
    end_deinit(client);
    end_deinit(server);
}

/* Runs a connection from beginning to end. Returns whether it resumed a session. */
static bool connects_resumed(struct tls_context *context)
{
    struct end client, server;

    pair_init(&client, &server, context);
    bool resumed = tls_facts(client.tls).resumed;
    assert_int_equal(tls_facts(server.tls).resumed, resumed);
    assert_true(tls_facts(client.tls).authenticated);
    assert_int_equal(tls_send(client.tls, text_span("question")), ERR_OK);
    settle(&client, &server, cut_none);
    assert_true(span_equal(buf_span(&server.plain), text_span("question")));
    pair_deinit(&client, &server);
    return resumed;
}

static void test_the_second_connection_resumes(void **state)
{
    (void)state;
    assert_false(connects_resumed(here.server));
    assert_true(connects_resumed(here.server));
    assert_true(connects_resumed(here.server));
}

static void
test_a_full_handshake_gives_two_tickets_and_a_resumed_one_gives_one_for_the_used(void **state)
{
    (void)state;
    assert_int_equal(tls_rack_count(rack), 0);
    connects_resumed(here.server);
    assert_int_equal(tls_rack_count(rack), 2);
    connects_resumed(here.server);
    assert_int_equal(tls_rack_count(rack), 2);
}

static void test_a_ticket_is_offered_by_one_connection_only(void **state)
{
    struct end one, two, three;
    (void)state;

    connects_resumed(here.server);
    ends_client(&here, &one, rack);
    ends_client(&here, &two, rack);
    assert_int_equal(tls_rack_count(rack), 0);
    ends_client(&here, &three, rack);
    end_begin(&one, text_span(""));
    end_begin(&two, text_span(""));
    end_begin(&three, text_span(""));
    end_deinit(&one);
    end_deinit(&two);
    end_deinit(&three);
    assert_int_equal(tls_rack_count(rack), 0);
}

static void test_a_ticket_that_was_not_offered_goes_back(void **state)
{
    struct end client;
    (void)state;

    connects_resumed(here.server);
    ends_client(&here, &client, rack);
    assert_int_equal(tls_rack_count(rack), 1);
    end_deinit(&client);
    assert_int_equal(tls_rack_count(rack), 2);
    assert_true(connects_resumed(here.server));
}

static void test_tickets_outlive_a_reset(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server, here.server);
    tls_free(&client.tls); /* the connection ends without a close_notify */
    pair_deinit(&client, &server);
    assert_int_equal(tls_rack_count(rack), 2);
    assert_true(connects_resumed(here.server));
    assert_true(connects_resumed(here.server));
}

static void test_tickets_outlive_a_broken_record(void **state)
{
    struct end client, server;
    (void)state;

    pair_init(&client, &server, here.server);
    end_receive(&client, text_span("\x17\x03\x03\xff\xff"));
    assert_int_equal(client.err, ERR_TLS_FAILED);
    pair_deinit(&client, &server);
    assert_true(connects_resumed(here.server));
    assert_true(connects_resumed(here.server));
}

static void test_a_client_without_a_rack_resumes_nothing(void **state)
{
    (void)state;
    connects_resumed(here.server);
    struct tls_rack *kept = rack;
    rack = NULL;
    assert_false(connects_resumed(here.server));
    rack = kept;
    assert_int_equal(tls_rack_count(rack), 2);
}

static void test_another_worker_with_the_same_keys_resumes(void **state)
{
    struct tls_context *other = new_server_context(here.cert, keys);
    (void)state;

    connects_resumed(here.server);
    assert_true(connects_resumed(other));
    tls_context_free(other);
}

static void test_a_server_with_other_keys_makes_a_full_handshake(void **state)
{
    struct tls_ticket_keys *others = tls_ticket_keys_new(time(NULL));
    struct tls_context *other = new_server_context(here.cert, others);
    (void)state;

    connects_resumed(here.server);
    assert_false(connects_resumed(other));
    tls_context_free(other);
    tls_ticket_keys_free(others);
}

static void test_a_server_without_keys_gives_no_tickets(void **state)
{
    struct tls_context *other = new_server_context(here.cert, NULL);
    (void)state;

    assert_false(connects_resumed(other));
    assert_int_equal(tls_rack_count(rack), 0);
    connects_resumed(here.server);
    assert_false(connects_resumed(other));
    tls_context_free(other);
}

/* ---------------------------------------------------------------- never across identities */

struct many_pins {
    struct tls_pins pins;
    uint8_t room[2][TLS_PIN_BYTES];
};

/* Dials with other options and with the tickets from before. */
static enum err dial_with(const struct tls_peer_options *options, bool *resumed)
{
    struct tls_context *context = new_client_context(options);
    struct tls_peer peer = {.addr = &here.addr, .options = options, .tickets = rack};
    struct end client, server;

    end_init(&client, tls_client(context, &peer));
    end_init(&server, tls_server(here.server));
    assert_int_equal(tls_early_max(client.tls), 0);
    end_begin(&client, text_span(""));
    settle(&client, &server, cut_none);
    enum err err = client.err;
    *resumed = tls_facts(client.tls).resumed;
    assert_int_equal(tls_facts(client.tls).authenticated, err == ERR_OK);
    pair_deinit(&client, &server);
    tls_context_free(context);
    return err;
}

static void test_a_ticket_does_not_circumvent_a_pin(void **state)
{
    struct tls_peer_options options = here.options;
    struct many_pins wrong = {.pins.count = 1}, right = {.pins.count = 2};
    bool resumed;
    (void)state;

    options.early_data = true;
    options.pins = &wrong.pins;
    connects_resumed(here.server);
    assert_int_equal(dial_with(&options, &resumed), ERR_TLS_PIN);
    assert_false(resumed);
    connects_resumed(here.server);
    memcpy(right.pins.sha256[1], here.cert->pin, TLS_PIN_BYTES);
    options.pins = &right.pins;
    assert_int_equal(dial_with(&options, &resumed), ERR_OK);
    assert_true(resumed);
}

static void test_a_ticket_does_not_circumvent_a_name(void **state)
{
    struct tls_peer_options options = here.options;
    bool resumed;
    (void)state;

    options.auth_name = (char *)"other.test";
    connects_resumed(here.server);
    assert_int_equal(dial_with(&options, &resumed), ERR_TLS_NAME);
    assert_false(resumed);
    options.auth_name = (char *)""; /* the address counts now, and the certificate has it, too */
    connects_resumed(here.server);
    assert_int_equal(dial_with(&options, &resumed), ERR_OK);
    assert_true(resumed);
}

static void test_a_ticket_does_not_circumvent_an_address(void **state)
{
    struct tls_peer_options options = here.options;
    struct addr addr = here.addr;
    bool resumed;
    (void)state;

    options.auth_name = NULL;
    connects_resumed(here.server);
    assert_int_equal(addr_parse(&here.addr, "192.0.2.2", 853), ERR_OK);
    assert_int_equal(dial_with(&options, &resumed), ERR_TLS_NAME);
    assert_false(resumed);
    here.addr = addr;
}

/* When only the pin counted, OpenSSL did not verify the chain. */
static void test_a_ticket_got_by_a_pin_alone_proves_no_name(void **state)
{
    struct tls_peer_options options = here.options;
    struct many_pins right = {.pins.count = 1};
    bool resumed;
    (void)state;

    options.pins = &right.pins;
    options.auth_name = NULL;
    memcpy(right.pins.sha256[0], here.cert->pin, TLS_PIN_BYTES);
    assert_int_equal(dial_with(&options, &resumed), ERR_OK);
    assert_int_equal(dial_with(&options, &resumed), ERR_OK);
    assert_true(resumed);
    assert_int_equal(dial_with(&here.options, &resumed), ERR_OK);
    assert_false(resumed);
}

/* The ticket comes from an opportunistic connection to an unproved peer. A strict connection uses
 * it. */
static void test_a_ticket_of_an_unproved_peer_does_not_prove_it(void **state)
{
    struct tls_peer_options options = here.options;
    struct tls_context *context;
    struct end client, server;
    (void)state;

    options.profile = TLS_OPPORTUNISTIC;
    options.auth_name = (char *)"other.test";
    context = new_client_context(&options);
    for (int i = 0; i < 2; i++) {
        struct tls_peer peer = {.addr = &here.addr, .options = &options, .tickets = rack};
        end_init(&client, tls_client(context, &peer));
        end_init(&server, tls_server(here.server));
        end_begin(&client, text_span(""));
        settle(&client, &server, cut_none);
        assert_int_equal(client.err, ERR_OK);
        assert_int_equal(tls_facts(client.tls).resumed, i == 1);
        assert_false(tls_facts(client.tls).authenticated);
        pair_deinit(&client, &server);
    }
    tls_context_free(context);
    assert_true(tls_rack_count(rack) > 0);
    assert_false(connects_resumed(here.server));
    assert_int_equal(tls_rack_count(rack), 2); /* the tickets that this connection brought */
}

static void test_a_ticket_ends_with_its_certificate(void **state)
{
    struct end client;
    int64_t day_s = 86400, now_s = time(NULL);
    (void)state;

    connects_resumed(here.server);
    ends_client(&here, &client, rack);
    const struct tls_peer peer = {.addr = &here.addr, .options = &here.options};
    SSL *ssl = tls_ssl(client.tls);
    assert_int_equal(tls_verify_session(ssl, &peer, now_s), ERR_OK);
    assert_int_equal(tls_verify_session(ssl, &peer, now_s + 29 * day_s), ERR_OK);
    assert_int_equal(tls_verify_session(ssl, &peer, now_s + 31 * day_s), ERR_TLS_EXPIRED);
    assert_int_equal(tls_verify_session(ssl, &peer, now_s - 2 * day_s), ERR_TLS_EXPIRED);
    end_deinit(&client);
}

/* ---------------------------------------------------------------- TLS 1.2 */

static SSL_CTX *new_12_server(void)
{
    SSL_CTX *ctx = raw_server_context(here.cert);
    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
    return ctx;
}

static bool connects_12_resumed(SSL_CTX *ctx)
{
    struct end client;
    struct raw server;

    ends_client(&here, &client, rack);
    raw_init(&server, ctx);
    end_begin(&client, text_span(""));
    raw_settle(&server, &client, cut_none);
    assert_int_equal(client.err, ERR_OK);
    assert_string_equal(tls_facts(client.tls).version, "TLSv1.2");
    assert_true(tls_facts(client.tls).authenticated);
    bool resumed = tls_facts(client.tls).resumed;
    end_deinit(&client);
    raw_deinit(&server);
    return resumed;
}

static void test_a_session_of_tls_12_is_resumed_again_and_again(void **state)
{
    SSL_CTX *ctx = new_12_server();
    (void)state;

    assert_false(connects_12_resumed(ctx));
    assert_int_equal(tls_rack_count(rack), 1);
    for (int i = 0; i < 3; i++) {
        assert_true(connects_12_resumed(ctx));
        assert_int_equal(tls_rack_count(rack), 1);
    }
    SSL_CTX_free(ctx);
}

static int renew_always(SSL *ssl, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher,
                        EVP_MAC_CTX *mac, int sealing)
{
    static const uint8_t key[32];
    OSSL_PARAM digest[] = {OSSL_PARAM_construct_utf8_string("digest", (char *)"SHA256", 0),
                           OSSL_PARAM_construct_end()};
    (void)ssl;

    if (sealing) {
        memset(name, 1, 16);
        memset(iv, 2, 16);
        EVP_EncryptInit_ex2(cipher, EVP_aes_256_cbc(), key, iv, NULL);
    } else {
        EVP_DecryptInit_ex2(cipher, EVP_aes_256_cbc(), key, iv, NULL);
    }
    EVP_MAC_init(mac, key, sizeof(key), digest);
    return sealing ? 1 : 2;
}

static void test_a_new_ticket_of_a_resumed_tls_12_session_is_kept_alone(void **state)
{
    SSL_CTX *ctx = new_12_server();
    (void)state;

    SSL_CTX_set_tlsext_ticket_key_evp_cb(ctx, renew_always);
    assert_false(connects_12_resumed(ctx));
    assert_true(connects_12_resumed(ctx));
    assert_int_equal(tls_rack_count(rack), 1);
    assert_true(connects_12_resumed(ctx));
    SSL_CTX_free(ctx);
}

static void test_a_session_without_a_ticket_is_not_resumed(void **state)
{
    SSL_CTX *ctx = new_12_server();
    (void)state;

    SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET);
    assert_false(connects_12_resumed(ctx));
    assert_false(connects_12_resumed(ctx));
    SSL_CTX_free(ctx);
}

/* Dials our server as a raw client with a session (or NULL). Returns the new session. */
static SSL_SESSION *dial_ours(SSL_CTX *ctx, SSL_SESSION *session, bool expected)
{
    struct end server;
    struct raw client;

    end_init(&server, tls_server(here.server));
    raw_init(&client, ctx);
    if (session)
        SSL_set_session(client.ssl, session);
    raw_settle(&client, &server, cut_none);
    assert_int_equal(server.err, ERR_OK);
    assert_int_equal(tls_facts(server.tls).resumed, expected);
    assert_int_equal(SSL_session_reused(client.ssl), expected);
    SSL_SESSION_free(session);
    session = SSL_get1_session(client.ssl);
    SSL_set_shutdown(client.ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    raw_deinit(&client);
    end_deinit(&server);
    return session;
}

/* Returns the name of the key that sealed the session's ticket. */
static void get_key_name(const SSL_SESSION *session, uint8_t name[16])
{
    const unsigned char *ticket;
    size_t len;

    SSL_SESSION_get0_ticket(session, &ticket, &len);
    assert_true(len > 16);
    memcpy(name, ticket, 16);
}

static void test_our_server_resumes_clients_of_tls_12(void **state)
{
    SSL_CTX *ctx = raw_client_context();
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_SESSION *session = dial_ours(ctx, NULL, false);
    assert_int_equal(SSL_SESSION_get_ticket_lifetime_hint(session), TLS_TICKET_LIFETIME_S);
    session = dial_ours(ctx, session, true);
    session = dial_ours(ctx, session, true);
    SSL_SESSION_free(session);
    SSL_CTX_free(ctx);
}

static void test_a_ticket_of_an_older_key_is_accepted_and_replaced(void **state)
{
    SSL_CTX *ctx = raw_client_context();
    struct tls_ticket_key newer;
    uint8_t before[16], after[16];
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_SESSION *session = dial_ours(ctx, NULL, false);
    get_key_name(session, before);
    session = dial_ours(ctx, session, true);
    get_key_name(session, after);
    assert_memory_equal(before, after, sizeof(before));
    tls_ticket_keys_seal(keys, time(NULL) + TLS_TICKET_KEY_AGE_S + 1, &newer);
    session = dial_ours(ctx, session, true);
    get_key_name(session, after);
    assert_memory_equal(after, newer.name, sizeof(after));
    assert_memory_not_equal(after, before, sizeof(after));
    SSL_SESSION_free(session);
    SSL_CTX_free(ctx);
}

static void test_a_modified_ticket_is_rejected(void **state)
{
    SSL_CTX *ctx = raw_client_context();
    uint8_t der[8192], *end = der;
    const unsigned char *ticket, *start = der;
    size_t len;
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_SESSION *session = dial_ours(ctx, NULL, false);
    SSL_SESSION_get0_ticket(session, &ticket, &len);
    int der_len = i2d_SSL_SESSION(session, NULL);
    assert_in_range(der_len, 1, sizeof(der));
    i2d_SSL_SESSION(session, &end);
    uint8_t *place = memmem(der, (size_t)der_len, ticket, len);
    assert_non_null(place);
    place[len / 2] ^= 1;
    SSL_SESSION_free(session);
    session = d2i_SSL_SESSION(NULL, &start, der_len);
    assert_non_null(session);
    SSL_SESSION_free(dial_ours(ctx, session, false));
    SSL_CTX_free(ctx);
}

/* ---------------------------------------------------------------- early data */

enum { EARLY_MAX = 4096 };

/* Makes the context of a server. Such servers share their ticket keys: one accepts early data, and
 * one rejects it. */
static SSL_CTX *new_early_server(const struct tls_cert *cert, uint32_t early_max)
{
    uint8_t shared[80] = {1};
    SSL_CTX *ctx = raw_server_context(cert);

    assert_int_equal(SSL_CTX_set_tlsext_ticket_keys(ctx, shared, sizeof(shared)), 1);
    SSL_CTX_set_max_early_data(ctx, early_max);
    SSL_CTX_set_options(ctx, SSL_OP_NO_ANTI_REPLAY);
    return ctx;
}

static void dial_early(struct end *client, struct raw *server, SSL_CTX *ctx, const char *early)
{
    ends_client(&here, client, rack);
    raw_init(server, ctx);
    server->takes_early = true;
    if (early[0])
        assert_int_equal(tls_early_max(client->tls), EARLY_MAX);
    end_begin(client, text_span(early));
    raw_settle(server, client, cut_none);
    raw_go_on(server);
    raw_settle(server, client, cut_none);
}

static void end_early(struct end *client, struct raw *server)
{
    end_deinit(client);
    raw_deinit(server);
}

/* Gets tickets that allow early data. */
static void prepare_early(void)
{
    SSL_CTX *ctx = new_early_server(here.cert, EARLY_MAX);
    struct end client;
    struct raw server;

    dial_early(&client, &server, ctx, "");
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(tls_early_max(client.tls), 0);
    end_early(&client, &server);
    assert_int_equal(tls_rack_count(rack), 2);
    SSL_CTX_free(ctx);
}

static int set_up_early(void **state)
{
    set_up_rack(state);
    here.options.early_data = true;
    prepare_early();
    return 0;
}

static int tear_down_early(void **state)
{
    here.options.early_data = false;
    return tear_down_rack(state);
}

static void test_early_data_arrives_with_the_first_flight(void **state)
{
    SSL_CTX *ctx = new_early_server(here.cert, EARLY_MAX);
    struct end client;
    struct raw server;
    (void)state;

    dial_early(&client, &server, ctx, "early");
    assert_int_equal(client.err, ERR_OK);
    assert_true(span_equal(buf_span(&server.early), text_span("early")));
    assert_true(tls_facts(client.tls).early_accepted);
    assert_true(tls_facts(client.tls).resumed);
    assert_int_equal(tls_send(client.tls, text_span("late")), ERR_OK);
    raw_settle(&server, &client, cut_none);
    assert_true(span_equal(buf_span(&server.plain), text_span("late")));
    end_early(&client, &server);
    SSL_CTX_free(ctx);
}

/* Adds the lengths of RFC 1035. */
static struct span two_messages(void)
{
    static const uint8_t bytes[] = {0, 3, 'o', 'n', 'e', 0, 3, 't', 'w', 'o'};
    return span_of(bytes, sizeof(bytes));
}

/* The first server accepts early data. The second rejects it and gets the messages again. */
static void test_each_message_of_early_data_is_a_separate_record(void **state)
{
    (void)state;

    for (int taken = 1; taken >= 0; taken--) {
        SSL_CTX *ctx = new_early_server(here.cert, taken ? EARLY_MAX : 0);
        struct end client;
        struct raw server;

        ends_client(&here, &client, rack);
        raw_init(&server, ctx);
        server.takes_early = taken;
        end_begin(&client, two_messages());
        raw_settle(&server, &client, cut_none);
        raw_go_on(&server);
        raw_settle(&server, &client, cut_none);
        assert_int_equal(client.err, ERR_OK);
        assert_true(span_equal(buf_span(taken ? &server.early : &server.plain), two_messages()));
        assert_int_equal(taken ? server.early_records : server.plain_records, 2);
        end_early(&client, &server);
        SSL_CTX_free(ctx);
    }
}

static bool send_more_on_secured(void *owner)
{
    struct end *end = owner;

    end->secured++;
    assert_int_equal(tls_send(end->tls, text_span(" and more")), ERR_OK);
    return true;
}

/* Moves all bytes. The reader sends as soon as it may. */
static void settle_eagerly(struct end *client, struct raw *server)
{
    const struct tls_reader reader = {send_more_on_secured, on_end_plain};
    uint8_t bytes[16 * 1024];

    for (int i = 0; i < 10; i++) {
        struct buf *wire = tls_wire(client->tls);
        if (buf_len(wire))
            BIO_write(server->in, buf_span(wire).data, (int)buf_len(wire));
        buf_consume(wire, buf_len(wire));
        raw_go_on(server);
        int len = BIO_read(server->out, bytes, sizeof(bytes));
        if (len > 0)
            assert_int_equal(tls_receive(client->tls, span_of(bytes, (size_t)len), &reader, client),
                             ERR_OK);
    }
}

static void check_sent_again(SSL_CTX *ctx, bool resumed)
{
    struct end client;
    struct raw server;

    ends_client(&here, &client, rack);
    raw_init(&server, ctx);
    end_begin(&client, text_span("early"));
    settle_eagerly(&client, &server);
    assert_int_equal(client.secured, 1);
    assert_false(tls_facts(client.tls).early_accepted);
    assert_int_equal(tls_facts(client.tls).resumed, resumed);
    assert_int_equal(buf_len(&server.early), 0);
    assert_true(span_equal(buf_span(&server.plain), text_span("early and more")));
    end_early(&client, &server);
    SSL_CTX_free(ctx);
}

static void test_rejected_early_data_is_sent_again_first(void **state)
{
    (void)state;
    check_sent_again(new_early_server(here.cert, 0), true);
    check_sent_again(raw_server_context(here.cert), false);
}

static void test_early_data_is_sent_again_after_another_key_exchange(void **state)
{
    SSL_CTX *ctx = new_early_server(here.cert, EARLY_MAX);
    (void)state;

    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "P-521"), 1);
    check_sent_again(ctx, true);
}

static void test_our_server_rejects_early_data_and_gets_it_again(void **state)
{
    struct end client, server;
    (void)state;

    ends_client(&here, &client, rack);
    end_init(&server, tls_server(here.server));
    end_begin(&client, text_span("early"));
    settle(&client, &server, cut_none);
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(server.err, ERR_OK);
    assert_false(tls_facts(client.tls).early_accepted || tls_facts(server.tls).early_accepted);
    assert_true(span_equal(buf_span(&server.plain), text_span("early")));
    pair_deinit(&client, &server);
}

static void test_early_data_is_not_sent_again_to_an_unproved_peer(void **state)
{
    struct tls_certs *other = tls_certs_authority("Other CA");
    struct tls_cert *cert =
        tls_certs_make(&(struct tls_cert_wish){.ca = other, .name = "dns.test"});
    SSL_CTX *ctx = raw_server_context(cert);
    struct end client;
    struct raw server;
    (void)state;

    ends_client(&here, &client, rack);
    raw_init(&server, ctx);
    end_begin(&client, text_span("early"));
    raw_settle(&server, &client, cut_none);
    assert_int_equal(client.err, ERR_TLS_UNTRUSTED);
    assert_int_equal(buf_len(&server.plain) + buf_len(&server.early), 0);
    end_early(&client, &server);
    SSL_CTX_free(ctx);
    tls_certs_free_cert(cert);
    tls_certs_free(other);
}

/* RFC 8446 appendix D.3: such a dial must fail once, but not with every old ticket. */
static void test_a_server_that_went_back_to_tls_12_fails_one_dial_with_early_data(void **state)
{
    SSL_CTX *ctx = new_12_server();
    struct end client;
    struct raw server;
    (void)state;

    ends_client(&here, &client, rack);
    assert_int_equal(tls_rack_count(rack), 1);
    raw_init(&server, ctx);
    end_begin(&client, text_span("early"));
    raw_settle(&server, &client, cut_none);
    assert_int_not_equal(client.err, ERR_OK);
    assert_int_equal(buf_len(&server.plain), 0);
    end_early(&client, &server);
    assert_int_equal(tls_rack_count(rack), 0);
    assert_false(connects_12_resumed(ctx));
    assert_true(connects_12_resumed(ctx));
    SSL_CTX_free(ctx);
}

static void test_there_is_no_early_data_unless_options_and_ticket_allow_it(void **state)
{
    struct end client;
    (void)state;

    ends_client(&here, &client, rack);
    assert_int_equal(tls_early_max(client.tls), EARLY_MAX);
    end_deinit(&client);
    ends_client(&here, &client, NULL);
    assert_int_equal(tls_early_max(client.tls), 0);
    end_deinit(&client);
    here.options.early_data = false;
    ends_client(&here, &client, rack);
    assert_int_equal(tls_early_max(client.tls), 0);
    end_deinit(&client);
    here.options.early_data = true;
    connects_resumed(here.server); /* spends one ticket, and brings two that forbid early data */
    ends_client(&here, &client, rack);
    assert_int_equal(tls_early_max(client.tls), 0);
    end_deinit(&client);
}

/* For a ticket that has expired or comes from the future, OpenSSL offers no resumption, but still
 * announces early data and seals it with a known key. */
static void check_no_early_data(int64_t age_s)
{
    SSL_CTX *ctx = new_early_server(here.cert, EARLY_MAX);
    struct end client;
    struct raw server;

    ends_client(&here, &client, rack);
    assert_int_equal(tls_early_max(client.tls), EARLY_MAX);
    SSL_SESSION_set_time(SSL_get_session(tls_ssl(client.tls)), (long)(time(NULL) - age_s));
    assert_int_equal(tls_early_max(client.tls), 0);
    raw_init(&server, ctx);
    end_begin(&client, text_span("kept back"));
    raw_settle(&server, &client, cut_none);
    assert_int_equal(client.secured, 1);
    assert_false(tls_facts(client.tls).resumed);
    assert_true(span_equal(buf_span(&server.plain), text_span("kept back")));
    end_early(&client, &server);
    SSL_CTX_free(ctx);
}

static void test_there_is_no_early_data_with_a_ticket_from_later_than_now(void **state)
{
    (void)state;
    check_no_early_data(-2);
}

static void test_there_is_no_early_data_with_a_ticket_that_ended_during_the_dial(void **state)
{
    (void)state;
    check_no_early_data(7200 + 10);
}

static void test_early_data_ends_with_the_connection(void **state)
{
    struct end client;
    (void)state;

    ends_client(&here, &client, rack);
    end_begin(&client, text_span("early"));
    assert_int_equal(tls_early_max(client.tls), 0);
    end_deinit(&client);
    assert_int_equal(tls_rack_count(rack), 1);
}

#define RACK_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_rack, tear_down_rack)
#define EARLY_TEST(test) cmocka_unit_test_setup_teardown(test, set_up_early, tear_down_early)

int main(void)
{
    const struct CMUnitTest tests[] = {
        RACK_TEST(test_the_second_connection_resumes),
        RACK_TEST(test_a_full_handshake_gives_two_tickets_and_a_resumed_one_gives_one_for_the_used),
        RACK_TEST(test_a_ticket_is_offered_by_one_connection_only),
        RACK_TEST(test_a_ticket_that_was_not_offered_goes_back),
        RACK_TEST(test_tickets_outlive_a_reset),
        RACK_TEST(test_tickets_outlive_a_broken_record),
        RACK_TEST(test_a_client_without_a_rack_resumes_nothing),
        RACK_TEST(test_another_worker_with_the_same_keys_resumes),
        RACK_TEST(test_a_server_with_other_keys_makes_a_full_handshake),
        RACK_TEST(test_a_server_without_keys_gives_no_tickets),
        RACK_TEST(test_a_ticket_does_not_circumvent_a_pin),
        RACK_TEST(test_a_ticket_does_not_circumvent_a_name),
        RACK_TEST(test_a_ticket_does_not_circumvent_an_address),
        RACK_TEST(test_a_ticket_got_by_a_pin_alone_proves_no_name),
        RACK_TEST(test_a_ticket_of_an_unproved_peer_does_not_prove_it),
        RACK_TEST(test_a_ticket_ends_with_its_certificate),
        RACK_TEST(test_a_session_of_tls_12_is_resumed_again_and_again),
        RACK_TEST(test_a_new_ticket_of_a_resumed_tls_12_session_is_kept_alone),
        RACK_TEST(test_a_session_without_a_ticket_is_not_resumed),
        RACK_TEST(test_our_server_resumes_clients_of_tls_12),
        RACK_TEST(test_a_ticket_of_an_older_key_is_accepted_and_replaced),
        RACK_TEST(test_a_modified_ticket_is_rejected),
        EARLY_TEST(test_early_data_arrives_with_the_first_flight),
        EARLY_TEST(test_each_message_of_early_data_is_a_separate_record),
        EARLY_TEST(test_rejected_early_data_is_sent_again_first),
        EARLY_TEST(test_early_data_is_sent_again_after_another_key_exchange),
        EARLY_TEST(test_our_server_rejects_early_data_and_gets_it_again),
        EARLY_TEST(test_early_data_is_not_sent_again_to_an_unproved_peer),
        EARLY_TEST(test_a_server_that_went_back_to_tls_12_fails_one_dial_with_early_data),
        EARLY_TEST(test_there_is_no_early_data_unless_options_and_ticket_allow_it),
        EARLY_TEST(test_there_is_no_early_data_with_a_ticket_from_later_than_now),
        EARLY_TEST(test_there_is_no_early_data_with_a_ticket_that_ended_during_the_dial),
        EARLY_TEST(test_early_data_ends_with_the_connection),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
