/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * TLS between buffers. Our own BIO reads the bytes that were fed, and writes to wire, so that one
 * recv feeds many records and one send carries many. It does not depend on sockets or DNS.
 */

#include "tls_stream.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"

static int on_bio_read(BIO *bio, char *out, size_t room, size_t *got)
{
    struct tls_stream *stream = BIO_get_data(bio);
    bool has_rest = buf_len(&stream->rest) > 0;
    struct span from = has_rest ? buf_span(&stream->rest) : stream->fed;
    BIO_clear_retry_flags(bio);
    *got = MIN(room, from.len);
    if (*got == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(out, from.data, *got);
    if (has_rest)
        buf_consume(&stream->rest, *got);
    else
        stream->fed = span_of(from.data + *got, from.len - *got);
    return 1;
}

static int on_bio_write(BIO *bio, const char *bytes, size_t len, size_t *written)
{
    struct tls_stream *stream = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *written = 0;
    if (buf_append(&stream->wire, bytes, len))
        return 0;
    *written = len;
    return 1;
}

static long on_bio_ctrl(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static int on_bio_create(BIO *bio)
{
    BIO_set_init(bio, 1);
    return 1;
}

static BIO_METHOD *bio_method(void)
{
    static BIO_METHOD *method; /* exists as long as the process */
    if (method)
        return method;
    method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "buffers");
    if (method) {
        BIO_meth_set_read_ex(method, on_bio_read);
        BIO_meth_set_write_ex(method, on_bio_write);
        BIO_meth_set_ctrl(method, on_bio_ctrl);
        BIO_meth_set_create(method, on_bio_create);
    }
    return method;
}

static void on_info(const SSL *ssl, int where, int value)
{
    struct tls_stream *stream = SSL_get_app_data(ssl);
    if (stream && where == SSL_CB_READ_ALERT && (value & 0xff) != SSL_AD_CLOSE_NOTIFY)
        stream->alert = value & 0xff;
}

struct tls_stream *tls_stream_new(struct ssl_ctx_st *context, enum tls_role role)
{
    struct tls_stream *stream = calloc(1, sizeof(*stream));
    SSL *ssl = SSL_new(context);
    BIO *bio = bio_method() ? BIO_new(bio_method()) : NULL;
    if (!stream || !ssl || !bio) {
        free(stream);
        SSL_free(ssl);
        BIO_free(bio);
        return NULL;
    }
    stream->ssl = ssl;
    stream->role = role;
    stream->alert = -1;
    buf_init(&stream->rest, TLS_WIRE_MAX);
    buf_init(&stream->wire, TLS_WIRE_MAX);
    BIO_set_data(bio, stream);
    SSL_set_bio(ssl, bio, bio);
    SSL_set_app_data(ssl, stream);
    SSL_set_info_callback(ssl, on_info);
    if (role == TLS_SERVER)
        SSL_set_accept_state(ssl);
    else
        SSL_set_connect_state(ssl);
    stream->is_early = role == TLS_SERVER && SSL_get_max_early_data(ssl) > 0;
    return stream;
}

void tls_stream_free(struct tls_stream *stream)
{
    if (!stream)
        return;
    /* Otherwise OpenSSL would consider the session unfit for resumption. */
    SSL_set_shutdown(stream->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(stream->ssl);
    buf_deinit(&stream->rest);
    buf_deinit(&stream->wire);
    free(stream);
}

void tls_stream_feed(struct tls_stream *stream, struct span bytes)
{
    stream->fed = bytes;
}

bool tls_stream_settle(struct tls_stream *stream)
{
    struct span left = stream->fed;
    stream->fed = span_of(NULL, 0);
    return buf_append(&stream->rest, left.data, left.len) == ERR_OK;
}

static void explain(struct tls_stream *stream)
{
    unsigned long code = ERR_peek_error();
    const char *reason = code ? ERR_reason_error_string(code) : NULL;
    long verdict = SSL_get_verify_result(stream->ssl);
    if (stream->status == TLS_BROKEN)
        return;
    stream->status = TLS_BROKEN;
    if (stream->alert >= 0)
        snprintf(stream->why, TLS_TEXT_MAX, "the peer sent the alert '%s'",
                 tls_alert_text(stream->alert));
    else if (verdict != X509_V_OK && code &&
             ERR_GET_REASON(code) == SSL_R_CERTIFICATE_VERIFY_FAILED)
        snprintf(stream->why, TLS_TEXT_MAX, "its certificate is not accepted: %s",
                 X509_verify_cert_error_string(verdict));
    else
        snprintf(stream->why, TLS_TEXT_MAX, "%s", reason ? reason : "TLS failed");
}

/* Judges a call that returned no bytes. Returns 0 or -1, as tls_stream_read() does. */
static ssize_t tls_stream_judge(struct tls_stream *stream, int result)
{
    int error = SSL_get_error(stream->ssl, result);
    if (error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE)
        return 0;
    if (error == SSL_ERROR_ZERO_RETURN)
        stream->status = TLS_ENDED;
    else
        explain(stream);
    ERR_clear_error();
    return -1;
}

static ssize_t read_early(struct tls_stream *stream, uint8_t *out, size_t room)
{
    size_t got = 0;
    int result = SSL_read_early_data(stream->ssl, out, room, &got);
    if (result == SSL_READ_EARLY_DATA_ERROR)
        return tls_stream_judge(stream, 0);
    stream->is_early = result == SSL_READ_EARLY_DATA_SUCCESS;
    stream->has_early |= got > 0;
    stream->early_bytes += got;
    return (ssize_t)got;
}

int tls_stream_shake(struct tls_stream *stream)
{
    ERR_clear_error();
    int result = SSL_do_handshake(stream->ssl);
    if (result != 1)
        return (int)tls_stream_judge(stream, result);
    stream->status = TLS_OPEN;
    return 1;
}

ssize_t tls_stream_read(struct tls_stream *stream, uint8_t *out, size_t room)
{
    size_t got = 0;
    if (stream->status == TLS_ENDED || stream->status == TLS_BROKEN)
        return -1;
    ERR_clear_error();
    if (stream->is_early) {
        ssize_t early = read_early(stream, out, room);
        if (early || stream->is_early)
            return early;
    }
    int result = SSL_read_ex(stream->ssl, out, room, &got);
    if (stream->status == TLS_SHAKING && SSL_is_init_finished(stream->ssl))
        stream->status = TLS_OPEN;
    return result ? (ssize_t)got : tls_stream_judge(stream, result);
}

/* Returns the bytes of the first message with its length, or all bytes if no message is complete.
 */
static size_t first_message(struct span bytes)
{
    size_t len = bytes.len < 2 ? bytes.len : 2 + (size_t)get_u16(bytes.data);
    return MIN(len, bytes.len);
}

static bool write_record(struct tls_stream *stream, struct span bytes)
{
    size_t written = 0;
    ERR_clear_error();
    int result = stream->role == TLS_SERVER && !SSL_is_init_finished(stream->ssl)
                     ? SSL_write_early_data(stream->ssl, bytes.data, bytes.len, &written)
                     : SSL_write_ex(stream->ssl, bytes.data, bytes.len, &written);
    if (result && written == bytes.len)
        return true;
    explain(stream);
    return false;
}

bool tls_stream_write(struct tls_stream *stream, struct span bytes)
{
    struct span message;
    if (stream->status == TLS_BROKEN)
        return false;
    while (bytes.len > 0)
        if (!span_take(&bytes, first_message(bytes), &message) || !write_record(stream, message))
            return false;
    return true;
}

size_t tls_stream_early_room(const struct tls_stream *stream)
{
    SSL_SESSION *session = SSL_get0_session(stream->ssl);
    return session && stream->role == TLS_CLIENT ? SSL_SESSION_get_max_early_data(session) : 0;
}

bool tls_stream_write_early(struct tls_stream *stream, struct span bytes)
{
    size_t written = 0;
    if (bytes.len == 0 || bytes.len > tls_stream_early_room(stream))
        return false;
    ERR_clear_error();
    stream->has_early = SSL_write_early_data(stream->ssl, bytes.data, bytes.len, &written) == 1;
    ERR_clear_error();
    return stream->has_early;
}

bool tls_stream_early_accepted(const struct tls_stream *stream)
{
    return SSL_get_early_data_status(stream->ssl) == SSL_EARLY_DATA_ACCEPTED;
}

void tls_stream_notify_close(struct tls_stream *stream)
{
    ERR_clear_error();
    if (SSL_is_init_finished(stream->ssl) && stream->status != TLS_BROKEN)
        SSL_shutdown(stream->ssl);
    ERR_clear_error();
}

void tls_stream_renew(struct tls_stream *stream)
{
    if (stream->status != TLS_OPEN)
        return;
    ERR_clear_error();
    if (tls_stream_version(stream) >= 13)
        SSL_key_update(stream->ssl, SSL_KEY_UPDATE_REQUESTED);
    else
        SSL_renegotiate(stream->ssl);
    SSL_do_handshake(stream->ssl);
    ERR_clear_error();
}

int tls_stream_version(const struct tls_stream *stream)
{
    return SSL_version(stream->ssl) - TLS1_VERSION + 10;
}

bool tls_stream_is_resumed(const struct tls_stream *stream)
{
    return SSL_session_reused(stream->ssl);
}

void tls_stream_alpn(const struct tls_stream *stream, char out[TLS_TEXT_MAX])
{
    const unsigned char *name = NULL;
    unsigned len = 0;
    SSL_get0_alpn_selected(stream->ssl, &name, &len);
    len = MIN(len, TLS_TEXT_MAX - 1);
    if (len)
        memcpy(out, name, len);
    out[len] = '\0';
}

const char *tls_stream_sni(const struct tls_stream *stream)
{
    const char *name = SSL_get_servername(stream->ssl, TLSEXT_NAMETYPE_host_name);
    return name ? name : "";
}

const char *tls_stream_cipher(const struct tls_stream *stream)
{
    return SSL_get_cipher_name(stream->ssl);
}

const char *tls_alert_text(int alert)
{
    return alert < 0 ? "" : SSL_alert_desc_string_long(alert);
}
