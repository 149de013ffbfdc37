/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Collects the facts for pool_plan.c and dials the connections that the plan asks for. pool.c
 * handles their events.
 */

#include "upstream/pool_tend.h"

#include "base/check.h"
#include "base/log.h"
#include "upstream/pool_choice.h"
#include "upstream/pool_plan.h"

#define NAIL_AGAIN_US (10 * US_PER_S) /* after the quota or the memory ran out */

static void pool_on_nail_retry(struct timer *timer)
{
    pool_tend(CONTAINER_OF(timer, struct pool, nail_retry));
}

void pool_tend_init(struct pool *pool)
{
    timer_init(&pool->nail_retry, pool_on_nail_retry);
}

void pool_retry_nailing(struct pool *pool, uint64_t at_us)
{
    timer_start(pool->env->loop, &pool->nail_retry, at_us);
}

void pool_give_places(struct pool *pool)
{
    for (; pool->places > 0; pool->places--)
        nail_quota_give(pool->env->quota);
}

void pool_lose_proof(struct pool *pool)
{
    pool->is_proven = false;
    pool_give_places(pool);
}

/* left: the requests that remain after this query. */
static bool is_ending(const struct pool *pool, const struct conn *conn, uint32_t left,
                      uint32_t lead)
{
    /* A connection in doubt stays while its queries can go over UDP. */
    bool needed = pool->waiting_count > 0 || pool->options->fallback == UPSTREAM_FALLBACK_NONE;
    bool silent =
        silence_is_suspect(&conn->silence) || (silence_is_in_doubt(&conn->silence) && needed);
    return conn->ending != CONN_END_NONE || silent ||
           plan_ends_soon(left, conn->max_requests, lead);
}

static void add_ready(struct plan_facts *facts, const struct pool *pool, const struct conn *conn,
                      const struct conn *taking)
{
    uint32_t left = conn_requests_left(conn) - (conn == taking);
    if (!silence_is_suspect(&conn->silence))
        facts->requests_left += left;
    if (is_ending(pool, conn, left, facts->lead)) {
        facts->ending++;
    } else {
        facts->lasting++;
        facts->full &= pool_choice_is_filled(conn);
    }
}

/* Queries wait or came within the last second, or a discovered upstream was never dialled. */
static bool is_demanded(const struct pool *pool)
{
    uint64_t now = pool_now(pool);
    if (pool->needs_proof && pool->nailing && !pool->dials)
        return true;
    if (pool->waiting_count > 0 || pool->retiring)
        return pool->waiting_count > 0;
    return pool_rate_is_lively(&pool->rate, now) && keepalive_allows(&pool->keepalive, now);
}

static uint32_t pool_in_flight(const struct pool *pool)
{
    uint32_t in_flight = 0;
    LIST_EACH(node, &pool->conns)
    in_flight += conn_in_flight(LIST_ITEM(node, struct conn, node));
    return in_flight;
}

uint64_t pool_syn_patience_us(const struct pool *pool)
{
    return pool->tcp_us ? MAX(POOL_SYN_TIMES * pool->tcp_us, POOL_SYN_MIN_US) : 0;
}

/* Its SYN may be lost. The plan does not count such a dial, so it asks for another one. */
static bool is_late_dial(const struct pool *pool, const struct conn *conn)
{
    uint64_t patience_us = pool_syn_patience_us(pool);
    return pool->waiting_count > 0 && patience_us > 0 && conn->state == CONN_DIALING &&
           pool_now(pool) >= conn->dialed_at + patience_us;
}

static struct plan_facts gather_plan_facts(const struct pool *pool, const struct conn *taking)
{
    struct plan_facts facts = {
        .kept = pool->asleep ? 0 : pool->places,
        .max_connections = pool->options->max_connections,
        .max_requests = pool_is_single_use(pool) ? 1 : pool->options->max_requests,
        .lead = pool_rate_lead(&pool->rate, pool->dial_us),
        .full = true,
        .demanded = is_demanded(pool),
        .width = spread_width(&pool->spread, pool_in_flight(pool), pool_now(pool)),
    };
    unsigned late = 0;
    LIST_EACH(node, &pool->conns)
    {
        const struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn->state == CONN_READY) {
            add_ready(&facts, pool, conn, taking);
        } else if (is_late_dial(pool, conn) && late < POOL_LATE_DIALS_MAX) {
            late++;
        } else if (conn->state != CONN_DRAINING) {
            facts.coming++;
        }
    }
    facts.full &= facts.lasting > 0;
    return facts;
}

