/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TRANSPORT_CLIENT_H
#define NAILUP_BENCH_TRANSPORT_CLIENT_H

/*
 * A client that asks one question and waits for its answer before the next, like the stub resolver
 * of an ordinary program. It blocks, with a timeout.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "tls_client.h"

enum transport {
    TRANSPORT_UDP,      /* a fresh socket, hence port, for each query (RFC 5452) */
    TRANSPORT_UDP_KEPT, /* one socket: cheaper, and easier to forge */
    TRANSPORT_TCP,      /* a connection for each query */
    TRANSPORT_TCP_KEPT, /* one connection, opened again when it is lost */
    TRANSPORT_DOT12,    /* DNS over TLS, a connection with a full handshake for each query */
    TRANSPORT_DOT13,
    TRANSPORT_DOT12_RESUMED, /* the same with the ticket of the previous one */
    TRANSPORT_DOT13_RESUMED,
    TRANSPORT_DOT13_EARLY, /* the query travels with the ClientHello */
    TRANSPORT_DOT_KEPT,
    TRANSPORT_COUNT,
};

struct transport_client {
    enum transport transport;
    struct addr server;
    int timeout_ms;
    int fd;                    /* -1: none open */
    uint64_t opened;           /* sockets or connections */
    struct tls_client *tls;    /* NULL unless over TLS; owned */
    struct tls_stream *stream; /* while a connection over TLS is open */
    uint64_t early;            /* queries that were answered as early data */
    char why[TLS_TEXT_MAX];    /* of the last connection that failed to open; "": none */
};

bool transport_is_tls(enum transport transport);
const char *transport_name(enum transport transport);     /* as on the command line */
const char *transport_sentence(enum transport transport); /* as in the table */

void transport_client_init(struct transport_client *client, enum transport transport,
                           const struct addr *server, int timeout_ms);
void transport_client_deinit(struct transport_client *client);

/* Sets TLS up. The version in options must be that of the transport. False: why is set. */
bool transport_client_set_tls(struct transport_client *client,
                              const struct tls_client_options *options);

/* Runs before each query, outside its time: fetches a ticket with an extra query if the
 * transport needs one and none is left. False: why is set, and the transport cannot be measured. */
bool transport_client_prepare(struct transport_client *client, const uint8_t *query, size_t len);

/* True when an answer to this query (by id and question) arrives in time with NOERROR or
 * NXDOMAIN. A kept connection that turns out to be closed is reopened once. */
bool transport_client_ask(struct transport_client *client, const uint8_t *query, size_t len);

#endif
