/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A client's connection, over TCP or TLS. Its messages wait in plain text until the connection is
 * open. All messages of a turn leave in one write, with TLS in a record each.
 *
 * Invariant: a stream with plain bytes that may leave is in replay->dirty.
 */

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/span.h"
#include "clock.h"
#include "proxy_header.h"
#include "replay.h"

enum { WIRE_BYTES = 64 << 10 };

struct replay_stream {
    struct list dirty;
    struct replay_client *client;
    struct tls_stream *tls; /* NULL without TLS */
    bool is_blocked;        /* a poll event reports when more bytes may leave */
    struct buf in;          /* the beginning of an incomplete answer */
    struct buf out;         /* with TLS, bytes before encryption */
};

/* Returns the bytes for the socket. With TLS these are encrypted. */
static struct buf *stream_wire(struct replay_stream *stream)
{
    return stream->tls ? &stream->tls->wire : &stream->out;
}

static void stream_set_blocked(struct replay_stream *stream, bool is_blocked)
{
    if (stream->is_blocked == is_blocked)
        return;
    stream->is_blocked = is_blocked;
    poller_change(stream->client->replay->poller, &stream->client->watch,
                  is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

/* Sends as much as possible. The read reports an error, too. */
static void stream_send(struct replay_stream *stream)
{
    struct buf *wire = stream_wire(stream);
    struct span bytes = buf_span(wire);
    if (bytes.len) {
        ssize_t n = send(stream->client->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL);
        buf_consume(wire, (size_t)MAX(n, 0));
    }
    stream_set_blocked(stream, buf_len(wire) > 0);
}

/* Returns false if the connection is broken. */
static bool replay_stream_flush(struct replay_stream *stream)
{
    list_remove(&stream->dirty);
    if (stream->client->state != REPLAY_OPEN)
        return true;
    if (stream->tls && buf_len(&stream->out)) {
        if (!tls_stream_write(stream->tls, buf_span(&stream->out)))
            return false;
        buf_clear(&stream->out);
    }
    if (!stream->is_blocked)
        stream_send(stream);
    return true;
}

void replay_streams_flush(struct replay *replay)
{
    struct list *node;
    while ((node = list_first(&replay->dirty))) {
        struct replay_stream *stream = LIST_ITEM(node, struct replay_stream, dirty);
        if (!replay_stream_flush(stream))
            replay_client_fail(stream->client, "TLS failed");
    }
}

enum err replay_stream_add(struct replay_client *client, struct span query, uint16_t id)
{
    struct replay_stream *stream = client->stream;
    uint8_t *p = buf_reserve(&stream->out, 2 + query.len);
    if (!p)
        return ERR_LIMIT;
    put_u16(p, (uint16_t)query.len);
    memcpy(p + 2, query.data, query.len);
    put_u16(p + 2, id);
    buf_commit(&stream->out, 2 + query.len);
    if (!list_is_linked(&stream->dirty))
        list_append(&client->replay->dirty, &stream->dirty);
    return ERR_OK;
}

/* ---- reading ---- */

static void replay_take_answers(struct replay_stream *stream)
{
    uint64_t now_ns = clock_now_ns();
    struct span bytes = buf_span(&stream->in), message;
    size_t used = 0;
    while (bytes.len >= 2) {
        size_t len = get_u16(bytes.data);
        if (!span_take(&bytes, 2 + len, &message))
            break;
        if (len >= WIRE_HEADER_BYTES)
            replay_client_on_answer(stream->client, message.data + 2, now_ns);
        used += message.len;
    }
    buf_consume(&stream->in, used);
}

static void stream_open(struct replay_stream *stream)
{
    struct replay_client *client = stream->client;
    if (stream->tls)
        tls_client_on_open(client->replay->tls, stream->tls);
    replay_client_on_open(client);
    if (!list_is_linked(&stream->dirty))
        list_append(&client->replay->dirty, &stream->dirty);
}

/* Returns false if the connection is over. */
static bool replay_decrypt(struct replay_stream *stream, struct span bytes)
{
    ssize_t n = 0;
    tls_stream_feed(stream->tls, bytes);
    do {
        uint8_t *room = buf_reserve(&stream->in, REPLAY_IN_MAX - buf_len(&stream->in));
        if (!room)
            return false;
        n = tls_stream_read(stream->tls, room, REPLAY_IN_MAX - buf_len(&stream->in));
        if (stream->client->state == REPLAY_OPENING && stream->tls->status == TLS_OPEN)
            stream_open(stream);
        buf_commit(&stream->in, (size_t)MAX(n, 0));
        replay_take_answers(stream);
    } while (n > 0);
    return tls_stream_settle(stream->tls) && n == 0;
}

/* Returns false if the connection is over. */
static bool stream_read(struct replay_stream *stream)
{
    static uint8_t wire[WIRE_BYTES]; /* static, because there is one thread */
    size_t room = stream->tls ? WIRE_BYTES : MIN(WIRE_BYTES, REPLAY_IN_MAX - buf_len(&stream->in));
    ssize_t n = recv(stream->client->watch.fd, wire, room, 0);
    if (n < 0)
        return errno == EAGAIN || errno == EINTR;
    if (n == 0)
        return false;
    if (stream->tls)
        return replay_decrypt(stream, span_of(wire, (size_t)n));
    if (buf_append(&stream->in, wire, (size_t)n))
        return false;
    replay_take_answers(stream);
    return true;
}

/* ---- life ---- */

static const char *stream_fault(const struct replay_stream *stream)
{
    int fault = 0;
    socklen_t len = sizeof(fault);
    if (stream->tls && stream->tls->why[0])
        return stream->tls->why;
    getsockopt(stream->client->watch.fd, SOL_SOCKET, SO_ERROR, &fault, &len);
    return fault ? err_str(err_from_errno(fault)) : "the server closed before it was open";
}

/* The TCP connection is open, or its socket has room again. */
static void stream_on_writable(struct replay_stream *stream)
{
    bool is_opening = stream->client->state == REPLAY_OPENING;
    if (is_opening && stream->tls)
        (void)tls_stream_shake(stream->tls);
    else if (is_opening)
        stream_open(stream);
    stream_send(stream);
}

void replay_stream_on_ready(struct watch *watch, uint32_t events)
{
    struct replay_client *client = CONTAINER_OF(watch, struct replay_client, watch);
    struct replay_stream *stream = client->stream;
    if (!stream) /* it was closed in this turn */
        return;
    if (events & EPOLLOUT && !(events & (EPOLLERR | EPOLLHUP)))
        stream_on_writable(stream);
    bool is_over = events & EPOLLERR;
    if (!is_over && events & (EPOLLIN | EPOLLHUP))
        is_over = !stream_read(stream);
    if (is_over)
        replay_client_fail(client, stream_fault(stream));
    else if (stream->tls && !stream->is_blocked && buf_len(&stream->tls->wire))
        stream_send(stream);
}

static enum err stream_begin(struct replay_stream *stream)
{
    struct replay_client *client = stream->client;
    struct replay *replay = client->replay;
    uint8_t head[PROXY_HEADER_MAX];
    if (replay->tls) {
        bool resume = replay->options.resume && client->has_connected;
        stream->tls = tls_client_open(replay->tls, &replay->options.server, resume);
        if (!stream->tls)
            return ERR_NO_MEMORY;
    }
    if (!replay->options.proxy)
        return ERR_OK;
    struct addr named = replay_client_named(client);
    size_t len = proxy_header_write(head, &named, &replay->options.server, true);
    return buf_append(stream_wire(stream), head, len);
}

enum err replay_stream_open(struct replay_client *client)
{
    int on = 1;
    struct replay_stream *stream = calloc(1, sizeof(*stream));
    if (!stream)
        return ERR_NO_MEMORY;
    client->stream = stream;
    stream->client = client;
    stream->is_blocked = true;
    list_init(&stream->dirty);
    buf_init(&stream->in, REPLAY_IN_MAX);
    buf_init(&stream->out, REPLAY_OUT_MAX);
    setsockopt(client->watch.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    enum err err = stream_begin(stream);
    return err ? err : poller_add(client->replay->poller, &client->watch, EPOLLIN | EPOLLOUT);
}

void replay_stream_close(struct replay_client *client)
{
    struct replay_stream *stream = client->stream;
    if (!stream)
        return;
    client->stream = NULL;
    if (stream->tls && stream->tls->status == TLS_OPEN && !stream->is_blocked) {
        tls_stream_notify_close(stream->tls);
        struct span bytes = buf_span(&stream->tls->wire);
        (void)!send(client->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL);
    }
    list_remove(&stream->dirty);
    tls_stream_free(stream->tls);
    buf_deinit(&stream->in);
    buf_deinit(&stream->out);
    free(stream);
}
