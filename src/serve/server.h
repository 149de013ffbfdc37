/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SERVER_H
#define NAILUP_SERVE_SERVER_H

/*
 * A worker's client side: UDP, TCP and TLS listeners, sessions and requests. Reads queries, answers
 * what can be answered at once, waits for the rest.
 */

#include "base/err.h"
#include "base/stats.h"
#include "serve/listen_sockets.h"
#include "serve/server_options.h"
#include "serve/server_quota.h"

struct loop;
struct resolver;
struct server;
struct tap;
struct tls_context;

/* Serves the addresses whose sockets it is given. Takes the share, on error too: *share becomes
 * NULL. options, resolver, quota and stats are borrowed. With options->listen_tls,
 * server_set_tls() must follow before the loop runs. */
MUST_USE enum err server_open(struct server **out, struct loop *loop,
                              const struct server_options *options, struct listen_share **share,
                              struct resolver *resolver, struct server_quota *quota,
                              struct stats *stats);

/* What TLS clients are served with: those that connect from now on; who is connected keeps what it
 * has. Takes the context: *context becomes NULL. */
void server_set_tls(struct server *server, struct tls_context **context);

/* Who watches queries and answers from now on; borrowed, NULL: nobody. */
void server_set_taps(struct server *server, struct tap *taps);

/*
 * From now on the server does as these options say, with this quota, and serves the addresses of
 * this share, which was made for the list that follows the server's. When it returns, nothing here
 * refers to the options and the quota before. Takes the share: *share becomes NULL.
 *
 * Addresses of both lists keep their sockets and sessions; sessions are judged anew by the access
 * list. With options->listen_tls and none before, server_set_tls() goes before this. A new address
 * that cannot be watched (memory has run out) is logged and left to the other workers.
 *
 * Addresses that are no more lose no query: what has come is answered, who waits to be accepted
 * is, and sessions end as listener_end() says. on_ended is called once when all of these are
 * closed (within the call, if there are none); it must not free the server. A reload before that
 * takes over: its own on_ended, and no other, comes when those of both are closed. That takes as
 * long as the queries that wait, and LISTENER_END_US with what clients take to read their
 * answers (session.h).
 *
 * While draining the options and the quota change and no address does.
 */
void server_reload(struct server *server, const struct server_options *options,
                   struct listen_share **share, struct server_quota *quota,
                   void (*on_ended)(void *context), void *context);

enum { SERVER_LAST_US = 3 * 1000000 };

/*
 * The daemon stops. Every query that was received is answered, and stream clients get a FIN behind
 * their answers (session.h).
 *
 * Sockets that others share are left at once: new queries wait there for the next daemon. Our own
 * have no successor, so they serve as ever while queries wait that were received before, but no
 * longer than SERVER_LAST_US. Then the kernel refuses new queries over UDP, and the datagrams and
 * connections that it has already are served.
 *
 * on_drained is called once nothing waits (within the call, if so) and may free the server.
 * Addresses that a reload ends are waited for likewise, and then it is on_ended that comes first.
 */
void server_drain(struct server *server, void (*on_drained)(void *context), void *context);

/* Closes everything; waiting queries get no answer. */
void server_free(struct server *server);

#endif
