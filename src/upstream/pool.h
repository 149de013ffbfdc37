/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_H
#define NAILUP_UPSTREAM_POOL_H

/*
 * The connections of one upstream in one worker. The pool dials them ahead of need, replaces them
 * before they end, rests after failures, and picks the connection for the next query.
 *
 * pool_hold.c keeps idle connections open, pool_path.c handles a change of the network. Other
 * modules only read the struct.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/units.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "upstream/acks.h"
#include "upstream/backoff.h"
#include "upstream/conn.h"
#include "upstream/env.h"
#include "upstream/idle_limit.h"
#include "upstream/keepalive.h"
#include "upstream/pace.h"
#include "upstream/pool_choice.h"
#include "upstream/pool_rate.h"
#include "upstream/segment.h"
#include "upstream/single_use.h"
#include "upstream/spread.h"
#include "upstream/trouble.h"
#include "upstream/upstream_options.h"

enum {
    /* Queries that wait for a connection of one upstream. server.max-waiting bounds them first. */
    POOL_WAITING_MAX = 16384,
    /* Failed dials in a row after which a discovered upstream loses its nailed places. */
    POOL_PROOF_FAILURES = 3,
    /* Dials a second to a peer that closes used connections within HOLD_SHORTEST_US; one a second
     * if it closes unused ones. */
    POOL_IDLE_REDIALS_PER_S = 10,
};

/* A query may dial although the pool rests: after an idle end or, without a fallback, after a
 * failure. The interval is bounded, because a peer may close every connection that it accepts. */
#define POOL_URGENT_US (100 * US_PER_MS)

/* The interval of dials while queries wait for an upstream: a restart ends unannounced. */
#define POOL_RETURN_US (50 * US_PER_MS)

/* While queries wait, a dial whose TCP handshake takes POOL_SYN_TIMES as long as usual, and at
 * least POOL_SYN_MIN_US, gets another dial beside it: its SYN may be lost, and the kernel sends it
 * again only after a second. The first dial goes on, because the path may be longer now. */
enum {
    POOL_SYN_TIMES = 4,
    POOL_LATE_DIALS_MAX = 5, /* such dials at once, beside the latest one */
};
#define POOL_SYN_MIN_US (200 * US_PER_MS)

struct pool {
    struct upstream_env *env;
    const struct addr *addr;
    const struct upstream_options *options;
    struct secure *secure; /* NULL: no TLS */
    struct list conns;     /* all connections, oldest first */
    struct list waiting;   /* struct pool_waiter, oldest first */
    uint32_t waiting_count;
    uint32_t patient_count; /* the patient waiters among them */
    bool nailing;           /* wishes to keep options->connections open */
    uint32_t places;        /* nailed places that the quota granted */
    /* The upstream is discovered and not configured. It gets places only once a connection became
     * ready, because a hostile zone may name any address. */
    bool needs_proof;
    bool is_proven; /* a connection became ready, and fewer than POOL_PROOF_FAILURES dials failed
                       since */
    bool closing;
    bool retiring; /* unwanted: dials only for queries that wait */
    bool tending;  /* pool_tend() is running */
    struct backoff backoff;
    struct trouble trouble;
    uint32_t useless; /* connections in a row that broke before an answer came */
    struct keepalive keepalive;
    struct acks acks;
    struct segment segment;
    struct idle_limit idle_limit;
    bool asleep;              /* its connections idled out and are not held: the next query dials */
    uint32_t hold_unanswered; /* hold queries in a row */
    uint64_t holds;           /* hold queries sent */
    uint64_t hold_answer_us;  /* the answer time of the last hold query; 0: no answer yet */
    uint64_t hold_replacements;
    uint8_t *hold_zone; /* NULL: hold queries ask for the root's name servers */
    uint8_t hold_zone_len;
    uint64_t made_at;
    struct timer nail_retry;  /* nailing was refused: see pool_retry_nailing() */
    struct timer redial_soon; /* queries wait: dials although the pool rests */
    struct timer serve_soon;  /* a connection may have room for the waiters */
    uint64_t dialed_at;       /* the last dial */
    uint64_t dial_us;         /* smoothed time of a dial */
    uint64_t tcp_us;          /* smoothed time of a TCP handshake; 0: not measured */
    struct single_use single;
    struct pace dial_pace; /* TLS handshakes; dials to a single-use server */
    struct pace idle_pace; /* dials to a peer with a very short idle limit */
    enum conn_end last_close;
    uint64_t ended_ready_at; /* when the last connection to end had become ready */
    enum err last_error; /* of the last failed dial or connection; ERR_OK: one succeeded since */
    struct pool_rate rate;
    struct spread spread;
    uint32_t dials, dial_failures;
};

