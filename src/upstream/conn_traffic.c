/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What goes over a connection and comes back (conn.h): ids, flights, strays, late answers. Its
 * states are conn.c's.
 *
 * Invariants: a query leaves only on a connection that takes it, at most max_requests do; an id is
 * used once.
 */

#include "base/check.h"
#include "dns/build.h"
#include "dns/header.h"
#include "loop/loop.h"
#include "net/link.h"
#include "upstream/conn.h"
#include "upstream/conn_inside.h"

enum { EARLY_QUERY_MAX = BUILD_QUERY_MAX + 2 }; /* with its length */

void conn_count_io(struct conn *conn)
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

/* ---- answers ---- */

static void conn_traffic_tell_room(struct conn *conn)
{
    if (conn->state == CONN_READY)
        conn->handler->on_room(conn);
}

static void close_if_drained(struct conn *conn)
{
    if (conn->state == CONN_DRAINING && conn->inflight.live == 0)
        conn_end(conn, conn->ending);
}

static void conn_traffic_on_stray(struct conn *conn)
{
    STATS_INC(conn->env->stats, upstream_forged);
    if (++conn->strays > CONN_STRAYS_MAX)
        conn_end(conn, CONN_END_GARBAGE);
    else
        conn_traffic_tell_room(conn);
}

static void conn_traffic_on_late(struct conn *conn)
{
    conn->answers++;
    STATS_INC(conn->env->stats, upstream_late_answers);
    conn_traffic_tell_room(conn);
}

/* The path was not dead: was a segment lost, or does the peer delay acknowledgements? */
static void on_alive(struct conn *conn)
{
    conn->misses_ack = false;
    if (link_retransmits(conn->link) == conn->retransmits)
        conn->handler->on_late_ack(conn);
}

void conn_on_message(void *owner, struct span message)
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
        conn_traffic_on_stray(conn);
        return;
    case INFLIGHT_LATE:
        conn_traffic_on_late(conn);
        return;
    case INFLIGHT_LIVE:
        break;
    }
    conn->answers++;
    conn->overdue -= flight->is_overdue;
    conn->holding -= flight->is_hold;
    STATS_DEC(conn->env->stats, upstream_in_flight);
    /* The last answer of a draining connection ends it, but the answer is handed out first and
     * may close the connection by itself: while it runs, the flight holds no claim. */
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

/* Early: not the last one it may carry, as it could not drain before it is ready. */
static bool takes_early(const struct conn *conn)
{
    return conn->state == CONN_SECURING && conn->early_room >= EARLY_QUERY_MAX &&
           conn->requests + 1 < conn->max_requests;
}

bool conn_takes(const struct conn *conn)
{
    return (conn->state == CONN_READY || takes_early(conn)) && !conn->silence.suspect &&
           conn->requests < conn->max_requests &&
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
    conn_traffic_tell_room(conn);
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
    conn_traffic_tell_room(conn);
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
