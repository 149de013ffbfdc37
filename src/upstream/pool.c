/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Picks, replaces and retires the connections of one upstream. pool_tend.c dials them, conn.c runs
 * one connection, and exchange.c decides about a query without a connection.
 *
 * Invariants: a connection with queries in flight is never closed to make room; a connection that
 * the pool replaces serves until its successor is ready; a failed dial rests in the place of its
 * connection.
 */

#include "upstream/pool.h"

#include <stdio.h>

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "upstream/hold.h"
#include "upstream/pool_hold.h"
#include "upstream/secure.h"
#include "upstream/trouble_news.h"

static const struct conn_handler conn_handler;
static void on_redial_soon(struct timer *timer);
static void redial_for_waiters(struct pool *pool);

static struct conn *pool_conn_of(struct list *node)
{
    return LIST_ITEM(node, struct conn, node);
}

/* ---- waiters ---- */

static struct pool_waiter *next_waiter(struct pool *pool)
{
    struct list *node = list_take_first(&pool->waiting);
    if (!node)
        return NULL;
    struct pool_waiter *waiter = LIST_ITEM(node, struct pool_waiter, node);
    pool->waiting_count--;
    pool->patient_count -= waiter->is_patient;
    return waiter;
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

static void add_waiter(struct pool *pool, struct pool_waiter *waiter)
{
    list_append(&pool->waiting, &waiter->node);
    pool->waiting_count++;
    pool->patient_count += waiter->is_patient;
}

/* A dial failed. Patient waiters stay, unless the failure shows that waiting is useless. Fails only
 * the waiters that are queued now, because a callee may wait again. */
static void fail_waiters(struct pool *pool, enum conn_end why)
{
    bool is_final = why == CONN_END_SHUTDOWN || why == CONN_END_DIAL_IDENTITY;
    for (uint32_t left = pool->waiting_count; left > 0; left--) {
        struct pool_waiter *waiter = next_waiter(pool);
        if (!waiter)
            return;
        if (waiter->is_patient && !is_final)
            add_waiter(pool, waiter);
        else
            waiter->on_no_conn(waiter, why);
    }
}

/* ---- events of connections ---- */

static void pool_on_turn(struct conn *conn)
{
    pool_dial(conn->holder, conn);
}

/* Only queries that waited for this dial leave as early data. Later ones find the connection ready.
 */
static void on_early(struct conn *conn)
{
    struct pool *pool = conn->holder;
    while (pool->waiting_count > 0 && conn_takes(conn)) {
        struct pool_waiter *waiter = next_waiter(pool);
        waiter->on_conn(waiter, conn);
    }
}

/* Comes inside calls of the queries' owners, so a timer serves the waiters after they return. */
static void pool_on_room(struct conn *conn)
{
    struct pool *pool = conn->holder;
    if (pool->waiting_count > 0)
        timer_start(pool->env->loop, &pool->serve_soon, pool_now(pool));
}

/* Retires one connection that was waiting for its successor. */
static void retire_replaced(struct pool *pool, const struct conn *fresh)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_conn_of(node);
        bool is_replaced = conn->ending == CONN_END_AGE || conn->ending == CONN_END_RECYCLED ||
                           conn->ending == CONN_END_OWED || conn->ending == CONN_END_NETWORK ||
                           conn->ending == CONN_END_IDLE;
        if (conn == fresh || conn->state != CONN_READY || !is_replaced)
            continue;
        conn_retire(conn, conn->ending);
        return; /* one successor, one predecessor */
    }
}

static uint64_t news_key(const struct pool *pool)
{
    return upstream_options_dial_hash(pool->addr, pool->options);
}

/* Returns whether the log has a failure of the upstream, and every worker has left it behind. */
static bool end_trouble(struct pool *pool)
{
    struct trouble_news *news = pool->env->trouble_news;
    return trouble_end(&pool->trouble) && (!news || trouble_news_end(news, news_key(pool)));
}

static void note_recovery(struct pool *pool)
{
    char text[ADDR_TEXT_MAX];
    if (end_trouble(pool))
        LOG(LOG_NOTICE, "upstream", "%s: connected again", addr_format(pool->addr, text));
}

