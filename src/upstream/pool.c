/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Which connections there are and which takes the next query. The arithmetic is pool_plan.c's,
 * the life of one connection conn.c's, what becomes of a query without a connection exchange.c's.
 *
 * Invariants: a connection with queries in flight is never closed to make room; a connection to be
 * replaced serves until its successor is ready; a failed dial rests in the place of its connection.
 */

#include "upstream/pool.h"

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "upstream/pool_plan.h"

#define NAIL_AGAIN_US (10 * US_PER_S) /* after the quota or the memory was found used up */

static const struct conn_handler conn_handler;

static struct conn *conn_of(struct list *node)
{
    return LIST_ITEM(node, struct conn, node);
}

static uint64_t pool_now(const struct pool *pool)
{
    return loop_now(pool->env->loop);
}

static bool is_single_use(const struct pool *pool)
{
    return single_use_is_known(&pool->single, pool_now(pool));
}

static bool is_nailing(const struct pool *pool)
{
    return pool->nailing && keepalive_allows(&pool->keepalive, pool_now(pool));
}

/* ---- facts and dials ---- */

static void give_places(struct pool *pool)
{
    for (; pool->places > 0; pool->places--)
        nail_quota_give(pool->env->quota);
}

/* left: requests left when the query at hand is sent. */
static bool is_ending(const struct pool *pool, const struct conn *conn, uint32_t left,
                      uint32_t lead)
{
    /* One in doubt is let be as long as UDP takes its queries. */
    bool needed = pool->waiting_count > 0 || pool->options->fallback == UPSTREAM_FALLBACK_NONE;
    bool silent = conn->suspect || (conn->doubted && needed);
    return conn->ending != CONN_END_NONE || silent ||
           plan_ends_soon(left, conn->max_requests, lead);
}

static void add_ready(struct plan_facts *facts, const struct pool *pool, const struct conn *conn,
                      const struct conn *taking)
{
    uint32_t left = conn_requests_left(conn) - (conn == taking);
    if (!conn->suspect)
        facts->requests_left += left;
    if (is_ending(pool, conn, left, facts->lead)) {
        facts->ending++;
    } else {
        facts->lasting++;
        facts->full &= pool_choice_is_filled(conn);
    }
}

/* Queries wait, or came within the last second. */
static bool is_demanded(const struct pool *pool)
{
    uint64_t now = pool_now(pool);
    return pool->waiting_count > 0 ||
           (pool_rate_is_lively(&pool->rate, now) && keepalive_allows(&pool->keepalive, now));
}

static struct plan_facts gather(const struct pool *pool, const struct conn *taking)
{
    struct plan_facts facts = {
        .kept = pool->places,
        .max_connections = pool->options->max_connections,
        .max_requests = is_single_use(pool) ? 1 : pool->options->max_requests,
        .lead = pool_rate_lead(&pool->rate, pool->dial_us),
        .full = true,
        .demanded = is_demanded(pool),
    };
    LIST_EACH(node, &pool->conns)
    {
        const struct conn *conn = conn_of(node);
        if (conn->state == CONN_READY) {
            add_ready(&facts, pool, conn, taking);
        } else if (conn->state != CONN_DRAINING) {
            facts.coming++;
        }
    }
    facts.full &= facts.lasting > 0;
    return facts;
}

/* Places to be kept open are the pool's, not a connection's: so a successor needs no further one.
 */
static void take_places(struct pool *pool)
{
    if (!is_nailing(pool)) {
        give_places(pool);
        return;
    }
    while (pool->places < pool->options->connections) {
        if (!nail_quota_take(pool->env->quota)) {
            LOG_LIMITED(LOG_WARNING, "upstream",
                        "max-nailed (%u) is reached: raise it, or nail less",
                        pool->env->quota->max);
            timer_start(pool->env->loop, &pool->tend_later, pool_now(pool) + NAIL_AGAIN_US);
            return;
        }
        pool->places++;
    }
}

/* A new connection: resting until the instant, or dialled now. */
static void add_conn(struct pool *pool, uint64_t rest_until_at)
{
    struct conn *conn = conn_new(pool->env, pool->addr, pool->options, &conn_handler, pool);
    if (!conn) {
        timer_start(pool->env->loop, &pool->tend_later, pool_now(pool) + NAIL_AGAIN_US);
        return;
    }
    conn->last_close = pool->last_close;
    if (is_single_use(pool))
        conn->max_requests = 1;
    list_append(&pool->conns, &conn->node);
    if (rest_until_at > pool_now(pool)) {
        conn_rest(conn, rest_until_at);
    } else {
        pool->dialed_at = pool_now(pool);
        pool->dials++;
        conn_dial(conn, pool->backoff.failures > 0);
    }
}

