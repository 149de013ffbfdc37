/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_H
#define NAILUP_UPSTREAM_POOL_H

/*
 * The connections of one upstream in one worker: dials them ahead, keeps them, replaces them
 * before they end, rests after failures, and says which one takes the next query.
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
};

/* A query may dial although the place rests, after an idle end or, without a fallback, after a
 * failure. But not more often than this: a peer may close all that it accepts. */
#define POOL_URGENT_US (100 * US_PER_MS)

/* The interval of dials while queries wait for an upstream: a restart ends unannounced. */
#define POOL_RETURN_US (50 * US_PER_MS)

/* Dials to a peer that closes used connections within HOLD_SHORTEST_US; one a second where it
 * closes unused ones. */
enum { POOL_IDLE_REDIALS_PER_S = 10 };

/* A query that waits for a connection; embedded in the attempt. */
struct pool_waiter {
    struct list node;
    bool is_patient; /* stays through failed dials: pool_wait_patiently() */
    /* One is ready: the callee sends on it. Out of the list. */
    void (*on_conn)(struct pool_waiter *waiter, struct conn *conn);
    /* The dial failed. Out of the list. */
    void (*on_no_conn)(struct pool_waiter *waiter, enum conn_end why);
};

/* Dials that fail in a row until one that must earn its places has none. */
enum { POOL_EARN_FAILURES = 3 };

struct pool {
    struct upstream_env *env;
    const struct addr *addr;
    const struct upstream_options *options;
    struct secure *secure; /* NULL: no TLS */
    struct list conns;     /* all of them, oldest first */
    struct list waiting;   /* struct pool_waiter, oldest first */
    uint32_t waiting_count;
    uint32_t patient_count; /* of those, the patient ones */
    bool nailing;           /* wishes to keep options->connections open */
    uint32_t places;        /* of these, granted by the quota */
    bool
        must_earn; /* its places: nobody wants it, it was met, as a hostile zone may name anybody */
    bool earned;   /* a connection became ready, and not too many dials failed since */
    bool closing;
    bool retiring; /* nobody wants it: dials for none but those who wait */
    bool tending;
    struct backoff backoff;
    struct trouble trouble;
    uint32_t useless; /* connections in a row that broke before an answer came */
    struct keepalive keepalive;
    struct acks acks;
    struct segment segment;
    struct idle_limit idle_limit;
    bool asleep;              /* idled out where nothing is held: dialled with the next query */
    uint32_t hold_unanswered; /* hold queries in a row */
    uint64_t holds;           /* hold queries sent */
    uint64_t hold_answer_us;  /* the time that the last answer to one took; 0: none came */
    uint64_t hold_replacements;
    uint8_t *hold_zone; /* NULL: hold queries ask for the servers of the root */
    uint8_t hold_zone_len;
    uint64_t made_at;
    struct timer tend_later;  /* a nailed place could not be had: try again */
    struct timer redial_soon; /* patient waiters: dial although the place rests */
    struct timer serve_soon;  /* there may be room for those who wait */
    uint64_t dialed_at;       /* last dial */
    uint64_t dial_us;         /* smoothed time of a dial */
    uint64_t tcp_us;          /* the same of TCP alone; 0: not measured */
    struct single_use single;
    struct pace dial_pace; /* of handshakes of TLS, of dials towards a single-use server */
    struct pace idle_pace; /* of dials to a peer whose idle limit is very short */
    enum conn_end last_close;
    uint64_t ended_ready_at; /* when the connection that ended last had become ready */
    enum err
        last_error; /* of the last dial or connection that failed; ERR_OK: it went well since */
    struct pool_rate rate;
    struct spread spread;
    uint32_t dials, dial_failures;
};

static inline uint64_t pool_now(const struct pool *pool)
{
    return loop_now(pool->env->loop);
}

/* Wished for, earned where that is to be, and not forbidden by the peer (RFC 7828). */
static inline bool pool_is_nailing(const struct pool *pool)
{
    return pool->nailing && (pool->earned || !pool->must_earn) &&
           keepalive_allows(&pool->keepalive, pool_now(pool));
}

static inline bool pool_is_single_use(const struct pool *pool)
{
    return pool->single.is_known;
}

/* All is borrowed; secure is NULL where TLS is not spoken. */
void pool_init(struct pool *pool, struct upstream_env *env, const struct addr *addr,
               const struct upstream_options *options, struct secure *secure);

/* Closes every connection; waiters are told. */
void pool_deinit(struct pool *pool);

/* Dials what is to be kept open (prewarm), if it is not there yet. */
void pool_nail(struct pool *pool);

/* The connection for the next query, not avoid (may be NULL); or NULL and why. Looks after spares
 * and further connections by itself. */
struct conn *pool_take(struct pool *pool, const struct conn *avoid, enum pool_lack *lack);

/* A connection that has fallen silent and has not been probed since: the caller sends its query on
 * it and elsewhere as well. NULL when there is none. */
struct conn *pool_take_suspect(struct pool *pool);

/* Waits for a connection, dialling if none is on its way. False when too many wait, or when the
 * pool rests and dialled a moment ago: refused at once rather than after seconds. */
MUST_USE bool pool_wait(struct pool *pool, struct pool_waiter *waiter);

/* The same for an upstream that is about to come back: the waiter stays through dials that fail,
 * and while it waits the pool dials every POOL_RETURN_US. It hears of a failure only when the peer
 * proves to be another server, or the pool closes. False: too many wait, or the pool closes. */
MUST_USE bool pool_wait_patiently(struct pool *pool, struct pool_waiter *waiter);

/* An answer made room on a connection: those who wait come first. */
void pool_room(struct pool *pool);
void pool_leave(struct pool *pool, struct pool_waiter *waiter);

/* Marks every ready connection for replacement; returns how many. */
size_t pool_recycle(struct pool *pool);

/* Queries that wait for an upstream's return dial beside a dial whose TCP takes longer than so many
 * times what it took before, but not before POOL_SYN_MIN_US: its SYN may be lost, and the kernel
 * sends it again only after a second. The first dial goes on, as the path may be longer now. */
enum {
    POOL_SYN_TIMES = 4,
    POOL_LATE_DIALS_MAX = 5, /* such dials at once, beside the latest one */
};
#define POOL_SYN_MIN_US (200 * US_PER_MS)

/* Dials what the plan asks for. Called after everything that changes the facts; nothing happens
 * when it is called from within itself. */
void pool_tend(struct pool *pool);

/* A query on this connection is asked a second time elsewhere since it has been silent: until a
 * byte comes, new queries go elsewhere too where they can, and one of them probes it. */
void pool_note_silent(struct pool *pool, struct conn *conn);

/* Has its places no longer earned: they are given back. */
void pool_forfeit(struct pool *pool);

/* A parked connection asks for its turn to be dialled, or rests until the bound on handshakes
 * allows it. */
void pool_dial(struct pool *pool, struct conn *conn);

/* Gives the places of the quota back. */
void pool_give_places(struct pool *pool);

/* Nobody wants it any more: gives the places of the quota back and dials no more but for a query
 * that waits, of a task that began before. Its connections drain, those that carry nothing close at
 * once. Calls queries' owners. */
void pool_retire(struct pool *pool);

/* The same for what has come up since; to be called now and then while it retires. */
void pool_wind_down(struct pool *pool);

/* It has no connection and nobody waits for one. */
bool pool_is_empty(const struct pool *pool);

/* Wanted again. What drains goes on draining. */
void pool_revive(struct pool *pool);

#endif
