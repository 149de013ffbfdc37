/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The connection's state machine and its queries. Every change of state goes through conn_move(),
 * every end through conn_end(). The pool decides whether another connection is needed, the exchange
 * where lost queries go.
 *
 * Invariants: any byte received clears every doubt; a query's timeout never ends the connection; a
 * query leaves only on a connection that takes it, at most max_requests do, and an id is used once.
 */

#include "upstream/conn.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/log.h"
#include "base/rand.h"
#include "dns/build.h"
#include "dns/header.h"
#include "loop/loop.h"
#include "net/link.h"
#include "tls/tls.h"
#include "upstream/secure.h"

enum { EARLY_QUERY_MAX = BUILD_QUERY_MAX + 2 }; /* the length field counts */

static void conn_end(struct conn *conn, enum conn_end why);
static void conn_on_due(struct timer *timer);
static void conn_on_turn(struct dial_turn *turn);

/* ---- counters ---- */

static enum stat gauge_of(enum conn_state state)
{
    static const enum stat gauges[] = {
        [CONN_PARKED] = stat_upstream_parked,   [CONN_RESTING] = stat_upstream_resting,
        [CONN_DIALING] = stat_upstream_dialing, [CONN_SECURING] = stat_upstream_securing,
        [CONN_READY] = stat_upstream_ready,     [CONN_DRAINING] = stat_upstream_draining,
    };
    return gauges[state];
}

static void conn_count_move(struct stats *stats, enum conn_state from, enum conn_state to)
{
    stats_add_at(stats, gauge_of(from), -1);
    if (to != CONN_CLOSED)
        stats_add_at(stats, gauge_of(to), 1);
}

static enum stat handshake_of(const struct tls_facts *tls)
{
    if (strcmp(tls->version, "TLSv1.3") == 0)
        return tls->resumed ? stat_upstream_tls13_resumed : stat_upstream_tls13_full;
    return tls->resumed ? stat_upstream_tls12_resumed : stat_upstream_tls12_full;
}

static void conn_count_dial(struct stats *stats, const struct tls_facts *tls, bool went_early)
{
    if (!tls) {
        STATS_INC(stats, upstream_dials_tcp_ok);
        return;
    }
    STATS_INC(stats, upstream_dials_tls_ok);
    stats_add_at(stats, handshake_of(tls), 1);
    STATS_ADD(stats, upstream_resumptions, tls->resumed);
    STATS_ADD(stats, upstream_unauthenticated, !tls->authenticated);
    if (went_early) {
        STATS_ADD(stats, upstream_early_data, tls->early_accepted);
        STATS_ADD(stats, upstream_early_data_rejected, !tls->early_accepted);
    }
}

static enum stat counter_of(bool is_tls, enum conn_end why)
{
    static const enum stat counters[] = {
#define CONN_END(name, text, counter) [CONN_END_##name] = stat_##counter,
        CONN_ENDS(CONN_END)
#undef CONN_END
    };
    if (!is_tls)
        return counters[why];
    switch (why) {
    case CONN_END_DIAL_REFUSED:
        return stat_upstream_dials_tls_refused;
    case CONN_END_DIAL_TIMEOUT:
        return stat_upstream_dials_tls_timeout;
    case CONN_END_DIAL_ERROR:
        return stat_upstream_dials_tls_error;
    default:
        return counters[why];
    }
}

static void conn_count_end(struct stats *stats, bool is_tls, enum conn_end why)
{
    stats_add_at(stats, counter_of(is_tls, why), 1);
}

static void conn_count_io(struct conn *conn)
{
    if (!conn->link)
        return;
    uint64_t reads = link_reads(conn->link), writes = link_writes(conn->link);
    if (reads == conn->reads && writes == conn->writes)
        return;
    STATS_ADD(conn->env->stats, upstream_reads, reads - conn->reads);
    STATS_ADD(conn->env->stats, upstream_writes, writes - conn->writes);
    conn->reads = reads;
    conn->writes = writes;
}

/* ---- making one ---- */

