/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Moves bytes between a blocking socket and a TLS stream. One recv takes all that has arrived.
 */

#include "transport_tls.h"

#include <sys/socket.h>

enum { WIRE_BYTES = 65536 };

static bool transport_tls_flush(int fd, struct tls_stream *stream)
{
    while (buf_len(&stream->wire)) {
        struct span bytes = buf_span(&stream->wire);
        ssize_t n = send(fd, bytes.data, bytes.len, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        buf_consume(&stream->wire, (size_t)n);
    }
    return true;
}

/* Sends the bytes that wait, and then reads once. */
static bool transport_tls_exchange(int fd, struct tls_stream *stream, uint8_t wire[WIRE_BYTES])
{
    if (!transport_tls_flush(fd, stream))
        return false;
    ssize_t n = recv(fd, wire, WIRE_BYTES, 0);
    if (n <= 0)
        return false;
    tls_stream_feed(stream, span_of(wire, (size_t)n));
    return true;
}

bool transport_tls_shake(int fd, struct tls_stream *stream)
{
    static uint8_t wire[WIRE_BYTES];
    int result;
    while ((result = tls_stream_shake(stream)) == 0) {
        if (!tls_stream_settle(stream) || !transport_tls_exchange(fd, stream, wire))
            return false;
    }
    bool ok = tls_stream_settle(stream);
    return transport_tls_flush(fd, stream) && ok && result > 0;
}

bool transport_tls_send(int fd, struct tls_stream *stream, const uint8_t *bytes, size_t len)
{
    return tls_stream_write(stream, span_of(bytes, len)) && transport_tls_flush(fd, stream);
}

bool transport_tls_read(int fd, struct tls_stream *stream, uint8_t *out, size_t len)
{
    static uint8_t wire[WIRE_BYTES];
    while (len) {
        ssize_t n = tls_stream_read(stream, out, len);
        if (!tls_stream_settle(stream) || n < 0)
            return false;
        if (n == 0 && !transport_tls_exchange(fd, stream, wire))
            return false;
        out += n;
        len -= (size_t)n;
    }
    return true;
}

void transport_tls_end(int fd, struct tls_stream *stream)
{
    tls_stream_notify_close(stream);
    (void)transport_tls_flush(fd, stream);
}
