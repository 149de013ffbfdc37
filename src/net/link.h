/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_LINK_H
#define NAILUP_NET_LINK_H

/*
 * A connection that carries whole messages without reading them: a byte stream (net/tcp.h),
 * optional TLS (tls/tls.h), and the two-byte length framing of RFC 1035 section 4.2.2 or, on
 * accepted links with an HTTP path, the requests of DNS over HTTPS (RFC 8484, net/h2.h). Upstream
 * connections and clients' sessions use the same link.
 *
 * The link collects the messages of a turn and sends them at its end in one write. The owner always
 * closes: no callback follows on_peer_closed or on_failed. The owner may call link_close() inside
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
    /* Dialled links with TLS: TCP is connected, and the TLS handshake begins when this returns.
     * Messages sent until then leave with it as early data, as far as tls_early_max() allows. */
    void (*on_connected)(void *owner);
    /* The link is open: for dialled links, and for accepted ones with TLS. */
    void (*on_open)(void *owner);
    /* Accepted links with TLS: bytes of the handshake have arrived, perhaps more than once. Returns
     * false to leave them in the kernel: the owner has paused or closed the link, and continues
     * with link_resume(). NULL: always true. */
    bool (*may_secure)(void *owner);
    /* Accepted links with a preface: its bytes so far, borrowed until the return. Returns its
     * length when it is whole, or 0 while it is not. May close the link. */
    size_t (*on_preface)(void *owner, struct span bytes);
    /* One whole message, without its length; borrowed until the return. With HTTP,
     * link_exchange() names it. */
    void (*on_message)(void *owner, struct span message);
    /* After a message did not fit: the unsent bytes have fallen to room_at_bytes. */
    void (*on_room)(void *owner);
    /* FIN or close_notify: no more messages will come. The owner may still send to a half-closed
     * peer. */
    void (*on_peer_closed)(void *owner);
    /* The memory that the link holds: incomplete messages, unsent messages, and TLS. Comes after an
     * event that changed it or link_is_blocked(), also within link_accept(). May be NULL. */
    void (*on_held)(void *owner, size_t bytes);
    /* After ERR_TLS_*, tls_detail() of link_tls() may give a reason. */
    void (*on_failed)(void *owner, enum err why);
};

/* Bytes before the first message that the owner reads itself, once. */
enum link_preface {
    LINK_PREFACE_NONE,
    LINK_PREFACE_OUTSIDE, /* the first bytes of the connection, before a handshake */
    LINK_PREFACE_INSIDE,  /* the first bytes in plain text */
};

struct link_options {
    struct tcp_options tcp;
    /* Bound of the write queue, sealed bytes included; ERR_LIMIT for a message that does not fit.
     */
    size_t max_unsent_bytes;
    size_t room_at_bytes;      /* 0: half of that */
    size_t max_message_bytes;  /* longer messages are cut; 0: LINK_MESSAGE_MAX */
    struct tls *tls;           /* NULL: plain. The link takes ownership, also on error. */
    enum link_preface preface; /* the preface that accepted links expect */
    /* Accepted links: messages come in HTTP requests for this path, of H2_PATH_MAX bytes at most;
     * borrowed until the return. NULL: they come framed. */
    const char *http_path;
};

enum { LINK_MESSAGE_MAX = 65535 };

/* Dials; errors as those of tcp_dial(). Messages sent before on_open wait for it. */
MUST_USE enum err link_dial(struct link **out, struct loop *loop, const struct addr *peer,
                            const struct link_options *options, const struct link_handler *handler,
                            void *owner);

/* Takes an accepted connection; *tcp becomes NULL, also on error (then it is closed). */
MUST_USE enum err link_accept(struct link **out, struct loop *loop, struct tcp **tcp,
                              const struct link_options *options,
                              const struct link_handler *handler, void *owner);

/* Returns room for one message of at most max_len bytes in the write queue, or NULL if the queue is
 * full and the kernel takes none of it. The room is valid until the next call on this link. The
 * caller builds the message there, which saves a copy, and gives its length to link_commit(). A
 * reserve without a commit has no effect. */
uint8_t *link_reserve(struct link *link, size_t max_len);
void link_commit(struct link *link, size_t len);

/* With HTTP, messages are exchanges: these come instead of link_commit(). The exchange is the one
 * of the message that on_message delivers. link_answer() sends the reserved room as its reply,
 * which the peer may keep for max_age_s. link_decline() ends it without a reply; is_malformed tells
 * the peer that its message was no query. Both do nothing when the peer has cancelled the exchange.
 */