/* Dials what the plan asks for. While the pool rests only one place is taken, and rests. */
static void tend_for(struct pool *pool, const struct conn *taking)
{
    if (pool->closing || pool->tending)
        return;
    pool->tending = true;
    if (pool->nailing)
        take_places(pool);
    struct plan_facts facts = gather(pool, taking);
    uint32_t dials = plan_dials(&facts);
    if (backoff_is_resting(&pool->backoff, pool_now(pool)))
        dials = facts.coming == 0 ? MIN(dials, 1u) : 0;
    for (uint32_t i = 0; i < dials && !pool->closing; i++)
        add_conn(pool, pool->backoff.until_at);
    pool->tending = false;
}

static void tend(struct pool *pool)
{
    tend_for(pool, NULL);
}

static void on_tend_later(struct timer *timer)
{
    tend(CONTAINER_OF(timer, struct pool, tend_later));
}

/* ---- those who wait ---- */

static struct pool_waiter *next_waiter(struct pool *pool)
{
    struct list *node = list_take_first(&pool->waiting);
    if (!node)
        return NULL;
    pool->waiting_count--;
    return LIST_ITEM(node, struct pool_waiter, node);
}

static void serve_waiters(struct pool *pool)
{
    while (pool->waiting_count > 0) {
        enum pool_lack lack;
        struct conn *conn = pool_take(pool, NULL, &lack);
        if (!conn)
            return;
        struct pool_waiter *waiter = next_waiter(pool);
        if (waiter)
            waiter->on_conn(waiter, conn);
    }
}

static void on_serve_soon(struct timer *timer)
{
    serve_waiters(CONTAINER_OF(timer, struct pool, serve_soon));
}

/* Only those who wait now: a callee may wait anew. */
static void fail_waiters(struct pool *pool, enum conn_end why)
{
    for (uint32_t left = pool->waiting_count; left > 0; left--) {
        struct pool_waiter *waiter = next_waiter(pool);
        if (!waiter)
            return;
        waiter->on_no_conn(waiter, why);
    }
}

/* ---- what connections tell ---- */

static void on_turn(struct conn *conn)
{
    struct pool *pool = conn->holder;
    pool->dialed_at = pool_now(pool);
    pool->dials++;
    conn_dial(conn, pool->backoff.failures > 0);
}

/* From inside calls of queries' owners: those who wait are served when these have returned. */
static void on_room(struct conn *conn)
{
    struct pool *pool = conn->holder;
    if (pool->waiting_count > 0)
        timer_start(pool->env->loop, &pool->serve_soon, pool_now(pool));
}

static uint64_t peer_idle_limit(const struct pool *pool)
{
    /* A tenth earlier, so that it is we who close. */
    return pool->keepalive.peer_idle_us - pool->keepalive.peer_idle_us / 10;
}

static uint64_t idle_limit(const struct pool *pool)
{
    uint64_t peer = peer_idle_limit(pool);
    uint64_t own = pool->options->idle_timeout_us;
    if (peer && own)
        return MIN(peer, own);
    return peer ? peer : own;
}

/* Those to be replaced make way for the one that just became ready. */
static void retire_replaced(struct pool *pool, const struct conn *fresh)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = conn_of(node);
        bool told = conn->ending == CONN_END_AGE || conn->ending == CONN_END_RECYCLED ||
                    conn->ending == CONN_END_OWED;
        if (conn == fresh || conn->state != CONN_READY || !told)
            continue;
        conn_retire(conn, conn->ending);
        return; /* one successor, one predecessor */
    }
}

static void on_ready(struct conn *conn)
{
    struct pool *pool = conn->holder;
    uint64_t took = MAX(pool_now(pool) - conn->dialed_at, 1u);

    pool->dial_us = pool->dial_us ? (3 * pool->dial_us + took) / 4 : took;
    backoff_reset(&pool->backoff);
    conn_set_idle_limit(conn, idle_limit(pool));
    retire_replaced(pool, conn);
    serve_waiters(pool);
    tend(pool);
}