struct conn *conn_new(struct upstream_env *env, const struct addr *addr,
                      const struct upstream_options *options, struct secure *secure,
                      const struct conn_handler *handler, void *holder)
{
    struct conn *conn = calloc(1, sizeof(*conn));
    if (!conn)
        return NULL;
    list_init(&conn->node);
    conn->env = env;
    conn->addr = addr;
    conn->options = options;
    conn->secure = secure;
    conn->detail = "";
    conn->handler = handler;
    conn->holder = holder;
    conn->max_requests = options->max_requests;
    conn->since_at = loop_now(env->loop);
    inflight_init(&conn->inflight);
    dial_turn_init(&conn->turn, conn_on_turn);
    timer_init(&conn->due, conn_on_due);
    stats_add_at(env->stats, stat_upstream_parked, 1);
    return conn;
}

/* ---- states and deadlines ---- */

static void conn_move(struct conn *conn, enum conn_state to, uint64_t until_at)
{
    char text[ADDR_TEXT_MAX];
    MUST(conn_state_may_follow(conn->state, to));
    LOG(LOG_DEBUG, "upstream", "%s: %s -> %s", addr_format(conn->addr, text),
        conn_state_name(conn->state), conn_state_name(to));

    conn_count_move(conn->env->stats, conn->state, to);
    conn->state = to;
    conn->since_at = loop_now(conn->env->loop);
    conn->until_at = until_at;
    if (until_at)
        timer_start(conn->env->loop, &conn->due, until_at);
    else
        timer_stop(&conn->due);
}

static uint64_t stall_due(const struct conn *conn)
{
    return silence_due_at(&conn->silence, conn->options->stall_timeout_us,
                          conn->options->query_timeout_us);
}

static uint64_t idle_due(const struct conn *conn)
{
    if (conn->idle_limit_us == 0 || conn_in_flight(conn) > 0)
        return UINT64_MAX;
    return MAX(conn->active_at + conn->idle_limit_us, conn->idle_again_at);
}

static uint64_t age_due(const struct conn *conn)
{
    return conn->aged_at && conn->ending == CONN_END_NONE ? conn->aged_at : UINT64_MAX;
}

static void conn_arm(struct conn *conn)
{
    uint64_t at = MIN(stall_due(conn), MIN(idle_due(conn), age_due(conn)));
    if (conn->state != CONN_READY || at == UINT64_MAX)
        return;
    if (!timer_is_armed(&conn->due) || at < conn->due.due_at)
        timer_start(conn->env->loop, &conn->due, at);
}

static void on_stall_due(struct conn *conn)
{
    char text[ADDR_TEXT_MAX];
    if (silence_is_suspect(&conn->silence)) {
        conn_end(conn, CONN_END_STALLED);
        return;
    }
    LOG_LIMITED(LOG_INFO, "upstream", "%s: nothing received for %llu ms: suspect",
                addr_format(conn->addr, text),
                (unsigned long long)(conn->options->stall_timeout_us / US_PER_MS));
    silence_suspect(&conn->silence);
    conn_arm(conn);
}

static void on_ready_due(struct conn *conn)
{
    uint64_t now = loop_now(conn->env->loop);
    if (stall_due(conn) <= now) {
        on_stall_due(conn);
    } else if (age_due(conn) <= now) {
        conn->ending = CONN_END_AGE;
        conn_arm(conn);
        conn->handler->on_aged(conn);
    } else if (idle_due(conn) <= now) {
        conn->idle_again_at = now + conn->idle_limit_us;
        conn_arm(conn);
        conn->handler->on_idle(conn);
    } else {
        conn_arm(conn);
    }
}

/* Hold queries do not extend the drain. */
static bool may_drain_on(const struct conn *conn)
{
    return !conn->drains_late && conn->inflight.live > conn->holding &&
           conn->env->late_drains < CONN_LATE_DRAINS_MAX &&
           loop_now(conn->env->loop) < conn->since_at + CONN_LATE_US;
}

/* A server may need longer for an answer than clients wait. The bound exists because names without
 * answers would keep many connections open where each carries few queries. */
