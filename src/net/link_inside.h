/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LINK_INSIDE_H
#define NAILUP_NET_LINK_INSIDE_H

/*
 * What the files of a link share: link.c (life and the stream's events), link_out.c, link_in.c and
 * link_tls.c. Nobody else looks here.
 */

#include "base/buf.h"
#include "base/framing.h"
#include "loop/loop.h"
#include "net/read_max.h"
#include "net/tcp.h"
#include "tls/tls.h"

struct link_handler;

enum {
    LINK_LENGTH_BYTES = 2,
    LINK_KEEP_BYTES = 1024, /* of an empty queue, with TLS */
    /* One read in plain text: what TLS kept of a record before it comes on top. */
    LINK_UNREAD_MAX = NET_READ_MAX + 32 * 1024,
};

enum link_state {
    LINK_DIALING,
    LINK_SECURING, /* the handshake of TLS is under way */
    LINK_OPEN,
    LINK_PEER_CLOSED, /* half closed: we may still write */
    LINK_FAILED,      /* waits for link_close() */
    LINK_CLOSED,      /* closed inside a callback: freed when it returns */
};

struct link {
    struct loop *loop;
    struct tcp *tcp;
    struct tls *tls; /* NULL: plain */
    const struct link_handler *handler;
    void *owner;
    enum link_state state;
    unsigned held;      /* callbacks on the stack */
    bool write_blocked; /* the kernel is full: on_writable() goes on */
    bool was_blocked;   /* the same when on_held was called last */
    bool was_full;      /* a message did not fit: on_room is owed */
    bool paused;
    bool awaits_more; /* link_await_more() */
    bool is_finished; /* we sent a FIN */
    bool peer_done;   /* close_notify came while the owner had paused, or messages before it wait */
    struct framing in;
    struct buf unread; /* bytes that were read but not handed out when the owner paused */
    struct buf out;
    size_t room_at_bytes;
    struct turn_end turn_end;
    uint64_t reads, writes, last_write_at, last_byte_at;
    size_t held_bytes;       /* as the owner was told */
    uint64_t writes_at_read; /* writes when the last read came */
    uint64_t written;        /* bytes that the kernel has taken */
};

/* Messages may leave. */
static inline bool link_is_writable(const struct link *link)
{
    return !link->is_finished && (link->state == LINK_OPEN || link->state == LINK_PEER_CLOSED);
}

/* link.c: the state it comes to. Each may end with the link closed by its owner. */
void link_opened(struct link *link);
void link_peer_closed(struct link *link);
/* The owner hears of a failure once, and not after it heard of a FIN. */
void link_fail(struct link *link, enum err why);

/* link_out.c: seals and writes all that waits, in one call. */
MUST_USE enum err link_write_out(struct link *link);
MUST_USE enum err link_seal(struct link *link);
/* The same at the end of a turn, or when the kernel has room again; a failure is told. */
void link_flush(struct link *link);

/* link_in.c: bytes of messages, in plain text. */
void link_bytes_in(struct link *link, struct span bytes);
/* Something was read that the owner has not heard of, as it had paused. */
bool link_has_waiting(const struct link *link);
/* After link_resume(): first what was read already, then the socket again. */
void link_read_on(struct link *link);

/* link_tls.c: TCP is there; and bytes from the wire. */
void link_begin_tls(struct link *link);
void link_wire_in(struct link *link, struct span bytes);

#endif
