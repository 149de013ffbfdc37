/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The load's connections, over TCP and TLS. The queries of one turn on a connection leave in one
 * write (with TLS, in a record each). Received bytes are taken in one read.
 *
 * Invariant: nothing is added to a connection whose last write was not complete.
 */

#include <errno.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/span.h"
#include "clock.h"
#include "load.h"

enum { STREAM_BYTES = 65536 + 2, WIRE_BYTES = 128 << 10 };

struct load_stream {
    struct load_socket *socket;
    struct list dirty;      /* in load->dirty while queries wait until the end of the turn */
    struct tls_stream *tls; /* NULL without TLS, and while the connection is closed */
    uint64_t dialed_at_ns;
    bool is_blocked; /* a poll event reports when the rest may leave; also while connecting */
    size_t in_len, out_start, out_end;
    uint8_t in[STREAM_BYTES];
    uint8_t out[STREAM_BYTES + 2 + WIRE_QUERY_MAX]; /* with TLS, bytes before encryption */
};

struct load_stream *load_stream_new(struct load_socket *socket)
{
    /* not zeroed, because untouched pages cost nothing */
    struct load_stream *stream = malloc(sizeof(*stream));
    if (!stream)
        return NULL;
    memset(stream, 0, offsetof(struct load_stream, in));
    stream->socket = socket;
    list_init(&stream->dirty);
    return stream;
}

void load_stream_free(struct load_stream *stream)
{
    if (!stream)
        return;
    list_remove(&stream->dirty);
    tls_stream_free(stream->tls);
    free(stream);
}

/* The report has the reason of a failed handshake once. */
static void note_failure(struct load *load, const struct tls_stream *tls)
{
    if (tls->status == TLS_OPEN || tls->status == TLS_ENDED)
        return;
    load->counters.shakes_failed++;
    snprintf(load->tls_why, sizeof(load->tls_why), "%s",
             tls->why[0] ? tls->why : "the server closed during the handshake");
}

static void stream_close(struct load_socket *socket)
{
    struct load *load = socket->load;
    struct load_stream *stream = socket->stream;
    if (stream->tls && !socket->is_connected)
        note_failure(load, stream->tls);
    tls_stream_free(stream->tls);
    stream->tls = NULL;
    list_remove(&stream->dirty);
    close(socket->watch.fd);
    socket->watch.fd = -1;
    socket->is_connected = false;
    socket->retry_at_ns = clock_now_ns() + LOAD_RETRY_NS;
    for (uint32_t i = 0; i < load->slot_count && load->in_flight; i++)
        if (socket->slots[i].due_ns) {
            load->counters.lost_by_close += load_is_counted(load, socket->slots[i].due_ns);
            load_slot_give(socket, (uint16_t)i);
        }
}

static void set_blocked(struct load_socket *socket, bool is_blocked)
{
    if (socket->stream->is_blocked == is_blocked)
        return;
    socket->stream->is_blocked = is_blocked;
    poller_change(socket->load->poller, &socket->watch, is_blocked ? EPOLLIN | EPOLLOUT : EPOLLIN);
}

static ssize_t send_bytes(struct load_socket *socket, struct span bytes)
{
    if (bytes.len == 0)
        return 0;
    ssize_t n = send(socket->watch.fd, bytes.data, bytes.len, MSG_NOSIGNAL | MSG_DONTWAIT);
    return MAX(n, 0); /* the read reports the error, too */
}

static void flush_plain(struct load_socket *socket)
{
    struct load_stream *stream = socket->stream;
    size_t len = stream->out_end - stream->out_start;
    stream->out_start += (size_t)send_bytes(socket, span_of(stream->out + stream->out_start, len));
    bool has_rest = stream->out_start < stream->out_end;
    if (!has_rest)
        stream->out_start = stream->out_end = 0;
    set_blocked(socket, has_rest);
}

static void flush_tls(struct load_socket *socket)
{
    struct load_stream *stream = socket->stream;
    bool ok = tls_stream_write(stream->tls, span_of(stream->out, stream->out_end));
    stream->out_end = 0;
    struct buf *wire = &stream->tls->wire;
    buf_consume(wire, (size_t)send_bytes(socket, buf_span(wire)));
    set_blocked(socket, buf_len(wire) > 0);
    if (!ok)
        stream_close(socket);
}

static void stream_flush(struct load_socket *socket)
{
    list_remove(&socket->stream->dirty);
    if (socket->watch.fd < 0)
        return;
    socket->load->counters.writes += socket->stream->out_end > 0;
    if (socket->stream->tls)
        flush_tls(socket);
    else
        flush_plain(socket);
}

void load_streams_flush(struct load *load)
{
    struct list *node;
    while ((node = list_take_first(&load->dirty)))
        stream_flush(LIST_ITEM(node, struct load_stream, dirty)->socket);
}

uint32_t load_stream_send(struct load_socket *socket, uint32_t count, uint64_t due_ns,
                          double gap_ns)
{
    struct load_stream *stream = socket->stream;
    uint32_t made = 0;
    if (!socket->is_connected || stream->is_blocked)
        return 0;
    while (made < count && stream->out_end < STREAM_BYTES) {
        uint8_t *p = stream->out + stream->out_end;
        size_t len = query_source_next(&socket->load->source, p + 2);
        put_u16(p, (uint16_t)len);
        put_u16(p + 2, load_slot_take(socket, due_ns + (uint64_t)(gap_ns * made++)));
        stream->out_end += 2 + len;
    }
    if (made && !list_is_linked(&stream->dirty))
        list_append(&socket->load->dirty, &stream->dirty);
    return made;
}