static void on_drain_due(struct conn *conn)
{
    if (!may_drain_on(conn)) {
        conn_end(conn, conn->ending);
        return;
    }
    conn->drains_late = true;
    conn->env->late_drains++;
    conn->until_at = conn->since_at + CONN_LATE_US;
    timer_start(conn->env->loop, &conn->due, conn->until_at);
}

static void conn_on_due(struct timer *timer)
{
    struct conn *conn = CONTAINER_OF(timer, struct conn, due);
    switch (conn->state) {
    case CONN_RESTING:
        conn_move(conn, CONN_PARKED, 0);
        conn->handler->on_turn(conn);
        break;
    case CONN_DIALING:
    case CONN_SECURING:
        if (!conn->instant_end)
            conn->error = conn->state == CONN_SECURING ? ERR_TLS_SILENT : ERR_TIMED_OUT;
        conn_end(conn, conn->instant_end ? conn->instant_end : CONN_END_DIAL_TIMEOUT);
        break;
    case CONN_READY:
        on_ready_due(conn);
        break;
    case CONN_DRAINING:
        on_drain_due(conn);
        break;
    default:
        MUST(!"a state without a deadline");
    }
}

/* ---- the end ---- */

static void lose_flights(struct conn *conn, enum conn_end why)
{
    for (struct flight *flight; (flight = inflight_take_any(&conn->inflight));) {
        STATS_DEC(conn->env->stats, upstream_in_flight);
        flight->conn = NULL;
        flight->handler->on_lost(flight, why);
    }
}

/* The holder hears first, so that lost queries find the pool without this connection. */
static void conn_end(struct conn *conn, enum conn_end why)
{
    if (conn->ready_at || conn->state == CONN_DIALING || conn->state == CONN_SECURING)
        conn_count_end(conn->env->stats, conn->secure, why);
    conn_count_io(conn);
    conn_move(conn, CONN_CLOSED, 0);
    conn->env->late_drains -= conn->drains_late;
    dialer_leave(&conn->env->dialer, &conn->turn);
    if (conn->link)
        link_close(&conn->link);
    conn->handler->on_ended(conn, why);
    lose_flights(conn, why);
    inflight_deinit(&conn->inflight);
    free(conn);
}

void conn_close(struct conn *conn, enum conn_end why)
{
    conn_end(conn, why);
}

/* ---- answers ---- */

static void conn_tell_room(struct conn *conn)
{
    if (conn->state == CONN_READY)
        conn->handler->on_room(conn);
}

static void close_if_drained(struct conn *conn)
{
    if (conn->state == CONN_DRAINING && conn->inflight.live == 0)
        conn_end(conn, conn->ending);
}

static void conn_on_stray(struct conn *conn)
{
    STATS_INC(conn->env->stats, upstream_forged);
    if (++conn->strays > CONN_STRAYS_MAX)
        conn_end(conn, CONN_END_GARBAGE);
    else
        conn_tell_room(conn);
}

static void conn_on_late(struct conn *conn)
{
    conn->answers++;
    STATS_INC(conn->env->stats, upstream_late_answers);
    conn_tell_room(conn);
}

/* The path was alive. Unless a segment was lost, the peer delays acknowledgements. */
static void on_alive(struct conn *conn)
{
    conn->misses_ack = false;
    if (link_retransmits(conn->link) == conn->retransmits)
        conn->handler->on_late_ack(conn);
}

static void conn_on_message(void *owner, struct span message)
{
    struct conn *conn = owner;
    struct flight *flight = NULL;

    if (conn->misses_ack)
        on_alive(conn);
    conn->active_at = loop_now(conn->env->loop);
    conn->survived_us = MAX(conn->survived_us, conn->gap_us);
    conn->gap_us = 0;
    silence_heard(&conn->silence, conn->active_at);
    conn_count_io(conn);
    if (message.len < HEADER_LEN) {
        conn_end(conn, CONN_END_GARBAGE);
        return;
    }
    switch (inflight_take(&conn->inflight, header_id(message.data), &flight)) {
    case INFLIGHT_UNKNOWN:
        conn_on_stray(conn);
        return;
    case INFLIGHT_LATE:
        conn_on_late(conn);
        return;
    case INFLIGHT_LIVE:
        break;
    }
    conn->answers++;
    conn->overdue -= flight->is_overdue;
    conn->holding -= flight->is_hold;
    STATS_DEC(conn->env->stats, upstream_in_flight);
    /* The last answer ends a draining connection. The flight must no longer point to it when its
     * owner gets the answer. */
    bool last = conn->state == CONN_DRAINING && conn->inflight.live == 0;
    if (last) {
        flight->conn = NULL;
        conn_end(conn, conn->ending);
        flight->handler->on_reply(flight, message);
        return;
    }
    if (conn_in_flight(conn) == 0)
        conn_arm(conn);
    link_await_more(conn->link, conn_in_flight(conn) > 0);
    flight->handler->on_reply(flight, message);
}

