/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_H2_H
#define NAILUP_NET_H2_H

/*
 * Private to src/net: the server's side of an HTTP/2 connection (RFC 9113) that carries DNS over
 * HTTPS (RFC 8484), as a transform of bytes, without a socket. h2_receive() takes the bytes of the
 * peer, and h2_send() makes the bytes for it. Each request that brings a message is an exchange
 * with a number; its reply may come at any time and in any order. A request without a message gets
 * its status here. link.c puts it between the messages of a link and its bytes. libnghttp2 does the
 * framing and the compression of header fields.
 *
 * All that a peer can make us hold or do has a bound:
 *
 *   requests that are incomplete or wait             H2_STREAMS_MAX
 *   their messages                                   in bodies 65535 bytes, the window of the
 *                                                    connection; a further request is refused above
 *                                                    H2_MESSAGES_BYTES
 *   frames and bytes that bring no message           H2_SPARE_FRAMES_MAX, H2_SPARE_BYTES_MAX
 *   acknowledgements that wait                       H2_ACKS_MAX
 *   frames that wait, whatever they are              H2_FRAMES_WAITING_MAX
 *   replies that wait                                the owner's: see h2_unsent()
 *
 * A peer that cancels an exchange does not take back its message, so the owner's bound of messages
 * that wait also bounds cancelled ones (CVE-2023-44487).
 *
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

struct h2;

enum {
    H2_STREAMS_MAX = 128, /* requests without a whole reply; RFC 9113 section 6.5.2 wants 100 */
    H2_PATH_MAX = 255,
    H2_MESSAGES_BYTES = 128 * 1024, /* the memory of a window of bodies, with its rounding */
    /* A peer may send this many frames, and this many bytes, and again some for each message: a
     * query takes two frames, one for its window and a few hundred bytes. It may also send a frame
     * for this many bytes of a reply in one frame, because it must open its windows. Windows of a
     * few bytes cost a frame for each of them, and bring back none. */
    H2_SPARE_FRAMES_MAX = 512,
    H2_SPARE_BYTES_MAX = 256 * 1024,
    H2_FRAMES_PER_MESSAGE = 16,
    H2_BYTES_PER_MESSAGE = 32 * 1024,
    H2_REPLY_BYTES_PER_FRAME = 2048,
    H2_ACKS_MAX = 64,
    /* A reply has a frame in the queue at a time, and a request may get a reset and a window. */
    H2_FRAMES_WAITING_MAX = 3 * H2_STREAMS_MAX + H2_ACKS_MAX,
    /* For the header fields of a reply, in h2_unsent(). */
    H2_REPLY_HEAD_BYTES = 128,
    H2_SEND_BYTES = 32 * 1024, /* h2_send() adds frames while the buffer has less */
};

/* Returns NULL when out of memory. path is the one that is served, with H2_PATH_MAX bytes at most;
 * it is copied. Longer messages than max_message_bytes are refused. */
struct h2 *h2_new(const char *path, size_t max_message_bytes);
void h2_free(struct h2 *h2); /* NULL is allowed */

/* Takes all bytes of a read. After an error h2_send() may still give the frame that tells the peer
 * why.
 *   ERR_HTTP        the peer broke the protocol. The peer's faults may also show in h2_send()
 *   ERR_HTTP_FLOOD  the peer sends too much that brings no message
 *   ERR_NO_MEMORY */
MUST_USE enum err h2_receive(struct h2 *h2, struct span bytes);

/* Whether a message waits. */
bool h2_has_message(const struct h2 *h2);

/* Takes the next message. *message is borrowed until the next h2_next() or h2_receive(). Returns
 * false when no message waits. */
bool h2_next(struct h2 *h2, uint32_t *exchange, struct span *message);

/* Returns room for a reply of at most max_len bytes, valid until the next call, or NULL when out of
 * memory. */
uint8_t *h2_reserve(struct h2 *h2, size_t max_len);

/* Sends the first len bytes of the room. The peer may keep them for max_age_s. Does nothing when
 * the peer has cancelled the exchange. Returns false when out of memory: the exchange ends without
 * a reply. */
bool h2_reply(struct h2 *h2, uint32_t exchange, size_t len, uint32_t max_age_s);

/* Ends an exchange without a reply. is_malformed: the peer hears that its message was no query. */
void h2_decline(struct h2 *h2, uint32_t exchange, bool is_malformed);

/* Moves frames to *out until it has H2_SEND_BYTES. ERR_HTTP: the peer broke the protocol, and *out
 * has the frame that says so. Other errors are those of memory. */
MUST_USE enum err h2_send(struct h2 *h2, struct buf *out);

/* Whether h2_send() has anything to move. */
bool h2_has_output(const struct h2 *h2);

/* Bytes of replies that h2_send() has not moved yet. */
size_t h2_unsent(const struct h2 *h2);

/* Whether replies wait for the peer to open its windows. */
bool h2_is_stalled(const struct h2 *h2);

/* The memory of everything here. */
size_t h2_held_bytes(const struct h2 *h2);

/* Requests of the peer that were refused with a status so far. */
uint64_t h2_refused(const struct h2 *h2);

/* Tells the peer, once, to open no more exchanges here. New exchanges are still taken. */
void h2_announce_end(struct h2 *h2);

/* Takes no further exchange, and refuses the messages that wait, so that the peer knows that it may
 * repeat them elsewhere (RFC 9113 section 8.7). */
void h2_end(struct h2 *h2);

#endif
