/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Acts on the decisions of hold.c and owns the hold queries. A hold query is freed with its answer
 * or with its connection.
 *
 * Invariant: a connection carries at most one hold query that is not overdue, and none within
 * HOLD_DISTANCE_US after another query.
 */

#include "upstream/pool_hold.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/build.h"
#include "dns/edns.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "upstream/health.h"
#include "upstream/hold.h"
#include "upstream/pool_tend.h"

enum { HOLD_UDP_SIZE = 1232 };

enum hold_query_state {
    HOLD_QUERY_SENT,
    HOLD_QUERY_SILENT,  /* past the usual answer time of this server */
    HOLD_QUERY_OVERDUE, /* past query-timeout: the connection counts as idle again */
};

struct hold_query {
    struct flight flight;
    struct pool *pool;
    struct timer due;
    enum hold_query_state state;
    uint64_t idle_us; /* the idle time before the query */
};

static void hold_query_free(struct hold_query *query)
{
    timer_stop(&query->due);
    free(query);
}

/* ---- RFC 7828 ---- */

static void pool_heard_zero(struct pool *pool, struct conn *conn)
{
    uint64_t now = pool_now(pool);
    keepalive_heard_zero(&pool->keepalive, conn ? conn->ready_at : pool->ended_ready_at, now);
    if (!keepalive_allows(&pool->keepalive, now)) {
        pool_give_places(pool);
        pool_retry_nailing(pool, pool->keepalive.left_alone_until_at);
    }
    if (!conn || conn->state != CONN_READY)
        return;
    conn_retire(conn, CONN_END_KEEPALIVE_ZERO);
    pool_tend(pool); /* its last answer may take long, and the successor does not wait for it */
}

void pool_heard_keepalive(struct pool *pool, struct conn *conn, uint16_t timeout_100ms)
{
    if (timeout_100ms == 0) {
        pool_heard_zero(pool, conn);
        return;
    }
    keepalive_heard(&pool->keepalive);
    idle_limit_announced(&pool->idle_limit, (uint64_t)timeout_100ms * 100 * US_PER_MS);
    pool_hold_arm_all(pool);
}

/* ---- the fate of a hold query ---- */

static void hold_query_note_silence(struct hold_query *query)
{
    struct pool *pool = query->pool;
    struct conn *conn = query->flight.conn;

    query->state = HOLD_QUERY_SILENT;
    if (!conn_misses_ack(
            &query->flight)) /* else the path is dead and the server never got the query */
        pool->hold_unanswered++;
    STATS_INC(pool->env->stats, upstream_holds_silent);
    bool is_silent = conn_silent_since_at(&query->flight) == query->flight.sent_at;
    if (conn->state != CONN_READY || !is_silent)
        return;
    pool_note_silent(pool, conn);
    if (conn->ending == CONN_END_NONE)
        conn->ending = CONN_END_OWED;
    pool_tend(pool);
}

static void hold_query_on_due(struct timer *timer)
{
    struct hold_query *query = CONTAINER_OF(timer, struct hold_query, due);
    struct pool *pool = query->pool;
    struct conn *conn = query->flight.conn;

    if (query->state == HOLD_QUERY_SENT) {
        timer_start(pool->env->loop, &query->due,
                    query->flight.sent_at + pool->options->query_timeout_us);
        hold_query_note_silence(query);
        return;
    }
    query->state = HOLD_QUERY_OVERDUE;
    if (conn->state == CONN_READY) {
        conn_overdue(&query->flight);
        return;
    }
    struct flight flight = query->flight; /* the connection may end with the query */
    hold_query_free(query);
    conn_give_up(&flight);
}

static void hold_query_hear(struct hold_query *query, struct conn *conn, struct span bytes)
{
    struct message message;
    struct edns_keepalive keepalive;
    if (message_parse(&message, bytes) == MESSAGE_OK &&
        edns_find_keepalive(&message.edns, &keepalive) == EDNS_FOUND && keepalive.has_timeout)
        pool_heard_keepalive(query->pool, conn, keepalive.timeout_100ms);
}

