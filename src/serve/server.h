/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_H
#define NAILUP_SERVE_SERVER_H

/*
 * A worker's client side: UDP, TCP and TLS listeners, sessions and requests. Reads queries, answers
 * what can be answered at once, waits for the rest.
 *
 * Where an address is meant by number (which), it is that of server_address.h.
 */

#include <stddef.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/stats.h"
#include "serve/server_options.h"
#include "serve/server_quota.h"

struct loop;
struct resolver;
struct server;
struct tap;
struct tls_context;

/* Whether the addresses can be listened on, asked once before any worker starts: an address that
 * another instance holds is ERR_ADDRESS_IN_USE and *which is its number; one that this machine
 * lacks is a logged warning unless it is the only one (ERR_ADDRESS_UNKNOWN). */
MUST_USE enum err server_probe(const struct server_options *options, size_t *which);

/* Opens the listeners. options, resolver, quota and stats are borrowed. With options->listen_tls,
 * server_set_tls() must follow before the loop runs. */
MUST_USE enum err server_open(struct server **out, struct loop *loop,
                              const struct server_options *options, struct resolver *resolver,
                              struct server_quota *quota, struct stats *stats, size_t *which);

/* What TLS clients are served with: those that connect from now on; who is connected keeps what it
 * has. Takes the context: *context becomes NULL. */
void server_set_tls(struct server *server, struct tls_context **context);

/* Who watches queries and answers from now on; borrowed, NULL: nobody. */
void server_set_taps(struct server *server, struct tap *taps);

/* Where a listener is bound, which matters when its port is 0 (UDP and TCP then get the same); NULL
 * when this machine lacks the address. Not while draining. */
const struct addr *server_local(const struct server *server, size_t which);

/* Takes no more clients, nor queries that would have to wait (over UDP they get SERVFAIL, and hits
 * are still answered, until the server is freed); what waits is still answered. on_drained is
 * called once nothing waits (within the call, if so) and may free the server. */
void server_drain(struct server *server, void (*on_drained)(void *context), void *context);

/* Closes everything; waiting queries get no answer. */
void server_free(struct server *server);

#endif