/* After connections that opened and broke, another one that opens proves nothing. */
static void pool_on_ready(struct conn *conn)
{
    struct pool *pool = conn->holder;
    uint64_t took = MAX(pool_now(pool) - conn->dialed_at, 1u);

    if (pool->useless == 0) {
        note_recovery(pool);
        dialer_refund(&pool->env->dialer, &conn->turn);
    }
    pool->last_error = ERR_OK;
    pool->dial_us = pool->dial_us ? (3 * pool->dial_us + took) / 4 : took;
    pool->tcp_us = pool->tcp_us ? (3 * pool->tcp_us + conn->tcp_us) / 4 : conn->tcp_us;
    backoff_reset(&pool->backoff);
    pool->is_proven = true;
    pool_hold_arm(pool, conn);
    retire_replaced(pool, conn);
    serve_waiters(pool);
    pool_tend(pool);
}

static uint32_t count_ready(const struct pool *pool)
{
    uint32_t ready = 0;
    LIST_EACH(node, &pool->conns)
    ready += pool_conn_of(node)->state == CONN_READY;
    return ready;
}

static void on_idle(struct conn *conn)
{
    pool_hold_look(conn->holder, conn);
}

static void on_aged(struct conn *conn)
{
    pool_tend(conn->holder);
}

static void on_late_ack(struct conn *conn)
{
    struct pool *pool = conn->holder;
    acks_was_late(&pool->acks, pool_now(pool));
}

static void log_single_use(struct pool *pool, enum single_use_news news)
{
    char text[ADDR_TEXT_MAX];
    if (news == SINGLE_USE_CONCLUDED)
        LOG_SHARED(LOG_NOTICE, "upstream",
                   "%s closed %u connections in a row after one answer although it had received "
                   "more queries: sending one query per connection, with a retest in ten minutes",
                   addr_format(pool->addr, text), pool->single.strikes);
    if (news == SINGLE_USE_WITHDRAWN)
        LOG_SHARED(LOG_NOTICE, "upstream", "%s answers several queries per connection after all",
                   addr_format(pool->addr, text));
}

static bool has_answered_two(const struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        if (LIST_ITEM(node, struct conn, node)->answers > 1)
            return true;
    }
    return false;
}

static void note_single(struct pool *pool, const struct conn *conn, enum conn_end why)
{
    if (conn->ending == CONN_END_NETWORK)
        return;
    struct single_use_end end = {
        .requests = conn->requests,
        .answers = conn->answers,
        .why = why,
        .is_acknowledged = conn->peer_had_all,
    };
    if (!pool->single.has_answered_two && has_answered_two(pool))
        log_single_use(pool, single_use_answered_two(&pool->single));
    log_single_use(pool, single_use_note(&pool->single, &end, pool_now(pool)));
}

static bool is_failed_dial(enum conn_end why)
{
    return why == CONN_END_DIAL_REFUSED || why == CONN_END_DIAL_TIMEOUT ||
           why == CONN_END_DIAL_ERROR || why == CONN_END_DIAL_TLS || why == CONN_END_DIAL_IDENTITY;
}

/* The connection opened and broke before any answer, which is as bad as a refusal. A connection of
 * the former network does not count. */
static bool was_useless(const struct pool *pool, const struct conn *conn, enum conn_end why)
{
    bool broken = why == CONN_END_RESET || why == CONN_END_PEER_BUSY || why == CONN_END_GARBAGE ||
                  why == CONN_END_STALLED || why == CONN_END_ERROR || why == CONN_END_TLS;
    bool closed_at_once =
        why == CONN_END_PEER_IDLE && pool_now(pool) - conn->ready_at < POOL_URGENT_US;
    return (broken || closed_at_once) && conn->answers == 0 && conn->ending != CONN_END_NETWORK;
}

static uint32_t redials_per_s(const struct conn *conn)
{
    return conn->answers > 0 ? POOL_IDLE_REDIALS_PER_S : 1;
}

/* The pool dials a peer that closes idle connections again at once, without a penalty. A bound
 * applies where the limit is too short to hold against: a peer may close after each answer. */
static uint64_t redial_after_idle(struct pool *pool, const struct conn *conn, uint64_t idle_us)
{
    uint64_t now = pool_now(pool);
    if (pool->nailing && !pool_may_hold(pool))
        pool->asleep = true;
    if (idle_us == 0 || idle_us >= HOLD_SHORTEST_US)
        return now;
    uint32_t per_s = redials_per_s(conn);
    uint64_t at = pace_take(&pool->idle_pace, now, per_s);
    return at == now ? now : MAX(at, pace_take(&pool->idle_pace, at, per_s));
}

