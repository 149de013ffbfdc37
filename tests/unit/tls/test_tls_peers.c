/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Peers with unusual settings: other protocols, old versions, weak ciphers, renegotiation, a client
 * certificate. They use OpenSSL directly. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "tls/tls.h"
#include "tls_raw.h"

static struct ends here;

static int set_up(void **state)
{
    (void)state;
    ends_init(&here, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    ends_deinit(&here);
    return 0;
}

/* Joins our client with a server of this context, and frees ctx. */
static void dial(struct end *client, struct raw *server, SSL_CTX *ctx)
{
    ends_client(&here, client, NULL);
    raw_init(server, ctx);
    SSL_CTX_free(ctx);
    end_begin(client, text_span(""));
    raw_settle(server, client, cut_none);
}

/* Joins a client of this context with our server, and frees ctx. */
static void serve(struct end *server, struct raw *client, SSL_CTX *ctx)
{
    end_init(server, tls_server(here.server));
    raw_init(client, ctx);
    SSL_CTX_free(ctx);
    raw_settle(client, server, cut_none);
}

static void finish(struct end *end, struct raw *raw)
{
    end_deinit(end);
    raw_deinit(raw);
}

static void check_talks(struct end *end, struct raw *raw)
{
    assert_int_equal(end->err, ERR_OK);
    assert_int_equal(end->secured, 1);
    assert_int_equal(tls_send(end->tls, text_span("from us")), ERR_OK);
    raw_send(raw, "to us");
    raw_settle(raw, end, cut_none);
    assert_int_equal(end->err, ERR_OK);
    assert_true(span_equal(buf_span(&raw->plain), text_span("from us")));
    assert_true(span_equal(buf_span(&end->plain), text_span("to us")));
    buf_clear(&raw->plain);
    buf_clear(&end->plain);
}

/* ---------------------------------------------------------------- ALPN */

static int choose(SSL *ssl, const unsigned char **out, unsigned char *len,
                  const unsigned char *offered, unsigned offered_len, void *name)
{
    (void)ssl;
    if (offered_len != 4 || memcmp(offered, "\3dot", 4) != 0)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = name;
    *len = (unsigned char)strlen(name);
    return SSL_TLSEXT_ERR_OK;
}

static SSL_CTX *server_that_chooses(const char *name)
{
    SSL_CTX *ctx = raw_server_context(here.cert);
    SSL_CTX_set_alpn_select_cb(ctx, choose, (void *)name);
    return ctx;
}

static void check_choice(const char *name, int version, enum err err)
{
    struct end client;
    struct raw server;
    SSL_CTX *ctx = server_that_chooses(name);

    SSL_CTX_set_max_proto_version(ctx, version);
    dial(&client, &server, ctx);
    assert_int_equal(client.err, err);
    assert_int_equal(client.secured, !err);
    assert_int_equal(tls_is_secured(client.tls), !err);
    if (!err)
        check_talks(&client, &server);
    finish(&client, &server);
}

static void test_a_server_that_chooses_dot_is_accepted(void **state)
{
    (void)state;
    check_choice("dot", TLS1_3_VERSION, ERR_OK);
    check_choice("dot", TLS1_2_VERSION, ERR_OK);
}

static void test_a_server_that_chooses_another_protocol_is_refused(void **state)
{
    (void)state;
    check_choice("h2", TLS1_3_VERSION, ERR_TLS_ALPN);
    check_choice("h2", TLS1_2_VERSION, ERR_TLS_ALPN);
    check_choice("do", TLS1_3_VERSION, ERR_TLS_ALPN);
    check_choice("dots", TLS1_3_VERSION, ERR_TLS_ALPN);
    here.options.profile = TLS_OPPORTUNISTIC;
    check_choice("h2", TLS1_3_VERSION, ERR_TLS_ALPN);
    here.options.profile = TLS_STRICT;
}

static void test_a_server_that_chooses_no_protocol_is_accepted(void **state)
{
    struct end client;
    struct raw server;
    (void)state;

    dial(&client, &server, raw_server_context(here.cert));
    check_talks(&client, &server);
    finish(&client, &server);
}

static SSL_CTX *client_that_offers(const char *list)
{
    SSL_CTX *ctx = raw_client_context();
    assert_int_equal(SSL_CTX_set_alpn_protos(ctx, (const uint8_t *)list, (unsigned)strlen(list)),
                     0);
    return ctx;
}

static void test_a_client_that_offers_dot_gets_it(void **state)
{
    struct end server;
    struct raw client;
    const unsigned char *name;
    unsigned len;
    (void)state;

    serve(&server, &client, client_that_offers("\2h2\3dot"));
    check_talks(&server, &client);
    SSL_get0_alpn_selected(client.ssl, &name, &len);
    assert_int_equal(len, 3);
    assert_memory_equal(name, "dot", 3);
    finish(&server, &client);
}

static void test_a_client_that_offers_nothing_is_served(void **state)
{
    struct end server;
    struct raw client;
    (void)state;

    serve(&server, &client, raw_client_context());
    check_talks(&server, &client);
    finish(&server, &client);
}

static void test_a_client_that_offers_only_other_protocols_is_refused_with_an_alert(void **state)
{
    struct end server;
    struct raw client;
    (void)state;

    serve(&server, &client, client_that_offers("\2h2\10http/1.1"));
    assert_int_equal(server.err, ERR_TLS_ALPN);
    assert_int_equal(server.secured, 0);
    assert_int_equal(client.reason, SSL_AD_REASON_OFFSET + SSL_AD_NO_APPLICATION_PROTOCOL);
    finish(&server, &client);
}

/* ---------------------------------------------------------------- versions and ciphers */

static SSL_CTX *old_client(int version)
{
    SSL_CTX *ctx = raw_client_context();
    SSL_CTX_set_min_proto_version(ctx, version);
    SSL_CTX_set_max_proto_version(ctx, version);
    SSL_CTX_set_security_level(ctx, 0);
    return ctx;
}

static void test_clients_of_old_versions_are_refused_with_an_alert(void **state)
{
    const int versions[] = {TLS1_VERSION, TLS1_1_VERSION};
    struct end server;
    struct raw client;
    (void)state;

    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        serve(&server, &client, old_client(versions[i]));
        assert_int_equal(server.err, ERR_TLS_FAILED);
        assert_string_equal(tls_detail(server.tls), "unsupported protocol");
        assert_int_equal(client.reason, SSL_AD_REASON_OFFSET + SSL_AD_PROTOCOL_VERSION);
        finish(&server, &client);
    }
}