/* ---- queries ---- */

/* This leaves one request unused, because a connection that is not ready cannot drain. */
static bool takes_early(const struct conn *conn)
{
    return conn->state == CONN_SECURING && conn->early_room >= EARLY_QUERY_MAX &&
           conn->requests + 1 < conn->max_requests;
}

bool conn_takes(const struct conn *conn)
{
    return (conn->state == CONN_READY || takes_early(conn)) &&
           !silence_is_suspect(&conn->silence) && conn->requests < conn->max_requests &&
           conn_in_flight(conn) < conn->options->max_in_flight &&
           link_unsent(conn->link) <= CONN_UNSENT_MAX / 2;
}

uint16_t conn_next_id(const struct conn *conn)
{
    return inflight_next_id(&conn->inflight);
}

uint8_t *conn_reserve(struct conn *conn, size_t max_len)
{
    MUST(conn->requests < conn->max_requests && (conn->state == CONN_READY || takes_early(conn)));
    return link_reserve(conn->link, max_len);
}

enum err conn_commit(struct conn *conn, size_t len, struct flight *flight)
{
    uint64_t now = loop_now(conn->env->loop);
    flight->id = conn_next_id(conn);
    enum err err = inflight_add(&conn->inflight, flight);
    if (err)
        return err;
    link_commit(conn->link, len);
    flight->conn = conn;
    flight->is_overdue = false;
    flight->sent_at = now;
    flight->written = link_written(conn->link);
    conn->requests++;
    if (conn_in_flight(conn) == 1)
        conn->gap_us = now - conn->active_at;
    conn->active_at = now;
    conn->early_room -= MIN(conn->early_room, len + 2);
    conn->holding += flight->is_hold;
    if (flight->is_hold)
        STATS_INC(conn->env->stats, upstream_holds);
    else if (conn->secure)
        STATS_INC(conn->env->stats, upstream_queries_tls);
    else
        STATS_INC(conn->env->stats, upstream_queries_tcp);
    STATS_INC(conn->env->stats, upstream_in_flight);
    silence_sent(&conn->silence, now);
    conn_arm(conn);
    if (conn->requests == conn->max_requests)
        conn_retire(conn, CONN_END_REQUESTS);
    return ERR_OK;
}

void conn_give_up(struct flight *flight)
{
    struct conn *conn = flight->conn;
    if (!conn)
        return;
    flight->conn = NULL;
    conn->overdue -= flight->is_overdue;
    conn->holding -= flight->is_hold;
    inflight_give_up(&conn->inflight, flight->id);
    STATS_DEC(conn->env->stats, upstream_in_flight);
    if (conn_in_flight(conn) == 0)
        conn_arm(conn);
    conn_tell_room(conn);
    close_if_drained(conn);
}

void conn_overdue(struct flight *flight)
{
    struct conn *conn = flight->conn;
    MUST(conn && !flight->is_overdue);
    flight->is_overdue = true;
    conn->overdue++;
    if (conn_in_flight(conn) == 0)
        conn_arm(conn);
    conn_tell_room(conn);
}

uint64_t conn_silent_since_at(const struct flight *flight)
{
    MUST(flight->conn);
    return MAX(flight->sent_at, flight->conn->silence.heard_at);
}

