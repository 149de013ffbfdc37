/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Ranks a pool's connections (pool_choice.h). The pool dials and replaces them. */

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

/* Both take queries. Prefers the one without doubt, then the one without a planned end, then the
 * one with less load. A pool of one kept connection prefers the older until that is filled to three
 * quarters, because splitting halves the batches. */
static bool is_better(const struct conn *conn, const struct conn *best, bool is_lossy)
{
    bool is_spread = is_lossy && conn_in_flight(best) >= SPREAD_IN_FLIGHT;
    if (silence_is_in_doubt(&conn->silence) != silence_is_in_doubt(&best->silence))
        return silence_is_in_doubt(&best->silence);
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
        if (conn == avoid || !conn_takes(conn) ||
            (silence_is_in_doubt(&conn->silence) && has_fallback(conn)))
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
        bool silent = silence_is_in_doubt(&conn->silence);
        if (conn->state == CONN_READY && !silent && conn->requests < conn->max_requests)
            return POOL_FULL;
        if (conn->state == CONN_READY && silent)
            lack = POOL_STALLED;
        else if (conn->state == CONN_DIALING || conn->state == CONN_SECURING ||
                 conn->state == CONN_PARKED || conn->is_paced)
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
