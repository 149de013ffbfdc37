/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TLS_TLS_H
#define NAILUP_TLS_TLS_H

/*
 * One TLS connection as a transform of bytes, without a socket: tls_receive() takes the bytes from
 * the wire, and tls_wire() collects the bytes for it. net/link_tls.c puts it between TCP and the
 * framing of messages; tests join two of them in memory.
 *
 * Life: tls_client() or tls_server() -> tls_begin() -> tls_receive() until on_secured ->
 * tls_send(), tls_receive() -> tls_end() -> tls_free(). After an error only tls_wire() (it may hold
 * an alert), tls_facts(), tls_detail() and tls_free() are useful.
 *
 * Invariant: with the strict profile a client sends no plain text before the peer has proved its
 * identity. Early data is the exception: a ticket of that same identity seals it.
 *
 * One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"
#include "base/transport.h"
#include "tls/tls_options.h"

struct ssl_ctx_st;
struct ssl_st;
struct tls;

enum {
    /* Bytes that may wait in tls_wire(); more is ERR_LIMIT. So a peer that makes us answer but
       never reads cannot exhaust memory. */
    TLS_WIRE_MAX = 1024 * 1024,
    /* A peer may update its keys (RFC 8446 section 4.6.3) this often, and once more for each
     * TLS_KEY_UPDATE_BYTES of plain text that it sends. An update takes 27 bytes, and costs OpenSSL
     * 3.0 as much as several queries. */
    TLS_KEY_UPDATES_MAX = 32,
    TLS_KEY_UPDATE_BYTES = 1024,
};

/* A context (tls_context.h), as far as its connections share it. */
struct tls_context {
    struct ssl_ctx_st *ctx;
    uint8_t files_id[TLS_FILES_ID_BYTES]; /* client: digest of its files */
};

/* Returns NULL when out of memory. The context may be freed before the connection. */
struct tls *tls_client(struct tls_context *context, const struct tls_peer *peer);
struct tls *tls_server(struct tls_context *context);

/* The protocol that a server negotiates is that of this transport instead of TRANSPORT_TLS. Before
 * the handshake. */
void tls_set_transport(struct tls *tls, enum transport transport);

/* Bytes of plain text that tls_begin() may send as early data. 0 unless the options allow early
 * data and the client holds a ticket that allows it at its present age. */
size_t tls_early_max(const struct tls *tls);

/* Sends a client's first flight. early holds messages as in tls_send_messages() and may be empty.
 * At most tls_early_max() bytes travel as early data; a longer early is held back whole. The
 * connection itself sends the messages that were held back, or that the server rejected as early
 * data, once it is secured. Does nothing on a server. */
MUST_USE enum err tls_begin(struct tls *tls, struct span early);

struct tls_reader {
    /* The handshake is complete and the peer has the expected identity. Returns false to read no
     * further. May be NULL. */
    bool (*on_secured)(void *owner);
    /* Plain text of one or more records, borrowed until the return. Returns false to stop reading:
     * the connection drops all later bytes. If the connection fails after these bytes, tls_send()
     * refuses already during the call. */
    bool (*on_plain)(void *owner, struct span bytes);
};

/* Takes all bytes that came from the wire. The reader's functions may call everything on this
 * connection except tls_free() and tls_receive().
 *   ERR_PEER_CLOSED    close_notify: the peer sends no more; sending is still allowed
 *   ERR_TLS_CLOSED     close_notify during the handshake
 *   ERR_LIMIT, ERR_NO_MEMORY  tls_wire() is full, or memory; same consequence as ERR_TLS_*
 *   ERR_TLS_*          (errors.def) the connection has failed; tls_wire() may hold an alert that
 *                      tells the peer why */
MUST_USE enum err tls_receive(struct tls *tls, struct span wire, const struct tls_reader *reader,
                              void *owner);

/* Seals plain text of any length into tls_wire(), in as few records as possible. ERR_CLOSED: not
 * secured yet, closed, or after tls_end(). Every other error ends the connection. */
MUST_USE enum err tls_send(struct tls *tls, struct span plain);

/* Seals messages, each preceded by its two-byte length (RFC 1035 section 4.2.2), each in a separate
 * record: NSD 4.6 and dnsdist 1.7 answer the first message of a record and hold the others until
 * further bytes come. A message above 16 KiB takes several records. */
MUST_USE enum err tls_send_messages(struct tls *tls, struct span messages);

/* Adds one close_notify (RFC 8446 section 6.1) if the connection is secured. */
void tls_end(struct tls *tls);

/* Bytes for the wire: the link writes and consumes them. */
struct buf *tls_wire(struct tls *tls);

/* Estimates the memory of a connection, which OpenSSL does not report: TLS_HANDSHAKE_BYTES until it
 * is secured, then TLS_SECURED_BYTES, plus the bytes of tls_wire(). */
enum { TLS_HANDSHAKE_BYTES = 64 * 1024, TLS_SECURED_BYTES = 16 * 1024 };
size_t tls_held_bytes(const struct tls *tls);

bool tls_is_secured(const struct tls *tls);

/* Facts about a connection. Strings have static storage and are "" until they are known. */
struct tls_facts {
    const char *version; /* "TLSv1.3" */
    const char *cipher;  /* "TLS_AES_256_GCM_SHA384" */
    bool resumed;
    bool authenticated; /* the server has proved its identity; only a client with the opportunistic
                           profile can be secured without it */
    bool early_accepted;
    uint32_t key_updates; /* how many the peer has made so far */
};

struct tls_facts tls_facts(const struct tls *tls);

/* After an error: OpenSSL's reason or the peer's alert for logs ("certificate has expired", "tlsv1
 * alert unknown ca"). Static storage; "" if there is no further reason. */
const char *tls_detail(const struct tls *tls);

/* The tickets that a connection received stay usable, also after a reset. A ticket that it took and
 * did not offer goes back to its rack. Sets *tls to NULL; *tls may be NULL. */
void tls_free(struct tls **tls);

/* OpenSSL's object for this connection, for tests. Borrowed. */
struct ssl_st *tls_ssl(const struct tls *tls);

/* For tls_context.c: installs the callbacks by which OpenSSL reports certificates, tickets, ALPN
 * and handshake messages to the connections of this context. Returns false when out of memory. */
MUST_USE bool tls_install(struct ssl_ctx_st *ctx, bool is_client);

#endif
