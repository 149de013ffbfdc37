/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TRANSPORT_CLIENT_H
#define NAILUP_BENCH_TRANSPORT_CLIENT_H

/*
 * A client that asks one question and waits for its answer before the next, as the stub resolver
 * of an ordinary program does. Blocking, with a timeout.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"

enum transport {
    TRANSPORT_UDP,      /* a fresh socket, hence port, for each query (RFC 5452) */
    TRANSPORT_UDP_KEPT, /* one socket: cheaper, and easier to forge */
    TRANSPORT_TCP,      /* a connection for each query */
    TRANSPORT_TCP_KEPT, /* one connection, opened again when it is lost */
    TRANSPORT_COUNT,
};

struct transport_client {
    enum transport transport;
    struct addr server;
    int timeout_ms;
    int fd;          /* -1: none open */
    uint64_t opened; /* sockets or connections */
};

const char *transport_name(enum transport transport);     /* as on the command line */
const char *transport_sentence(enum transport transport); /* as in the table */

void transport_client_init(struct transport_client *client, enum transport transport,
                           const struct addr *server, int timeout_ms);
void transport_client_deinit(struct transport_client *client);

/* True when an answer to this query (by id and question) came in time with NOERROR or NXDOMAIN. A
 * kept connection that turns out to be closed is opened again once. */
bool transport_client_ask(struct transport_client *client, const uint8_t *query, size_t len);

#endif