/* A query that waits for a connection; embedded in the attempt. */
struct pool_waiter {
    struct list node;
    bool is_patient; /* stays through failed dials: pool_wait_patiently() */
    /* A connection is ready: the callee sends on it. The waiter has left the list. */
    void (*on_conn)(struct pool_waiter *waiter, struct conn *conn);
    /* The dial failed. The waiter has left the list. */
    void (*on_no_conn)(struct pool_waiter *waiter, enum conn_end why);
};

static inline uint64_t pool_now(const struct pool *pool)
{
    return loop_now(pool->env->loop);
}

/* The pool wishes to nail, has the proof that it needs, and the peer does not forbid it (RFC
 * 7828). */
static inline bool pool_is_nailing(const struct pool *pool)
{
    return pool->nailing && (pool->is_proven || !pool->needs_proof) &&
           keepalive_allows(&pool->keepalive, pool_now(pool));
}

static inline bool pool_is_single_use(const struct pool *pool)
{
    return pool->single.is_known;
}

/* Borrows everything; secure is NULL without TLS. */
void pool_init(struct pool *pool, struct upstream_env *env, const struct addr *addr,
               const struct upstream_options *options, struct secure *secure);

/* Closes every connection. Waiters get on_no_conn. */
void pool_deinit(struct pool *pool);

/* ---- connections ---- */

/* Dials the connections that the plan asks for. Callers call it after each change of the facts; a
 * nested call does nothing. */
void pool_tend(struct pool *pool);

/* A parked connection asks for its turn to dial, or rests until the bound on handshakes allows it.
 */
void pool_dial(struct pool *pool, struct conn *conn);

/* Returns the nailed places to the quota. */
void pool_give_places(struct pool *pool);

/* The proof no longer holds: returns the places. The next ready connection proves the upstream
 * again. */
void pool_lose_proof(struct pool *pool);

/* The quota, the memory or the peer (RFC 7828) refused nailed connections: tends again at that
 * instant. */
void pool_retry_nailing(struct pool *pool, uint64_t at_us);

/* A query on this connection went out a second time elsewhere, because the connection is silent.
 * Until a byte comes, new queries avoid it where they can, and one of them probes it. */
void pool_note_silent(struct pool *pool, struct conn *conn);

/* Marks every ready connection for replacement; returns how many. */
size_t pool_recycle(struct pool *pool);

/* ---- queries ---- */

/* The connection for the next query, never avoid (may be NULL); or NULL and the reason. Dials
 * spares and further connections as needed. */
struct conn *pool_take(struct pool *pool, const struct conn *avoid, enum pool_lack *lack);

/* A silent connection without a probe, or NULL. The caller sends its query on it and elsewhere. */
struct conn *pool_take_suspect(struct pool *pool);

/* Waits for a connection, and dials if none is on its way. False: too many queries wait, or the
 * pool rests and dialled a moment ago, because a quick refusal is better than one after seconds. */
MUST_USE bool pool_wait(struct pool *pool, struct pool_waiter *waiter);

/* Waits for an upstream that is about to come back: the waiter stays through failed dials, and the
 * pool dials every POOL_RETURN_US. The waiter fails only if the peer proves to be another server or
 * the pool closes. False: too many queries wait, or the pool closes. */
MUST_USE bool pool_wait_patiently(struct pool *pool, struct pool_waiter *waiter);

/* An answer made room on a connection: serves the waiters. */
void pool_room(struct pool *pool);
void pool_leave(struct pool *pool, struct pool_waiter *waiter);

/* ---- retiring ---- */

/* The upstream is unwanted: returns the places and dials only for queries of earlier tasks. Busy
 * connections drain, idle ones close. Calls the queries' owners. */
void pool_retire(struct pool *pool);

/* Repeats this for connections that were dialled since. The caller calls it now and then while the
 * pool retires. */
void pool_wind_down(struct pool *pool);

/* No connection is left, and no query waits for one. */
bool pool_is_empty(const struct pool *pool);

/* The upstream is wanted again. Draining connections go on draining. */
void pool_revive(struct pool *pool);

#endif
