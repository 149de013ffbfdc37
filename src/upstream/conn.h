/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_CONN_H
#define NAILUP_UPSTREAM_CONN_H

/*
 * One connection to an upstream: its state, the queries in flight on it, its deadlines. It knows
 * nothing of what queries mean or where they go next: who sent one gets the answer, or the news
 * that the connection ended; who holds the connection (the pool) hears of its state.
 *
 * Life: conn_new (parked) -> conn_dial or conn_rest -> on_ready -> queries -> conn_retire
 * (draining) or an end that comes from outside -> on_ended, then on_lost of every query still in
 * flight; the connection frees itself.
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

/* A query on a connection; embedded in whoever waits for its answer. */
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
    /* The message that carries the query's id; whether it answers the query is for the callee to
     * see. The flight is over. Borrowed. */
    void (*on_reply)(struct flight *flight, struct span message);
    /* The connection ended. The flight is over. */
    void (*on_lost)(struct flight *flight, enum conn_end why);
};

/* The holder: hears of states. It may close or retire the connection in every callback but on_room.
 */
struct conn_handler {
    void (*on_turn)(struct conn *conn); /* rested enough, or its turn to dial: see conn_dial() */
    /* TCP is there, the handshake of TLS begins: queries sent before the return leave with it. Only
     * when conn_takes() says so. May be NULL; may not close the connection. */
    void (*on_early)(struct conn *conn);
    void (*on_ready)(struct conn *conn); /* takes queries from now on */
    /* A query was given up, or a suspicion is cleared: it may take queries again. Comes from inside
     * calls of the queries' owners: nothing may be sent, closed or called back. */
    void (*on_room)(struct conn *conn);
    /* Nothing in flight and nothing moved for idle_limit_us. Comes again after as long, or when
     * conn_idle_again() says. */
    void (*on_idle)(struct conn *conn);
    void (*on_aged)(struct conn *conn); /* max-age is over */
    /* A query that conn_misses_ack() reported had arrived after all, without being sent again.
     * Nothing may be sent, closed or called back. */
    void (*on_late_ack)(struct conn *conn);
    /* Gone, and why; do not touch it after the return. */
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
    enum conn_end ending;     /* ready: why it is to be replaced; draining: why it drains */
    enum conn_end last_close; /* of the connection whose place it takes */
    enum conn_end stillborn;  /* dialing: the dial failed at once, and ends it in the next turn */
    enum err error;           /* ended by a failure: which, */
    const char *detail;       /* and what TLS says of it; static, or "" */
    uint32_t segment_bytes;   /* for the dial, 0: the path's; set by the holder */
    bool peer_was_reached;    /* TCP was established, whatever happened to TLS */
    bool asked_keepalive;     /* RFC 7828 has been asked on it */
    bool paced;               /* resting: only for a bound on dials (the pool's) */
    bool peer_had_all;        /* the peer closed, and had acknowledged every byte */
    bool drains_late;         /* draining for longer than usual, and counted */
    size_t early_room;        /* securing: bytes of queries that may still leave early */

    struct link *link;
    struct inflight inflight;
    uint32_t overdue; /* flights that are still registered, but no longer count as load */
    struct dial_turn turn;
    struct timer due;

    uint32_t requests;     /* carried in all */
    uint32_t max_requests; /* never exceeded */
    uint32_t answers;      /* messages that came for them, late ones included */
    uint32_t strays;       /* messages for ids never sent or already answered */
    uint64_t since_at;     /* the state's begin */
    uint64_t until_at;     /* deadline of the state; 0: none */
    uint64_t dialed_at;
    uint64_t tcp_us; /* what TCP alone took; 0: not there yet */
    uint64_t ready_at;
    uint64_t aged_at;     /* when max-age is over; 0: never */
    uint64_t active_at;   /* last query or byte */
    uint64_t gap_us;      /* idle time before the query that is not answered yet; 0: none */
    uint64_t survived_us; /* the longest idle time after which an answer came */
    uint32_t holding;     /* flights that are hold queries */
    struct silence silence;
    uint64_t idle_limit_us; /* on_idle after so long; 0: never */
    uint64_t idle_again_at; /* on_idle has been called: not before this */
    uint64_t reads, writes; /* already counted in the stats */
    bool misses_ack;        /* conn_misses_ack() was true since the last message */
    uint32_t retransmits;   /* of the kernel, at that time */
    uint32_t holes;         /* link_holes() at the last look */
};