static void test_servers_of_old_versions_are_refused(void **state)
{
    struct end client;
    struct raw server;
    SSL_CTX *ctx = raw_server_context(here.cert);
    (void)state;

    SSL_CTX_set_min_proto_version(ctx, TLS1_VERSION);
    SSL_CTX_set_max_proto_version(ctx, TLS1_1_VERSION);
    SSL_CTX_set_security_level(ctx, 0);
    dial(&client, &server, ctx);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_string_equal(tls_detail(client.tls), "tlsv1 alert protocol version");
    finish(&client, &server);
}

static void check_cipher(const char *list, bool accepted)
{
    struct end server;
    struct raw client;
    SSL_CTX *ctx = raw_client_context();

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    SSL_CTX_set_security_level(ctx, 0);
    assert_int_equal(SSL_CTX_set_cipher_list(ctx, list), 1);
    serve(&server, &client, ctx);
    assert_int_equal(server.err, accepted ? ERR_OK : ERR_TLS_FAILED);
    if (accepted)
        assert_string_equal(tls_facts(server.tls).version, "TLSv1.2");
    else
        assert_string_equal(tls_detail(server.tls), "no shared cipher");
    finish(&server, &client);
}

static void test_in_tls_12_only_forward_secret_aead_ciphers_are_used(void **state)
{
    (void)state;
    check_cipher("ECDHE-ECDSA-AES128-GCM-SHA256", true);
    check_cipher("ECDHE-ECDSA-AES256-GCM-SHA384", true);
    check_cipher("ECDHE-ECDSA-CHACHA20-POLY1305", true);
    check_cipher("ECDHE-ECDSA-AES128-SHA256", false);
    check_cipher("ECDHE-ECDSA-AES256-SHA", false);
    check_cipher("AES128-GCM-SHA256", false);
    check_cipher("DHE-RSA-AES128-GCM-SHA256", false);
    check_cipher("aNULL", false);
    check_cipher("eNULL", false);
}