/* Any answer shows that the connection is alive and restarts the peer's idle clock. */
static void hold_query_on_reply(struct flight *flight, struct span message)
{
    struct hold_query *query = CONTAINER_OF(flight, struct hold_query, flight);
    struct pool *pool = query->pool;

    STATS_INC(pool->env->stats, upstream_holds_answered);
    pool->hold_answer_us = pool_now(pool) - flight->sent_at;
    pool->hold_unanswered = 0;
    idle_limit_held(&pool->idle_limit, query->idle_us);
    hold_query_hear(query, flight->conn, message);
    hold_query_free(query);
    pool_hold_arm_all(pool);
    if (pool->waiting_count > 0) /* the answer made room */
        timer_start(pool->env->loop, &pool->serve_soon, pool_now(pool));
}

static void hold_query_on_lost(struct flight *flight, enum conn_end why)
{
    struct hold_query *query = CONTAINER_OF(flight, struct hold_query, flight);
    (void)why;
    STATS_INC(query->pool->env->stats, upstream_holds_lost);
    hold_query_free(query);
}

static const struct flight_handler hold_query_handler = {
    .on_reply = hold_query_on_reply,
    .on_lost = hold_query_on_lost,
};

/* ---- sending ---- */

static struct question hold_question(const struct pool *pool)
{
    if (!pool->hold_zone)
        return (struct question){.name = name_root(), .type = RRTYPE_NS, .cls = RRCLASS_IN};
    return (struct question){
        .name = {pool->hold_zone, pool->hold_zone_len}, .type = RRTYPE_SOA, .cls = RRCLASS_IN};
}

static size_t hold_build(const struct pool *pool, const struct conn *conn, uint8_t *out)
{
    struct question question = hold_question(pool);
    struct build_query_options options = {
        .id = conn_next_id(conn),
        .keepalive = !conn->asked_keepalive,
        .edns = true,
        .udp_size = HOLD_UDP_SIZE,
        .pad_block = pool->secure ? EDNS_PADDING_QUERY : 0,
    };
    return build_query(out, BUILD_QUERY_MAX, &question, &options);
}

/* A dial shows the delay of the path. A slow server needs longer. */
static uint64_t hold_patience_us(const struct pool *pool)
{
    uint64_t usual_us = MAX(pool->dial_us, pool->hold_answer_us);
    return MIN(MAX(3 * usual_us, (uint64_t)HEALTH_HEDGE_MIN_US), pool->options->query_timeout_us);
}

static void hold_send(struct pool *pool, struct conn *conn, uint64_t idle_us)
{
    struct hold_query *query = calloc(1, sizeof(*query));
    uint8_t *out = query ? conn_reserve(conn, BUILD_QUERY_MAX) : NULL;
    if (!out) {
        free(query);
        return;
    }
    query->flight.handler = &hold_query_handler;
    query->flight.is_hold = true;
    query->pool = pool;
    query->idle_us = idle_us;
    timer_init(&query->due, hold_query_on_due);
    size_t len = hold_build(pool, conn, out);
    MUST(len > 0);
    conn->asked_keepalive = true;
    if (conn_commit(conn, len, &query->flight)) {
        free(query);
        return;
    }
    pool->holds++;
    timer_start(pool->env->loop, &query->due, pool_now(pool) + hold_patience_us(pool));
}

/* ---- looking ---- */

bool pool_may_hold(const struct pool *pool)
{
    if (!pool->options->hold)
        return false;
    uint64_t asked_at = MAX(pool->rate.turn_at, pool->made_at);
    return !pool->needs_proof ||
           pool_now(pool) - asked_at < MAX(HOLD_UNUSED_US, pool->idle_limit.announced_us);
}

/* The oldest connections that are not about to end have the places. A connection that the pool
 * replaces stays until there are enough others. */