uint32_t link_exchange(const struct link *link);
void link_answer(struct link *link, uint32_t exchange, size_t len, uint32_t max_age_s);
void link_decline(struct link *link, uint32_t exchange, bool is_malformed);

/* With HTTP: asks the peer to begin no more exchanges here; new ones are still delivered. Without
 * HTTP it does nothing. */
void link_announce_end(struct link *link);

/* With HTTP: delivers no more messages. The peer learns which ones it may repeat elsewhere. Without
 * HTTP it does nothing. */
void link_refuse_more(struct link *link);

/* Requests that HTTP refused with a status so far; none of them brought a message. */
uint64_t link_refused(const struct link *link);

/* Reserves, copies and commits. */
MUST_USE enum err link_send(struct link *link, struct span message);

/* Requests on_room as if a message had not fitted: for an owner that stops earlier. If the unsent
 * bytes are below room_at_bytes already, on_room comes with the next write. */
void link_want_room(struct link *link);

/* Writes as much as the kernel takes before the turn ends. The end of the turn reports a failure.
 */
void link_push(struct link *link);

/* Call this in on_message to say whether the owner expects more answers. If so, the link
 * acknowledges the read bytes at the end of the turn, unless a write carries the acknowledgement.
 * Servers that use Nagle's algorithm hold all answers but the first until we acknowledge it, and
 * our kernel would wait some 40 ms for a write. */
void link_await_more(struct link *link, bool is_awaited);

/* Bytes that the kernel has not taken yet. With HTTP, replies that wait for the peer's windows
 * count too. */
size_t link_unsent(const struct link *link);

/* Stops and starts reading (back pressure on a client). While paused, no on_message comes, and
 * messages that were already read wait. An open link with HTTP goes on reading, because the peer
 * may have to open its windows; H2_STREAMS_MAX bounds the messages that wait. link_resume() itself
 * makes no callback. */
void link_pause(struct link *link);
void link_resume(struct link *link);

/* See tcp_peer_has_left(). A system call. */
bool link_peer_has_left(const struct link *link);

/* Whether the kernel holds unread bytes (see tcp_has_unread()), or messages that were read wait for
 * the turn of the link. */
bool link_has_unread(const struct link *link);

/* Bytes of an incomplete message: shows a peer that sends byte by byte. */
size_t link_partial(const struct link *link);

/* Counts of the reads and writes that moved bytes, and the loop_now() of the last of each (0: none
 * yet). */
uint64_t link_reads(const struct link *link);
uint64_t link_writes(const struct link *link);
uint64_t link_last_write_at(const struct link *link);
uint64_t link_last_byte_at(const struct link *link);

/* NULL: plain. Borrowed. */
const struct tls *link_tls(const struct link *link);

const struct addr *link_peer(const struct link *link);
const struct addr *link_local(struct link *link);

/* Whether the peer may lack messages: its kernel has not acknowledged all written bytes, or some
 * bytes are unsent. */
bool link_has_unacknowledged(const struct link *link);

/* Bytes that the kernel has taken so far, TLS overhead included. */
uint64_t link_written(const struct link *link);

/* Whether the peer has acknowledged no byte beyond this count of link_written(): then the path may
 * be dead. Also false while the kernel takes no bytes, because the peer then does not read. A
 * system call. */
bool link_misses_ack(const struct link *link, uint64_t written);

/* Grows with losses on the path in either direction: see tcp_holes(). A system call. */
uint32_t link_holes(const struct link *link);

/* Segments that our kernel sent again. A system call. */
uint32_t link_retransmits(const struct link *link);

/* Whether this machine has lost the link's local address (tcp_is_stranded()). */
bool link_is_stranded(struct link *link);

/* Ends our direction with a FIN, after a close_notify with TLS. Messages of the peer still arrive.
 * Only when nothing is unsent. */
void link_finish(struct link *link);

/* Whether nothing is unsent, and a close would leave nothing in our kernel: see
 * tcp_is_delivered(). */
bool link_is_delivered(const struct link *link);

/* Whether the kernel, or the windows of HTTP, take no more at present, so that the write queue only
 * grows. */
bool link_is_blocked(const struct link *link);

/* Ends the connection with a RST, which discards waiting bytes here and in the kernel. *link
 * becomes NULL. */
void link_reset(struct link **link);

/* Tries once to write the waiting messages (with TLS also a close_notify), then closes with a FIN.
 * *link becomes NULL. */
void link_close(struct link **link);

#endif
