/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_TLS_STREAM_H
#define NAILUP_BENCH_TLS_STREAM_H

/*
 * One end of a TLS connection, without a socket: encrypted bytes and plain bytes go in and come
 * out. The bench has its own TLS code instead of the code in src/net, so that it does not share
 * faults with it.
 *
 * Life: tls_server or tls_client makes a stream. The owner feeds it received bytes, reads until
 * there are no more, and settles; it writes, and sends the output. One thread.
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
    /* the bound on bytes that the peer does not take; a longer queue is an error */
    TLS_WIRE_MAX = 6 << 20,
    TLS_TEXT_MAX = 256,
};

enum tls_role { TLS_CLIENT, TLS_SERVER };

enum tls_status {
    TLS_SHAKING, /* the handshake is under way */
    TLS_OPEN,
    TLS_ENDED, /* the peer has sent its close_notify */
    TLS_BROKEN,
};

struct tls_stream {
    struct ssl_st *ssl;
    enum tls_role role;
    enum tls_status status;
    struct span fed; /* received and not yet taken; borrowed */
    struct buf rest; /* received earlier and not yet taken; owned */
    struct buf wire; /* bytes to send */
    bool is_early;   /* a server that may still receive early data */
    bool has_early;  /* a client sent early data, or a server accepted it */
    int alert;       /* the peer's last alert other than close_notify; -1: none */
    uint64_t early_bytes;
    char why[TLS_TEXT_MAX]; /* in TLS_BROKEN: a sentence */
};

/* Borrows the context, which has its own count of references. Returns NULL without memory. */
struct tls_stream *tls_stream_new(struct ssl_ctx_st *context, enum tls_role role);

/* The stream may be NULL. The session stays valid, and its ticket may be used again. */
void tls_stream_free(struct tls_stream *stream);

/* Feeds received bytes. They belong to the caller and must live until tls_stream_settle(), which
 * keeps the unread rest, and returns false without memory for it. */
void tls_stream_feed(struct tls_stream *stream, struct span bytes);
bool tls_stream_settle(struct tls_stream *stream);

/* Runs only the handshake. 1: it is complete; 0: it needs more bytes; -1: it failed. */
int tls_stream_shake(struct tls_stream *stream);

/* Continues the handshake, then reads. Above 0: that many bytes were written to out; 0: it needs
 * more bytes; -1: the stream is over, and status says why. In all cases wire may have new output.
 */
ssize_t tls_stream_read(struct tls_stream *stream, uint8_t *out, size_t room);

/* Encrypts messages into wire, each behind its two-byte length, and each as a separate record:
 * some servers leave the second message of a record unanswered. False: broken. A server that
 * received early data may write before the end of the handshake; a client may not, except with
 * tls_stream_write_early(). */
bool tls_stream_write(struct tls_stream *stream, struct span bytes);

/* The first call on a client whose session allows early data (tls_stream_early_room() bytes):
 * the messages travel with the ClientHello. False: send them again once the stream is open. */
bool tls_stream_write_early(struct tls_stream *stream, struct span bytes);
size_t tls_stream_early_room(const struct tls_stream *stream);
bool tls_stream_early_accepted(const struct tls_stream *stream); /* valid once the stream is open */

void tls_stream_notify_close(struct tls_stream *stream); /* puts close_notify into wire */

/* TLS 1.3: renews the keys of both sides. TLS 1.2: a server requests renegotiation. Writes to wire.
 */
void tls_stream_renew(struct tls_stream *stream);

/* Facts about the connection. A text is "" if unknown. The version is 12 or 13. The name in SNI is
 * the client's. */
int tls_stream_version(const struct tls_stream *stream);
bool tls_stream_is_resumed(const struct tls_stream *stream);
void tls_stream_alpn(const struct tls_stream *stream, char out[TLS_TEXT_MAX]);
const char *tls_stream_sni(const struct tls_stream *stream);
const char *tls_stream_cipher(const struct tls_stream *stream);
const char *tls_alert_text(int alert);

#endif
