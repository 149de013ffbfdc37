/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_CLIENT_H
#define NAILUP_BENCH_TLS_CLIENT_H

/*
 * The client side of TLS for measurements: one context and a stack of tickets. Offers ALPN "dot"
 * (RFC 7858 section 3.1). Trusts every server unless it has an authority or a name to check: the
 * user names the servers by address.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "tls_stream.h"

enum { TLS_TICKETS_MAX = 65536 };

struct tls_client_options {
    int version;         /* 12 or 13 alone; 0: both */
    const char *ca_file; /* PEM; with it, or with a name, the server's certificate is verified */
    const char *name;    /* sent in SNI and verified; without it the address is verified */
};

struct tls_client {
    struct ssl_ctx_st *context;
    struct tls_client_options options;
    struct ssl_session_st **tickets; /* the newest last */
    size_t ticket_count, ticket_cap;
    uint64_t tickets_received;
    uint64_t full, resumed; /* handshakes that tls_client_on_open() counted */
};

/* False leaves a sentence in why. The texts of the options are borrowed. */
bool tls_client_init(struct tls_client *client, const struct tls_client_options *options,
                     char why[TLS_TEXT_MAX]);
void tls_client_deinit(struct tls_client *client); /* after all its streams */

/* Returns a stream that begins with its first tls_stream_read(). With resume it uses up the
 * newest ticket, if there is one. NULL without memory. The client must not move. */
struct tls_stream *tls_client_open(struct tls_client *client, const struct addr *server,
                                   bool resume);

/* Whether the newest ticket allows early data. */
bool tls_client_may_send_early(const struct tls_client *client);

/* Counts a stream's finished handshake, and keeps the session of TLS 1.2: it may be used again,
 * and the server does not send it again. */
void tls_client_on_open(struct tls_client *client, const struct tls_stream *stream);

#endif
