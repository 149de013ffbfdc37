/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Certificates, ALPN, tickets and versions of the fake network's servers and clients (fake_tls.h).
 * fake_tls.c runs a single end.
 */

#include <stdio.h>
#include <string.h>

#include <openssl/pem.h>
#include <openssl/rand.h>

#include "base/check.h"
#include "support/fake_tls_inside.h"
#include "support/tls_certs.h"

enum { EARLY_MAX = 16384, EXT_EARLY_DATA = 42 };

static struct fake_tls_net *tls_net(struct fake_net *net)
{
    if (!net->tls)
        net->tls = fake_net_take(net, sizeof(*net->tls));
    return net->tls;
}

void fake_tls_free_net(struct fake_net *net)
{
    if (!net->tls)
        return;
    for (struct fake_tls_server *server = net->tls->servers; server; server = server->next)
        SSL_CTX_free(server->context);
    SSL_CTX_free(net->tls->clients);
    tls_certs_free_cert(net->tls->certificate);
}

/* ---------------------------------------------------------------- facts of both ends */

static void note_alert(struct fake_tls_facts *facts, bool got, int alert)
{
    if (alert == SSL_AD_CLOSE_NOTIFY && got)
        facts->got_close_notify = true;
    else if (alert == SSL_AD_CLOSE_NOTIFY)
        facts->sent_close_notify = true;
    else if (got)
        facts->got_alert = alert;
    else
        facts->sent_alert = alert;
}

static void on_info(const SSL *ssl, int where, int value)
{
    struct fake_tls *tls = SSL_get_app_data(ssl);

    if (where & SSL_CB_ALERT)
        note_alert(&tls->facts, where & SSL_CB_READ, value & 0xff);
}

static void on_handshake_message(int is_written, int version, int type, const void *bytes,
                                 size_t len, SSL *ssl, void *arg)
{
    struct fake_tls *tls = SSL_get_app_data(ssl);
    const uint8_t *message = bytes;

    (void)version;
    (void)arg;
    if (is_written && type == SSL3_RT_HANDSHAKE && len > 0 &&
        message[0] == SSL3_MT_NEWSESSION_TICKET)
        tls->facts.tickets++;
}

static SSL_CTX *context_new(const SSL_METHOD *method)
{
    SSL_CTX *context = SSL_CTX_new(method);

    MUST(context);
    SSL_CTX_set_info_callback(context, on_info);
    /* saves memory in tests with thousands of idle ends */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_options(context, SSL_OP_NO_ANTI_REPLAY | SSL_OP_ALLOW_CLIENT_RENEGOTIATION);
    return context;
}

/* ---------------------------------------------------------------- PEM */

static X509 *next_certificate(BIO *pem)
{
    return PEM_read_bio_X509(pem, NULL, NULL, NULL);
}

static EVP_PKEY *read_key(const char *text)
{
    BIO *pem = BIO_new_mem_buf(text, -1);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(pem, NULL, NULL, NULL);

    MUST(key);
    BIO_free(pem);
    return key;
}

void fake_tls_show(SSL *ssl, const char *certificate, const char *key_text)
{
    BIO *pem = BIO_new_mem_buf(certificate, -1);
    EVP_PKEY *key = read_key(key_text);
    X509 *x509 = next_certificate(pem);

    MUST(x509 && SSL_use_certificate(ssl, x509) == 1 && SSL_use_PrivateKey(ssl, key) == 1);
    X509_free(x509);
    EVP_PKEY_free(key);
    BIO_free(pem);
}

static void show_chain(SSL_CTX *context, const char *certificate, const char *key_text)
{
    BIO *pem = BIO_new_mem_buf(certificate, -1);
    EVP_PKEY *key = read_key(key_text);
    X509 *x509 = next_certificate(pem);

    MUST(x509 && SSL_CTX_use_certificate(context, x509) == 1);
    MUST(SSL_CTX_use_PrivateKey(context, key) == 1);
    X509_free(x509);
    while ((x509 = next_certificate(pem)) != NULL)
        MUST(SSL_CTX_add_extra_chain_cert(context, x509) == 1); /* takes ownership */
    EVP_PKEY_free(key);
    BIO_free(pem);
}

