/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The server side of TLS. A connection makes a new context if the settings have changed since the
 * last one. Invariant: all contexts of a server have the same ticket keys until
 * tls_server_forget().
 */

#include "tls_server.h"

#include <errno.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
    TICKET_KEY_BYTES = 80,    /* the size that SSL_CTX_set_tlsext_ticket_keys() requires */
    EARLY_DATA_BYTES = 16384, /* the limit in each ticket */
    SERIALS_KEPT = 1 << 20,   /* the use of this many tickets is remembered */
    SERIALS_BYTES = SERIALS_KEPT / 8,
};

static const char other_protocol[] = "http/1.1";

struct tls_server {
    struct tls_pair authority, leaves[TLS_IDENTITY_COUNT];
    const char *chain_path; /* NULL: the responder has made the good certificate itself */
    char pin[TLS_PIN_MAX];
    SSL_CTX *context; /* NULL until the first connection needs it */
    struct tls_server_options options;
    unsigned char ticket_keys[TICKET_KEY_BYTES];
    uint64_t next_serial, reused;
    uint8_t used[SERIALS_BYTES]; /* one bit for each of the newest serials */
};

static bool make_leaves(struct tls_server *server, const char *name, const struct addr *addrs,
                        size_t count)
{
    struct tls_pair *good = &server->leaves[TLS_IDENTITY_GOOD];
    for (int i = TLS_IDENTITY_GOOD; i < TLS_IDENTITY_COUNT; i++)
        if (!server->leaves[i].key &&
            !tls_leaf_make(&server->leaves[i], &server->authority, good->key ? good : NULL,
                           (enum tls_identity)i, name, addrs, count))
            return false;
    return tls_pin(good->certificate, server->pin);
}

struct tls_server *tls_server_new(const char *name, const struct addr *addrs, size_t count,
                                  const char *certificate_path, const char *key_path,
                                  char why[TLS_TEXT_MAX])
{
    struct tls_server *server = calloc(1, sizeof(*server));
    snprintf(why, TLS_TEXT_MAX, "cannot make certificates");
    if (!server)
        return NULL;
    if (certificate_path) {
        server->chain_path = certificate_path;
        if (!tls_pair_read(&server->leaves[TLS_IDENTITY_GOOD], certificate_path, key_path)) {
            snprintf(why, TLS_TEXT_MAX, "no certificate in %.90s and its key in %.90s",
                     certificate_path, key_path);
            tls_server_free(server);
            return NULL;
        }
    }
    if (tls_authority_make(&server->authority) && make_leaves(server, name, addrs, count) &&
        RAND_bytes(server->ticket_keys, TICKET_KEY_BYTES) == 1)
        return server;
    tls_server_free(server);
    return NULL;
}

void tls_server_free(struct tls_server *server)
{
    if (!server)
        return;
    SSL_CTX_free(server->context);
    tls_pair_deinit(&server->authority);
    for (int i = 0; i < TLS_IDENTITY_COUNT; i++)
        tls_pair_deinit(&server->leaves[i]);
    free(server);
}

bool tls_server_write_authority(const struct tls_server *server, const char *path)
{
    return tls_pair_write(&server->authority, path, false);
}

bool tls_server_write_client(const struct tls_server *server, const char *path)
{
    struct tls_pair pair;
    errno = ENOMEM;
    if (!tls_client_leaf_make(&pair, &server->authority))
        return false;
    bool ok = tls_pair_write(&pair, path, true);
    tls_pair_deinit(&pair);
    return ok;
}

