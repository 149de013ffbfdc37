/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The responder's connections: they answer, stall, finish or reset as the options say, with TLS or
 * without. Invariants: all answers of one turn on a connection leave in one write at its end, and a
 * closed connection stays in memory until no delayed answer refers to it.
 */

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "responder.h"

enum { READ_BYTES = 128 << 10, PADDING_BLOCK = 128 /* RFC 8467 section 4.1 */ };

static void conn_watch(struct conn *conn, uint32_t events)
{
    if (conn->state == CONN_CLOSED || conn->events == events)
        return;
    conn->events = events;
    poller_change(conn->listener->responder->poller, &conn->watch, events);
}

static void conn_close(struct conn *conn)
{
    struct responder *responder = conn->listener->responder;
    if (conn->state == CONN_CLOSED)
        return;
    responder_stats_take_segments(conn);
    responder_stats_on_closed(conn);
    if (conn->tls)
        responder_tls_on_closed(conn);
    conn->state = CONN_CLOSED;
    close(conn->watch.fd);
    conn->watch.fd = -1;
    conn->listener->open--;
    list_remove(&conn->node);
    list_remove(&conn->dirty);
    list_append(&responder->graves, &conn->grave);
}

void responder_tcp_reset(struct conn *conn)
{
    struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (conn->state == CONN_CLOSED)
        return;
    setsockopt(conn->watch.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    conn->listener->stats.resets_sent++;
    conn_close(conn);
}

/* Returns the bytes to send next, encrypted if TLS is used. */
static struct buf *conn_wire(struct conn *conn)
{
    return conn->tls ? &conn->tls->wire : &conn->out;
}

/* Returns false if the connection is broken. */
static bool send_some(struct conn *conn)
{
    struct span bytes = buf_span(conn_wire(conn));
    if (bytes.len == 0)
        return true;
    if (conn->listener->responder->options.dribble)
        bytes.len = 1;
    ssize_t n = send(conn->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (!conn->tls || conn->is_answering)
        responder_stats_of(conn)->writes++;
    conn->is_answering = false;
    buf_consume(conn_wire(conn), (size_t)n);
    return true;
}

/* Sends as many bytes as the kernel takes. */
static void send_all(struct conn *conn)
{
    size_t before;
    do
        before = buf_len(conn_wire(conn));
    while (send_some(conn) && buf_len(conn_wire(conn)) < before);
}

/* Calls shutdown() instead of close(), which would send a reset while queries are unread. */
void responder_tcp_finish(struct conn *conn)
{
    if (conn->state != CONN_OPEN && conn->state != CONN_STALLED)
        return;
    if (conn->tls)
        responder_tls_end(conn);
    send_all(conn); /* answers made before the FIN leave before it */
    conn->state = CONN_FINISHING;
    conn->listener->stats.fins_sent++;
    shutdown(conn->watch.fd, SHUT_WR);
    list_remove(&conn->dirty);
    conn_watch(conn, EPOLLIN);
}

void responder_tcp_stall(struct conn *conn)
{
    if (conn->state != CONN_OPEN)
        return;
    conn->state = CONN_STALLED;
    list_remove(&conn->dirty);
    conn_watch(conn, 0);
}

void responder_tcp_hole(struct conn *conn)
{
    responder_tcp_stall(conn);
    if (conn->state == CONN_STALLED)
        conn->is_holed = socket_drops_all(conn->watch.fd, true);
}

void responder_tcp_lose(struct conn *conn)
{
    responder_tcp_hole(conn);
    conn->is_lost = conn->is_holed;
}

/* Answers the queries that arrived in the meantime. Does not send the answers that were due in the
 * meantime. */
void responder_tcp_resume(struct conn *conn)
{
    if (conn->state != CONN_STALLED)
        return;
    if (conn->is_lost) {
        responder_tcp_reset(conn);
        return;
    }
    if (conn->is_holed)
        conn->is_holed = !socket_drops_all(conn->watch.fd, false);
    conn->state = CONN_OPEN;
    conn_watch(conn, EPOLLIN);
}

bool responder_tcp_is_full(const struct conn *conn)
{
    uint64_t limit = conn->listener->responder->options.max_in_flight;
    return limit && conn->delayed - conn->held >= limit;
}

void responder_tcp_wake(struct conn *conn)
{
    if (conn->state == CONN_OPEN && !list_is_linked(&conn->dirty))
        list_append(&conn->listener->responder->dirty, &conn->dirty);
}

void responder_tcp_release(struct conn *conn)
{
    conn->held--;
    responder_tcp_wake(conn);
}

void responder_tcp_answer(struct conn *conn, const uint8_t *bytes, size_t len)
{
    uint8_t head[2];
    put_u16(head, (uint16_t)len);
    if (conn->state == CONN_CLOSED)
        conn->listener->stats.closed_unanswered++;
    if (conn->state != CONN_OPEN)
        return;
    if (buf_append(&conn->out, head, 2) || buf_append(&conn->out, bytes, len)) {
        responder_tcp_reset(conn); /* the peer never reads */
        return;
    }
    conn->answers++;
    responder_stats_of(conn)->answers++;
    responder_tcp_wake(conn);
}

/* Sends only the first half of the answer at once. */
static void answer_half(struct conn *conn, const uint8_t *bytes, size_t len)
{
    uint8_t head[2];
    put_u16(head, (uint16_t)len);
    if (buf_append(&conn->out, head, 2) == ERR_OK &&
        buf_append(&conn->out, bytes, len / 2) == ERR_OK &&
        (!conn->tls || responder_tls_encrypt(conn)))
        send_all(conn);
    responder_tcp_stall(conn);
}

static void act_on_verdict(struct conn *conn, enum answer_verdict verdict)
{
    responder_stats_of(conn)->silent++;
    if (verdict == ANSWER_CLOSE)
        responder_tcp_finish(conn);
    else if (verdict == ANSWER_RESET)
        responder_tcp_reset(conn);
    else if (verdict == ANSWER_STALL)
        responder_tcp_stall(conn);
}

static void count_query(struct conn *conn, size_t len)
{
    struct responder_stats *stats = &conn->listener->stats;
    conn->queries++;
    responder_stats_of(conn)->queries++;
    stats->tls.padded += conn->tls && len % PADDING_BLOCK == 0;
    stats->max_queries = MAX(stats->max_queries, conn->queries);
    if (conn->queries == 1 && conn->last_at - conn->accepted_at < 1000)
        stats->used_at_once++;
}

/* Returns true if the limits of the connection allow an answer to this query. */
static bool pass_limits(struct conn *conn)
{
    const struct responder_options *options = &conn->listener->responder->options;
    if (options->tcp_reset_after && conn->queries >= options->tcp_reset_after) {
        responder_tcp_reset(conn);
        return false;
    }
    if (options->tcp_stall_after && conn->queries > options->tcp_stall_after) {
        responder_tcp_stall(conn);
        return false;
    }
    return !options->tcp_silent && (!options->one_shot || conn->queries == 1);
}

static void responder_tcp_on_query(struct conn *conn, struct span query)
{
    struct responder *responder = conn->listener->responder;
    uint8_t out[ANSWER_MAX];
    count_query(conn, query.len);
    if (!pass_limits(conn))
        return;
    struct bench_answer answer = responder_answer(conn->listener, query, true, &conn->peer, out);
    if (answer.verdict == ANSWER_HALF)
        answer_half(conn, out, answer.len);
    if (answer.verdict != ANSWER_SEND) {
        act_on_verdict(conn, answer.verdict);
        return;
    }
    uint64_t due_us = responder_due_us(responder, &answer, conn);
    if (due_us <= responder->now_us) {
        responder_tcp_answer(conn, out, answer.len);
        return;
    }
    struct delayed_answer like = {
        .listener = conn->listener, .conn = conn, .peer = conn->peer, .len = answer.len};
    if (responder_delay(responder, &like, out, due_us))
        conn->delayed++;
    else
        responder_tcp_reset(conn);
}

void responder_tcp_take_queries(struct conn *conn)
{
    size_t at = 0;
    while (conn->state == CONN_OPEN && conn->in_len - at >= 2 && !responder_tcp_is_full(conn)) {
        size_t len = get_u16(conn->in + at);
        if (len > STREAM_IN_BYTES - 2) {
            responder_tcp_reset(conn); /* no query has this length */
            return;
        }
        if (conn->in_len - at - 2 < len)
            break;
        responder_tcp_on_query(conn, span_of(conn->in + at + 2, len));
        at += 2 + len;
    }
    conn->in_len -= at;
    memmove(conn->in, conn->in + at, conn->in_len);
    if (conn->state == CONN_OPEN &&
        responder_tcp_is_full(conn)) /* RFC 7766 6.2.1.1: the peer's TCP waits meanwhile */
        conn_watch(conn, conn->events & ~(uint32_t)EPOLLIN);
}

/* The peer has closed, or the connection is broken. Its entries in the delay line have no
 * recipient. */
void responder_tcp_closed(struct conn *conn)
{
    if (conn->tls && conn->tls->status == TLS_OPEN)
        conn->listener->stats.tls.closed_bare++;
    if (conn->tls && conn->state == CONN_OPEN) /* the peer's alert may give a reason */
        send_some(conn);
    conn_close(conn);
}

static void on_heard(struct conn *conn)
{
    if (!conn->tls)
        responder_stats_of(conn)->reads++;
    conn->last_at = conn->listener->responder->now_us;
    list_remove(&conn->node);
    list_append(&conn->listener->conns, &conn->node);
}

static void responder_tcp_on_input(struct conn *conn)
{
    static uint8_t wire[READ_BYTES]; /* for TLS; all connections share one thread */
    uint8_t *to = conn->tls ? wire : conn->in + conn->in_len;
    size_t room = conn->tls ? READ_BYTES : STREAM_IN_BYTES - conn->in_len;
    ssize_t n = recv(conn->watch.fd, to, room, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        responder_tcp_closed(conn);
        return;
    }
    if (conn->state == CONN_FINISHING && conn->tls)
        responder_tls_forget(conn, span_of(wire, (size_t)n));
    if (conn->state == CONN_FINISHING)
        return;
    on_heard(conn);
    if (conn->tls) {
        responder_tls_receive(conn, span_of(wire, (size_t)n));
    } else {
        conn->in_len += (size_t)n;
        responder_tcp_take_queries(conn);
    }
}

static void conn_write(struct conn *conn)
{
    const struct responder_options *options = &conn->listener->responder->options;
    if (conn->tls && !responder_tls_encrypt(conn)) {
        responder_tcp_reset(conn); /* the peer never reads */
        return;
    }
    if (!conn->held && !send_some(conn)) {
        conn_close(conn);
        return;
    }
    size_t left = buf_len(conn_wire(conn));
    uint32_t reading = responder_tcp_is_full(conn) ? 0 : EPOLLIN;
    conn_watch(conn, left && !conn->held ? reading | EPOLLOUT : reading);
    if (left == 0 && options->tcp_close_after && conn->answers >= options->tcp_close_after)
        responder_tcp_finish(conn);
}

void responder_tcp_on_ready(struct watch *watch, uint32_t events)
{
    struct conn *conn = CONTAINER_OF(watch, struct conn, watch);
    if (conn->state == CONN_STALLED && events & (EPOLLHUP | EPOLLERR))
        /* the kernel reports this without request, and would wake the loop without end */
        conn_close(conn);
    if (conn->state == CONN_CLOSED || conn->state == CONN_STALLED)
        return;
    if (events & EPOLLOUT && conn->state == CONN_OPEN)
        conn_write(conn);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && conn->state != CONN_CLOSED)
        responder_tcp_on_input(conn);
}

/* The turn of the delay line may have made room for queries that were read before. */
static void refill(struct conn *conn)
{
    if (conn->state == CONN_OPEN && conn->in_len && !responder_tcp_is_full(conn))
        responder_tcp_take_queries(conn);
    if (conn->is_behind && conn->state == CONN_OPEN)
        responder_tls_take(conn);
}

void responder_tcp_flush(struct responder *responder)
{
    struct list *node;
    while ((node = list_take_first(&responder->dirty))) {
        struct conn *conn = LIST_ITEM(node, struct conn, dirty);
        refill(conn);
        list_remove(&conn->dirty);
        if (conn->state == CONN_OPEN && (buf_len(&conn->out) || buf_len(conn_wire(conn))))
            conn_write(conn);
    }
    LIST_EACH(grave, &responder->graves)
    {
        struct conn *conn = LIST_ITEM(grave, struct conn, grave);
        if (conn->delayed)
            continue;
        list_remove(&conn->grave);
        responder_conn_free(conn);
    }
}

void responder_tcp_sweep(struct listener *listener)
{
    struct responder *responder = listener->responder;
    uint64_t idle_us = responder->options.tcp_idle_ms * 1000;
    if (idle_us == 0)
        return;
    LIST_EACH(node, &listener->conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (responder->now_us - conn->last_at < idle_us)
            return; /* later queries get no answer */
        if (conn->state == CONN_OPEN && conn->delayed == 0)
            responder_tcp_finish(conn);
    }
}
