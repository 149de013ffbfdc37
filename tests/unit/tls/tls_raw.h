/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_NET_TLS_RAW_H
#define NAILUP_TESTS_UNIT_NET_TLS_RAW_H

/* A bare OpenSSL end, which can do what ours never does. A test may change its context before
 * raw_init(). */

#include <openssl/err.h>
#include <openssl/pem.h>

#include "tls_ends.h"

struct raw {
    SSL *ssl;
    BIO *in, *out; /* the BIOs of ssl */
    struct buf plain;
    struct buf early;
    unsigned plain_records, early_records;
    bool takes_early;
    int reason; /* why it failed; 0: it has not failed */
};

static inline SSL_CTX *raw_client_context(void)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
    MUST(ctx);
    return ctx;
}

static inline void raw_use(SSL_CTX *ctx, const struct tls_cert *cert)
{
    BIO *chain = BIO_new_mem_buf(cert->certificate, -1), *key = BIO_new_mem_buf(cert->key, -1);
    X509 *own = PEM_read_bio_X509(chain, NULL, NULL, NULL), *next;
    EVP_PKEY *private = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);

    MUST(SSL_CTX_use_certificate(ctx, own) == 1 && SSL_CTX_use_PrivateKey(ctx, private) == 1);
    while ((next = PEM_read_bio_X509(chain, NULL, NULL, NULL)))
        MUST(SSL_CTX_add0_chain_cert(ctx, next) == 1);
    ERR_clear_error();
    X509_free(own);
    EVP_PKEY_free(private);
    BIO_free(chain);
    BIO_free(key);
}

static inline SSL_CTX *raw_server_context(const struct tls_cert *cert)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
    MUST(ctx);
    raw_use(ctx, cert);
    return ctx;
}

static inline void raw_init(struct raw *raw, SSL_CTX *ctx)
{
    *raw =
        (struct raw){.ssl = SSL_new(ctx), .in = BIO_new(BIO_s_mem()), .out = BIO_new(BIO_s_mem())};
    MUST(raw->ssl && raw->in && raw->out);
    buf_init(&raw->plain, PLAIN_MAX);
    buf_init(&raw->early, PLAIN_MAX);
    SSL_set_bio(raw->ssl, raw->in, raw->out);
    if (SSL_is_server(raw->ssl))
        SSL_set_accept_state(raw->ssl);
    else
        SSL_set_connect_state(raw->ssl);
}

static inline void raw_deinit(struct raw *raw)
{
    SSL_free(raw->ssl);
    buf_deinit(&raw->plain);
    buf_deinit(&raw->early);
}

/* Notes why a call failed, unless it only needs more bytes. */
static inline void raw_note(struct raw *raw, int result)
{
    unsigned long code = ERR_peek_last_error();
    if (SSL_get_error(raw->ssl, result) != SSL_ERROR_WANT_READ && !raw->reason)
        raw->reason = code ? ERR_GET_REASON(code) : -1;
}

/* Takes early data. Returns true when it has ended. */
static inline bool raw_take_early(struct raw *raw)
{
    uint8_t bytes[512];
    size_t len;

    for (;;) {
        ERR_clear_error();
        int result = SSL_read_early_data(raw->ssl, bytes, sizeof(bytes), &len);
        if (result == SSL_READ_EARLY_DATA_ERROR) {
            raw_note(raw, 0);
            return false;
        }
        if (len > 0)
            MUST(buf_append(&raw->early, bytes, len) == ERR_OK);
        raw->early_records += len > 0;
        if (result == SSL_READ_EARLY_DATA_FINISH)
            return true;
    }
}

/* Goes as far as the received bytes allow. */
static inline void raw_go_on(struct raw *raw)
{
    uint8_t bytes[4096];
    size_t len;
    int result = 1;

    if (raw->takes_early) {
        if (!raw_take_early(raw))
            return;
        raw->takes_early = false;
    }
    ERR_clear_error();
    if (!SSL_is_init_finished(raw->ssl))
        result = SSL_do_handshake(raw->ssl);
    while (result == 1) {
        ERR_clear_error();
        result = SSL_read_ex(raw->ssl, bytes, sizeof(bytes), &len);
        if (result == 1)
            MUST(buf_append(&raw->plain, bytes, len) == ERR_OK);
        raw->plain_records += result == 1;
    }
    raw_note(raw, result);
}

static inline void raw_send(struct raw *raw, const char *text)
{
    ERR_clear_error();
    MUST(SSL_write(raw->ssl, text, (int)strlen(text)) > 0);
}

/* Runs until both ends are silent. */
static inline void raw_settle(struct raw *raw, struct end *end, cut_fn *cut)
{
    struct buf *wire = tls_wire(end->tls);
    uint8_t bytes[32 * 1024];
    bool moved = true;
    int len;

    raw_go_on(raw);
    while (moved) {
        moved = buf_len(wire) > 0;
        if (moved) {
            struct span all = buf_span(wire);
            size_t part = cut(all.len);
            MUST(BIO_write(raw->in, all.data, (int)part) == (int)part);
            buf_consume(wire, part);
            raw_go_on(raw);
        }
        while (BIO_ctrl_pending(raw->out) > 0) {
            moved = true;
            len =
                BIO_read(raw->out, bytes, (int)cut(MIN(BIO_ctrl_pending(raw->out), sizeof(bytes))));
            MUST(len > 0);
            if (!end->err)
                end_receive(end, span_of(bytes, (size_t)len));
        }
    }
}

#endif