/* When the pool dials a replacement for the ended connection: now, or after a rest. */
static uint64_t redial_at(struct pool *pool, const struct conn *conn, enum conn_end why,
                          uint64_t idle_us)
{
    uint64_t now = pool_now(pool);
    bool is_useless = was_useless(pool, conn, why);
    if (conn->answers > 0)
        pool->useless = 0;
    /* The first such connection may have reached the peer's limit and lost its answers to the
     * reset. From the second one on, the pool backs off. */
    if (is_useless && pool->useless++ == 0)
        return now;
    if (is_useless)
        pool->backoff.failures = MAX(pool->backoff.failures, pool->useless - 2);
    if (is_failed_dial(why) || is_useless)
        return backoff_fail(&pool->backoff, now, rand_u64());
    if (why == CONN_END_PEER_IDLE || why == CONN_END_IDLE)
        return redial_after_idle(pool, conn, idle_us);
    return now;
}

/* Names the remedy, if any. */
static void log_rest(struct pool *pool, const struct conn *conn, enum conn_end why)
{
    struct trouble_news *news = pool->env->trouble_news;
    char text[ADDR_TEXT_MAX], more[48] = "";
    uint64_t now = pool_now(pool);
    uint32_t untold;
    unsigned reason = conn->error ? (unsigned)conn->error : 63 - (unsigned)why;
    bool is_first = !pool->trouble.is_told;
    if (!trouble_fail(&pool->trouble, &pool->env->trouble_lines, reason, now, &untold) ||
        (news && !trouble_news_fail(news, news_key(pool), reason, is_first, now)))
        return;
    if (untold)
        snprintf(more, sizeof(more), "; failures since the last line: %u", untold);
    bool tls = conn->error >= ERR_TLS_NOT_SPOKEN;
    bool says_all = why == CONN_END_DIAL_REFUSED || why == CONN_END_DIAL_TIMEOUT;
    const char *error = conn->error && (tls || !says_all) ? err_str(conn->error) : "";
    const char *detail = tls ? conn->detail : "";

    LOG(LOG_WARNING, "upstream", "%s: connection rests: %s%s%s%s%s%s%s%s",
        addr_format(pool->addr, text), conn_end_name(why), *error ? ": " : "", error,
        *detail ? " (" : "", detail, *detail ? ")" : "", secure_advice(conn->error), more);
}

/* Tells a successor that existed before the end why its predecessor closed. */
static void note_close_at_successor(struct pool *pool, enum conn_end why)
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

static void pool_on_ended(struct conn *conn, enum conn_end why)
{
    struct pool *pool = conn->holder;

    list_remove(&conn->node);
    pool->last_close = why;
    pool->ended_ready_at = conn->ready_at;
    if (conn->error)
        pool->last_error = conn->error;
    note_close_at_successor(pool, why);
    if (pool->closing)
        return;
    pool->dial_failures += is_failed_dial(why);
    note_single(pool, conn, why);
    if (why == CONN_END_DIAL_TIMEOUT && conn->peer_was_reached)
        pool_note_stall(pool);
    if (conn->answers > 0 && conn->ending != CONN_END_KEEPALIVE_ZERO)
        keepalive_lived(&pool->keepalive, conn->ready_at, pool_now(pool));

    uint64_t idle_us = pool_hold_note_end(pool, conn, why);
    uint64_t again_at = redial_at(pool, conn, why, idle_us);
    if (pool->needs_proof && pool->backoff.failures >= POOL_PROOF_FAILURES)
        pool_lose_proof(pool);
    if (backoff_is_resting(&pool->backoff, pool_now(pool)) &&
        (is_failed_dial(why) || was_useless(pool, conn, why)))
        log_rest(pool, conn, why);
    if (backoff_is_resting(&pool->backoff, pool_now(pool)) && count_ready(pool) == 0)
        fail_waiters(pool, why);
    bool is_paced = why == CONN_END_PEER_IDLE && conn->answers > 0;
    if (again_at > pool_now(pool) && pool_wants_more(pool))
        pool_add_conn(pool, again_at, is_paced);
    else
        pool_tend(pool);
    redial_for_waiters(pool);
}

static const struct conn_handler conn_handler = {
    .on_turn = pool_on_turn,
    .on_early = on_early,
    .on_ready = pool_on_ready,
    .on_room = pool_on_room,
    .on_idle = on_idle,
    .on_aged = on_aged,
    .on_late_ack = on_late_ack,
    .on_ended = pool_on_ended,
};

