/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_TLS_SESSIONS_H
#define NAILUP_TESTS_TLS_SESSIONS_H

/* Sessions for tests. They come from real handshakes between two bare OpenSSL ends in memory. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "base/span.h"

/* Zeroed: a lifetime of two hours, and a certificate valid for a hundred days. */
struct session_how {
    long lifetime_s;
    int days;
};

static struct {
    EVP_PKEY *key;
    SSL_CTX *server, *client;
    SSL_SESSION *got;       /* the last session that the client received */
    SSL_SESSION *models[2]; /* sessions of TLS 1.2 and 1.3, from which copies are made */
} sessions;

static inline struct span text(const char *string)
{
    return span_of(string, strlen(string));
}

static inline int64_t now(void)
{
    return time(NULL);
}

static inline int on_new_session(SSL *ssl, SSL_SESSION *session)
{
    (void)ssl;
    SSL_SESSION_free(sessions.got);
    sessions.got = session;
    return 1;
}

/* Makes a self-signed certificate that has been valid for an hour. */
static inline void give_certificate(int days)
{
    X509 *x509 = X509_new();

    ASN1_INTEGER_set(X509_get_serialNumber(x509), 1);
    X509_set_version(x509, X509_VERSION_3);
    X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
    X509_gmtime_adj(X509_getm_notAfter(x509), days * 86400L);
    X509_set_pubkey(x509, sessions.key);
    MUST(X509_sign(x509, sessions.key, EVP_sha256()) > 0);
    MUST(SSL_CTX_use_certificate(sessions.server, x509) == 1);
    MUST(SSL_CTX_use_PrivateKey(sessions.server, sessions.key) == 1);
    X509_free(x509);
}

/* Runs both ends until they are silent. The client reads, because tickets come after the handshake.
 */
static inline void shake_hands(SSL *client, SSL *server)
{
    char byte;

    for (int i = 0; i < 10; i++) {
        (void)SSL_do_handshake(client);
        (void)SSL_do_handshake(server);
    }
    MUST(SSL_is_init_finished(client) && SSL_is_init_finished(server));
    (void)SSL_read(client, &byte, 1);
    SSL_set_shutdown(client, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_set_shutdown(server, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
}

/* Makes a handshake. Returns whether it resumed the session. */
static inline bool handshake(int version, SSL_SESSION *resume)
{
    SSL *client = SSL_new(sessions.client), *server = SSL_new(sessions.server);
    BIO *a = NULL, *b = NULL;
    bool resumed;

    MUST(client && server && BIO_new_bio_pair(&a, 0, &b, 0) == 1);
    SSL_set_connect_state(client);
    SSL_set_accept_state(server);
    SSL_set_bio(client, a, a);
    SSL_set_bio(server, b, b);
    SSL_set_max_proto_version(client, version);
    if (resume)
        MUST(SSL_set_session(client, resume) == 1);
    shake_hands(client, server);
    resumed = SSL_session_reused(client) == 1;
    SSL_free(client);
    SSL_free(server);
    return resumed;
}

static inline bool handshake_resumes(SSL_SESSION *session)
{
    return handshake(SSL_SESSION_get_protocol_version(session), session);
}

static inline SSL_SESSION *session_of_handshake(int version, const struct session_how *how)
{
    SSL_SESSION *session;

    give_certificate(how && how->days ? how->days : 100);
    SSL_CTX_set_timeout(sessions.server, how && how->lifetime_s ? how->lifetime_s : 7200);
    handshake(version, NULL);
    session = sessions.got;
    sessions.got = NULL;
    MUST(session);
    return session;
}

/* Damages the session as SSL_free() does after a reset. */
static inline void session_spoil(SSL_SESSION *session)
{
    SSL_CTX *ctx = SSL_CTX_new(TLS_method());

    SSL_CTX_add_session(ctx, session);
    SSL_CTX_remove_session(ctx, session);
    SSL_CTX_free(ctx);
    MUST(!SSL_SESSION_is_resumable(session));
}

/* Copies a session of an earlier handshake, which is cheaper than a new one, and marks the copy
 * with a tag. */
static inline SSL_SESSION *session_new(int version, int tag)
{
    SSL_SESSION **model = &sessions.models[version == TLS1_3_VERSION], *session;
    uint8_t id[32] = {(uint8_t)tag};

    if (!*model)
        *model = session_of_handshake(version, NULL);
    session = SSL_SESSION_dup(*model);
    MUST(session && SSL_SESSION_set1_id(session, id, sizeof(id)) == 1);
    return session;
}

static inline int session_tag(const SSL_SESSION *session)
{
    unsigned len;
    const uint8_t *id = SSL_SESSION_get_id(session, &len);

    return len > 0 ? id[0] : 0;
}

static inline int sessions_set_up(void **state)
{
    (void)state;
    sessions.key = EVP_EC_gen("P-256");
    sessions.server = SSL_CTX_new(TLS_server_method());
    sessions.client = SSL_CTX_new(TLS_client_method());
    MUST(sessions.key && sessions.server && sessions.client);
    SSL_CTX_set_num_tickets(sessions.server, 1);
    SSL_CTX_set_session_cache_mode(sessions.server, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_session_cache_mode(sessions.client,
                                   SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(sessions.client, on_new_session);
    return 0;
}

static inline int sessions_tear_down(void **state)
{
    (void)state;
    SSL_SESSION_free(sessions.got);
    for (size_t i = 0; i < ARRAY_LEN(sessions.models); i++)
        SSL_SESSION_free(sessions.models[i]);
    SSL_CTX_free(sessions.server);
    SSL_CTX_free(sessions.client);
    EVP_PKEY_free(sessions.key);
    return 0;
}

#endif