/* Takes the complete answers from the bytes that were read. */
static void take_answers(struct load_socket *socket)
{
    struct load_stream *stream = socket->stream;
    uint64_t now_ns = clock_now_ns();
    size_t at = 0;
    while (stream->in_len - at >= 2) {
        size_t len = get_u16(stream->in + at);
        if (stream->in_len - at - 2 < len)
            break;
        if (len >= WIRE_HEADER_BYTES)
            load_socket_on_answer(socket, stream->in + at + 2, now_ns);
        at += 2 + len;
    }
    stream->in_len -= at;
    memmove(stream->in, stream->in + at, stream->in_len);
}

static void on_shaken(struct load_socket *socket)
{
    struct load *load = socket->load;
    socket->is_connected = true;
    tls_client_on_open(load->tls, socket->stream->tls);
    latency_record(&load->shakes, clock_now_ns() - socket->stream->dialed_at_ns);
}

/* Decrypts received bytes. Returns false if the connection is over. */
static bool decrypt(struct load_socket *socket, struct span bytes)
{
    struct load_stream *stream = socket->stream;
    ssize_t n;
    tls_stream_feed(stream->tls, bytes);
    do {
        n = tls_stream_read(stream->tls, stream->in + stream->in_len,
                            STREAM_BYTES - stream->in_len);
        if (!socket->is_connected && stream->tls->status == TLS_OPEN)
            on_shaken(socket);
        stream->in_len += (size_t)MAX(n, 0);
        if (n > 0)
            take_answers(socket);
    } while (n > 0);
    return tls_stream_settle(stream->tls) && n == 0;
}

static bool read_some(struct load_socket *socket)
{
    static uint8_t wire[WIRE_BYTES]; /* static, because there is one thread */
    struct load_stream *stream = socket->stream;
    bool is_tls = stream->tls != NULL;
    ssize_t n = recv(socket->watch.fd, is_tls ? wire : stream->in + stream->in_len,
                     is_tls ? WIRE_BYTES : STREAM_BYTES - stream->in_len, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return false;
    if (n < 0)
        return true;
    uint64_t answered = socket->load->answered_in_all;
    bool ok = true;
    if (is_tls) {
        ok = decrypt(socket, span_of(wire, (size_t)n));
    } else {
        stream->in_len += (size_t)n;
        take_answers(socket);
    }
    socket->load->counters.reads += socket->load->answered_in_all != answered;
    return ok;
}

/* The TCP connection is open, or its socket has room again. */
static void on_writable(struct load_socket *socket, bool is_well)
{
    struct load_stream *stream = socket->stream;
    if (!stream->tls)
        socket->is_connected = is_well;
    else if (is_well && !socket->is_connected)
        (void)tls_stream_shake(stream->tls);
}

void load_stream_on_ready(struct watch *watch, uint32_t events)
{
    struct load_socket *socket = CONTAINER_OF(watch, struct load_socket, watch);
    if (watch->fd < 0)
        return;
    if (events & EPOLLOUT) {
        on_writable(socket, !(events & (EPOLLERR | EPOLLHUP)));
        stream_flush(socket);
    }
    if (watch->fd >= 0 && events & (EPOLLIN | EPOLLERR | EPOLLHUP) && !read_some(socket)) {
        stream_close(socket);
        return;
    }
    load_socket_refill(socket);
    const struct load_stream *stream = socket->stream;
    if (list_is_linked(&stream->dirty) || (stream->tls && buf_len(&stream->tls->wire)))
        stream_flush(socket);
}

void load_stream_sweep(struct load_socket *socket, uint64_t now_ns)
{
    struct load_stream *stream = socket->stream;
    uint64_t timeout_ns = socket->load->options.timeout_ms * 1000000;
    if (socket->watch.fd < 0 || socket->is_connected || now_ns < stream->dialed_at_ns + timeout_ns)
        return;
    if (stream->tls)
        snprintf(stream->tls->why, TLS_TEXT_MAX, "not done in time");
    stream_close(socket);
}

static enum err tls_begin(struct load_socket *socket)
{
    const struct load_options *options = &socket->load->options;
    struct load_stream *stream = socket->stream;
    stream->tls = tls_client_open(socket->load->tls, &options->server, options->resume);
    return stream->tls ? ERR_OK : ERR_NO_MEMORY;
}

enum err load_stream_connect(struct load_socket *socket)
{
    int on = 1;
    const struct addr *server = &socket->load->options.server;
    struct load_stream *stream = socket->stream;
    setsockopt(socket->watch.fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    stream->dialed_at_ns = clock_now_ns();
    if (connect(socket->watch.fd, &server->sa, addr_len(server)) && errno != EINPROGRESS)
        return err_from_errno(errno);
    stream->in_len = stream->out_start = stream->out_end = 0;
    stream->is_blocked = true;
    enum err err = socket->load->tls ? tls_begin(socket) : ERR_OK;
    return err ? err : poller_add(socket->load->poller, &socket->watch, EPOLLIN | EPOLLOUT);
}
