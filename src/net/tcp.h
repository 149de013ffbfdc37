/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_NET_TCP_H
#define NAILUP_NET_TCP_H

/*
 * One TCP connection as a stream of bytes, either dialled or accepted. Replaced by
 * tests/support/fake_net.c in tests of behaviour.
 *
 * The owner always closes: the object lives until tcp_close(), which is allowed inside every
 * callback. No callback follows on_failed. After on_peer_closed only on_writable and on_failed may
 * come, because the owner may still write to a half-closed connection.
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

/* Packets of 1280 bytes pass nearly everywhere: every IPv6 link must carry them (RFC 8200 section
 * 5). Larger ones vanish on a narrower path that filters ICMP. Messages are small, so larger
 * segments would gain next to nothing. The size excludes the 60 bytes of IPv6 and TCP headers. */
enum { TCP_SEGMENT_BYTES = 1280 - 60 };

struct tcp_options {
    struct addr source;        /* local address; family 0: the kernel chooses */
    bool is_foreign;           /* this machine need not have it (IP_FREEBIND) */
    uint32_t keepalive_idle_s; /* 0: no keepalive probes */
    uint32_t keepalive_interval_s;
    uint32_t keepalive_count;
    uint32_t user_timeout_ms; /* TCP_USER_TIMEOUT for unacknowledged bytes; 0: the system's */
    uint32_t segment_bytes;   /* TCP_MAXSEG, for both directions; 0: the path's */
    bool fast_open;           /* on_connected then proves nothing about the peer: keep the
                                 deadline until the first byte */
};

struct tcp_handler {
    void (*on_connected)(void *owner);
    /* Bytes have arrived. Returns false to leave them in the kernel: the owner has paused or closed
     * the connection. NULL: always true. */
    bool (*may_read)(void *owner);
    /* The bytes of one read, borrowed until the return: at most NET_READ_MAX; on an accepted
     * connection at most NET_READ_PATIENT_MAX, or the whole receive buffer if the previous read was
     * full. The rest comes after the reads of the other connections. */
    void (*on_bytes)(void *owner, struct span bytes);
    /* After tcp_await_turn(): the connection has its turn. May be NULL without such calls. */
    void (*on_turn)(void *owner);
    /* After a partial tcp_write(): the kernel has room again. */
    void (*on_writable)(void *owner);
    /* The peer sent a FIN: no more bytes will come, but the owner may still write. */
    void (*on_peer_closed)(void *owner);
    /* The connection is gone: refused, reset, timed out ... */
    void (*on_failed)(void *owner, enum err why);
};

/* Dials. Returns immediate failures (ERR_NO_FILES, ERR_ADDRESS_UNKNOWN, ERR_UNREACHABLE ...) and
 * reports later ones through on_failed, never both. No callback comes before the return. The
 * handler must outlive the connection. Always sets TCP_NODELAY. */
MUST_USE enum err tcp_dial(struct tcp **out, struct loop *loop, const struct addr *peer,
                           const struct tcp_options *options, const struct tcp_handler *handler,
                           void *owner);

/* Gives an accepted connection (net/acceptor.h) its handler and starts reading. */
void tcp_start(struct tcp *tcp, const struct tcp_handler *handler, void *owner);

/* Pauses and resumes reading. A pause stops a peer that does not take its answers. */
void tcp_pause(struct tcp *tcp);
void tcp_resume(struct tcp *tcp);

/* on_turn comes once, when the connection has its turn among the others: for work that needs no
 * event. Not after on_failed. */
void tcp_await_turn(struct tcp *tcp);

/* Whether the kernel holds unread bytes: then a close would send a reset (RFC 2525 section
 * 2.17). */
bool tcp_has_unread(const struct tcp *tcp);

/* Whether the peer has sent a FIN, even if it is unread, or the connection is broken. A system
 * call. */
bool tcp_peer_has_left(const struct tcp *tcp);

/* Written bytes that the peer's kernel has not acknowledged. A system call. */
size_t tcp_unacknowledged(const struct tcp *tcp);

/* Segments that our kernel sent again since the connection began. A system call. */
uint32_t tcp_retransmits(const struct tcp *tcp);

/* Counts signs of loss in both directions: segments that our kernel sent again, and segments that
 * arrived after a missing one. 0 if the kernel does not report them. A system call. */
uint32_t tcp_holes(const struct tcp *tcp);

/* Acknowledges the read bytes now instead of with the next write or some 40 ms later. A system
 * call. */
void tcp_acknowledge(struct tcp *tcp);

/* Writes as much as the kernel takes in one call; *written is the length. After a partial write,
 * on_writable comes later. A broken connection is ERR_RESET or similar: the owner closes it, and
 * on_failed does not come as well. Only after on_connected. */
MUST_USE enum err tcp_write(struct tcp *tcp, struct span bytes, size_t *written);

/* Ends our direction with a FIN; bytes of the peer still arrive. Only when everything is written.
 */
void tcp_finish(struct tcp *tcp);

/* Whether a close would leave nothing in our kernel: the peer has acknowledged all written bytes
 * and the FIN of tcp_finish(), or the connection is gone. One or two system calls. */
bool tcp_is_delivered(const struct tcp *tcp);

/* Ends the connection with a RST, which discards the kernel's buffers, and sets *tcp to NULL. No
 * callback comes afterwards. */
void tcp_reset(struct tcp **tcp);

/* Ends the connection with a FIN and sets *tcp to NULL. The kernel still delivers written bytes. No
 * callback comes afterwards. */
void tcp_close(struct tcp **tcp);

/* The peer's address, and our own. Borrowed. */
const struct addr *tcp_peer(const struct tcp *tcp);
const struct addr *tcp_local(struct tcp *tcp);

/* Whether this machine no longer has the local address of a connection that was open: then no byte
 * can arrive. False for a foreign source, which this machine need not have. A few system calls. */
bool tcp_is_stranded(struct tcp *tcp);

#endif
