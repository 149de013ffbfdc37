/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LINK_H
#define NAILUP_NET_LINK_H

/*
 * A connection that carries whole messages and does not know what they mean: a byte stream
 * (net/tcp.h), TLS on it where wanted (tls/tls.h), and the two-byte length framing of RFC 1035
 * section 4.2.2. Upstream connections and clients' sessions use the same link.
 *
 * Messages sent during a turn are collected and leave at its end in one write. The owner always
 * closes: after on_peer_closed or on_failed nothing more is called. link_close() is allowed inside
 * every callback; no callback comes after it. on_open and on_room may be NULL.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"
#include "net/tcp.h"

struct link;
struct loop;
struct tls;

struct link_handler {
    /* Dialled links with TLS: TCP is there, the handshake of TLS begins when this returns. Messages
     * sent until then leave with it as early data, as many as tls_early_max() of link_tls()
     * allows. */
    void (*on_connected)(void *owner);
    /* Messages may flow: dialled links, and accepted ones with TLS. */
    void (*on_open)(void *owner);
    /* Accepted links with TLS: bytes of the handshake are there. False: they stay in the kernel;
     * the owner has paused or closed the link, and lets it go on with link_resume(). NULL:
     * always true. */
    bool (*may_secure)(void *owner);
    /* One whole message, without its length; borrowed until the return. */
    void (*on_message)(void *owner, struct span message);
    /* After a message did not fit: the unsent bytes are at most room_at_bytes again. */
    void (*on_room)(void *owner);
    /* FIN or close_notify: nothing more will come. Messages may still be sent to a half-closed
     * peer. */
    void (*on_peer_closed)(void *owner);
    /* The link holds so many bytes now: messages that have not ended or not left, and TLS. Comes
     * after an event that changed this or link_is_blocked(), also within link_accept(). May be
     * NULL. */
    void (*on_held)(void *owner, size_t bytes);
    /* ERR_TLS_* when TLS is at fault: tls_detail() of link_tls() may say more. */
    void (*on_failed)(void *owner, enum err why);
};

struct link_options {
    struct tcp_options tcp;
    /* Bound of the write queue, sealed bytes included; a message that does not fit is ERR_LIMIT. */
    size_t max_unsent_bytes;
    size_t room_at_bytes;     /* 0: half of that */
    size_t max_message_bytes; /* longer ones arrive without their end; 0: LINK_MESSAGE_MAX */
    struct tls *tls;          /* NULL: plain. The link takes it, also on error. */
};

enum { LINK_MESSAGE_MAX = 65535 };

/* Dials; errors as with tcp_dial(). Messages may be sent before on_open: they wait. */
MUST_USE enum err link_dial(struct link **out, struct loop *loop, const struct addr *peer,
                            const struct link_options *options, const struct link_handler *handler,
                            void *owner);

/* Takes an accepted connection; *tcp becomes NULL, also on error (then it is closed). */
MUST_USE enum err link_accept(struct link **out, struct loop *loop, struct tcp **tcp,
                              const struct link_options *options,
                              const struct link_handler *handler, void *owner);

/* Room for one message of at most max_len bytes in the write queue, or NULL when it is full and the
 * kernel takes none of it.
 * Valid until the next call on this link; link_commit() says how long it became. Building there
 * saves a copy. A reserve without a commit is undone by the next one. */
uint8_t *link_reserve(struct link *link, size_t max_len);
void link_commit(struct link *link, size_t len);

/* As reserve, copy, commit. */
MUST_USE enum err link_send(struct link *link, struct span message);

/* on_room is to come as if a message had not fitted: for an owner that stops before it comes to
 * that. The unsent bytes are above room_at_bytes (else the next write tells at once). */
void link_want_room(struct link *link);

/* Writes what the kernel takes now, ahead of the end of the turn. The end of the turn reports a
 * failure. */
void link_push(struct link *link);

/* In on_message: whether more answers are awaited. If so, the link acknowledges the read bytes at
 * the end of the turn, unless a write carries the acknowledgement. Servers that use Nagle's
 * algorithm hold all answers but the first until we acknowledge it, and our kernel would wait some
 * 40 ms for a write. */
void link_await_more(struct link *link, bool is_awaited);

/* Bytes that the kernel has not taken yet. */
size_t link_unsent(const struct link *link);

/* Stops and starts reading (back pressure on a client). No on_message comes while paused, also not
 * of messages that have been read already: they wait. link_resume() itself calls nothing back. */
void link_pause(struct link *link);
void link_resume(struct link *link);

/* See tcp_peer_has_left(). A system call. */
bool link_peer_has_left(const struct link *link);

/* The kernel holds bytes that were not read: see tcp_has_unread(). */
bool link_has_unread(const struct link *link);

/* Bytes of a message that has begun but not ended: a dribbling peer shows here. */
size_t link_partial(const struct link *link);

/* Counters since the link was made: calls of read and write that moved bytes, and the
 * loop_now() of the last write and of the last read (0: none yet). */
uint64_t link_reads(const struct link *link);
uint64_t link_writes(const struct link *link);
uint64_t link_last_write_at(const struct link *link);
uint64_t link_last_byte_at(const struct link *link);

/* NULL: plain. Borrowed. */
const struct tls *link_tls(const struct link *link);

const struct addr *link_peer(const struct link *link);
const struct addr *link_local(struct link *link);

/* Written bytes that the peer's kernel has not acknowledged, or bytes that were never written: the
 * peer may not have received all messages. */
bool link_has_unacknowledged(const struct link *link);

/* Bytes that the kernel has taken since the link was made, TLS overhead included. */
uint64_t link_written(const struct link *link);

/* The peer has acknowledged no byte beyond this count of link_written(): the path may be dead. Also
 * false while the kernel takes no bytes, because then the peer does not read. A system call. */
bool link_misses_ack(const struct link *link, uint64_t written);

/* Grows with losses on the path in either direction: see tcp_holes(). A system call. */
uint32_t link_holes(const struct link *link);

/* Segments that our kernel sent again. A system call. */
uint32_t link_retransmits(const struct link *link);

/* Its own address is gone from this machine (tcp_is_stranded()). */
bool link_is_stranded(struct link *link);

/* Sends close_notify with TLS and a FIN, and nothing more: what the peer sends still comes. Only
 * when nothing is unsent. */
void link_finish(struct link *link);

/* Nothing is unsent, and closing leaves nothing in our kernel: see tcp_is_delivered(). */
bool link_is_delivered(const struct link *link);

/* The kernel takes no more: the write queue only grows until it does. */
bool link_is_blocked(const struct link *link);

/* Ends the connection with a RST: what waits is thrown away, here and in the kernel. *link becomes
 * NULL. */
void link_reset(struct link **link);

/* Tries once to write what waits, with TLS a close_notify after it, then closes with a FIN; *link
 * becomes NULL. */
void link_close(struct link **link);

#endif