static void show_something(SSL_CTX *context, struct fake_net *net,
                           const struct fake_tls_options *options)
{
    struct tls_cert **made = &tls_net(net)->certificate;

    if (options->certificate) {
        show_chain(context, options->certificate, options->key);
        return;
    }
    if (!*made)
        *made = tls_certs_make(&(struct tls_cert_wish){.name = "fake.test"});
    show_chain(context, (*made)->certificate, (*made)->key);
}

/* ---------------------------------------------------------------- a server's view of ClientHello
 */

static struct span extension(SSL *ssl, unsigned type)
{
    const uint8_t *data;
    size_t len;

    if (SSL_client_hello_get0_ext(ssl, type, &data, &len) != 1)
        return span_of(NULL, 0);
    return span_of(data, len);
}

static bool has_extension(SSL *ssl, unsigned type)
{
    const uint8_t *data;
    size_t len;

    return SSL_client_hello_get0_ext(ssl, type, &data, &len) == 1;
}

/* RFC 6066 section 3: a list with one name. */
static void note_sni(struct fake_tls_facts *facts, struct span list)
{
    struct span name;
    uint16_t len;
    uint8_t type;

    if (span_take_u16(&list, &len) && span_take_u8(&list, &type) && span_take_u16(&list, &len) &&
        span_take(&list, len, &name))
        snprintf(facts->sni, sizeof(facts->sni), "%.*s", (int)name.len, (const char *)name.data);
}

/* RFC 7301 section 3.1. */
static void note_alpn(struct fake_tls_facts *facts, struct span list)
{
    struct span name;
    uint16_t all;
    uint8_t len;
    size_t at = 0;

    if (!span_take_u16(&list, &all))
        return;
    while (span_take_u8(&list, &len) && span_take(&list, len, &name) &&
           at + name.len + 2 < sizeof(facts->offered))
        at += (size_t)snprintf(facts->offered + at, sizeof(facts->offered) - at, "%s%.*s",
                               at ? "," : "", (int)name.len, (const char *)name.data);
}

static int on_client_hello(SSL *ssl, int *alert, void *arg)
{
    struct fake_tls *tls = SSL_get_app_data(ssl);

    (void)alert;
    (void)arg;
    tls->facts.offered[0] = 0; /* after a HelloRetryRequest the ClientHello comes twice */
    note_sni(&tls->facts, extension(ssl, TLSEXT_TYPE_server_name));
    note_alpn(&tls->facts, extension(ssl, TLSEXT_TYPE_application_layer_protocol_negotiation));
    tls->facts.offered_ticket =
        has_extension(ssl, TLSEXT_TYPE_psk) || extension(ssl, TLSEXT_TYPE_session_ticket).len > 0;
    tls->facts.offered_early |= has_extension(ssl, EXT_EARLY_DATA);
    return SSL_CLIENT_HELLO_SUCCESS;
}

