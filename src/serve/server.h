/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_H
#define NAILUP_SERVE_SERVER_H

/*
 * A worker's client side: UDP and TCP listeners, sessions and requests. Reads queries, answers
 * what can be answered at once, waits for the rest.
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

/* Whether the addresses can be listened on, asked once before any worker starts: an address that
 * another instance holds is ERR_ADDRESS_IN_USE and *which is its index; one that this machine lacks
 * is a logged warning unless it is the only one (ERR_ADDRESS_UNKNOWN). */
MUST_USE enum err server_probe(const struct server_options *options, size_t *which);

/* Opens the listeners. options, resolver, quota and stats are borrowed. */
MUST_USE enum err server_open(struct server **out, struct loop *loop,
                              const struct server_options *options, struct resolver *resolver,
                              struct server_quota *quota, struct stats *stats, size_t *which);

/* Where the listener of options->listen[which] is bound, which matters when its port is 0 (UDP and
 * TCP then get the same); NULL when this machine lacks the address. */
const struct addr *server_local(const struct server *server, size_t which);

/* Takes no more clients, nor queries that would have to wait (over UDP they get SERVFAIL, and hits
 * are still answered, until the server is freed); what waits is still answered. on_drained is
 * called once nothing waits (within the call, if so) and may free the server. */
void server_drain(struct server *server, void (*on_drained)(void *context), void *context);

/* Closes everything; waiting queries get no answer. */
void server_free(struct server *server);

#endif
