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
#include "upstream/conn.h"
#include "upstream/pool_choice.h"
#include "upstream/pool_state.h"

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

#endif
