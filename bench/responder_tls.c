/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * TLS on the responder's connections: the handshake (correct or not), its delay, and its counters.
 * responder_tcp.c does everything else, as for TCP.
 */

#include <string.h>
#include <sys/socket.h>

#include "base/check.h"
#include "responder.h"

bool responder_tls_begin(struct conn *conn)
{
    struct responder *responder = conn->listener->responder;
    conn->tls = tls_server_accept(responder->tls, &responder->options.tls_server);
    return conn->tls != NULL;
}

static void send_raw(struct conn *conn, const void *bytes, size_t len)
{
    ssize_t n = send(conn->watch.fd, bytes, len, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)n; /* bytes that the peer does not take are lost */
}

/* Sends half of the handshake's first flight, and nothing after it. */
static void say_half(struct conn *conn, struct span bytes)
{
    uint8_t none[1];
    tls_stream_feed(conn->tls, bytes);
    (void)tls_stream_read(conn->tls, none, sizeof(none));
    (void)tls_stream_settle(conn->tls);
    struct span flight = buf_span(&conn->tls->wire);
    send_raw(conn, flight.data, flight.len / 2);
    responder_tcp_stall(conn);
}

/* Reacts to the first bytes of a client whose handshake must fail. */
static void play_reply(struct conn *conn, struct span bytes)
{
    static const char greeting[] = "220 mail.responder.test ESMTP ready\r\n";
    /* the alert handshake_failure (RFC 8446 6.2) */
    static const uint8_t alert[] = {21, 3, 3, 0, 2, 2, 40};
    conn->listener->stats.tls.failed++;
    conn->has_shaken = true;
    switch (conn->listener->responder->options.tls_reply) {
    case TLS_REPLY_HALF:
        say_half(conn, bytes);
        break;
    case TLS_REPLY_GARBAGE:
        send_raw(conn, greeting, sizeof(greeting) - 1);
        responder_tcp_stall(conn);
        break;
    case TLS_REPLY_ALERT:
        send_raw(conn, alert, sizeof(alert));
        responder_tcp_finish(conn);
        break;
    case TLS_REPLY_CLOSE:
        responder_tcp_finish(conn);
        break;
    case TLS_REPLY_RESET:
        responder_tcp_reset(conn);
        break;
    default:
        responder_tcp_stall(conn);
        break;
    }
}

static void count_handshake(struct conn *conn)
{
    struct listener *listener = conn->listener;
    struct tls_stats *stats = &listener->stats.tls;
    char alpn[TLS_TEXT_MAX];
    conn->has_shaken = true;
    if (tls_stream_is_resumed(conn->tls))
        stats->resumed++;
    else
        stats->full++;
    if (tls_stream_version(conn->tls) == 12)
        stats->version_12++;
    else
        stats->version_13++;
    tls_stream_alpn(conn->tls, alpn);
    stats->alpn_dot += strcmp(alpn, "dot") == 0;
    stats->with_sni += tls_stream_sni(conn->tls)[0] != '\0';
    stats->early_connections += conn->tls->has_early;
    responder_stats_skip_segments(conn);
    snprintf(listener->last_sni, TLS_TEXT_MAX, "%s", tls_stream_sni(conn->tls));
}

/* Over a distance, the handshake's reply would arrive one delay later, and so would the tickets
 * after it. Nothing else may leave earlier, because records must keep their order. */
static void responder_tls_hold(struct conn *conn)
{
    struct responder *responder = conn->listener->responder;
    const struct bench_answer none = {.verdict = ANSWER_SEND};
    uint64_t due_us = responder_due_us(responder, &none, conn);
    if (!responder->options.handshake || due_us <= responder->now_us)
        return;
    struct delayed_answer like = {.listener = conn->listener, .conn = conn};
    if (!responder_delay(responder, &like, (const uint8_t *)"", due_us))
        return;
    conn->delayed++;
    conn->held++;
}

