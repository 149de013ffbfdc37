/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_CONN_H
#define NAILUP_UPSTREAM_CONN_H

/*
 * One connection to an upstream: its state, its queries in flight, its deadlines. It does not know
 * what queries mean or where they go next. The sender of a query gets the answer or hears that the
 * connection ended; the holder (the pool) hears of the connection's states.
 *
 * Life: conn_new (parked) -> conn_dial or conn_rest -> on_ready -> queries -> conn_retire
 * (draining) or an end from outside -> on_ended, then on_lost of each query in flight. Then the
 * connection frees itself.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/span.h"
#include "loop/timer.h"
#include "upstream/conn_state.h"
#include "upstream/dialer.h"
#include "upstream/env.h"
#include "upstream/inflight.h"
#include "upstream/silence.h"
#include "upstream/upstream_options.h"

struct conn;
struct link;
struct secure;

/* A query on a connection; embedded in the object that waits for the answer. */
struct flight {
    struct conn *conn; /* NULL when not on a connection */
    uint16_t id;
    bool is_hold;    /* a hold query, not a client's */
    bool is_overdue; /* see conn_overdue() */
    uint64_t sent_at;
    uint64_t written; /* bytes written before it: see conn_misses_ack() */
    const struct flight_handler *handler;
};

struct flight_handler {
    /* A message with the query's id has come. The callee checks whether it answers the query. The
     * flight has ended. The message is borrowed. */
    void (*on_reply)(struct flight *flight, struct span message);
    /* The connection has ended, and so has the flight. */
    void (*on_lost)(struct flight *flight, enum conn_end why);
};

/* The holder's callbacks. A callback may close or retire the connection unless its comment says
 * otherwise. */
struct conn_handler {
    void (*on_turn)(struct conn *conn); /* the rest has ended: the holder calls conn_dial() */
    /* TCP is established and the TLS handshake begins: queries sent before the return leave as
     * early data, as long as conn_takes() allows it. May be NULL; may not close the connection. */
    void (*on_early)(struct conn *conn);
    void (*on_ready)(struct conn *conn); /* the connection takes queries from now on */
    /* The connection may have room for queries again. Called inside calls of the queries' owners:
     * the callee may not send, close or call back. */
    void (*on_room)(struct conn *conn);
    /* The connection has been idle for idle_limit_us. Called again after the same time, or at the
     * instant of conn_idle_again(). */
    void (*on_idle)(struct conn *conn);
    void (*on_aged)(struct conn *conn); /* the connection has reached max-age */
    /* A query that conn_misses_ack() reported as unacknowledged had arrived, without a
     * retransmission. The callee may not send, close or call back. */
    void (*on_late_ack)(struct conn *conn);
    /* The connection ended; the pointer is invalid after the return. */
    void (*on_ended)(struct conn *conn, enum conn_end why);
};

struct conn {
    struct list node; /* the holder's */
    struct upstream_env *env;
    const struct addr *addr;
    const struct upstream_options *options;
    struct secure *secure; /* NULL: plain */
    const struct conn_handler *handler;
    void *holder;

    enum conn_state state;
    enum conn_end ending;      /* ready: why the pool replaces it; draining: why it drains */
    enum conn_end last_close;  /* why its predecessor ended */
    enum conn_end instant_end; /* dialing: the dial failed at once; the connection ends next turn */
    enum err error;            /* the failure that ended it */
    const char *detail;        /* what TLS says about the failure; static, or "" */
    uint32_t segment_bytes; /* the dial announces it; 0: the kernel's default; set by the holder */
    unsigned source_turn;   /* for sources_draw_in_turn(); set by the holder */
    struct addr source;    /* the address that it was dialled from; family 0: the kernel's choice */
    bool peer_was_reached; /* TCP was established */
    bool asked_keepalive;  /* a query asked for RFC 7828 */
    bool is_paced;         /* resting because of a bound on dials, not a failure */
    bool peer_had_all;     /* the peer closed after it had acknowledged every byte */
    bool drains_late;      /* the connection drains for longer than usual, and counts for that */
    size_t early_room;     /* securing: bytes that may still leave as early data */

    struct link *link;
    struct inflight inflight;
    uint32_t overdue; /* flights that are registered but no longer count as load */
    struct dial_turn turn;
    struct timer due;