static uint32_t count_ready(const struct pool *pool)
{
    uint32_t ready = 0;
    LIST_EACH(node, &pool->conns)
    ready += conn_of(node)->state == CONN_READY;
    return ready;
}

/* Kept ones stay as long as the peer allows, others until idle-timeout. */
static void on_idle(struct conn *conn)
{
    struct pool *pool = conn->holder;
    uint64_t idle_us = pool_now(pool) - conn->active_at;
    uint64_t peer = peer_idle_limit(pool), own = pool->options->idle_timeout_us;

    if ((peer && idle_us >= peer) || (own && idle_us >= own && count_ready(pool) > pool->places))
        conn_retire(conn, CONN_END_IDLE);
    else if (peer)
        conn_idle_again(conn, conn->active_at + peer);
}

static void on_aged(struct conn *conn)
{
    tend(conn->holder);
}

static void note_single(struct pool *pool, const struct conn *conn, enum conn_end why)
{
    char text[ADDR_TEXT_MAX];
    if (single_use_note(&pool->single, conn->requests, conn->answers, why, pool_now(pool)))
        LOG_LIMITED(
            LOG_NOTICE, "upstream",
            "%s answers only one query per connection: sending no more than that for ten minutes",
            addr_format(pool->addr, text));
}

static bool is_failed_dial(enum conn_end why)
{
    return why == CONN_END_DIAL_REFUSED || why == CONN_END_DIAL_TIMEOUT ||
           why == CONN_END_DIAL_ERROR;
}

/* Opened, and then broken before it was of any use: as good as refused. */
static bool was_useless(const struct conn *conn, enum conn_end why)
{
    bool broken = why == CONN_END_RESET || why == CONN_END_PEER_BUSY || why == CONN_END_GARBAGE ||
                  why == CONN_END_STALLED || why == CONN_END_ERROR;
    return broken && conn->answers == 0;
}

/* When the place of an ended connection is to be dialled again: now, or after a rest. */
static uint64_t redial_at(struct pool *pool, const struct conn *conn, enum conn_end why)
{
    uint64_t now = pool_now(pool);
    if (is_failed_dial(why) || was_useless(conn, why))
        return backoff_fail(&pool->backoff, now, rand_u64());
    if (why == CONN_END_PEER_IDLE || why == CONN_END_IDLE)
        return now + keepalive_idle_end(&pool->keepalive);
    return now;
}

/* A successor was there before the connection ended: it learns now why. */
static void tell_successor(struct pool *pool, enum conn_end why)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn->last_close != CONN_END_NONE)
            continue;
        conn->last_close = why;
        return;
    }
}

static void on_ended(struct conn *conn, enum conn_end why)
{
    struct pool *pool = conn->holder;
    char text[ADDR_TEXT_MAX];

    list_remove(&conn->node);
    pool->last_close = why;
    tell_successor(pool, why);
    if (pool->closing)
        return;
    pool->dial_failures += is_failed_dial(why);
    note_single(pool, conn, why);
    if (is_failed_dial(why) || was_useless(conn, why))
        LOG_LIMITED(LOG_WARNING, "upstream", "%s: connection %s; resting",
                    addr_format(pool->addr, text), conn_end_name(why));

    uint64_t again_at = redial_at(pool, conn, why);
    if (backoff_is_resting(&pool->backoff, pool_now(pool)) && count_ready(pool) == 0)
        fail_waiters(pool, why);
    struct plan_facts facts = gather(pool, NULL);
    if (again_at > pool_now(pool) && plan_dials(&facts) > 0)
        add_conn(pool, again_at);
    else
        tend(pool);
}

static const struct conn_handler conn_handler = {
    .on_turn = on_turn,
    .on_ready = on_ready,
    .on_room = on_room,
    .on_idle = on_idle,
    .on_aged = on_aged,
    .on_ended = on_ended,
};

/* ---- the door ---- */

void pool_init(struct pool *pool, struct upstream_env *env, const struct addr *addr,
               const struct upstream_options *options)
{
    *pool = (struct pool){.env = env, .addr = addr, .options = options};
    pool->nailing = options->nailed;
    list_init(&pool->conns);
    list_init(&pool->waiting);
    timer_init(&pool->tend_later, on_tend_later);
    timer_init(&pool->serve_soon, on_serve_soon);
}

