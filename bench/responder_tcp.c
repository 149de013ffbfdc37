/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The responder over TCP: connections that answer, stall, finish or reset as the options say.
 * Invariant: all answers that one turn makes for a connection leave in one write at its end, and
 * a closed connection stays in memory until no delayed answer refers to it.
 */

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "responder.h"

enum { BACKLOG = 4096, ACCEPTS_PER_TURN = 64 };

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

/* shutdown() and not close(): that would send a reset where queries lie unread. */
void responder_tcp_finish(struct conn *conn)
{
    if (conn->state != CONN_OPEN && conn->state != CONN_STALLED)
        return;
    if (buf_len(&conn->out)) { /* what was answered before the FIN goes before it */
        struct span bytes = buf_span(&conn->out);
        if (send(conn->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
            conn->listener->stats.tcp_writes++;
    }
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

/* What was written to it in the meantime is answered; what was due in the meantime is not. */
void responder_tcp_resume(struct conn *conn)
{
    if (conn->state != CONN_STALLED)
        return;
    conn->state = CONN_OPEN;
    conn_watch(conn, EPOLLIN);
}

static bool is_full(const struct conn *conn)
{
    uint64_t limit = conn->listener->responder->options.max_in_flight;
    return limit && conn->delayed >= limit;
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
        responder_tcp_reset(conn); /* it never reads */
        return;
    }
    conn->answers++;
    conn->listener->stats.tcp_answers++;
    if (!list_is_linked(&conn->dirty))
        list_append(&conn->listener->responder->dirty, &conn->dirty);
}

static void act_on_verdict(struct conn *conn, enum answer_verdict verdict)
{
    conn->listener->stats.tcp_silent++;
    if (verdict == ANSWER_CLOSE)
        responder_tcp_finish(conn);
    else if (verdict == ANSWER_RESET)
        responder_tcp_reset(conn);
    else if (verdict == ANSWER_STALL)
        responder_tcp_stall(conn);
}

static void count_query(struct conn *conn)
{
    struct responder_stats *stats = &conn->listener->stats;
    conn->queries++;
    stats->tcp_queries++;
    stats->max_queries = MAX(stats->max_queries, conn->queries);
    if (conn->queries == 1 && conn->last_at - conn->accepted_at < 1000)
        stats->used_at_once++;
}

/* True when the connection's limits let this query be answered. */
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

static void on_query(struct conn *conn, struct span query)
{
    struct responder *responder = conn->listener->responder;
    uint8_t out[ANSWER_MAX];
    count_query(conn);
    if (!pass_limits(conn))
        return;
    struct answer answer = answer_make(&responder->options.style, query, true, &conn->peer, out);
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

/* Answers the complete queries that were read, as many as may be in flight. */
static void take_queries(struct conn *conn)
{
    size_t at = 0;
    while (conn->state == CONN_OPEN && conn->in_len - at >= 2 && !is_full(conn)) {
        size_t len = get_u16(conn->in + at);
        if (len > STREAM_IN_BYTES - 2) {
            responder_tcp_reset(conn); /* no query is as long as that */
            return;
        }
        if (conn->in_len - at - 2 < len)
            break;
        on_query(conn, span_of(conn->in + at + 2, len));
        at += 2 + len;
    }
    conn->in_len -= at;
    memmove(conn->in, conn->in + at, conn->in_len);
    if (conn->state == CONN_OPEN && is_full(conn)) /* RFC 7766 6.2.1.1: the peer's TCP waits */
        conn_watch(conn, conn->events & ~(uint32_t)EPOLLIN);
}

static void on_input(struct conn *conn)
{
    ssize_t n = recv(conn->watch.fd, conn->in + conn->in_len, STREAM_IN_BYTES - conn->in_len, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) { /* the peer has closed: what is in the delay line is for nobody */
        conn_close(conn);
        return;
    }
    if (conn->state == CONN_FINISHING)
        return;
    conn->listener->stats.tcp_reads++;
    conn->last_at = conn->listener->responder->now_us;
    list_remove(&conn->node);
    list_append(&conn->listener->conns, &conn->node);
    conn->in_len += (size_t)n;
    take_queries(conn);
}

static void conn_write(struct conn *conn)
{
    const struct responder_options *options = &conn->listener->responder->options;
    struct span bytes = buf_span(&conn->out);
    ssize_t n = send(conn->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n < 0 && errno != EAGAIN && errno != EINTR) {
        conn_close(conn);
        return;
    }
    if (n > 0) {
        conn->listener->stats.tcp_writes++;
        buf_consume(&conn->out, (size_t)n);
    }
    uint32_t reading = is_full(conn) ? 0 : EPOLLIN;
    conn_watch(conn, buf_len(&conn->out) ? reading | EPOLLOUT : reading);
    if (buf_len(&conn->out) == 0 && options->tcp_close_after &&
        conn->answers >= options->tcp_close_after)
        responder_tcp_finish(conn);
}

static void on_ready(struct watch *watch, uint32_t events)
{
    struct conn *conn = CONTAINER_OF(watch, struct conn, watch);
    if (conn->state == CONN_STALLED && events & (EPOLLHUP | EPOLLERR))
        conn_close(conn); /* reported without being asked for: would wake us for ever */
    if (conn->state == CONN_CLOSED || conn->state == CONN_STALLED)
        return;
    if (events & EPOLLOUT && conn->state == CONN_OPEN)
        conn_write(conn);
    if (events & (EPOLLIN | EPOLLHUP | EPOLLERR) && conn->state != CONN_CLOSED)
        on_input(conn);
}

/* Room that answers made in the delay line's turn may have freed for queries read before. */
static void refill(struct conn *conn)
{
    if (conn->state == CONN_OPEN && conn->in_len && !is_full(conn))
        take_queries(conn);
}

void responder_tcp_flush(struct responder *responder)
{
    struct list *node;
    while ((node = list_take_first(&responder->dirty))) {
        struct conn *conn = LIST_ITEM(node, struct conn, dirty);
        refill(conn);
        list_remove(&conn->dirty);
        if (conn->state == CONN_OPEN && buf_len(&conn->out))
            conn_write(conn);
    }
    LIST_EACH(grave, &responder->graves)
    {
        struct conn *conn = LIST_ITEM(grave, struct conn, grave);
        if (conn->delayed)
            continue;
        list_remove(&conn->grave);
        buf_deinit(&conn->out);
        free(conn);
    }
}

static struct conn *conn_new(struct listener *listener, int fd, const struct addr *peer)
{
    int on = 1;
    struct conn *conn = malloc(sizeof(*conn));
    if (!conn)
        return NULL;
    memset(conn, 0, offsetof(struct conn, in)); /* the buffer stays untouched until used */
    conn->watch = (struct watch){.fd = fd, .on_ready = on_ready};
    conn->listener = listener;
    conn->peer = *peer;
    conn->accepted_at = conn->last_at = listener->responder->now_us;
    conn->events = EPOLLIN;
    buf_init(&conn->out, STREAM_OUT_MAX);
    list_init(&conn->dirty);
    list_init(&conn->grave);
    list_init(&conn->node);
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    return conn;
}

static void accept_one(struct listener *listener, int fd, const struct addr *peer)
{
    struct conn *conn = conn_new(listener, fd, peer);
    if (!conn || poller_add(listener->responder->poller, &conn->watch, EPOLLIN)) {
        free(conn);
        close(fd);
        return;
    }
    list_append(&listener->conns, &conn->node);
    listener->open++;
    listener->stats.opened++;
    listener->stats.max_open = MAX(listener->stats.max_open, listener->open);
}

static void on_acceptable(struct watch *watch, uint32_t events)
{
    struct listener *listener = CONTAINER_OF(watch, struct listener, tcp);
    (void)events;
    for (int i = 0; i < ACCEPTS_PER_TURN && watch->fd >= 0; i++) {
        struct addr peer;
        memset(&peer, 0, sizeof(peer));
        socklen_t len = sizeof(peer);
        int fd = accept4(watch->fd, &peer.sa, &len, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd < 0)
            return;
        accept_one(listener, fd, &peer);
    }
}

enum err responder_tcp_listen(struct listener *listener)
{
    int on = 1;
    if (listener->tcp.fd >= 0)
        return ERR_OK;
    int fd = socket(addr_family(&listener->addr), SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_from_errno(errno);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, &listener->addr.sa, addr_len(&listener->addr)) || listen(fd, BACKLOG)) {
        enum err err = err_from_errno(errno);
        close(fd);
        return err;
    }
    listener->tcp = (struct watch){.fd = fd, .on_ready = on_acceptable};
    return poller_add(listener->responder->poller, &listener->tcp, EPOLLIN);
}

void responder_tcp_unlisten(struct listener *listener)
{
    if (listener->tcp.fd >= 0)
        close(listener->tcp.fd);
    listener->tcp.fd = -1;
}

void responder_tcp_each(struct listener *listener, void (*act)(struct conn *conn))
{
    LIST_EACH(node, &listener->conns)
    act(LIST_ITEM(node, struct conn, node));
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
            return; /* those behind it were heard of later */
        if (conn->state == CONN_OPEN && conn->delayed == 0)
            responder_tcp_finish(conn);
    }
}
