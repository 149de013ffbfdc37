/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LINK_FILTER_H
#define NAILUP_NET_LINK_FILTER_H

/*
 * Private to src/net: a filter turns the framed messages of a link into bytes for the wire, and
 * back. link_tls.c has the one for TLS. A plain link has none: its messages are the bytes. A filter
 * does not know the link or the socket.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

enum { LINK_LENGTH_BYTES = 2 }; /* before each message (RFC 1035 section 4.2.2) */

/* A filter delivers here what it has received. Each function returns false when the link accepts no
 * more. */
struct link_filter_sink {
    bool (*on_ready)(void *owner); /* the handshake is complete */
    bool (*on_plain)(void *owner, struct span bytes);
};

struct link_filter {
    /* TCP is connected. Begins the handshake of a dialled link and may send the first whole
     * messages with it; *taken is their length. */
    enum err (*begin)(void *state, struct span messages, size_t *taken);
    /* Turns whole messages into bytes of wire(). */
    enum err (*send)(void *state, struct span messages);
    /* The same with bytes that are no messages. */
    enum err (*send_bytes)(void *state, struct span bytes);
    /* Takes all bytes of a read. ERR_PEER_CLOSED: the peer ended the stream in order. */
    enum err (*receive)(void *state, struct span bytes, const struct link_filter_sink *sink,
                        void *owner);
    /* Adds the end of the stream to wire(). */
    void (*end)(void *state);
    struct buf *(*wire)(void *state);
    size_t (*held_bytes)(const void *state);
    void (*free)(void *state);
};

/* Its state is a struct tls. */
extern const struct link_filter link_tls_filter;

#endif
