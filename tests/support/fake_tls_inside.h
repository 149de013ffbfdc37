/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_TLS_INSIDE_H
#define NAILUP_TESTS_FAKE_TLS_INSIDE_H

/*
 * What fake_conn.c and the files of TLS know of each other: fake_tls_context.c (certificates,
 * tickets, ALPN), fake_tls.c (one end and its manner), fake_tls_far.c (what tests call). Tests do
 * not include this.
 */

#include <openssl/ssl.h>

#include "base/buf.h"
#include "support/fake_conn_inside.h"
#include "support/fake_tls.h"

/* One end. */
struct fake_tls {
    struct fake_conn *conn;
    SSL *ssl;
    BIO *in, *out;                        /* of ssl */
    const struct fake_tls_server *server; /* NULL: a client's end */
    bool stopped;                         /* trouble came, or OpenSSL gave up: it reads no more */
    bool reads_early;                     /* servers: early data may still come */
    bool in_early;                        /* what is handed out now came as early data */
    struct fake_tls_manner manner;
    struct fake_tls_facts facts;
    SSL_SESSION *newest; /* clients: the last ticket */
    struct buf early;    /* clients: sent, and not accepted yet */
    struct buf unsent;   /* plain text that waits for the handshake */
    struct buf raw;
    size_t sent_bytes;
    unsigned sent_flights;
};

/* How a server speaks TLS. One for each call of fake_server_speak_tls(); lives as long as the
 * network, as connections of its time go on. */
struct fake_tls_server {
    struct fake_tls_server *next; /* of the network */
    SSL_CTX *context;
    enum fake_tls_alpn alpn;
    enum fake_tls_early early;
    struct fake_tls_manner manner;
};

/* What a network has for TLS; made when it is first needed. */
struct fake_tls_net {
    struct fake_tls_server *servers;
    SSL_CTX *clients;
    struct tls_cert *certificate; /* of servers that were given none */
};

/* fake_tls_context.c */
SSL_CTX *fake_tls_client_context(struct fake_net *net);
void fake_tls_show(SSL *ssl, const char *certificate, const char *key);

/* fake_tls.c: the end of a connection that speaks TLS. */
struct fake_tls *fake_tls_new(struct fake_conn *conn, SSL_CTX *context,
                              const struct fake_tls_server *server, /* NULL: a client */
                              const struct fake_tls_manner *manner);
void fake_tls_free(struct fake_tls *tls); /* NULL is fine */

/* The handshake as far as it goes, then what can be opened, then what waited to be sealed. */
void fake_tls_go_on(struct fake_tls *tls);

/* Sends what OpenSSL has made; pieces as in fake_tls_send(). */
void fake_tls_flush(struct fake_tls *tls, size_t piece_bytes, uint64_t gap_us);

/* A client's first flight; servers say theirs when they are spoken to. */
void fake_tls_begin(struct fake_tls *tls, struct span early);

/* For fake_tcp.c and fake_conn.c. */
void fake_tls_accept(struct fake_conn *conn); /* if its server speaks TLS */
void fake_tls_arrived(struct fake_tls *tls, struct span wire);
void fake_tls_send(struct fake_tls *tls, struct span plain, size_t piece_bytes, uint64_t gap_us);
/* True: FIN comes next. */
bool fake_tls_end(struct fake_tls *tls);

/* fake_conn.c: plain text that arrived, and sealed bytes to send (in one read when piece_bytes is
 * 0) after a thought, never before what was sent earlier. */
void fake_conn_plain_in(struct fake_conn *conn, struct span bytes);
void fake_conn_raw_out(struct fake_conn *conn, struct span bytes, size_t piece_bytes,
                       uint64_t gap_us, uint64_t delay_us);
void fake_conn_raw_fin(struct fake_conn *conn);

#endif