/* ---- start and end ---- */

void pool_init(struct pool *pool, struct upstream_env *env, const struct addr *addr,
               const struct upstream_options *options, struct secure *secure)
{
    *pool = (struct pool){.env = env,
                          .addr = addr,
                          .options = options,
                          .secure = secure,
                          .conn_handler = &conn_handler};
    pool->nailing = options->nailed;
    pool->made_at = pool_now(pool);
    if (options->sources)
        pool->source_turn = rand_u16();
    list_init(&pool->conns);
    list_init(&pool->waiting);
    pool_tend_init(pool);
    timer_init(&pool->serve_soon, on_serve_soon);
    timer_init(&pool->redial_soon, on_redial_soon);
}

void pool_deinit(struct pool *pool)
{
    pool->closing = true;
    timer_stop(&pool->nail_retry);
    timer_stop(&pool->serve_soon);
    timer_stop(&pool->redial_soon);
    fail_waiters(pool, CONN_END_SHUTDOWN);
    for (struct list *node; (node = list_first(&pool->conns));)
        conn_close(pool_conn_of(node), CONN_END_SHUTDOWN);
    (void)end_trouble(pool);
    pool_hold_deinit(pool);
    pool_give_places(pool);
}

static bool dialed_lately(const struct pool *pool)
{
    return pool_now(pool) - pool->dialed_at < POOL_URGENT_US;
}

static bool wake_one(struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_conn_of(node);
        if (conn->state != CONN_RESTING || conn->is_paced)
            continue;
        conn_wake(conn);
        pool_on_turn(conn);
        return true;
    }
    return false;
}

/* Moves dials forward that queue after a failure: a query waits for one of them (is_waited_for), or
 * went another way. */
static void push_dials(struct pool *pool, bool is_waited_for)
{
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_conn_of(node);
        if (conn->state != CONN_PARKED)
            continue;
        if (is_waited_for)
            conn_hurry(conn);
        else
            dialer_prefer(&pool->env->dialer, &conn->turn);
    }
}

/* A query dials at once although a connection rests after an idle end. */
static void wake_idle(struct pool *pool)
{
    if (!backoff_is_resting(&pool->backoff, pool_now(pool)) && !dialed_lately(pool))
        (void)wake_one(pool);
}

/* A query came: redials the connections that idled out. */
static void pool_wake(struct pool *pool)
{
    pool->asleep = false;
    pool_tend(pool);
}

/* Costs a system call for each connection, but rarely, and only where a loss would hold back many
 * answers. */
static void look_for_losses(struct pool *pool, const struct conn *taking)
{
    uint64_t now = pool_now(pool);
    bool has_holes = false;
    if (conn_in_flight(taking) < SPREAD_IN_FLIGHT || !spread_is_due(&pool->spread, now))
        return;
    LIST_EACH(node, &pool->conns)
    {
        if (pool_conn_of(node)->state == CONN_READY)
            has_holes |= conn_has_new_holes(pool_conn_of(node));
    }
    spread_note(&pool->spread, has_holes, now);
    if (spread_is_lossy(&pool->spread, now))
        pool_tend_for(pool, taking);
}

/* Whether one more query may call for a dial: the connection is nearly full or near its end. */
static bool calls_for_dial(const struct pool *pool, const struct conn *conn)
{
    return pool_choice_is_filled(conn) || silence_is_in_doubt(&conn->silence) ||
           conn->ending != CONN_END_NONE ||
           conn_requests_left(conn) <= pool_rate_lead(&pool->rate, pool->dial_us) + 1;
}

struct conn *pool_take(struct pool *pool, const struct conn *avoid, enum pool_lack *lack)
{
    pool_rate_count(&pool->rate, pool_now(pool));
    bool is_lossy = spread_is_lossy(&pool->spread, pool_now(pool));
    struct conn *conn = pool_choice_best(&pool->conns, avoid, is_lossy);
    if (!conn) {
        pool->asleep = false;
        wake_idle(pool);
        pool_tend(pool);
        push_dials(pool, false);
        *lack = pool_choice_lack(&pool->conns);
        return NULL;
    }
    if (pool->asleep)
        pool_wake(pool);
    if (pool->trouble.is_told && conn->answers > 0 && conn->dialed_at > pool->trouble.told_at)
        note_recovery(pool); /* a connection dialled before the failure proves nothing */
    if (pool_is_single_use(pool) && conn->answers > 1) /* the retest succeeded */
        log_single_use(pool, single_use_answered_two(&pool->single));
    look_for_losses(pool, conn);
    if (calls_for_dial(pool, conn))
        pool_tend_for(pool, conn);
    return conn;
}

