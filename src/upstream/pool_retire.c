/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Lets connections go, those that carry queries last. When a pool retires is upstreams_wanted.c's
 * to say, what it still dials pool_tend.c's. */

#include "upstream/pool_retire.h"

#include "upstream/pool_tend.h"

/* Takes queries, or might later for nobody. */
static struct conn *find_unneeded(const struct pool *pool)
{
    if (pool->waiting_count > 0) /* they need what there is, and no more of them come */
        return NULL;
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        bool is_idle = conn_in_flight(conn) == 0;
        if (conn->state == CONN_READY || (conn->state != CONN_DRAINING && is_idle))
            return conn;
    }
    return NULL;
}

/* From the start each time: an end may call whom it likes. */
void pool_wind_down(struct pool *pool)
{
    for (struct conn *conn; (conn = find_unneeded(pool));) {
        if (conn->state == CONN_READY)
            conn_retire(conn, CONN_END_UNWANTED);
        else
            conn_close(conn, CONN_END_UNWANTED);
    }
}

void pool_retire(struct pool *pool)
{
    pool->retiring = true;
    pool->nailing = false;
    pool_give_places(pool);
    pool_wind_down(pool);
}

bool pool_is_empty(const struct pool *pool)
{
    return list_is_empty(&pool->conns) && pool->waiting_count == 0;
}

void pool_revive(struct pool *pool)
{
    pool->retiring = false;
    pool->nailing = pool->options->nailed;
}