static bool pool_hold_is_kept(const struct pool *pool, const struct conn *conn)
{
    uint32_t others = 0;
    LIST_EACH(node, &pool->conns)
    {
        const struct conn *other = LIST_ITEM(node, struct conn, node);
        if (other == conn && conn->ending == CONN_END_NONE)
            break;
        others += other->state == CONN_READY && other->ending == CONN_END_NONE;
    }
    return others < pool->places;
}

static bool needs_replacement(const struct pool *pool, const struct conn *conn)
{
    return pool_is_single_use(pool) || pool->options->max_requests < HOLD_REQUESTS_MIN ||
           conn_requests_left(conn) < 2 || pool->hold_unanswered >= HOLD_UNANSWERED_MAX;
}

static void hold_replace(struct pool *pool, struct conn *conn)
{
    pool->hold_replacements++;
    STATS_INC(pool->env->stats, upstream_holds_replaced);
    conn->ending = CONN_END_IDLE;
    pool_tend(pool);
}

void pool_hold_look(struct pool *pool, struct conn *conn)
{
    uint64_t idle_us = pool_now(pool) - conn->active_at;
    struct hold_facts facts = {
        .idle_us = idle_us,
        .limit_us = idle_limit_us(&pool->idle_limit),
        .announced_us = pool->idle_limit.announced_us,
        .own_us = pool->options->idle_timeout_us,
        .dial_us = pool->dial_us,
        .is_kept = pool_hold_is_kept(pool, conn),
        .may_hold = pool_may_hold(pool),
        .is_ending = conn->ending != CONN_END_NONE && !silence_is_suspect(&conn->silence),
        .by_replacement = needs_replacement(pool, conn) && !silence_is_suspect(&conn->silence),
    };
    struct hold_decision decision = hold_decide(&facts);
    switch (decision.step) {
    case HOLD_WAIT:
        if (decision.again_us)
            conn_idle_again(conn, conn->active_at + decision.again_us);
        return;
    case HOLD_QUERY:
        hold_send(pool, conn, idle_us);
        return;
    case HOLD_REPLACE:
        hold_replace(pool, conn);
        return;
    case HOLD_CLOSE:
        conn_retire(conn, CONN_END_IDLE);
        return;
    }
}

/* Sets the earliest instant at which hold.c may have a decision, whether the connection is kept or
 * not. */
void pool_hold_arm(struct pool *pool, struct conn *conn)
{
    uint64_t limit_us = idle_limit_us(&pool->idle_limit);
    uint64_t held_us = hold_sooner(hold_after_us(limit_us, pool->dial_us),
                                   hold_close_us(pool->idle_limit.announced_us));
    conn_set_idle_limit(conn, hold_sooner(pool->options->idle_timeout_us, held_us));
}

void pool_hold_arm_all(struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn->state == CONN_READY)
            pool_hold_arm(pool, conn);
    }
}

/* ---- learning ---- */

uint64_t pool_hold_note_end(struct pool *pool, const struct conn *conn, enum conn_end why)
{
    if (why != CONN_END_PEER_IDLE || conn->ready_at == 0)
        return 0;
    /* A connection with a hold query in flight was idle until the hold query left. */
    uint64_t idle_us = conn->holding ? conn->gap_us : pool_now(pool) - conn->active_at;
    if (conn->ending != CONN_END_NETWORK &&
        idle_limit_closed(&pool->idle_limit, idle_us, conn->survived_us))
        pool_hold_arm_all(pool);
    return idle_us;
}

void pool_hold_set_zone(struct pool *pool, struct name zone)
{
    uint8_t *copy = NULL;
    if (!name_is_root(zone) && (copy = malloc(zone.len)))
        memcpy(copy, zone.wire, zone.len);
    pool_hold_deinit(pool);
    pool->hold_zone = copy;
    pool->hold_zone_len = copy ? zone.len : 0;
}

void pool_hold_deinit(struct pool *pool)
{
    free(pool->hold_zone);
    pool->hold_zone = NULL;
}
