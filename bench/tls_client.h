/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_CLIENT_H
#define NAILUP_BENCH_TLS_CLIENT_H

/*
 * The client side of TLS for measurements: one context and a stack of tickets. It offers ALPN "dot"
 * (RFC 7858 section 3.1). It trusts every server, because the user names servers by address, unless
 * it has an authority or a name to check.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "tls_stream.h"

enum { TLS_TICKETS_MAX = 65536 };

struct tls_client_options {
    int version;         /* 12 or 13; 0: both */
    const char *ca_file; /* PEM; with it, or with a name, the certificate is verified */
    const char *name;    /* sent in SNI and verified; without a name, the address is verified */
};

struct tls_client {
    struct ssl_ctx_st *context;
    struct tls_client_options options;
    struct ssl_session_st **tickets; /* the newest is the last */
    size_t ticket_count, ticket_cap;
    uint64_t tickets_received;
    uint64_t full, resumed; /* handshakes that tls_client_on_open() counted */
};

/* Returns false and leaves a sentence in why. The texts of the options are borrowed. */
bool tls_client_init(struct tls_client *client, const struct tls_client_options *options,
                     char why[TLS_TEXT_MAX]);
void tls_client_deinit(struct tls_client *client); /* free all of its streams first */

/* Returns a stream, which starts with its first tls_stream_read(). `resume` uses up the newest
 * ticket, if there is one. Returns NULL without memory. The client must not move. */
struct tls_stream *tls_client_open(struct tls_client *client, const struct addr *server,
                                   bool resume);

/* Returns whether the newest ticket allows early data. */
bool tls_client_may_send_early(const struct tls_client *client);

/* Counts a stream's finished handshake. Keeps the session of TLS 1.2, which may be used again and
 * which the server does not send again. */
void tls_client_on_open(struct tls_client *client, const struct tls_stream *stream);

#endif
