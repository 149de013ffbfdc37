/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_SESSION_H
#define NAILUP_SERVE_SESSION_H

/*
 * One client's stream. Queries follow each other without waiting, and answers leave in the order in
 * which they are ready (RFC 7766 sections 6.2.1.1 and 7). The states bound the resources of a
 * client:
 *
 *   announcing  the header of a proxy names the client (proxy_header.h), for SESSION_HEADER_US;
 *               only on connections of proxies, before the handshake or after it
 *   securing    the TLS handshake is under way or waits for its turn (handshake_queue.h), for
 *               SESSION_SECURE_US in all; plain sessions begin open
 *   open        takes queries
 *   busy        SESSION_IN_FLIGHT_MAX queries wait: reads nothing until half of them are answered,
 *               and is not idle, however long that takes
 *   full        the client does not take its answers: reads nothing until it does, and is reset
 *               after SESSION_STALL_US. Answers to waiting queries stay in the cache until then
 *               (sink_unpark())
 *   finishing   reads nothing; answers the waiting queries, then closes. It is reset
 *               SESSION_LINGER_US after the last answer, or when an answer finds no room for
 *               SESSION_STALL_US
 *   discarding  all answers are written, but the client still sends or has not acknowledged them.
 *               It has our FIN. Its bytes are thrown away until it closes or is quiet, since
 *               closing with unread bytes would be a reset. Ends after SESSION_LINGER_US at the
 *               latest, or SESSION_DRAIN_LINGER_US when the server drains
 *
 * A session never closes while our kernel holds bytes that the client has not acknowledged: it
 * waits and keeps its place of the quota, or it resets the connection.
 *
 * A session finishes client_idle_timeout after the end of the handshake or after the last query
 * that was resolved or answered from the cache (request_is_use()). Incomplete queries and queries
 * that get FORMERR, NOTIMP or REFUSED do not count. A session also finishes after the client's FIN,
 * after a message too short for a header, after an answer that found no room, and when the server
 * drains. A client that the access list refuses gets one REFUSED, in plain text only: it gets no
 * handshake. When a reload refuses or allows the client of a session, the session moves to a place
 * of that kind in the quota, and finishes if none is free. A securing session has nothing to finish
 * and closes at once.
 *
 * A session has a last call before it finishes because its address ends or the server drains. It
 * takes the queries in the kernel, for SESSION_LAST_US at most. A client that has not asked yet has
 * until its connection is SESSION_NEW_US old, handshake included. A session whose bytes wait behind
 * those of many others gets one read of them, at most SESSION_ROUND_US later. A session that is
 * busy has no last call.
 *
 * Over HTTPS (RFC 8484) there are some differences. A session that is busy or full goes on reading
 * frames, because the client may have to open its windows; messages wait, as the bound of net/h2.h
 * allows. A session is also full when its answers wait for those windows. A malformed message costs
 * the client an HTTP status instead of its session. When the address ends or the session has its
 * last call, the client gets a GOAWAY that asks it to begin nothing more; when the session
 * finishes, a second one says which queries it may repeat elsewhere. A query that is dropped ends
 * with a RST_STREAM.
 *
 * One thread.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/list.h"
#include "base/transport.h"
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
    /* The header of a proxy. The proxy writes it at once, and it fits in one packet. */
    SESSION_HEADER_US = 2 * 1000000,
    SESSION_IN_FLIGHT_MAX = 256,
    /* The bytes of an incomplete query that are kept: a round number together with its length
     * field. Real queries are shorter. */
    SESSION_QUERY_MAX = 4096 - 2,
    SESSION_PUSH_BYTES =
        32 * 1024, /* this many bytes of answers are written before the turn ends */
    /* Bytes of answers that the kernel has not taken, sealed or not. The longest answer still fits
     * when SESSION_PUSH_BYTES wait. */
    SESSION_UNSENT_MAX = SESSION_PUSH_BYTES + 66 * 1024,
    SESSION_STALL_US = 10 * 1000000,  /* for a full session to fall to SESSION_PUSH_BYTES */
    SESSION_REFUSED_US = 2 * 1000000, /* for the one query of a refused client */
    SESSION_LINGER_US = 5 * 1000000,  /* for the last bytes, out or in */
    SESSION_LOOK_US = 50 * 1000,      /* between two looks whether the last bytes have arrived */
    SESSION_LAST_LOOK_US = 1000, /* to the first of these looks, and between looks of a last call */
    SESSION_QUIET_US = 500 * 1000, /* without a byte: a round trip brings nothing more */
    SESSION_NEW_US = 1 * 1000000,  /* last call: for the first query of a client */
    SESSION_LAST_US = 50 * 1000, /* last call: for the queries of clients that have asked before */
    SESSION_ROUND_US = 1 * 1000000, /* last call, or after a pause: time until its turn comes */
    SESSION_DRAIN_LINGER_US = 1 * 1000000,
    SESSION_SPARED_US = 250 * 1000, /* a session idle for less keeps its place */
    SESSION_DISPLACE_TRIES = 8,     /* sessions that are looked at for one without unread queries */
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

/* The owner of sessions initialises it. */
struct session_host {
    struct requests *requests;
    struct session_common *common;
    enum transport transport;
    struct tls_context *const *tls; /* the context for new sessions; NULL: plain TCP */
    struct addr address;            /* as in the options */
    bool is_ending;                 /* the address ends: answers tell clients to close */
    struct list sessions;
    /* A proxy has named the client of a session: moves its place to the client. Returns false, and
     * has counted the reason, when the client gets no session. */
    bool (*admit)(struct session_host *host, struct client_place *place, const struct addr *client,
                  enum server_access access);
    /* A session has ended and is freed. place is its place of the quota, borrowed until the return.
     */
    void (*on_closed)(struct session_host *host, const struct client_place *place);
};

/* Begins a session on an accepted connection that holds this place of the quota. A session with the
 * place of a refused client answers REFUSED once. A session with the place of a proxy waits for its
 * header, takes the place of the client, and gives that one back. *tcp becomes NULL. On error it is
 * closed, and on_closed does not come. The session frees itself. */
MUST_USE enum err session_open(struct session_host *host, struct tcp **tcp,
                               const struct client_place *place);

/* The two steps of a reload: the sessions move their places and those of their queries to this
 * quota; then, with the requests renewed, they follow the new options from the next query on. No
 * session closes before the idle time that its last answer announced (RFC 7828). */
void session_move_all(struct session_host *host, struct server_quota *quota);
void session_renew_all(struct session_host *host);

/* Finishes every session, with a last call. Sessions with nothing to wait for close within the
 * call. A further call finishes the sessions that have come since. */
void session_finish_all(struct session_host *host);

/* Closes every session at once; on_closed is called for each. */
void session_close_all(struct session_host *host);

#endif
