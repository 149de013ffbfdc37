/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_TEND_H
#define NAILUP_UPSTREAM_POOL_TEND_H

/*
 * A pool and its dials: how many connections it should have, and which are missing. pool.c,
 * pool_hold.c and pool_path.c also change the struct; other modules only read it.
 */

#include <stdbool.h>
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
#include "upstream/pool_rate.h"
#include "upstream/segment.h"
#include "upstream/single_use.h"
#include "upstream/spread.h"
#include "upstream/trouble.h"
#include "upstream/upstream_options.h"

/* Failed dials in a row after which a discovered upstream loses its nailed places. */
enum { POOL_PROOF_FAILURES = 3 };

/* While queries wait, a dial whose TCP handshake takes POOL_SYN_TIMES times its usual time, and at
 * least POOL_SYN_MIN_US, gets another dial in parallel: its SYN may be lost, and the kernel sends
 * it again only after a second. The first dial continues, because the path may be longer now. */
enum {
    POOL_SYN_TIMES = 4,
    POOL_LATE_DIALS_MAX = 5, /* such dials at once, in addition to the latest one */
};
#define POOL_SYN_MIN_US (200 * US_PER_MS)

struct pool {
    struct upstream_env *env;
    const struct addr *addr;
    const struct upstream_options *options;
    struct secure *secure; /* NULL: no TLS */
    const struct conn_handler *conn_handler;
    struct list conns;   /* all connections, oldest first */
    struct list waiting; /* struct pool_waiter, oldest first */
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
    unsigned source_turn;     /* of the next dial; random at first, so that servers differ */
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

static inline uint64_t pool_now(const struct pool *pool)
{
    return loop_now(pool->env->loop);
}

/* Whether the pool is configured to nail, has the proof that it needs, and the peer does not forbid
 * it (RFC 7828). */
static inline bool pool_is_nailing(const struct pool *pool)
{
    return pool->nailing && (pool->is_proven || !pool->needs_proof) &&
           keepalive_allows(&pool->keepalive, pool_now(pool));
}

static inline bool pool_is_single_use(const struct pool *pool)
{
    return pool->single.is_known;
}

/* Prepares the timer; the rest of the pool is zero. */
void pool_tend_init(struct pool *pool);

/* The time after which a dial's SYN may be lost (POOL_SYN_TIMES); 0: no dial connected yet. */
uint64_t pool_syn_patience_us(const struct pool *pool);

/* Dials the connections that the plan asks for. Call it after each change of the facts; a nested
 * call does nothing. */
void pool_tend(struct pool *pool);

/* Makes a parked connection ask for its turn to dial, or rest until the bound on handshakes allows
 * it.
 */
void pool_dial(struct pool *pool, struct conn *conn);

/* Returns the nailed places to the quota. */
void pool_give_places(struct pool *pool);

/* Drops the proof, which no longer holds, and returns the places. The next ready connection proves
 * the upstream again. */
void pool_lose_proof(struct pool *pool);

/* Tends again at that instant, because the quota, the memory or the peer (RFC 7828) refused nailed
 * connections. */
void pool_retry_nailing(struct pool *pool, uint64_t at_us);

/* Notes that a query on this connection went out a second time elsewhere, because the connection is
 * silent. Until a byte comes, new queries avoid it where they can, and one of them probes it. */
void pool_note_silent(struct pool *pool, struct conn *conn);

/* Tends the pool when a query is about to use the connection `taking` (may be NULL). */
void pool_tend_for(struct pool *pool, const struct conn *taking);

/* Whether the plan asks for a connection. */
bool pool_wants_more(const struct pool *pool);

/* Adds a connection that rests until the instant, or dials now if that has passed. is_paced: it
 * rests because of a bound on dials, so queries wait for it. */
void pool_add_conn(struct pool *pool, uint64_t rest_until_at, bool is_paced);

/* Notes that a connection or a TLS handshake was silent. Large packets may be lost on the path, so
 * the next dials announce small segments (segment.h). */
void pool_note_stall(struct pool *pool);

#endif
