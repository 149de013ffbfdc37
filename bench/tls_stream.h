/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_STREAM_H
#define NAILUP_BENCH_TLS_STREAM_H

/*
 * One end of a TLS connection, without a socket: bytes of the wire go in and come out, plain
 * bytes as well. The tool has its own, not that of src/net, so that it does not share its faults.
 *
 * Life: made by tls_server or tls_client; fed with what was received, read until there is no more,
 * settled; written; its output sent by the owner of the socket. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "base/span.h"

struct ssl_ctx_st; /* OpenSSL's SSL_CTX and SSL */
struct ssl_st;

enum {
    TLS_WIRE_MAX = 6 << 20, /* bytes to be sent that the peer does not take; more fails */
    TLS_TEXT_MAX = 256,
};

enum tls_role { TLS_CLIENT, TLS_SERVER };

enum tls_status {
    TLS_SHAKING, /* the handshake is going on */
    TLS_OPEN,
    TLS_ENDED, /* the peer has sent close_notify */
    TLS_BROKEN,
};

struct tls_stream {
    struct ssl_st *ssl;
    enum tls_role role;
    enum tls_status status;
    struct span fed; /* borrowed, received and not yet taken */
    struct buf rest; /* received earlier and not yet taken */
    struct buf wire; /* to be sent */
    bool is_early;   /* a server that may still get early data */
    bool has_early;  /* early data was sent, or as a server taken */
    int alert;       /* the last one that the peer sent, but for close_notify; -1: none */
    uint64_t early_bytes;
    char why[TLS_TEXT_MAX]; /* once TLS_BROKEN: a sentence */
};

/* Borrows the context, which counts references itself; NULL without memory. */
struct tls_stream *tls_stream_new(struct ssl_ctx_st *context, enum tls_role role);

/* NULL is fine. Does not spoil the session, whose ticket may be used again. */
void tls_stream_free(struct tls_stream *stream);

/* Bytes that were received; they stay the caller's and must live until tls_stream_settle(), which
 * keeps what was not read by then and is false without memory for it. */
void tls_stream_feed(struct tls_stream *stream, struct span bytes);
bool tls_stream_settle(struct tls_stream *stream);

/* The handshake alone. 1: it is over; 0: more must be fed first; -1: it failed. */
int tls_stream_shake(struct tls_stream *stream);

/* Goes on with the handshake, then reads. Above 0: bytes written to out; 0: more must be fed
 * first; -1: no more will come, status says why. May have put something into wire in any case. */
ssize_t tls_stream_read(struct tls_stream *stream, uint8_t *out, size_t room);

/* Encrypts messages, each with its two-byte length before it, into wire, each as a record of its
 * own: some servers leave the second message of a record unanswered. False: broken. A server may
 * write before the handshake is over if it has got early data, a client with
 * tls_stream_write_early() alone. */
bool tls_stream_write(struct tls_stream *stream, struct span bytes);

/* Before anything else on a client whose session allows it (tls_stream_early_room() bytes): these
 * travel with the ClientHello. False: send them again once the stream is open. */
bool tls_stream_write_early(struct tls_stream *stream, struct span bytes);
size_t tls_stream_early_room(const struct tls_stream *stream);
bool tls_stream_early_accepted(const struct tls_stream *stream); /* once it is open */

void tls_stream_notify_close(struct tls_stream *stream); /* puts close_notify into wire */

/* TLS 1.3: new keys of both sides; TLS 1.2: a server asks for another handshake. Into wire. */
void tls_stream_renew(struct tls_stream *stream);

/* Facts; text is "" where there is none. The version is 12 or 13, the name in SNI the client's. */
int tls_stream_version(const struct tls_stream *stream);
bool tls_stream_is_resumed(const struct tls_stream *stream);
void tls_stream_alpn(const struct tls_stream *stream, char out[TLS_TEXT_MAX]);
const char *tls_stream_sni(const struct tls_stream *stream);
const char *tls_stream_cipher(const struct tls_stream *stream);
const char *tls_alert_text(int alert);

#endif
