/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_INSIDE_H
#define NAILUP_TLS_TLS_INSIDE_H

/* Private to tls*.c: what contexts and connections know of each other. */

#include <openssl/ssl.h>

#include "tls/tls_bio.h"
#include "tls/tls_peer.h"

struct tls_context {
    SSL_CTX *ctx;
    uint8_t files[TLS_FILES_ID_BYTES]; /* a client's: what stood in them */
};

enum tls_state {
    TLS_NEW,         /* a client that has not said anything yet */
    TLS_SHAKING,     /* hands */
    TLS_SECURED,     /* both may send */
    TLS_PEER_CLOSED, /* close_notify came: we may still send */
    TLS_BROKEN,
};

struct tls {
    SSL *ssl; /* its app data is this struct */
    struct tls_pipe pipe;
    enum tls_state state;
    bool is_client;
    bool is_deaf;        /* its reader wants no more */
    bool is_ended;       /* our close_notify is sent */
    bool authenticated;  /* a client's peer has proved who it is */
    bool ticket_proves;  /* ... should the ticket that is offered be taken */
    bool ticket_offered; /* with the client's first flight */
    uint8_t first[2];    /* bytes of the peer: do they look like TLS? */
    uint8_t first_len;
    uint32_t key_updates; /* of the peer */
    uint64_t plain_len;   /* bytes of plain text that it said */
    enum err err;         /* why it is broken; while shaking: why the peer is refused */
    const char *detail;
    struct tls_peer peer; /* a client's */
    uint8_t *early;       /* a copy, until it is known whether the server took it */
    size_t early_len;
};

/* tls_verify.c: is the peer who it should be? SSL_CTX_set_cert_verify_callback(). */
int tls_on_certificate(X509_STORE_CTX *store, void *unused);

/* tls_resume.c: a ticket came. SSL_CTX_sess_set_new_cb(). */
int tls_on_ticket(SSL *ssl, SSL_SESSION *session);

#endif