    uint32_t requests;     /* carried so far */
    uint32_t max_requests; /* never exceeded */
    uint32_t answers;      /* messages for its queries, late ones included */
    uint32_t strays;       /* messages for ids never sent or already answered */
    uint64_t since_at;     /* when the state began */
    uint64_t until_at;     /* the state's deadline; 0: none */
    uint64_t dialed_at;
    uint64_t tcp_us; /* the time TCP took to connect; 0: not connected */
    uint64_t ready_at;
    uint64_t aged_at;     /* the end of max-age; 0: never */
    uint64_t active_at;   /* last query or byte */
    uint64_t gap_us;      /* idle time before the unanswered query; 0: none */
    uint64_t survived_us; /* the longest idle time after which an answer came */
    uint32_t holding;     /* hold queries in flight */
    struct silence silence;
    uint64_t idle_limit_us; /* idle time until on_idle; 0: never */
    uint64_t idle_again_at; /* on_idle does not come before this */
    uint64_t reads, writes; /* counted in the stats */
    bool misses_ack;        /* conn_misses_ack() was true, and no message came since */
    uint32_t retransmits;   /* the kernel's count at that time */
    uint32_t holes;         /* link_holes() at the last look */
};

enum {
    CONN_UNSENT_MAX = 256 * 1024, /* bytes of queries that wait for the kernel */
    CONN_STRAYS_MAX = 16,         /* unexpected messages before the peer counts as broken */
    CONN_LATE_DRAINS_MAX = 64,    /* a worker's connections that drain for longer than usual */
};

/* How long a query stays registered, and so how long a connection may drain for a late answer. */
#define CONN_LATE_US (30 * US_PER_S)

/* Makes a parked connection. Borrows addr, options and secure (NULL: no TLS). NULL if out of
 * memory. */
struct conn *conn_new(struct upstream_env *env, const struct addr *addr,
                      const struct upstream_options *options, struct secure *secure,
                      const struct conn_handler *handler, void *holder);

/* Parked: asks the dialer for a turn and dials then. A dial after a failure comes after all others,
 * at a bounded rate (dialer.h). Never calls back before it returns, even if the dial fails at
 * once. */
void conn_dial(struct conn *conn, bool after_failure);

/* Parked: a query waits for this dial, so it no longer queues as one after a failure. */
void conn_hurry(struct conn *conn);

/* Parked: rests until the instant, then parks and calls on_turn. */
void conn_rest(struct conn *conn, uint64_t until_at);

/* Parks a resting connection before its rest ends. */
void conn_wake(struct conn *conn);

/* Whether the connection takes a query: it is ready, or in on_early with room; it is not suspect,
 * is within its limits of requests and queries in flight, and the kernel is not too far behind. */
bool conn_takes(const struct conn *conn);

/* The load: queries in flight without the overdue ones. */
static inline uint32_t conn_in_flight(const struct conn *conn)
{
    return conn->inflight.live - conn->overdue;
}

static inline uint32_t conn_requests_left(const struct conn *conn)
{
    return conn->max_requests - conn->requests;
}

/* Sending takes three steps: get the id, reserve room (NULL: there is no room), commit the length
 * together with the flight. The connection must take queries. */
uint16_t conn_next_id(const struct conn *conn);
uint8_t *conn_reserve(struct conn *conn, size_t max_len);
MUST_USE enum err conn_commit(struct conn *conn, size_t len, struct flight *flight);

/* Gives the query up: the flight's owner stops waiting, and a late answer is dropped. Does nothing
 * if the query is not in flight. */
void conn_give_up(struct flight *flight);

/* Marks the flight as late. It stays registered, so a late answer reaches its owner, but it no
 * longer counts towards max-in-flight: names that are never answered must not fill the connection.
 * At most once for each flight. */
void conn_overdue(struct flight *flight);

/* Since when the flight's connection has been silent: its last byte, or the flight's sending if
 * that is later. */
uint64_t conn_silent_since_at(const struct flight *flight);

/* Whether the peer's kernel has not acknowledged the flight's query or any later byte. Costs two
 * system calls, so callers use it only for a query that has waited for long. */
bool conn_misses_ack(const struct flight *flight);

/* Ready: whether the path has lost a segment since the last call. Costs a system call. */
bool conn_has_new_holes(struct conn *conn);

/* Sets the idle time after which on_idle comes; 0: never. */
void conn_set_idle_limit(struct conn *conn, uint64_t idle_limit_us);

/* In on_idle: asks for another on_idle at that instant, if the connection is still idle. */
void conn_idle_again(struct conn *conn, uint64_t at_us);

/* Ready: takes no more queries and closes with the last answer, at once if nothing is in flight. */
void conn_retire(struct conn *conn, enum conn_end why);

/* Ends the connection. Calls on_ended and on_lost before it returns. */
void conn_close(struct conn *conn, enum conn_end why);

#endif