enum {
    CONN_UNSENT_MAX = 256 * 1024, /* bytes of queries that wait for the kernel */
    CONN_STRAYS_MAX = 16,         /* messages nobody asked for, until the peer counts as broken */
    CONN_LATE_DRAINS_MAX = 64,    /* of a worker: those that drain for longer than usual */
};

/* How long a query may stay registered, so how long a connection may drain for a late answer. */
#define CONN_LATE_US (30 * US_PER_S)

/* Parked. addr, options and secure (NULL: no TLS) are borrowed. NULL out of memory. */
struct conn *conn_new(struct upstream_env *env, const struct addr *addr,
                      const struct upstream_options *options, struct secure *secure,
                      const struct conn_handler *handler, void *holder);

/* Parked: asks for its turn and dials when it comes; those that try again after a failure come
 * after all others, at a bounded rate (dialer.h). Nothing is called back before the return, also
 * when the dial fails at once. */
void conn_dial(struct conn *conn, bool after_failure);

/* Parked, in line after a failure: a query waits for this dial, so it is held up no longer. */
void conn_hurry(struct conn *conn);

/* Parked: rests until the instant; then parks and calls on_turn. */
void conn_rest(struct conn *conn, uint64_t until_at);

/* Resting: back to parked before its time. */
void conn_wake(struct conn *conn);

/* Whether it takes a query: ready or in on_early with room, not suspect, requests and in-flight
 * limit not reached, the kernel not too far behind. */
bool conn_takes(const struct conn *conn);

/* The load: queries in flight that are not overdue. */
static inline uint32_t conn_in_flight(const struct conn *conn)
{
    return conn->inflight.live - conn->overdue;
}

static inline uint32_t conn_requests_left(const struct conn *conn)
{
    return conn->max_requests - conn->requests;
}

/* Sending, in three steps: the id to write, the place to write it to (NULL: no room), and the
 * length with the flight that waits. The connection must take queries. */
uint16_t conn_next_id(const struct conn *conn);
uint8_t *conn_reserve(struct conn *conn, size_t max_len);
MUST_USE enum err conn_commit(struct conn *conn, size_t len, struct flight *flight);

/* The flight's owner no longer waits; a late answer is dropped. Nothing when it is not in flight.
 */
void conn_give_up(struct flight *flight);

/* The flight is late. It stays registered, so a late answer reaches its owner, but it no longer
 * counts towards max-in-flight: names that are never answered must not fill the connection. Once
 * for each flight, which is on a connection. */
void conn_overdue(struct flight *flight);

/* Since when the flight's connection has been silent: the last byte, or the flight's own sending.
 */
uint64_t conn_silent_since_at(const struct flight *flight);

/* The peer's kernel has not acknowledged the flight's query, nor any byte sent after it. Two system
 * calls, so only for a query that has waited for long. Remembered until a message comes. */
bool conn_misses_ack(const struct flight *flight);

/* Ready: whether the path has lost a segment since the last look. A system call. */
bool conn_has_new_holes(struct conn *conn);

/* The peer's idle limit became known (RFC 7828), or the holder's wishes changed. */
void conn_set_idle_limit(struct conn *conn, uint64_t idle_limit_us);

/* In on_idle: it is to come again at that instant, if it is still idle then. */
void conn_idle_again(struct conn *conn, uint64_t at_us);

/* Ready: no more queries; closes with the last answer, now if nothing is in flight. */
void conn_retire(struct conn *conn, enum conn_end why);

/* Ends it from here: on_ended and on_lost are called before the return. */
void conn_close(struct conn *conn, enum conn_end why);

#endif