static int on_alpn(SSL *ssl, const uint8_t **out, uint8_t *out_len, const uint8_t *in,
                   unsigned in_len, void *arg)
{
    const struct fake_tls_server *server = arg;
    uint8_t *chosen;

    (void)ssl;
    if (server->alpn == FAKE_ALPN_REFUSE)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    if (server->alpn == FAKE_ALPN_OTHER) {
        *out = (const uint8_t *)"h2";
        *out_len = 2;
        return SSL_TLSEXT_ERR_OK;
    }
    if (server->alpn == FAKE_ALPN_NONE ||
        SSL_select_next_proto(&chosen, out_len, (const uint8_t *)"\3dot", 4, in, in_len) !=
            OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int on_early_allowed(SSL *ssl, void *arg)
{
    const struct fake_tls_server *server = arg;

    (void)ssl;
    return server->early == FAKE_EARLY_ACCEPT;
}

/* Accepts any certificate. */
static int on_certificate(int is_good, X509_STORE_CTX *store)
{
    (void)is_good;
    X509_STORE_CTX_set_error(store, X509_V_OK);
    return 1;
}

/* ---------------------------------------------------------------- servers */

static void set_versions(SSL_CTX *context, enum fake_tls_version only)
{
    SSL_CTX_set_min_proto_version(context, only ? (int)only : TLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(context, only ? (int)only : TLS1_3_VERSION);
    if (only && only < FAKE_TLS_1_2)
        SSL_CTX_set_security_level(context, 0);
}

/* TLS 1.2 also has sessions without tickets, which the fake does not use. */
static void set_tickets(SSL_CTX *context, struct fake_server *server,
                        const struct fake_tls_options *options)
{
    size_t count = options->tickets > 0 ? (size_t)options->tickets : 2;

    if (!server->has_ticket_keys || options->forget_tickets)
        MUST(RAND_bytes(server->ticket_keys, sizeof(server->ticket_keys)) == 1);
    server->has_ticket_keys = true;
    MUST(SSL_CTX_set_tlsext_ticket_keys(context, server->ticket_keys,
                                        sizeof(server->ticket_keys)) == 1);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_id_context(context, (const uint8_t *)"fake", 4);
    SSL_CTX_set_timeout(context, options->ticket_lifetime_s ? options->ticket_lifetime_s : 7200);
    if (options->tickets == FAKE_TLS_NO_TICKETS) {
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
        count = 0;
    }
    SSL_CTX_set_num_tickets(context, count);
    if (options->early != FAKE_EARLY_NONE)
        SSL_CTX_set_max_early_data(context, EARLY_MAX);
}

static void set_words(SSL_CTX *context, const struct fake_tls_options *options)
{
    if (options->groups)
        MUST(SSL_CTX_set1_groups_list(context, options->groups) == 1);
    if (options->ciphers && options->only == FAKE_TLS_1_3)
        MUST(SSL_CTX_set_ciphersuites(context, options->ciphers) == 1);
    else if (options->ciphers)
        MUST(SSL_CTX_set_cipher_list(context, options->ciphers) == 1);
}

static void set_callbacks(struct fake_tls_server *made, const struct fake_tls_options *options)
{
    SSL_CTX_set_client_hello_cb(made->context, on_client_hello, NULL);
    SSL_CTX_set_alpn_select_cb(made->context, on_alpn, made);
    SSL_CTX_set_allow_early_data_cb(made->context, on_early_allowed, made);
    SSL_CTX_set_msg_callback(made->context, on_handshake_message);
    if (options->need_certificate)
        SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
                           on_certificate);
    else if (options->ask_certificate)
        SSL_CTX_set_verify(made->context, SSL_VERIFY_PEER, on_certificate);
}

void fake_server_speak_tls(struct fake_server *server, const struct fake_tls_options *options)
{
    struct fake_tls_server *made;

    server->tls = NULL;
    if (!options)
        return;
    made = fake_net_take(server->net, sizeof(*made));
    made->context = context_new(TLS_server_method());
    made->alpn = options->alpn;
    made->early = options->early;
    made->manner = options->manner;
    made->next = tls_net(server->net)->servers;
    server->net->tls->servers = made;
    show_something(made->context, server->net, options);
    set_versions(made->context, options->only);
    set_tickets(made->context, server, options);
    set_words(made->context, options);
    set_callbacks(made, options);
    server->tls = made;
}

/* ---------------------------------------------------------------- clients */

/* Keeps a copy, because the end of the connection may invalidate the session itself. */
static int on_new_session(SSL *ssl, SSL_SESSION *session)
{
    struct fake_tls *tls = SSL_get_app_data(ssl);

    SSL_SESSION_free(tls->newest);
    tls->newest = SSL_SESSION_dup(session);
    tls->facts.tickets++;
    return 0;
}

SSL_CTX *fake_tls_client_context(struct fake_net *net)
{
    struct fake_tls_net *tls = tls_net(net);

    if (tls->clients)
        return tls->clients;
    tls->clients = context_new(TLS_client_method());
    SSL_CTX_set_session_cache_mode(tls->clients,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(tls->clients, on_new_session);
    return tls->clients;
}