struct conn *pool_find_roomy(const struct pool *pool)
{
    struct conn *conn = pool_choice_best(&pool->conns, NULL, false);
    return conn && !calls_for_dial(pool, conn) ? conn : NULL;
}

struct conn *pool_take_suspect(struct pool *pool)
{
    return pool_choice_silent(&pool->conns);
}

/* No connection is open and the last dial failed. A query without another way may dial before the
 * rest ends, at a bounded rate. */
static bool dial_urgently(struct pool *pool)
{
    return !dialed_lately(pool) && wake_one(pool);
}

bool pool_wait(struct pool *pool, struct pool_waiter *waiter)
{
    if (pool->closing || pool->waiting_count >= POOL_WAITING_MAX)
        return false;
    waiter->is_patient = false;
    add_waiter(pool, waiter);
    pool_tend(pool);
    push_dials(pool, true);
    if (pool_choice_lack(&pool->conns) == POOL_RESTING && !dial_urgently(pool)) {
        pool_leave(pool, waiter);
        return false;
    }
    redial_for_waiters(pool);
    return true;
}

static bool is_dialing(const struct pool *pool)
{
    LIST_EACH(node, &pool->conns)
    {
        enum conn_state state = pool_conn_of(node)->state;
        if (state == CONN_PARKED || state == CONN_DIALING || state == CONN_SECURING)
            return true;
    }
    return false;
}

/* A silent connection may be dead. Queries do not wait until that is proved. */
static bool wants_redial(const struct pool *pool)
{
    enum pool_lack lack = pool_choice_lack(&pool->conns);
    if (lack == POOL_STALLED)
        return pool->waiting_count > 0 && !is_dialing(pool);
    return lack == POOL_RESTING && pool->patient_count > 0;
}

/* Every connection rests: dials one before its rest ends. */
static void redial_resting(struct pool *pool)
{
    uint64_t now = pool_now(pool), at = pool->dialed_at + POOL_RETURN_US;
    if (now < at)
        timer_start(pool->env->loop, &pool->redial_soon, at);
    else if (!wake_one(pool)) /* a bound on dials applies */
        timer_start(pool->env->loop, &pool->redial_soon, now + POOL_RETURN_US);
}

/* A dial takes long: starts another one in parallel. */
static void dial_beside(struct pool *pool)
{
    uint64_t now = pool_now(pool), patience_us = pool_syn_patience_us(pool);
    uint64_t at = pool->dialed_at + patience_us;
    if (patience_us == 0)
        return;
    if (now >= at) {
        pool_tend(pool);
        (void)wake_one(pool);
        at = now + patience_us;
    }
    timer_start(pool->env->loop, &pool->redial_soon, at);
}

static void redial_for_waiters(struct pool *pool)
{
    if (pool->closing)
        return;
    if (wants_redial(pool))
        redial_resting(pool);
    else if (pool->waiting_count > 0 && is_dialing(pool))
        dial_beside(pool);
}

static void on_redial_soon(struct timer *timer)
{
    redial_for_waiters(CONTAINER_OF(timer, struct pool, redial_soon));
}

bool pool_wait_patiently(struct pool *pool, struct pool_waiter *waiter)
{
    if (pool->closing || pool->waiting_count >= POOL_WAITING_MAX)
        return false;
    waiter->is_patient = true;
    add_waiter(pool, waiter);
    pool_tend(pool);
    push_dials(pool, true);
    redial_for_waiters(pool);
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
    pool->patient_count -= waiter->is_patient;
}

size_t pool_recycle(struct pool *pool)
{
    size_t marked = 0;
    LIST_EACH(node, &pool->conns)
    {
        struct conn *conn = pool_conn_of(node);
        if (conn->state != CONN_READY)
            continue;
        conn->ending = CONN_END_RECYCLED;
        marked++;
    }
    pool_tend(pool);
    return marked;
}

/* ---- retiring ---- */

/* A connection that is ready or on its way, although no query needs it. */
static struct conn *find_unneeded(const struct pool *pool)
{
    if (pool->waiting_count > 0) /* the waiters need the connections, and no more queries come */
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

/* Restarts the search each time, because the end of a connection may call back and change the list.
 */
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