/* Returns true even after the peer has ended its stream. */
static bool is_open(const struct tls_stream *tls)
{
    return tls->status == TLS_OPEN || tls->status == TLS_ENDED;
}

static void read_queries(struct conn *conn)
{
    struct tls_stats *stats = &conn->listener->stats.tls;
    ssize_t n = 1;
    while (conn->state == CONN_OPEN && !responder_tcp_is_full(conn)) {
        uint64_t early = conn->tls->early_bytes, queries = conn->queries;
        n = tls_stream_read(conn->tls, conn->in + conn->in_len, STREAM_IN_BYTES - conn->in_len);
        if (!conn->has_shaken && is_open(conn->tls))
            count_handshake(conn);
        if (n <= 0)
            break;
        conn->in_len += (size_t)n;
        responder_tcp_take_queries(conn);
        if (conn->tls->early_bytes > early)
            stats->early_queries += conn->queries - queries;
    }
    conn->is_behind = n > 0;
    if (n < 0 && conn->state == CONN_OPEN && conn->tls->status == TLS_ENDED)
        responder_tcp_finish(conn);
    else if (n < 0 && conn->state == CONN_OPEN)
        responder_tcp_closed(conn);
}

void responder_tls_take(struct conn *conn)
{
    size_t before = buf_len(&conn->tls->wire);
    read_queries(conn);
    if (conn->state == CONN_OPEN && buf_len(&conn->tls->wire) > before) {
        responder_tls_hold(conn);
        responder_tcp_wake(conn);
    }
}

/* Reads further bytes to find the peer's close_notify. */
void responder_tls_forget(struct conn *conn, struct span bytes)
{
    tls_stream_feed(conn->tls, bytes);
    while (tls_stream_read(conn->tls, conn->in, STREAM_IN_BYTES) > 0)
        continue;
    (void)tls_stream_settle(conn->tls);
}

void responder_tls_receive(struct conn *conn, struct span bytes)
{
    bool is_first = !conn->has_begun;
    conn->has_begun = true;
    if (is_first && conn->listener->responder->options.tls_reply != TLS_REPLY_SHAKE) {
        play_reply(conn, bytes);
        return;
    }
    size_t held = conn->in_len;
    uint64_t queries = conn->queries;
    tls_stream_feed(conn->tls, bytes);
    responder_tls_take(conn);
    if (conn->queries != queries ||
        conn->in_len != held) /* reads during a handshake bring no queries */
        conn->listener->stats.over_tls.reads++;
    if (!tls_stream_settle(conn->tls))
        responder_tcp_reset(conn);
}

bool responder_tls_encrypt(struct conn *conn)
{
    if (buf_len(&conn->out) == 0)
        return true;
    conn->is_answering = true;
    bool ok = tls_stream_write(conn->tls, buf_span(&conn->out));
    buf_clear(&conn->out);
    return ok;
}

void responder_tls_renew(struct conn *conn)
{
    if (conn->state != CONN_OPEN)
        return;
    tls_stream_renew(conn->tls);
    responder_tcp_wake(conn);
}

void responder_tls_end(struct conn *conn)
{
    (void)responder_tls_encrypt(conn);
    if (conn->listener->responder->options.tls_notify)
        tls_stream_notify_close(conn->tls);
}

void responder_tls_on_closed(struct conn *conn)
{
    struct listener *listener = conn->listener;
    struct tls_stats *stats = &listener->stats.tls;
    const struct tls_stream *tls = conn->tls;
    if (tls->alert >= 0) {
        stats->alerts++;
        listener->last_alert = tls->alert;
    }
    if (!conn->has_shaken && conn->has_begun)
        stats->failed++;
    if (tls->status == TLS_BROKEN)
        snprintf(listener->last_failure, TLS_TEXT_MAX, "%s", tls->why);
    if (tls->status == TLS_ENDED)
        stats->notified++;
}