bool conn_misses_ack(const struct flight *flight)
{
    struct conn *conn = flight->conn;
    MUST(conn);
    if (!link_misses_ack(conn->link, flight->written))
        return false;
    if (!conn->misses_ack)
        conn->retransmits = link_retransmits(conn->link);
    conn->misses_ack = true;
    return true;
}

bool conn_has_new_holes(struct conn *conn)
{
    uint32_t holes = link_holes(conn->link), before = conn->holes;
    conn->holes = holes;
    return holes != before;
}

void conn_set_idle_limit(struct conn *conn, uint64_t idle_limit_us)
{
    conn->idle_limit_us = idle_limit_us;
    conn_arm(conn);
}

void conn_idle_again(struct conn *conn, uint64_t at_us)
{
    conn->idle_again_at = at_us;
    conn_arm(conn);
}

void conn_retire(struct conn *conn, enum conn_end why)
{
    conn->ending = why;
    if (why != CONN_END_IDLE && why != CONN_END_KEEPALIVE_ZERO && why != CONN_END_UNWANTED)
        STATS_INC(conn->env->stats, upstream_recycles);
    conn_move(conn, CONN_DRAINING, loop_now(conn->env->loop) + 2 * conn->options->query_timeout_us);
    close_if_drained(conn);
}

/* ---- what the link brings ---- */

/* TCP is established. The TLS handshake gets the rest of connect-timeout. */
static void conn_on_connected(void *owner)
{
    struct conn *conn = owner;

    conn->tcp_us = MAX(loop_now(conn->env->loop) - conn->dialed_at, 1u);
    conn_move(conn, CONN_SECURING, conn->dialed_at + conn->options->connect_timeout_us);
    conn->peer_was_reached = true;
    conn->early_room = tls_early_max(link_tls(conn->link));
    if (conn->early_room > 0 && conn->handler->on_early)
        conn->handler->on_early(conn);
    conn->early_room = 0;
}

static void note_dial(const struct conn *conn)
{
    char text[ADDR_TEXT_MAX];

    if (!conn->secure) {
        conn_count_dial(conn->env->stats, NULL, false);
        return;
    }
    struct tls_facts facts = tls_facts(link_tls(conn->link));
    conn_count_dial(conn->env->stats, &facts, conn->requests > 0);
    LOG(LOG_DEBUG, "upstream", "%s: %s %s, %s%s", addr_format(conn->addr, text), facts.version,
        facts.cipher, facts.resumed ? "resumed" : "full handshake",
        facts.authenticated ? "" : ", peer not authenticated");
}

static void conn_on_open(void *owner)
{
    struct conn *conn = owner;
    uint64_t now = loop_now(conn->env->loop);

    dialer_leave(&conn->env->dialer, &conn->turn);
    if (!conn->tcp_us)
        conn->tcp_us = MAX(now - conn->dialed_at, 1u);
    conn_move(conn, CONN_READY, 0);
    conn->ready_at = conn->active_at = now;
    if (conn->options->max_age_us) { /* with ten per cent of jitter either way */
        uint64_t tenth = conn->options->max_age_us / 10;
        conn->aged_at = now + conn->options->max_age_us - tenth + rand_below(2 * tenth + 1);
    }
    note_dial(conn);
    conn_arm(conn);
    conn->handler->on_ready(conn);
}

/* Hold queries have no client: with only these in flight, the connection is idle. */
static bool conn_is_idle(const struct conn *conn)
{
    return conn->inflight.live == conn->holding || conn_in_flight(conn) == 0;
}

static void conn_on_peer_closed(void *owner)
{
    struct conn *conn = owner;
    conn->peer_had_all = !link_has_unacknowledged(conn->link);
    conn_end(conn, conn_is_idle(conn) ? CONN_END_PEER_IDLE : CONN_END_PEER_BUSY);
}

static enum conn_end end_of_ready(const struct conn *conn, enum err why)
{
    switch (why) {
    case ERR_RESET:
        return conn_is_idle(conn) ? CONN_END_PEER_IDLE : CONN_END_RESET;
    case ERR_TIMED_OUT: /* TCP_USER_TIMEOUT, or keepalive probes unanswered */
        return CONN_END_STALLED;
    default:
        return conn_end_of_dial(why) == CONN_END_DIAL_TLS ? CONN_END_TLS : CONN_END_ERROR;
    }
}

