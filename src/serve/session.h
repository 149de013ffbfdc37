/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SESSION_H
#define NAILUP_SERVE_SESSION_H

/*
 * One client's stream: queries come one after the other without waiting, answers leave in the
 * order in which they are ready (RFC 7766 sections 6.2.1.1 and 7). What a client may hold of us is
 * bounded; the states say how.
 *
 *   securing    the handshake of TLS is under way or waits for its turn (handshake_queue.h), for
 *               SESSION_SECURE_US at most together; plain sessions begin open
 *   open        queries are taken
 *   busy        SESSION_IN_FLIGHT_MAX of its queries wait: not read until half of them are answered
 *   full        it does not take its answers: not read until it does, reset after SESSION_STALL_US.
 *               Answers to queries that waited stay in the cache until then (sink_unpark())
 *   finishing   not read any more; what waits is answered and leaves, then the stream is closed;
 *               reset SESSION_LINGER_US after the last answer, or when an answer finds no room for
 *               SESSION_STALL_US
 *   discarding  all is written, but the client still sends or has not acknowledged all: it has our
 *               FIN, and what it sends is thrown away until it closes or is quiet, since closing
 *               with unread bytes would be a reset; ends after SESSION_LINGER_US at the latest, or
 *               SESSION_DRAIN_LINGER_US when the server drains
 *
 * While our kernel holds bytes that the client has not acknowledged, a session never closes: it
 * waits and holds its place of the quota, or it resets the connection.
 *
 * It finishes when client_idle_timeout has passed since the end of the handshake or the last query
 * that was resolved or answered from the cache (request_is_use()). Half queries do not count, nor
 * do queries that get FORMERR, NOTIMP or REFUSED. It also finishes after the client's FIN, after a
 * message too short for a header, after an answer that found no room, and when the server drains. A
 * client that the access list refuses is told so once, in plain text only: no handshake begins for
 * it. A session that a reload refuses or allows changes its place of the quota; when there is none,
 * it finishes. A securing session has nothing to finish: it is closed at once.
 *
 * Before a session finishes because its address ends or the server drains, it has a last call: the
 * queries in the kernel are taken, for SESSION_LAST_US at most, and a client that has not asked yet
 * has until its connection is SESSION_NEW_US old, handshake included. A session whose bytes wait
 * behind those of many others gets one read of them, SESSION_ROUND_US later at most. A client above
 * SESSION_IN_FLIGHT_MAX has none.
 *
 * One thread.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/list.h"
#include "serve/handshake_queue.h"
#include "serve/idle_order.h"
#include "serve/server_quota.h"

struct requests;
struct server_quota;
struct session;
struct tcp;
struct tls_context;

enum {
    SESSION_SECURE_US = 5 * 1000000,
    SESSION_IN_FLIGHT_MAX = 256,
    /* Bytes of a query that are kept until its end arrives; a round number with those of the
     * length. Real queries are shorter. */
    SESSION_QUERY_MAX = 4096 - 2,
    SESSION_PUSH_BYTES = 32 * 1024, /* of answers in a turn: written ahead of its end */
    /* Bytes of answers that the kernel has not taken, sealed or not. The longest answer still fits
     * when SESSION_PUSH_BYTES wait. */
    SESSION_UNSENT_MAX = SESSION_PUSH_BYTES + 66 * 1024,
    SESSION_STALL_US = 10 * 1000000,  /* for a full session to get to SESSION_PUSH_BYTES */
    SESSION_REFUSED_US = 2 * 1000000, /* for the one query of a client that may not ask */
    SESSION_LINGER_US = 5 * 1000000,  /* for the last bytes, out or in */
    SESSION_LOOK_US = 50 * 1000,      /* between two looks whether they have arrived, after */
    SESSION_LAST_LOOK_US = 1000,      /* a first look; and whether a last call is over */
    SESSION_QUIET_US = 500 * 1000,    /* without a byte: a round trip has nothing more to bring */
    SESSION_NEW_US = 1 * 1000000,     /* for the first query of a client, in the last call */
    SESSION_LAST_US = 50 * 1000,      /* for the queries of other clients, in the last call */
    SESSION_ROUND_US = 1 * 1000000,   /* more, for the first read of the last call to come round */
    SESSION_DRAIN_LINGER_US = 1 * 1000000,
    SESSION_SPARED_US = 250 * 1000, /* idle for less: no new client takes its place */
    SESSION_DISPLACE_TRIES = 8,     /* sessions to look at, if all have a query in the kernel */
};

/* The state that all sessions of a worker share. */
struct session_common {
    struct loop *loop;
    struct handshake_queue handshakes;
    struct idle_order idle;
};

void session_common_init(struct session_common *common, struct loop *loop);
/* After the last session. */
void session_common_deinit(struct session_common *common);

/*
 * Closes a session of an allowed client, so that its place is free for a new session of this
 * client: the one that has been idle for the longest time, or, if none has been idle for
 * SESSION_SPARED_US, one whose handshake waits, of a client that has more of them waiting. is_own:
 * only an idle session of the same client closes. False: there is no such session.
 *
 * A session is idle while it waits for its client: no query waits for an answer, the handshake
 * waits for bytes, or the last answers have left and the client is not quiet yet.
 */
bool session_displace(struct session_common *common, uint64_t client, bool is_own);

/* Who holds sessions. Initialised by its owner. */
struct session_host {
    struct requests *requests;
    struct session_common *common;
    struct tls_context *const *tls; /* where the context for new sessions stands; NULL: plain */
    bool is_ending; /* its address is served no more: answers tell clients to close */
    struct list sessions;
    /* A session has ended and is freed; place is the one it holds of the quota, borrowed until the
     * return. */
    void (*on_closed)(struct session_host *host, const struct client_place *place);
};

/* Begins a session on an accepted connection that holds this place of the quota; with a place
 * for refused clients it answers REFUSED once. *tcp becomes NULL, also on error (it is closed
 * then, and on_closed is not called). The session frees itself. */
MUST_USE enum err session_open(struct session_host *host, struct tcp **tcp,
                               const struct client_place *place);

/* A reload has two steps: all that sessions hold of the quota, also their own places, goes to this
 * one; then, with the requests renewed, they do as the options say from their next query on. What
 * was told by RFC 7828 is kept: no session is closed sooner than its last answer said. */
void session_move_all(struct session_host *host, struct server_quota *quota);
void session_renew_all(struct session_host *host);

/* Finishes every session, with a last call; sessions with nothing to wait for are closed within the
 * call. A further call finishes the sessions that have come since. */
void session_finish_all(struct session_host *host);

/* Closes every session at once; on_closed is called for each. */
void session_close_all(struct session_host *host);

#endif
