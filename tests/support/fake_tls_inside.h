/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_TLS_INSIDE_H
#define NAILUP_TESTS_FAKE_TLS_INSIDE_H

/*
 * Shared by fake_conn.c and the files of TLS: fake_tls_context.c (certificates, tickets, ALPN),
 * fake_tls.c (one end and its behaviour), fake_tls_far.c (calls of tests). Tests do not include it.
 */

#include <openssl/ssl.h>

#include "base/buf.h"
#include "support/fake_conn_inside.h"
#include "support/fake_tls.h"

/* One end of a TLS connection. */
struct fake_tls {
    struct fake_conn *conn;
    SSL *ssl;
    BIO *in, *out;                        /* of ssl */
    const struct fake_tls_server *server; /* NULL: a client's end */
    bool stopped;     /* the end reads nothing more, after trouble or an error of OpenSSL */
    bool reads_early; /* servers: early data may still come */
    bool in_early;    /* the callback that runs now gets early data */
    struct fake_tls_manner manner;
    struct fake_tls_facts facts;
    SSL_SESSION *newest; /* clients: the last ticket they received */
    struct buf early;    /* clients: early data that the server has not accepted yet */
    struct buf unsent;   /* plain text that waits for the handshake */
    struct buf raw;
    size_t sent_bytes;
    unsigned sent_flights;
};

/* The TLS settings of a server, made by each call of fake_server_speak_tls(). They live as long as
 * the network, because earlier connections still use them. */
struct fake_tls_server {
    struct fake_tls_server *next; /* of the network */
    SSL_CTX *context;
    enum fake_tls_alpn alpn;
    enum fake_tls_early early;
    struct fake_tls_manner manner;
};

/* The TLS objects of a network, made when an end first speaks TLS. */
struct fake_tls_net {
    struct fake_tls_server *servers;
    SSL_CTX *clients;
    struct tls_cert *certificate; /* for servers that set no certificate */
};

/* fake_tls_context.c */
SSL_CTX *fake_tls_client_context(struct fake_net *net);
void fake_tls_show(SSL *ssl, const char *certificate, const char *key);

/* fake_tls.c: the far end of a connection with TLS. */
struct fake_tls *fake_tls_new(struct fake_conn *conn, SSL_CTX *context,
                              const struct fake_tls_server *server, /* NULL: a client */
                              const struct fake_tls_manner *manner);
void fake_tls_free(struct fake_tls *tls); /* tls may be NULL */

/* Continues the handshake, then opens received bytes, then seals waiting ones. */
void fake_tls_go_on(struct fake_tls *tls);

/* Sends OpenSSL's output; pieces as in fake_tls_send(). */
void fake_tls_flush(struct fake_tls *tls, size_t piece_bytes, uint64_t gap_us);

/* Sends a client's first flight. Servers reply to one. */
void fake_tls_begin(struct fake_tls *tls, struct span early);

/* For fake_tcp.c and fake_conn.c. */
void fake_tls_accept(struct fake_conn *conn); /* if its server speaks TLS */
void fake_tls_arrived(struct fake_tls *tls, struct span wire);
void fake_tls_send(struct fake_tls *tls, struct span plain, size_t piece_bytes, uint64_t gap_us);
/* Returns true if a FIN must follow. */
bool fake_tls_end(struct fake_tls *tls);

/* fake_conn.c: takes plain text that arrived; sends sealed bytes (piece_bytes 0: one read) after
 * delay_us and after earlier bytes. */
void fake_conn_plain_in(struct fake_conn *conn, struct span bytes);
void fake_conn_raw_out(struct fake_conn *conn, struct span bytes, size_t piece_bytes,
                       uint64_t gap_us, uint64_t delay_us);
void fake_conn_raw_fin(struct fake_conn *conn);

#endif
