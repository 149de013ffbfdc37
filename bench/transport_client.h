/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TRANSPORT_CLIENT_H
#define NAILUP_BENCH_TRANSPORT_CLIENT_H

/*
 * A client that asks one question and waits for its answer before the next, as the stub resolver of
 * an ordinary program does. It blocks, with a timeout.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "tls_client.h"

enum transport {
    TRANSPORT_UDP,      /* a new socket for each query, and so a new port (RFC 5452) */
    TRANSPORT_UDP_KEPT, /* one socket: cheaper, but easier to forge */
    TRANSPORT_TCP,      /* a connection for each query */
    TRANSPORT_TCP_KEPT, /* one connection, which is opened again when it is lost */
    TRANSPORT_DOT12,    /* DNS over TLS, with a connection and a full handshake for each query */
    TRANSPORT_DOT13,
    TRANSPORT_DOT12_RESUMED, /* the same, with the ticket of the previous connection */
    TRANSPORT_DOT13_RESUMED,
    TRANSPORT_DOT13_EARLY, /* the ClientHello brings the query along */
    TRANSPORT_DOT_KEPT,
    TRANSPORT_COUNT,
};

struct transport_client {
    enum transport transport;
    struct addr server;
    int timeout_ms;
    int fd;                    /* -1: no socket is open */
    uint64_t opened;           /* counts sockets or connections */
    struct tls_client *tls;    /* owned; NULL without TLS */
    struct tls_stream *stream; /* valid while a connection over TLS is open */
    uint64_t early;            /* counts queries that were answered as early data */
    char why[TLS_TEXT_MAX];    /* why the last connection could not be opened; "": none failed */
};

bool transport_is_tls(enum transport transport);
const char *transport_name(enum transport transport);     /* the word on the command line */
const char *transport_sentence(enum transport transport); /* the words in the table */

void transport_client_init(struct transport_client *client, enum transport transport,
                           const struct addr *server, int timeout_ms);
void transport_client_deinit(struct transport_client *client);

/* Sets up TLS. The version in options must be the transport's. Returns false and sets why. */
bool transport_client_set_tls(struct transport_client *client,
                              const struct tls_client_options *options);

/* Runs before each query, outside the measured time. If the transport needs a ticket and none is
 * left, it fetches one with an extra query. Returns false and sets why if the transport cannot be
 * measured. */
bool transport_client_prepare(struct transport_client *client, const uint8_t *query, size_t len);

/* Returns true if a matching answer (id and question) with NOERROR or NXDOMAIN arrives in time. A
 * kept connection that turns out to be closed is reopened once. */
bool transport_client_ask(struct transport_client *client, const uint8_t *query, size_t len);

#endif
