/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The functions of fake_tls.h for tests: clients, facts, and acts after the handshake. */

#include <string.h>

#include <openssl/err.h>

#include "base/check.h"
#include "support/fake_tls_inside.h"

/* ---------------------------------------------------------------- clients */

static void set_versions(SSL *ssl, enum fake_tls_version only)
{
    if (only && only < FAKE_TLS_1_2)
        SSL_set_security_level(ssl, 0);
    MUST(SSL_set_min_proto_version(ssl, only ? (int)only : TLS1_2_VERSION) == 1);
    MUST(SSL_set_max_proto_version(ssl, only ? (int)only : TLS1_3_VERSION) == 1);
}

/* Encodes "h2,dot" as in RFC 7301 section 3.1: each name after its length. */
static void offer(SSL *ssl, const char *names)
{
    uint8_t wire[FAKE_TLS_TEXT];
    size_t at = 0;

    while (*names) {
        size_t len = strcspn(names, ",");
        MUST(len > 0 && at + 1 + len <= sizeof(wire));
        wire[at] = (uint8_t)len;
        memcpy(wire + at + 1, names, len);
        at += 1 + len;
        names += len + (names[len] == ',');
    }
    MUST(SSL_set_alpn_protos(ssl, wire, (unsigned)at) == 0);
}

static void set_words(SSL *ssl, const struct fake_tls_client_options *options)
{
    if (options->groups)
        MUST(SSL_set1_groups_list(ssl, options->groups) == 1);
    if (options->ciphers && options->only == FAKE_TLS_1_3)
        MUST(SSL_set_ciphersuites(ssl, options->ciphers) == 1);
    else if (options->ciphers)
        MUST(SSL_set_cipher_list(ssl, options->ciphers) == 1);
}

/* Uses a ticket once, as real clients do. */
static void resume(SSL *ssl, const struct fake_conn *earlier)
{
    MUST(earlier->tls && earlier->tls->newest);
    MUST(SSL_set_session(ssl, earlier->tls->newest) == 1);
    SSL_SESSION_free(earlier->tls->newest);
    earlier->tls->newest = NULL;
}

static void apply(SSL *ssl, const struct fake_tls_client_options *options)
{
    set_versions(ssl, options->only);
    set_words(ssl, options);
    if (options->alpn)
        offer(ssl, options->alpn);
    if (options->sni)
        MUST(SSL_set_tlsext_host_name(ssl, options->sni) == 1);
    if (options->certificate)
        fake_tls_show(ssl, options->certificate, options->key);
    if (options->resume)
        resume(ssl, options->resume);
}

struct fake_conn *fake_client_tls_open(struct fake_net *net, const struct addr *to,
                                       const struct addr *from,
                                       const struct fake_tls_client_options *options)
{
    static const struct fake_tls_client_options plain;
    struct fake_conn *conn = fake_client_tcp_open(net, to, from);

    if (!options)
        options = &plain;
    conn->tls = fake_tls_new(conn, fake_tls_client_context(net), NULL, &options->manner);
    apply(conn->tls->ssl, options);
    fake_tls_begin(conn->tls, options->early);
    return conn;
}

/* ---------------------------------------------------------------- facts */

bool fake_conn_speaks_tls(const struct fake_conn *conn)
{
    return conn->tls != NULL;
}

const struct fake_tls_facts *fake_conn_tls_facts(const struct fake_conn *conn)
{
    MUST(conn->tls);
    return &conn->tls->facts;
}

bool fake_conn_tls_in_early(const struct fake_conn *conn)
{
    return conn->tls && conn->tls->in_early;
}

struct span fake_conn_tls_raw(const struct fake_conn *conn)
{
    MUST(conn->tls);
    return buf_span(&conn->tls->raw);
}

bool fake_conn_tls_raw_has(const struct fake_conn *conn, struct span bytes)
{
    struct span raw = fake_conn_tls_raw(conn);
    return raw.len > 0 && memmem(raw.data, raw.len, bytes.data, bytes.len) != NULL;
}

/* ---------------------------------------------------------------- acts after the handshake */

static struct fake_tls *secured(struct fake_conn *conn)
{
    MUST(conn->tls && conn->tls->facts.finished);
    ERR_clear_error();
    return conn->tls;
}

/* Sends a plain record with the alert; OpenSSL seals nothing here. */
void fake_conn_tls_alert(struct fake_conn *conn)
{
    static const uint8_t record[5 + 40] = {23, 3, 3, 0, 40};
    struct fake_tls *tls = secured(conn);

    MUST(BIO_write(tls->in, record, sizeof(record)) == sizeof(record));
    fake_tls_go_on(tls);
}

void fake_conn_tls_renegotiate(struct fake_conn *conn)
{
    struct fake_tls *tls = secured(conn);

    MUST(SSL_renegotiate(tls->ssl) == 1);
    (void)SSL_do_handshake(tls->ssl);
    fake_tls_flush(tls, 0, 0);
}

void fake_conn_tls_update_keys(struct fake_conn *conn)
{
    struct fake_tls *tls = secured(conn);

    MUST(SSL_key_update(tls->ssl, SSL_KEY_UPDATE_REQUESTED) == 1);
    MUST(SSL_do_handshake(tls->ssl) == 1);
    fake_tls_flush(tls, 0, 0);
}

void fake_conn_tls_give_ticket(struct fake_conn *conn)
{
    struct fake_tls *tls = secured(conn);

    MUST(SSL_new_session_ticket(tls->ssl) == 1);
    MUST(SSL_do_handshake(tls->ssl) == 1);
    fake_tls_flush(tls, 0, 0);
}

void fake_conn_tls_notify(struct fake_conn *conn)
{
    struct fake_tls *tls = secured(conn);

    (void)SSL_shutdown(tls->ssl);
    fake_tls_flush(tls, 0, 0);
}

void fake_conn_tls_send_raw(struct fake_conn *conn, struct span bytes)
{
    fake_conn_raw_out(conn, bytes, 0, 0, 0);
}
