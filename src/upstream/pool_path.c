/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Applies a change of the network to a pool's connections (pool_path.h). The caller detects the
 * change and bounds how often it calls.
 *
 * Invariant: a connection that may still work takes queries until its successor is ready.
 */

#include "upstream/pool_path.h"

#include "net/link.h"
#include "upstream/pool_tend.h"

static struct conn *pool_path_conn_of(struct list *node)
{
    return LIST_ITEM(node, struct conn, node);
}

/* Queries to a connection in doubt go over UDP if the fallback allows it, else they get an early
 * second try. The first byte that comes clears the doubt. */
static void doubt(struct conn *conn)
{
    silence_doubt(&conn->silence);
    if (conn->ending == CONN_END_NONE)
        conn->ending = CONN_END_NETWORK;
}

/* Facts about the peer hold on any path (RFC 7828, one query per connection), and so do our bounds
 * on dials. */
void pool_path_forget(struct pool *pool)
{
    backoff_reset(&pool->backoff);
    pool->useless = 0;
    pool->dial_us = pool->tcp_us = 0;
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_path_conn_of(node);
        if (conn->state == CONN_READY)
            doubt(conn);
    }
}

static bool is_useless(const struct pool *pool, const struct conn *conn, bool all_stale)
{
    switch (conn->state) {
    case CONN_DIALING:
    case CONN_SECURING:
        return conn->dialed_at < pool_now(pool);
    case CONN_READY:
        if (pool->places == 0 && conn_in_flight(conn) == 0)
            return true;
        return all_stale ? conn->ready_at < pool_now(pool) : link_is_stranded(conn->link);
    case CONN_DRAINING:
        return all_stale || link_is_stranded(conn->link);
    default:
        return false;
    }
}

static struct conn *find_useless(struct pool *pool, bool all_stale)
{
    LIST_EACH(node, &pool->conns)
    {
        if (is_useless(pool, pool_path_conn_of(node), all_stale))
            return pool_path_conn_of(node);
    }
    return NULL;
}

/* Dials that rest or queue after a failure begin now: the failure belongs to the old path. The
 * bounds on handshakes and single-use servers still apply. */
static void wake_resting(struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_path_conn_of(node);
        if (conn->state == CONN_PARKED)
            conn_hurry(conn);
        if (conn->state != CONN_RESTING || conn->is_paced)
            continue;
        conn_wake(conn);
        pool_dial(pool, conn);
    }
}

/* Without prewarm, an upstream that was never dialled is not dialled here. */
static bool is_in_use(const struct pool *pool)
{
    return pool->options->prewarm || pool->places > 0 || pool->waiting_count > 0 ||
           !list_is_empty(&pool->conns);
}

void pool_path_renew(struct pool *pool, bool all_stale)
{
    bool used = is_in_use(pool);

    /* Each end may bring queries back that look for a connection. The pool dials after all ends. */
    pool->tending = true;
    for (struct conn *conn; (conn = find_useless(pool, all_stale));)
        conn_close(conn, CONN_END_NETWORK);
    pool->tending = false;
    wake_resting(pool);
    if (used)
        pool_tend(pool);
}
