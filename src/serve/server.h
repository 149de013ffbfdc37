/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_H
#define NAILUP_SERVE_SERVER_H

/*
 * A worker's client side: UDP, TCP and TLS listeners, sessions and requests. Reads queries, answers
 * at once where it can, and keeps the other queries waiting.
 */

#include "base/err.h"
#include "base/stats.h"
#include "serve/listen_sockets.h"
#include "serve/server_options.h"
#include "serve/server_quota.h"

struct loop;
struct notify_taker;
struct resolver;
struct rpz_policy;
struct server;
struct tap;
struct tls_context;

/* Serves the addresses of the share. Takes the share, also on error: *share becomes NULL. options,
 * resolver, quota and stats are borrowed. With TLS in the options, server_set_tls() must follow
 * before the loop runs. */
MUST_USE enum err server_open(struct server **out, struct loop *loop,
                              const struct server_options *options, struct listen_share **share,
                              struct resolver *resolver, struct server_quota *quota,
                              struct stats *stats);

/* Sets the context for TLS clients that connect from now on. Connected clients keep theirs. Takes
 * the context: *context becomes NULL. */
void server_set_tls(struct server *server, struct tls_context **context);

/* Sets the taps that see queries and answers from now on; borrowed, NULL: none. */
void server_set_taps(struct server *server, struct tap *taps);

/* Sets the response policy for answers from now on; borrowed, NULL: none. Queries that wait get it
 * too. */
void server_set_policy(struct server *server, const struct rpz_policy *policy);
/* Sets the taker of NOTIFY messages; borrowed, NULL: they get NOTIMP. */
void server_set_notify_taker(struct server *server, const struct notify_taker *taker);

/*
 * Switches to these options and this quota, and serves the addresses of this share, which was made
 * for the list that follows the server's. When it returns, nothing here refers to the old options
 * and quota. Takes the share: *share becomes NULL.
 *
 * Addresses of both lists keep their sockets and sessions, and the access list judges the sessions
 * again. If these options are the first with TLS, server_set_tls() must come before. A new
 * address that cannot be watched (out of memory) is logged and left to the other workers.
 *
 * Addresses that end lose no query: datagrams that have come are answered, connections that wait
 * are accepted, and sessions end as listener_end() says. on_ended is called once when all of them
 * are closed, within the call if there are none. It must not free the server. A reload before that
 * takes over: only its own on_ended comes, when the addresses of both are closed. That takes as
 * long as the waiting queries, and LISTENER_END_US plus the time in which clients read their
 * answers (session.h).
 *
 * While the server drains, the options and the quota change and the addresses do not.
 */
void server_reload(struct server *server, const struct server_options *options,
                   struct listen_share **share, struct server_quota *quota,
                   void (*on_ended)(void *context), void *context);

enum { SERVER_LAST_US = 3 * 1000000 };

/*
 * Drains the server, because the daemon stops. Every received query is answered, and stream clients
 * get a FIN after their answers (session.h).
 *
 * The server leaves sockets that others share at once: new queries wait there for the next daemon.
 * Our own sockets have no successor, so they serve as before while queries from before the drain
 * wait, for SERVER_LAST_US at most. Then the kernel refuses new queries over UDP, and the server
 * answers the datagrams and connections that the kernel already has.
 *
 * on_drained is called when the last query has its answer, perhaps within the call, and may free
 * the server. Addresses that a reload has ended are waited for too; then on_ended comes first.
 */
void server_drain(struct server *server, void (*on_drained)(void *context), void *context);

/* Closes everything; waiting queries get no answer. */
void server_free(struct server *server);

#endif