static void test_the_server_chooses_by_its_own_order(void **state)
{
    struct end server;
    struct raw client;
    SSL_CTX *ctx = raw_client_context();
    (void)state;

    assert_int_equal(SSL_CTX_set_ciphersuites(ctx, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384"),
                     1);
    serve(&server, &client, ctx);
    assert_string_equal(tls_facts(server.tls).cipher, "TLS_AES_256_GCM_SHA384");
    finish(&server, &client);
}

/* ---------------------------------------------------------------- another handshake */

static void move_out(struct raw *from, struct end *to)
{
    uint8_t bytes[16 * 1024];
    int len = BIO_read(from->out, bytes, sizeof(bytes));

    if (len > 0 && !to->err)
        end_receive(to, span_of(bytes, (size_t)len));
}

/* In TLS 1.2 a server sends a HelloRequest. OpenSSL gives up when it is refused, which is fine
 * here. */
static void ask_for_another(struct raw *raw, struct end *end)
{
    assert_int_equal(SSL_renegotiate(raw->ssl), 1);
    SSL_do_handshake(raw->ssl);
    assert_true(BIO_ctrl_pending(raw->out) > 0);
    move_out(raw, end);
    assert_int_equal(end->err, ERR_OK);
    assert_int_equal(end->secured, 1);
    assert_true(buf_len(tls_wire(end->tls)) > 0); /* a warning alert */
    assert_int_equal(tls_send(end->tls, text_span("still here")), ERR_OK);
}

static void test_a_client_that_wants_another_handshake_is_refused_without_harm(void **state)
{
    struct end server;
    struct raw client;
    SSL_CTX *ctx = raw_client_context();
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    serve(&server, &client, ctx);
    check_talks(&server, &client);
    ask_for_another(&client, &server);
    raw_settle(&client, &server, cut_none);
    assert_int_equal(client.reason, SSL_R_NO_RENEGOTIATION);
    finish(&server, &client);
}

static void test_a_server_that_wants_another_handshake_is_refused_without_harm(void **state)
{
    struct end client;
    struct raw server;
    SSL_CTX *ctx = raw_server_context(here.cert);
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    dial(&client, &server, ctx);
    check_talks(&client, &server);
    ask_for_another(&server, &client);
    raw_send(&server, "still here too");
    move_out(&server, &client);
    assert_true(span_equal(buf_span(&client.plain), text_span("still here too")));
    finish(&client, &server);
}

static void test_a_server_that_asks_for_another_handshake_without_end_meets_a_bound(void **state)
{
    struct end client;
    struct raw server;
    SSL_CTX *ctx = raw_server_context(here.cert);
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    dial(&client, &server, ctx);
    for (int i = 0; i < TLS_WIRE_MAX / 16 && !client.err; i++) {
        ERR_clear_error();
        assert_int_equal(SSL_renegotiate(server.ssl), 1);
        SSL_do_handshake(server.ssl);
        move_out(&server, &client);
    }
    assert_int_equal(client.err, ERR_LIMIT);
    assert_true(buf_len(tls_wire(client.tls)) <= TLS_WIRE_MAX);
    finish(&client, &server);
}

/* A client may send any number as its share in such a group, but ours costs a fifth of a second. */
static void test_a_client_of_finite_fields_alone_is_refused(void **state)
{
    SSL_CTX *ctx = raw_client_context();
    struct end server;
    struct raw client;
    (void)state;

    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "ffdhe8192:ffdhe2048"), 1);
    serve(&server, &client, ctx);
    assert_int_equal(server.err, ERR_TLS_FAILED);
    finish(&server, &client);
}

static void test_a_client_that_begins_with_finite_fields_is_served_with_another_group(void **state)
{
    SSL_CTX *ctx = raw_client_context();
    struct end server;
    struct raw client;
    (void)state;

    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "ffdhe8192:P-256"), 1);
    serve(&server, &client, ctx);
    assert_int_equal(server.err, ERR_OK);
    check_talks(&server, &client);
    assert_int_equal(SSL_get_negotiated_group(client.ssl), NID_X9_62_prime256v1);
    finish(&server, &client);
}

static void test_a_server_of_finite_fields_alone_is_refused(void **state)
{
    SSL_CTX *ctx = raw_server_context(here.cert);
    struct end client;
    struct raw server;
    (void)state;

    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "ffdhe2048"), 1);
    dial(&client, &server, ctx);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    finish(&client, &server);
}

static void test_finite_fields_are_used_if_configured(void **state)
{
    struct tls_peer_options options = here.options;
    struct tls_context *before = here.client;
    SSL_CTX *ctx = raw_server_context(here.cert);
    struct end client;
    struct raw server;
    (void)state;

    options.groups = (char *)"ffdhe2048";
    here.client = new_client_context(&options);
    assert_int_equal(SSL_CTX_set1_groups_list(ctx, "ffdhe2048"), 1);
    dial(&client, &server, ctx);
    assert_int_equal(client.err, ERR_OK);
    finish(&client, &server);
    tls_context_free(here.client);
    here.client = before;
}

