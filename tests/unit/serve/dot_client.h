/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_SERVE_DOT_CLIENT_H
#define NAILUP_TESTS_UNIT_SERVE_DOT_CLIENT_H

/*
 * A client that speaks TLS over a fake connection. It uses OpenSSL directly, so it does not depend
 * on src/net. Each test chooses its behaviour.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>

#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "support/tls_certs.h"
#include "tls/tls_context.h"

static inline struct tls_context *dot_make_context(const struct tls_cert *cert,
                                                   struct tls_ticket_keys *keys)
{
    const struct tls_server_options with = {
        .certificate = tls_certs_certificate(cert),
        .key = tls_certs_key(cert),
        .ticket_keys = keys,
    };
    struct tls_context *context = NULL;
    char why[TLS_WHY_MAX] = "";
    enum err err = tls_context_server(&context, &with, why);
    assert_string_equal(err ? why : "", "");
    return context;
}

/* ---- the client ---- */

struct dot_client {
    struct fake_conn *conn;
    SSL *ssl;
    bool is_secured;
    bool got_notify; /* the server has sent its close_notify */
    bool has_failed; /* the client's OpenSSL has failed */
    bool holds;      /* holds sealed bytes back, so that they leave in one piece */
    size_t records;  /* how many records of plain text were read */
    size_t piece;    /* sends this many bytes at a time; 0: all */
    uint8_t *plain;
    size_t plain_start, plain_end;
};

/* version 0: any. session NULL: none to resume; borrowed. */
static inline void dot_begin(struct dot_client *client, struct fake_conn *conn, int version,
                             SSL_SESSION *session)
{
    *client = (struct dot_client){.conn = conn};
    static SSL_CTX *context; /* shared, because making one takes longer than a handshake */
    if (!context)
        context = SSL_CTX_new(TLS_client_method());
    client->ssl = SSL_new(context);
    SSL_set_min_proto_version(client->ssl, version);
    SSL_set_max_proto_version(client->ssl, version);
    SSL_set_bio(client->ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
    SSL_set_connect_state(client->ssl);
    SSL_set_alpn_protos(client->ssl, (const unsigned char *)"\3dot", 4);
    if (session)
        SSL_set_session(client->ssl, session);
}

/* Frees the client's TLS. The connection stays open and silent. */
static inline void dot_free(struct dot_client *client)
{
    SSL_free(client->ssl);
    free(client->plain);
    client->ssl = NULL;
}

static inline bool dot_send_wire(struct dot_client *client)
{
    BIO *out = SSL_get_wbio(client->ssl);
    char *data;
    long len = BIO_get_mem_data(out, &data);
    if (len <= 0 || client->holds)
        return false;
    struct span bytes = span_of(data, (size_t)len);
    if (client->piece)
        fake_conn_send_pieces(client->conn, bytes, client->piece, 0);
    else
        fake_conn_send(client->conn, bytes);
    BIO_reset(out);
    return true;
}

static inline bool dot_take_wire(struct dot_client *client)
{
    struct span bytes = fake_conn_received(client->conn);
    if (bytes.len == 0)
        return false;
    BIO_write(SSL_get_rbio(client->ssl), bytes.data, (int)bytes.len);
    fake_conn_take(client->conn, bytes.len);
    return true;
}

/* Reads one record at a time. */
static inline int dot_read_record(struct dot_client *client)
{
    uint8_t record[SSL3_RT_MAX_PLAIN_LENGTH];
    int len = SSL_read(client->ssl, record, sizeof(record));
    if (len <= 0)
        return len;
    client->plain = realloc(client->plain, client->plain_end + (size_t)len);
    memcpy(client->plain + client->plain_end, record, (size_t)len);
    client->plain_end += (size_t)len;
    client->records++;
    return len;
}

static inline void dot_read(struct dot_client *client)
{
    int len = 0;
    ERR_clear_error();
    if (!client->is_secured && (len = SSL_do_handshake(client->ssl)) == 1)
        client->is_secured = true;
    while (client->is_secured && (len = dot_read_record(client)) > 0)
        ;
    int why = SSL_get_error(client->ssl, len);
    client->got_notify |= why == SSL_ERROR_ZERO_RETURN;
    client->has_failed |= why == SSL_ERROR_SSL;
}

/* Runs both ends until both have nothing to send. */
static inline void dot_settle(struct dot_client *client, struct loop *on)
{
    bool moved = true;
    while (moved) {
        moved = dot_take_wire(client);
        if (!client->has_failed)
            dot_read(client);
        moved |= dot_send_wire(client);
        fake_loop_settle(on);
        moved |= fake_conn_received(client->conn).len > 0;
    }
}

/* Seals bytes into one record and sends them. */
static inline void dot_send(struct dot_client *client, struct span bytes)
{
    ERR_clear_error();
    assert_int_equal(SSL_write(client->ssl, bytes.data, (int)bytes.len), bytes.len);
    dot_send_wire(client);
}

static inline void dot_send_message(struct dot_client *client, struct span message)
{
    uint8_t *framed = malloc(2 + message.len);
    put_u16(framed, (uint16_t)message.len);
    memcpy(framed + 2, message.data, message.len);
    dot_send(client, span_of(framed, 2 + message.len));
    free(framed);
}

/* Sends a close_notify, but no FIN. */
static inline void dot_end(struct dot_client *client)
{
    ERR_clear_error();
    SSL_shutdown(client->ssl);
    dot_send_wire(client);
}

/* Takes the next whole message, borrowed until the next call of any function here. */
static inline bool dot_next_message(struct dot_client *client, struct span *message)
{
    size_t have = client->plain_end - client->plain_start;
    const uint8_t *at = client->plain + client->plain_start;
    if (have < 2 || have - 2 < get_u16(at))
        return false;
    *message = span_of(at + 2, get_u16(at));
    client->plain_start += 2 + message->len;
    return true;
}

/* Whether the server has presented this certificate. */
static inline bool dot_was_shown(const struct dot_client *client, const struct tls_cert *cert)
{
    BIO *bio = BIO_new_mem_buf(cert->certificate, -1);
    X509 *expected = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    X509 *shown = SSL_get1_peer_certificate(client->ssl);
    assert_true(expected && shown);
    bool same = X509_cmp(expected, shown) == 0;
    X509_free(shown);
    X509_free(expected);
    BIO_free(bio);
    return same;
}

#endif