void pool_deinit(struct pool *pool)
{
    pool->closing = true;
    timer_stop(&pool->tend_later);
    timer_stop(&pool->serve_soon);
    fail_waiters(pool, CONN_END_SHUTDOWN);
    for (struct list *node; (node = list_first(&pool->conns));)
        conn_close(conn_of(node), CONN_END_SHUTDOWN);
    give_places(pool);
}

void pool_nail(struct pool *pool)
{
    tend(pool);
}

static bool dialed_lately(const struct pool *pool)
{
    return pool_now(pool) - pool->dialed_at < POOL_URGENT_US;
}

static bool wake_one(struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = conn_of(node);
        if (conn->state != CONN_RESTING)
            continue;
        conn_wake(conn);
        on_turn(conn);
        return true;
    }
    return false;
}

/* An idle end rests too, but there a query dials at once. */
static void wake_idle(struct pool *pool)
{
    if (!backoff_is_resting(&pool->backoff, pool_now(pool)) && !dialed_lately(pool))
        (void)wake_one(pool);
}

struct conn *pool_take(struct pool *pool, const struct conn *avoid, enum pool_lack *lack)
{
    pool_rate_count(&pool->rate, pool_now(pool));
    struct conn *conn = pool_choice_best(&pool->conns, avoid);
    if (!conn) {
        wake_idle(pool);
        tend(pool);
        *lack = pool_choice_lack(&pool->conns);
        return NULL;
    }
    keepalive_query(&pool->keepalive);
    /* Nearly filled, or near its end: see to the next one now. */
    if (pool_choice_is_filled(conn) || conn->doubted || conn->ending != CONN_END_NONE ||
        conn_requests_left(conn) <= pool_rate_lead(&pool->rate, pool->dial_us) + 1)
        tend_for(pool, conn);
    return conn;
}

struct conn *pool_take_suspect(struct pool *pool)
{
    return pool_choice_silent(&pool->conns);
}

/* Nothing is open and the last dial failed: without another way a query may dial before the rest
 * is over, at a bounded rate. */
static bool dial_urgently(struct pool *pool)
{
    return !dialed_lately(pool) && wake_one(pool);
}

bool pool_wait(struct pool *pool, struct pool_waiter *waiter)
{
    if (pool->closing || pool->waiting_count >= POOL_WAITING_MAX)
        return false;
    list_append(&pool->waiting, &waiter->node);
    pool->waiting_count++;
    tend(pool);
    if (pool_choice_lack(&pool->conns) == POOL_RESTING && !dial_urgently(pool)) {
        pool_leave(pool, waiter);
        return false;
    }
    return true;
}

void pool_room(struct pool *pool)
{
    if (pool->waiting_count > 0)
        serve_waiters(pool);
}

void pool_leave(struct pool *pool, struct pool_waiter *waiter)
{
    if (!list_is_linked(&waiter->node))
        return;
    list_remove(&waiter->node);
    pool->waiting_count--;
}

void pool_note_silent(struct pool *pool, struct conn *conn)
{
    if (conn->state != CONN_READY)
        return;
    if (!conn->doubted) { /* also of one that is to be replaced: it may be all there is */
        conn->doubted = true;
        conn->probed_at = 0;
    }
    if (conn->ending != CONN_END_NONE)
        return;
    bool owes = conn->inflight.owed > conn->options->max_in_flight;
    bool one_answer = conn->answers == 1 && conn->requests > 2;
    if (!owes && !one_answer)
        return;
    conn->ending = CONN_END_OWED;
    tend(pool);
}

void pool_heard_keepalive(struct pool *pool, struct conn *conn, uint16_t timeout_100ms)
{
    keepalive_heard(&pool->keepalive, timeout_100ms, pool_now(pool));
    if (timeout_100ms == 0) {
        give_places(pool);
        timer_start(pool->env->loop, &pool->tend_later, pool->keepalive.banned_until_at);
        if (conn && conn->state == CONN_READY)
            conn_retire(conn, CONN_END_KEEPALIVE_ZERO);
        return;
    }
    if (conn)
        conn_set_idle_limit(conn, idle_limit(pool));
}

size_t pool_recycle(struct pool *pool)
{
    size_t marked = 0;
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = conn_of(node);
        if (conn->state != CONN_READY)
            continue;
        conn->ending = CONN_END_RECYCLED;
        marked++;
    }
    tend(pool);
    return marked;
}