/* Places belong to the pool and not to a connection, so a successor needs no further place. */
static void take_places(struct pool *pool)
{
    if (!pool_is_nailing(pool)) {
        pool_give_places(pool);
        return;
    }
    while (pool->places < pool->options->connections) {
        if (!nail_quota_take(pool->env->quota) &&
            !(pool->needs_proof && pool->env->make_nail_room(pool->env) &&
              nail_quota_take(pool->env->quota))) {
            LOG_SHARED(LOG_WARNING, "upstream",
                       "max-nailed (%u) is reached: raise it, or nail less", pool->env->quota->max);
            pool_retry_nailing(pool, pool_now(pool) + NAIL_AGAIN_US);
            return;
        }
        pool->places++;
    }
}

/* The bound on dials to this address; 0: unbounded. */
static uint32_t dials_per_s(const struct pool *pool)
{
    uint32_t per_s = pool->secure ? pool->options->max_handshakes : 0;
    if (!pool_is_single_use(pool))
        return per_s;
    return per_s ? MIN(per_s, (uint32_t)SINGLE_USE_DIALS_PER_S) : SINGLE_USE_DIALS_PER_S;
}

void pool_dial(struct pool *pool, struct conn *conn)
{
    uint64_t now = pool_now(pool), at = now;
    uint32_t per_s = dials_per_s(pool);
    if (per_s > 0)
        at = pace_take(&pool->dial_pace, now, per_s);
    conn->is_paced = at > now;
    if (conn->is_paced) {
        conn_rest(conn, at);
        return;
    }
    bool is_single = pool_is_single_use(pool) && !single_use_take_retest(&pool->single, now);
    conn->max_requests = is_single ? 1 : pool->options->max_requests;
    pool->dialed_at = now;
    pool->dials++;
    conn->source_turn = pool->source_turn++;
    /* Loopback has no narrow path, and its packets of 64 KiB cost less. */
    if (!addr_is_loopback(pool->addr))
        conn->segment_bytes = segment_bytes(&pool->segment, now);
    conn_dial(conn, pool->backoff.failures > 0 && pool->waiting_count == 0);
}

void pool_add_conn(struct pool *pool, uint64_t rest_until_at, bool is_paced)
{
    struct conn *conn =
        conn_new(pool->env, pool->addr, pool->options, pool->secure, pool->conn_handler, pool);
    if (!conn) {
        pool_retry_nailing(pool, pool_now(pool) + NAIL_AGAIN_US);
        return;
    }
    conn->last_close = pool->last_close;
    list_append(&pool->conns, &conn->node);
    if (rest_until_at > pool_now(pool)) {
        conn->is_paced = is_paced;
        conn_rest(conn, rest_until_at);
    } else {
        pool_dial(pool, conn);
    }
}

/* Makes the dials of the plan when a query is about to use the connection `taking` (may be NULL). A
 * resting pool has a single connection, which rests. A retiring pool dials one for its waiters. */
void pool_tend_for(struct pool *pool, const struct conn *taking)
{
    if (pool->closing || pool->tending)
        return;
    pool->tending = true;
    if (pool->nailing)
        take_places(pool);
    struct plan_facts facts = gather_plan_facts(pool, taking);
    uint32_t dials = plan_dials(&facts);
    if (pool->retiring || backoff_is_resting(&pool->backoff, pool_now(pool)))
        dials = facts.coming == 0 ? MIN(dials, 1u) : 0;
    if (pool->retiring && pool->waiting_count == 0)
        dials = 0;
    for (uint32_t i = 0; i < dials && !pool->closing; i++)
        pool_add_conn(pool, pool->backoff.until_at, false);
    pool->tending = false;
}

void pool_tend(struct pool *pool)
{
    pool_tend_for(pool, NULL);
}

bool pool_wants_more(const struct pool *pool)
{
    struct plan_facts facts = gather_plan_facts(pool, NULL);
    return plan_dials(&facts) > 0;
}

void pool_note_stall(struct pool *pool)
{
    char text[ADDR_TEXT_MAX];
    if (segment_stalled(&pool->segment, pool_now(pool)))
        LOG_LIMITED(LOG_INFO, "upstream",
                    "%s: a connection is silent: in case large packets are lost, dials announce "
                    "segments of %d bytes for ten minutes",
                    addr_format(pool->addr, text), SEGMENT_SMALL_BYTES);
}

void pool_note_silent(struct pool *pool, struct conn *conn)
{
    if (conn->state != CONN_READY)
        return;
    pool_note_stall(pool);         /* a lost large packet may have carried the acknowledgement */
    silence_doubt(&conn->silence); /* even while it is replaced: it may be the only connection */
    if (conn->ending != CONN_END_NONE)
        return;
    if (conn->inflight.owed + conn->overdue <= conn->options->max_in_flight)
        return;
    conn->ending = CONN_END_OWED;
    pool_tend(pool);
}