static void conn_on_failed(void *owner, enum err why)
{
    struct conn *conn = owner;
    /* With TCP Fast Open a refusal comes after the connection became ready. */
    bool refused = why == ERR_REFUSED || why == ERR_UNREACHABLE;

    if (conn->state == CONN_SECURING && why == ERR_RESET)
        why = ERR_TLS_CLOSED;
    conn->error = why;
    if (conn->secure)
        conn->detail = tls_detail(link_tls(conn->link));
    if (conn->state == CONN_DIALING || conn->state == CONN_SECURING || refused)
        conn_end(conn, conn_end_of_dial(why));
    else
        conn_end(conn, end_of_ready(conn, why));
}

static const struct link_handler link_handler = {
    .on_connected = conn_on_connected,
    .on_open = conn_on_open,
    .on_message = conn_on_message,
    .on_peer_closed = conn_on_peer_closed,
    .on_failed = conn_on_failed,
};

/* ---- dialling ---- */

static struct link_options link_options_of(const struct conn *conn, const struct source_draw *draw)
{
    const struct upstream_options *options = conn->options;
    return (struct link_options){
        .tcp =
            {
                .source = draw->addr,
                .is_foreign = draw->is_foreign,
                .keepalive_idle_s = options->keepalive_idle_s,
                .keepalive_interval_s = options->keepalive_interval_s,
                .keepalive_count = options->keepalive_count,
                .segment_bytes = conn->segment_bytes,
                .user_timeout_ms = (uint32_t)(options->stall_timeout_us / US_PER_MS),
                /* With Fast Open the first byte dials. So kept connections do not use it, except
                 * over TLS, whose handshake sends bytes at once. */
                .fast_open = options->tcp_fast_open && (conn->secure || !options->nailed),
            },
        .max_unsent_bytes = CONN_UNSENT_MAX,
    };
}

static enum err conn_dial_from(struct conn *conn, const struct source_draw *draw)
{
    struct link_options options = link_options_of(conn, draw);
    if (conn->secure) {
        options.tls = secure_new_tls(conn->secure, conn->env);
        if (!options.tls)
            return ERR_TLS_FAILED;
    }
    return link_dial(&conn->link, conn->env->loop, conn->addr, &options, &link_handler, conn);
}

static enum err conn_dial_link(struct conn *conn)
{
    struct sources *sources = conn->options->sources;
    struct source_draw draw = {0};
    uint64_t now = loop_now(conn->env->loop);

    for (;;) {
        sources_draw_in_turn(sources, &draw, conn->source_turn, now);
        conn->source = draw.addr;
        enum err err = conn_dial_from(conn, &draw);
        if (sources_are_at_fault(sources, err))
            STATS_INC(conn->env->stats, upstream_source_failures);
        if (!sources_note(sources, &draw, err, now))
            return err;
    }
}

static void conn_on_turn(struct dial_turn *turn)
{
    struct conn *conn = CONTAINER_OF(turn, struct conn, turn);

    conn->dialed_at = loop_now(conn->env->loop);
    conn_move(conn, CONN_DIALING, conn->dialed_at + conn->options->connect_timeout_us);
    enum err err = conn_dial_link(conn);
    if (!err)
        return;
    /* The caller of the dial is still on the stack, and thousands of dials may queue. */
    conn->error = err;
    conn->instant_end = conn_end_of_dial(err);
    timer_start(conn->env->loop, &conn->due, conn->dialed_at);
}

void conn_dial(struct conn *conn, bool after_failure)
{
    MUST(conn->state == CONN_PARKED);
    dialer_ask(&conn->env->dialer, &conn->turn, after_failure);
}

void conn_hurry(struct conn *conn)
{
    dialer_hurry(&conn->env->dialer, &conn->turn);
}

void conn_rest(struct conn *conn, uint64_t until_at)
{
    conn_move(conn, CONN_RESTING, until_at);
}

void conn_wake(struct conn *conn)
{
    conn_move(conn, CONN_PARKED, 0);
}
