/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_H
#define NAILUP_UPSTREAM_POOL_H

/*
 * The connections of one upstream in one worker. The pool dials them ahead of need (pool_tend.h),
 * replaces them before they end, rests after failures, and picks the connection for the next query.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "base/units.h"
#include "upstream/conn.h"
#include "upstream/pool_choice.h"
#include "upstream/pool_tend.h"

enum {
    /* Queries that wait for a connection of one upstream. server.max-waiting bounds them first. */
    POOL_WAITING_MAX = 16384,
    /* Dials a second to a peer that closes used connections within HOLD_SHORTEST_US; one a second
     * if it closes unused ones. */
    POOL_IDLE_REDIALS_PER_S = 10,
};

/* A query may dial although the pool rests: after an idle end or, without a fallback, after a
 * failure. The interval is bounded, because a peer may close every connection that it accepts. */
#define POOL_URGENT_US (100 * US_PER_MS)

/* The interval of dials while queries wait for an upstream that restarts, because the upstream does
 * not announce its return. */
#define POOL_RETURN_US (50 * US_PER_MS)

/* A query that waits for a connection; embedded in the attempt. */
struct pool_waiter {
    struct list node;
    bool is_patient; /* stays through failed dials: pool_wait_patiently() */
    /* A connection is ready: the callee sends on it. The waiter has left the list. */
    void (*on_conn)(struct pool_waiter *waiter, struct conn *conn);
    /* The dial failed. The waiter has left the list. */
    void (*on_no_conn)(struct pool_waiter *waiter, enum conn_end why);
};

/* Borrows everything; secure is NULL without TLS. */
void pool_init(struct pool *pool, struct upstream_env *env, const struct addr *addr,
               const struct upstream_options *options, struct secure *secure);

/* Closes every connection. Waiters get on_no_conn. */
void pool_deinit(struct pool *pool);

/* Marks every ready connection for replacement; returns how many. */
size_t pool_recycle(struct pool *pool);

/* ---- queries ---- */

/* The connection for the next query, never avoid (may be NULL); or NULL and the reason. Dials
 * spares and further connections as needed. */
struct conn *pool_take(struct pool *pool, const struct conn *avoid, enum pool_lack *lack);

/* A connection with room for a query that may also leave as a datagram: it is open, answers, is not
 * about to end and is filled to less than three quarters. NULL: none. Never dials. */
struct conn *pool_find_roomy(const struct pool *pool);

/* A silent connection without a probe, or NULL. The caller sends its query on this connection and
 * also another way. */
struct conn *pool_take_suspect(struct pool *pool);

/* Waits for a connection, and dials if none is on its way. False: too many queries wait, or the
 * pool rests and dialled a moment ago, because a quick refusal is better than one after seconds. */
MUST_USE bool pool_wait(struct pool *pool, struct pool_waiter *waiter);

/* Waits for an upstream that is about to come back: the waiter stays through failed dials, and the
 * pool dials every POOL_RETURN_US. The waiter fails only if the peer proves to be another server or
 * the pool closes. False: too many queries wait, or the pool closes. */
MUST_USE bool pool_wait_patiently(struct pool *pool, struct pool_waiter *waiter);

/* Serves the waiters after an answer made room on a connection. */
void pool_room(struct pool *pool);
void pool_leave(struct pool *pool, struct pool_waiter *waiter);

/* ---- retiring ---- */

/* Retires the connections of an unwanted upstream: returns the places and dials only for queries of
 * earlier tasks. Busy connections drain, idle ones close. Calls the queries' owners. */
void pool_retire(struct pool *pool);

/* Repeats this for connections that were dialled since. The caller calls it now and then while the
 * pool retires. */
void pool_wind_down(struct pool *pool);

/* Whether no connection is left, and no query waits for one. */
bool pool_is_empty(const struct pool *pool);

/* Ends the retirement of an upstream that is wanted again. Draining connections continue to
 * drain. */
void pool_revive(struct pool *pool);

#endif