const char *tls_server_pin(const struct tls_server *server)
{
    return server->pin;
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                   const unsigned char *offered, unsigned offered_len, void *arg)
{
    const struct tls_server *server = arg;
    static const unsigned char dot[] = "\3dot";
    unsigned char *chosen = NULL;
    (void)ssl;
    if (server->options.alpn == TLS_ALPN_NONE)
        return SSL_TLSEXT_ERR_NOACK;
    if (server->options.alpn == TLS_ALPN_REFUSE)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    if (server->options.alpn == TLS_ALPN_WRONG) {
        *out = (const unsigned char *)other_protocol;
        *out_len = sizeof(other_protocol) - 1;
        return SSL_TLSEXT_ERR_OK;
    }
    if (SSL_select_next_proto(&chosen, out_len, dot, sizeof(dot) - 1, offered, offered_len) !=
        OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_NOACK;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

static int on_early_data(SSL *ssl, void *arg)
{
    const struct tls_server *server = arg;
    (void)ssl;
    return server->options.early == TLS_EARLY_ON;
}

/* Numbers each ticket, so that a second use is detected. */
static int on_ticket_made(SSL *ssl, void *arg)
{
    struct tls_server *server = arg;
    uint64_t serial = server->next_serial++;
    server->used[serial % SERIALS_KEPT / 8] &= (uint8_t) ~(1u << (serial % 8));
    return SSL_SESSION_set1_ticket_appdata(SSL_get_session(ssl), &serial, sizeof(serial));
}

static SSL_TICKET_RETURN on_ticket_taken(SSL *ssl, SSL_SESSION *session, const unsigned char *name,
                                         size_t name_len, SSL_TICKET_STATUS status, void *arg)
{
    struct tls_server *server = arg;
    void *data = NULL;
    size_t len = 0;
    uint64_t serial;
    (void)ssl, (void)name, (void)name_len;
    if (status != SSL_TICKET_SUCCESS && status != SSL_TICKET_SUCCESS_RENEW)
        return SSL_TICKET_RETURN_IGNORE_RENEW;
    if (SSL_SESSION_get0_ticket_appdata(session, &data, &len) != 1 || len != sizeof(serial))
        return SSL_TICKET_RETURN_USE_RENEW;
    memcpy(&serial, data, sizeof(serial));
    uint8_t bit = (uint8_t)(1u << (serial % 8)), *byte = &server->used[serial % SERIALS_KEPT / 8];
    if (serial + SERIALS_KEPT > server->next_serial) {
        server->reused += (*byte & bit) != 0;
        *byte |= bit;
    }
    return SSL_TICKET_RETURN_USE_RENEW; /* TLS 1.2 gets a new ticket, too */
}

static void tls_server_set_versions(SSL_CTX *context, int versions)
{
    bool below_13 = versions == TLS_VERSIONS_12;
    SSL_CTX_set_min_proto_version(context,
                                  versions == TLS_VERSIONS_13 ? TLS1_3_VERSION : TLS1_2_VERSION);
    SSL_CTX_set_max_proto_version(context, below_13 ? TLS1_2_VERSION : TLS1_3_VERSION);
}

static void set_tickets(struct tls_server *server, SSL_CTX *context)
{
    const struct tls_server_options *options = &server->options;
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, options->tickets);
    if (options->tickets == 0)
        SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
    SSL_CTX_set_tlsext_ticket_keys(context, server->ticket_keys, TICKET_KEY_BYTES);
    SSL_CTX_set_session_ticket_cb(context, on_ticket_made, on_ticket_taken, server);
    /* OpenSSL's protection against replay would make tickets stateful. We only count replays. */
    SSL_CTX_set_options(context, SSL_OP_NO_ANTI_REPLAY);
    SSL_CTX_set_max_early_data(context, options->early != TLS_EARLY_OFF ? EARLY_DATA_BYTES : 0);
    SSL_CTX_set_recv_max_early_data(context, EARLY_DATA_BYTES);
    SSL_CTX_set_allow_early_data_cb(context, on_early_data, server);
}

static bool set_identity(struct tls_server *server, SSL_CTX *context)
{
    const struct tls_pair *leaf = &server->leaves[server->options.identity];
    if (server->options.identity == TLS_IDENTITY_GOOD && server->chain_path) {
        if (SSL_CTX_use_certificate_chain_file(context, server->chain_path) != 1)
            return false;
    } else if (SSL_CTX_use_certificate(context, leaf->certificate) != 1) {
        return false;
    }
    return SSL_CTX_use_PrivateKey(context, leaf->key) == 1;
}

static bool set_client_certificate(struct tls_server *server, SSL_CTX *context)
{
    if (!server->options.late_alert)
        return true;
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    return X509_STORE_add_cert(SSL_CTX_get_cert_store(context), server->authority.certificate) ==
               1 &&
           SSL_CTX_add_client_CA(context, server->authority.certificate) == 1;
}

static bool make_context(struct tls_server *server)
{
    static const unsigned char session_context[] = "nailup-bench";
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        return false;
    tls_server_set_versions(context, server->options.versions);
    set_tickets(server, context);
    SSL_CTX_set_options(context, SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS);
    SSL_CTX_set_session_id_context(context, session_context, sizeof(session_context) - 1);
    SSL_CTX_set_alpn_select_cb(context, on_alpn, server);
    if (!set_identity(server, context) || !set_client_certificate(server, context)) {
        ERR_clear_error();
        SSL_CTX_free(context);
        return false;
    }
    SSL_CTX_free(server->context);
    server->context = context;
    return true;
}

static bool is_same(const struct tls_server_options *a, const struct tls_server_options *b)
{
    return a->versions == b->versions && a->early == b->early && a->alpn == b->alpn &&
           a->identity == b->identity && a->tickets == b->tickets && a->late_alert == b->late_alert;
}

struct tls_stream *tls_server_accept(struct tls_server *server,
                                     const struct tls_server_options *options)
{
    if (!server->context || !is_same(&server->options, options)) {
        server->options = *options;
        if (!make_context(server))
            return NULL;
    }
    return tls_stream_new(server->context, TLS_SERVER);
}

void tls_server_forget(struct tls_server *server)
{
    MUST(RAND_bytes(server->ticket_keys, TICKET_KEY_BYTES) == 1);
    SSL_CTX_free(server->context);
    server->context = NULL;
}

uint64_t tls_server_reused_tickets(const struct tls_server *server)
{
    return server->reused;
}
