/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The order of wishes among connections; the pool dials and replaces. */

#include "upstream/pool_choice.h"

#include "upstream/spread.h"

bool pool_choice_is_filled(const struct conn *conn)
{
    return conn_in_flight(conn) >= conn->options->max_in_flight - conn->options->max_in_flight / 4;
}

static bool has_fallback(const struct conn *conn)
{
    return conn->options->fallback == UPSTREAM_FALLBACK_UDP;
}

/* Of two that take queries: the one that is not in doubt, then the one that is not to be replaced;
 * with one kept connection the older as long as it is not filled to three
 * quarters, since splitting halves the batches; else the less loaded. */
static bool is_better(const struct conn *conn, const struct conn *best, bool is_lossy)
{
    bool is_spread = is_lossy && conn_in_flight(best) >= SPREAD_IN_FLIGHT;
    if (conn->silence.doubted != best->silence.doubted)
        return best->silence.doubted;
    if ((conn->ending != CONN_END_NONE) != (best->ending != CONN_END_NONE))
        return best->ending != CONN_END_NONE;
    if (conn->options->connections == 1 && !is_spread && !pool_choice_is_filled(best))
        return false;
    return conn_in_flight(conn) < conn_in_flight(best);
}

struct conn *pool_choice_best(const struct list *conns, const struct conn *avoid, bool is_lossy)
{
    struct conn *best = NULL;
    LIST_EACH(node, conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn == avoid || !conn_takes(conn) || (conn->silence.doubted && has_fallback(conn)))
            continue;
        if (!best || is_better(conn, best, is_lossy))
            best = conn;
    }
    return best;
}

enum pool_lack pool_choice_lack(const struct list *conns)
{
    enum pool_lack lack = POOL_CLOSED;
    LIST_EACH(node, conns)
    {
        const struct conn *conn = LIST_ITEM(node, struct conn, node);
        bool silent = silence_is_doubtful(&conn->silence);
        if (conn->state == CONN_READY && !silent && conn->requests < conn->max_requests)
            return POOL_FULL;
        if (conn->state == CONN_READY && silent)
            lack = POOL_STALLED;
        else if (conn->state == CONN_DIALING || conn->state == CONN_SECURING ||
                 conn->state == CONN_PARKED || conn->paced)
            lack = lack == POOL_STALLED ? lack : POOL_DIALING;
        else if (conn->state == CONN_RESTING && lack == POOL_CLOSED)
            lack = POOL_RESTING;
    }
    return lack;
}

struct conn *pool_choice_silent(const struct list *conns)
{
    LIST_EACH(node, conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn->state == CONN_READY && silence_wants_probe(&conn->silence) &&
            conn->requests < conn->max_requests &&
            conn_in_flight(conn) < conn->options->max_in_flight)
            return conn;
    }
    return NULL;
}
