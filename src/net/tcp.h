/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_TCP_H
#define NAILUP_NET_TCP_H

/*
 * One TCP connection as a stream of bytes, either dialled or accepted. Replaced by
 * tests/support/fake_net.c in tests of behaviour.
 *
 * The owner always closes: after on_failed nothing more is called, after on_peer_closed nothing but
 * on_writable and on_failed (a half-closed connection may still be written to), but the object
 * lives until tcp_close(). tcp_close() is allowed inside every callback.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/span.h"
#include "net/read_max.h"

struct loop;
struct tcp;

/* Packets of 1280 bytes pass nearly everywhere: IPv6 demands it of every link (RFC 8200 section 5).
 * Larger ones vanish where a path is narrower and ICMP is filtered. Messages are small, so larger
 * segments would gain next to nothing. The size excludes the 60 bytes of IPv6 and TCP headers. */
enum { TCP_SEGMENT_BYTES = 1280 - 60 };

struct tcp_options {
    struct addr source;        /* bound to before dialling; family 0: the kernel chooses */
    uint32_t keepalive_idle_s; /* 0: no keepalive probes */
    uint32_t keepalive_interval_s;
    uint32_t keepalive_count;
    uint32_t user_timeout_ms; /* TCP_USER_TIMEOUT: bytes not acknowledged; 0: the system's */
    uint32_t segment_bytes;   /* TCP_MAXSEG, for both directions; 0: the path's */
    bool fast_open;           /* on_connected then proves nothing about the peer: keep the
                                 deadline until the first byte */
};

struct tcp_handler {
    void (*on_connected)(void *owner);
    /* Something is there to be read. False: it stays in the kernel; the owner has paused or closed
     * the connection. NULL: always true. */
    bool (*may_read)(void *owner);
    /* The bytes of one read: at most NET_READ_MAX; on an accepted connection at most
     * NET_READ_PATIENT_MAX, or the whole receive buffer when the read before was full. The rest
     * comes after the reads of the other connections. Borrowed until the return. */
    void (*on_bytes)(void *owner, struct span bytes);
    /* After a tcp_write() that could not write all: there is room again. */
    void (*on_writable)(void *owner);
    /* The peer sent a FIN: no more bytes will come; writing is still allowed. */
    void (*on_peer_closed)(void *owner);
    /* Refused, reset, timed out ...: the connection is gone. */
    void (*on_failed)(void *owner, enum err why);
};

/* Dials. Failures that are known at once are returned (ERR_NO_FILES, ERR_ADDRESS_UNKNOWN,
 * ERR_UNREACHABLE, ...), all others come by on_failed; never both, and no callback comes before
 * the return. The handler must outlive the connection. TCP_NODELAY is always set. */
MUST_USE enum err tcp_dial(struct tcp **out, struct loop *loop, const struct addr *peer,
                           const struct tcp_options *options, const struct tcp_handler *handler,
                           void *owner);

/* Gives an accepted connection (net/acceptor.h) its handler; reading starts with it. */
void tcp_start(struct tcp *tcp, const struct tcp_handler *handler, void *owner);

/* Reading may be paused against a peer that does not take its answers, and resumed. */
void tcp_pause(struct tcp *tcp);
void tcp_resume(struct tcp *tcp);

/* The kernel holds bytes that were not read: closing now would be a reset (RFC 2525 section 2.17).
 */
bool tcp_has_unread(const struct tcp *tcp);

/* The peer has sent a FIN, read or not, or the connection is broken. A system call. */
bool tcp_peer_has_left(const struct tcp *tcp);

/* How many written bytes the peer's kernel has not acknowledged. A system call. */
size_t tcp_unacknowledged(const struct tcp *tcp);

/* Segments that our kernel sent again since the connection began. A system call. */
uint32_t tcp_retransmits(const struct tcp *tcp);

/* Grows with lost segments in both directions: segments that our kernel sent again, and segments
 * that arrived after a missing one. A system call. */
uint32_t tcp_holes(const struct tcp *tcp);

/* Acknowledges the read bytes now, instead of with the next write or some 40 ms later. A system
 * call. */
void tcp_acknowledge(struct tcp *tcp);

/* Writes what the kernel takes now, in one call; *written says how much. When that is less than
 * all, on_writable comes later. A broken connection is ERR_RESET etc. (the owner closes; on_failed
 * does not come as well). Only after on_connected. */
MUST_USE enum err tcp_write(struct tcp *tcp, struct span bytes, size_t *written);

/* Sends a FIN and nothing more: what the peer sends still comes. Only when all is written. */
void tcp_finish(struct tcp *tcp);

/* The peer's kernel has acknowledged all that was written, and the FIN of tcp_finish(), or the
 * connection is gone: closing it leaves nothing in our kernel. One or two system calls. */
bool tcp_is_delivered(const struct tcp *tcp);

/* Ends the connection with a RST and sets *tcp to NULL: the kernel throws away at once what it
 * holds. No callback comes afterwards. */
void tcp_reset(struct tcp **tcp);

/* Ends the connection (FIN; what the kernel holds is still delivered) and sets *tcp to NULL. No
 * callback comes afterwards. */
void tcp_close(struct tcp **tcp);

/* The address of the other end, and ours. Borrowed. */
const struct addr *tcp_peer(const struct tcp *tcp);
const struct addr *tcp_local(struct tcp *tcp);

/* Connected once, and this machine no longer has the address of our end: nothing can come any more.
 * A few system calls. */
bool tcp_is_stranded(struct tcp *tcp);

#endif