/* Sends this many key updates in one piece. */
static void change_keys(struct raw *raw, struct end *end, int times)
{
    uint8_t bytes[16 * 1024];

    for (int i = 0; i < times; i++) {
        ERR_clear_error();
        assert_int_equal(SSL_key_update(raw->ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(raw->ssl), 1);
    }
    int len = BIO_read(raw->out, bytes, sizeof(bytes));
    assert_true(len > 0 && len < (int)sizeof(bytes));
    end_receive(end, span_of(bytes, (size_t)len));
}

static void test_endless_key_updates_of_a_client_meet_a_bound(void **state)
{
    struct end server;
    struct raw client;
    (void)state;

    serve(&server, &client, raw_client_context());
    change_keys(&client, &server, TLS_KEY_UPDATES_MAX);
    assert_int_equal(server.err, ERR_OK);
    check_talks(&server, &client);
    change_keys(&client, &server, 300);
    assert_int_equal(server.err, ERR_TLS_FAILED);
    assert_string_equal(tls_detail(server.tls), "too many key updates");
    assert_int_equal(tls_facts(server.tls).key_updates, TLS_KEY_UPDATES_MAX + 1);
    finish(&server, &client);
}

static void test_a_server_that_sends_much_may_update_its_keys_often(void **state)
{
    char text[TLS_KEY_UPDATE_BYTES + 1] = {0};
    struct end client;
    struct raw server;
    (void)state;

    memset(text, 'x', TLS_KEY_UPDATE_BYTES);
    dial(&client, &server, raw_server_context(here.cert));
    change_keys(&server, &client, TLS_KEY_UPDATES_MAX);
    for (int i = 0; i < 3; i++) {
        raw_send(&server, text);
        move_out(&server, &client);
        change_keys(&server, &client, 1);
        assert_int_equal(client.err, ERR_OK);
    }
    change_keys(&server, &client, 1);
    assert_int_equal(client.err, ERR_TLS_FAILED);
    finish(&client, &server);
}

static void test_key_updates_are_followed(void **state)
{
    struct end client;
    struct raw server;
    (void)state;

    dial(&client, &server, raw_server_context(here.cert));
    for (int i = 0; i < 3; i++) {
        assert_int_equal(SSL_key_update(server.ssl, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(server.ssl), 1);
        raw_settle(&server, &client, cut_none);
        check_talks(&client, &server);
    }
    finish(&client, &server);
}

/* ---------------------------------------------------------------- a certificate of ours */

static SSL_CTX *server_that_asks(int version)
{
    SSL_CTX *ctx = raw_server_context(here.cert);
    BIO *text = BIO_new_mem_buf(tls_certs_pem(here.ca), -1);
    X509 *ca = PEM_read_bio_X509(text, NULL, NULL, NULL);

    assert_int_equal(X509_STORE_add_cert(SSL_CTX_get_cert_store(ctx), ca), 1);
    X509_free(ca);
    BIO_free(text);
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_max_proto_version(ctx, version);
    return ctx;
}

static void check_shows_itself(int version)
{
    struct tls_cert *own =
        tls_certs_make(&(struct tls_cert_wish){.ca = here.ca, .subject = "us", .client = true});
    struct tls_peer_options options = here.options;
    struct tls_context *before = here.client;
    struct end client;
    struct raw server;

    options.certificate = (char *)tls_certs_write(own);
    here.client = new_client_context(&options);
    dial(&client, &server, server_that_asks(version));
    check_talks(&client, &server);
    assert_non_null(SSL_get0_peer_certificate(server.ssl));
    finish(&client, &server);
    tls_context_free(here.client);
    here.client = before;
    tls_certs_free_cert(own);
}

static void test_a_server_that_requests_our_certificate_gets_it(void **state)
{
    (void)state;
    check_shows_itself(TLS1_3_VERSION);
    check_shows_itself(TLS1_2_VERSION);
}

/* In TLS 1.3 the server refuses after our handshake has ended. */
static void test_a_server_without_our_certificate_sends_an_alert(void **state)
{
    struct end client;
    struct raw server;
    (void)state;

    dial(&client, &server, server_that_asks(TLS1_3_VERSION));
    assert_int_equal(client.secured, 1);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_string_equal(tls_detail(client.tls), "tlsv13 alert certificate required");
    assert_int_equal(tls_send(client.tls, text_span("question")), ERR_CLOSED);
    finish(&client, &server);
    dial(&client, &server, server_that_asks(TLS1_2_VERSION));
    assert_int_equal(client.secured, 0);
    assert_int_equal(client.err, ERR_TLS_ALERT);
    assert_string_equal(tls_detail(client.tls), "sslv3 alert handshake failure");
    finish(&client, &server);
}

/* ---------------------------------------------------------------- cuts */

static void test_tls_12_may_come_byte_by_byte_too(void **state)
{
    struct end client;
    struct raw server;
    SSL_CTX *ctx = raw_server_context(here.cert);
    (void)state;

    SSL_CTX_set_max_proto_version(ctx, TLS1_2_VERSION);
    ends_client(&here, &client, NULL);
    raw_init(&server, ctx);
    SSL_CTX_free(ctx);
    end_begin(&client, text_span(""));
    raw_settle(&server, &client, cut_bytes);
    check_talks(&client, &server);
    finish(&client, &server);
}

static void test_a_server_that_sends_at_once_is_read_in_the_same_turn(void **state)
{
    struct end client;
    struct raw server;
    uint8_t bytes[16 * 1024];
    (void)state;

    /* In TLS 1.3 a server may send data right after its Finished message. */
    ends_client(&here, &client, NULL);
    SSL_CTX *ctx = raw_server_context(here.cert);
    SSL_CTX_set_max_early_data(ctx, 1024);
    raw_init(&server, ctx);
    SSL_CTX_free(ctx);
    end_begin(&client, text_span(""));
    struct buf *wire = tls_wire(client.tls);
    BIO_write(server.in, buf_span(wire).data, (int)buf_len(wire));
    buf_consume(wire, buf_len(wire));
    size_t len;
    assert_int_equal(SSL_read_early_data(server.ssl, bytes, sizeof(bytes), &len),
                     SSL_READ_EARLY_DATA_FINISH);
    assert_int_equal(SSL_write_early_data(server.ssl, "at once", 7, &len), 1);
    move_out(&server, &client);
    assert_int_equal(client.err, ERR_OK);
    assert_int_equal(client.secured, 1);
    assert_true(span_equal(buf_span(&client.plain), text_span("at once")));
    finish(&client, &server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_server_that_chooses_dot_is_accepted),
        cmocka_unit_test(test_a_server_that_chooses_another_protocol_is_refused),
        cmocka_unit_test(test_a_server_that_chooses_no_protocol_is_accepted),
        cmocka_unit_test(test_a_client_that_offers_dot_gets_it),
        cmocka_unit_test(test_a_client_that_offers_nothing_is_served),
        cmocka_unit_test(test_a_client_that_offers_only_other_protocols_is_refused_with_an_alert),
        cmocka_unit_test(test_clients_of_old_versions_are_refused_with_an_alert),
        cmocka_unit_test(test_servers_of_old_versions_are_refused),
        cmocka_unit_test(test_in_tls_12_only_forward_secret_aead_ciphers_are_used),
        cmocka_unit_test(test_the_server_chooses_by_its_own_order),
        cmocka_unit_test(test_a_client_that_wants_another_handshake_is_refused_without_harm),
        cmocka_unit_test(test_a_server_that_wants_another_handshake_is_refused_without_harm),
        cmocka_unit_test(test_a_server_that_asks_for_another_handshake_without_end_meets_a_bound),
        cmocka_unit_test(test_a_client_of_finite_fields_alone_is_refused),
        cmocka_unit_test(test_a_client_that_begins_with_finite_fields_is_served_with_another_group),
        cmocka_unit_test(test_a_server_of_finite_fields_alone_is_refused),
        cmocka_unit_test(test_finite_fields_are_used_if_configured),
        cmocka_unit_test(test_endless_key_updates_of_a_client_meet_a_bound),
        cmocka_unit_test(test_a_server_that_sends_much_may_update_its_keys_often),
        cmocka_unit_test(test_key_updates_are_followed),
        cmocka_unit_test(test_a_server_that_requests_our_certificate_gets_it),
        cmocka_unit_test(test_a_server_without_our_certificate_sends_an_alert),
        cmocka_unit_test(test_tls_12_may_come_byte_by_byte_too),
        cmocka_unit_test(test_a_server_that_sends_at_once_is_read_in_the_same_turn),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
