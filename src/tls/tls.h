/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_H
#define NAILUP_TLS_TLS_H

/*
 * One TLS connection as a transform of bytes without a socket: what comes from the wire goes in by
 * tls_receive(), what is to go to the wire collects in tls_wire(). net/link.c puts it between tcp
 * and framing; tests join two of them in memory.
 *
 * Life: tls_client() or tls_server() -> tls_begin() -> tls_receive() until on_secured ->
 * tls_send(), tls_receive() -> tls_end() -> tls_free(). After an error it is of no use but for
 * tls_wire() (an alert may wait there), tls_facts(), tls_detail() and tls_free().
 *
 * Invariant: a client in the strict profile sends no byte of plain text, early data apart, before
 * the peer has proved its identity; early data is sealed with a ticket of that same identity.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "tls/tls_peer.h"

struct tls;
struct tls_context;

/* Bytes that may wait in tls_wire(); more is ERR_LIMIT: a peer that has us answer but never reads
 * cannot fill the memory. */
enum { TLS_WIRE_MAX = 1024 * 1024 };

/* NULL: out of memory. The context may be freed before the connection. */
struct tls *tls_client(struct tls_context *context, const struct tls_peer *peer);
struct tls *tls_server(struct tls_context *context);

/* How many bytes of plain text tls_begin() may send as early data: 0 unless the options want it and
 * the ticket at hand allows it, of an age at which it is offered. */
size_t tls_early_max(const struct tls *tls);

/* A client's first flight, with early data (messages as in tls_send_messages(), may be empty, at
 * most tls_early_max() bytes; more is kept back). Early data that the server does not take, and
 * what was kept back, is sent by itself once the connection is secured. A server does nothing. */
MUST_USE enum err tls_begin(struct tls *tls, struct span early);

struct tls_reader {
    /* The handshake is done and the peer is who it should be. May be NULL. False: read no further.
     */
    bool (*on_secured)(void *owner);
    /* Plain text, borrowed until the return. False: read no further, the rest is dropped, as is
     * whatever comes later. */
    bool (*on_plain)(void *owner, struct span bytes);
};

/* Takes what came from the wire; all of it is used up. tls_free() and tls_receive() of this
 * connection are not allowed inside the reader's functions, all else is.
 *   ERR_PEER_CLOSED    close_notify: nothing more will come, sending is still allowed
 *   ERR_TLS_CLOSED     close_notify during the handshake
 *   ERR_LIMIT, ERR_NO_MEMORY  tls_wire() is full, or memory; as ERR_TLS_*
 *   ERR_TLS_*          (errors.def) the connection is of no use any more; tls_wire() may hold an
 *                      alert that tells the peer why */
MUST_USE enum err tls_receive(struct tls *tls, struct span wire, const struct tls_reader *reader,
                              void *owner);

/* Seals plain text (any length, in as few records as possible) into tls_wire(). ERR_CLOSED: not
 * secured, not any more, or after tls_end(). What else fails is the end of the connection. */
MUST_USE enum err tls_send(struct tls *tls, struct span plain);

/* Seals messages, each with its two-byte length before it (RFC 1035 section 4.2.2), each as a
 * record of its own: NSD 4.6 and dnsdist 1.7 answer the first message of a record and leave the
 * others until further bytes come. A message above 16 KiB takes several records. */
MUST_USE enum err tls_send_messages(struct tls *tls, struct span messages);

/* Adds a close_notify (RFC 8446 section 6.1), once, if the connection is secured. */
void tls_end(struct tls *tls);

/* Bytes for the wire: the link writes and consumes them. */
struct buf *tls_wire(struct tls *tls);

/* An estimate of its memory, which OpenSSL does not tell: TLS_HANDSHAKE_BYTES until it is
 * secured, then TLS_SECURED_BYTES, and the bytes of tls_wire(). */
enum { TLS_HANDSHAKE_BYTES = 64 * 1024, TLS_SECURED_BYTES = 16 * 1024 };
size_t tls_held_bytes(const struct tls *tls);

bool tls_is_secured(const struct tls *tls);

/* What the handshake came to. Strings have static storage; "" before it is known. */
struct tls_facts {
    const char *version; /* "TLSv1.3" */
    const char *cipher;  /* "TLS_AES_256_GCM_SHA384" */
    bool resumed;
    bool authenticated; /* a client's peer has proved who it is; false is possible with the
                           opportunistic profile only */
    bool early_accepted;
};

struct tls_facts tls_facts(const struct tls *tls);

/* After an error: what OpenSSL or the peer's alert says in particular ("certificate has expired",
 * "tlsv1 alert unknown ca"), for logs. Static storage; "" when there is nothing more to say. */
const char *tls_detail(const struct tls *tls);

/* Tickets it got stay usable, also after a reset; one that it took and did not offer is given back.
 * Sets *tls to NULL, which is fine too. */
void tls_free(struct tls **tls);

#endif
