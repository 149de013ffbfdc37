/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The life of a TLS connection (tls.h) around one SSL object. Whom to trust is decided in
 * tls_verify.c, what is spoken in tls_context.c, what becomes of tickets in tls_resume.c.
 *
 * Invariant: OpenSSL sees the bytes of a tls_receive() only during it, and has taken all of them
 * when it wants more; what it writes is in pipe.out when its function returns. Each call is
 * preceded by forget_errors(): an error that another connection of this thread left behind would
 * be taken for its own.
 */
#include "tls/tls.h"

#include <openssl/err.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/framing.h"
#include "tls/tls_alpn.h"
#include "tls/tls_errors.h"
#include "tls/tls_inside.h"
#include "tls/tls_key_updates.h"
#include "tls/tls_resume.h"
#include "tls/tls_verify.h"

/* Errors of the thread. ERR_clear_error() looks through all of its slots even if none is used,
 * which is a tenth of sealing a query. */
static void forget_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

/* While several records are sealed or opened in a row, OpenSSL keeps its buffer: taking and freeing
 * 16 KiB for each record is a tenth of the work. */
static void keep_buffers(struct tls *tls)
{
    SSL_clear_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
}

/* OpenSSL frees a buffer as soon as a record leaves it empty. */
static void release_buffers(struct tls *tls)
{
    SSL_set_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
}

/* ---------------------------------------------------------------- beginning and end */

static struct tls *tls_new(struct tls_context *context, bool is_client)
{
    struct tls *tls = calloc(1, sizeof(*tls));
    BIO *bio;

    if (!tls)
        return NULL;
    forget_errors();
    buf_init(&tls->pipe.out, TLS_WIRE_MAX);
    tls->is_client = is_client;
    tls->state = is_client ? TLS_NEW : TLS_SHAKING;
    tls->detail = "";
    tls->ssl = SSL_new(context->ctx);
    bio = tls->ssl ? tls_bio_new(&tls->pipe) : NULL;
    if (!bio) {
        tls_free(&tls);
        return NULL;
    }
    SSL_set_bio(tls->ssl, bio, bio);
    SSL_set_app_data(tls->ssl, tls);
    return tls;
}

struct tls *tls_client(struct tls_context *context, const struct tls_peer *peer)
{
    struct tls *tls = tls_new(context, true);

    if (!tls)
        return NULL;
    tls->peer = *peer;
    SSL_set_connect_state(tls->ssl);
    tls_alpn_watch(tls->ssl);
    if (!tls_verify_prepare(tls)) {
        tls_free(&tls);
        return NULL;
    }
    tls_resume_prepare(tls);
    return tls;
}

struct tls *tls_server(struct tls_context *context)
{
    struct tls *tls = tls_new(context, false);

    if (tls)
        SSL_set_accept_state(tls->ssl);
    return tls;
}

static void forget_early(struct tls *tls)
{
    free(tls->early);
    tls->early = NULL;
    tls->early_len = 0;
}

static void ssl_free(struct tls *tls)
{
    if (tls->state == TLS_NEW)
        tls_resume_unused(tls);
    /* Else the session counts as broken off, and its tickets as not resumable. */
    SSL_set_shutdown(tls->ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(tls->ssl);
}

void tls_free(struct tls **tls)
{
    if (!*tls)
        return;
    if ((*tls)->ssl)
        ssl_free(*tls);
    forget_early(*tls);
    buf_deinit(&(*tls)->pipe.out);
    free(*tls);
    *tls = NULL;
}

/* ---------------------------------------------------------------- errors */

static enum err break_with(struct tls *tls, enum err err, const char *detail)
{
    tls->state = TLS_BROKEN;
    tls->err = err;
    tls->detail = detail ? detail : "";
    forget_early(tls);
    return err;
}

/* After a call of OpenSSL that wants no more bytes: what it failed with. */
static enum err on_error(struct tls *tls, int result)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(code);

    if (tls->state == TLS_SHAKING)
        tls_resume_failed(tls);
    if (tls->pipe.err)
        return break_with(tls, tls->pipe.err, "");
    if (tls->state == TLS_SHAKING && tls->err)
        return break_with(tls, tls->err, tls->detail);
    if (SSL_get_error(tls->ssl, result) == SSL_ERROR_ZERO_RETURN)
        return break_with(tls, ERR_TLS_CLOSED, "close notify");
    return break_with(tls, tls_errors_of(tls, code), reason);
}

static bool wants_more(const struct tls *tls, int result)
{
    return !tls->pipe.err && SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ;
}

/* ---------------------------------------------------------------- handshake */

/* Early data that the server did not take goes first. */
static enum err settle_early(struct tls *tls)
{
    enum err err = ERR_OK;

    if (tls->early_len > 0 && SSL_get_early_data_status(tls->ssl) != SSL_EARLY_DATA_ACCEPTED)
        err = tls_send_messages(tls, span_of(tls->early, tls->early_len));
    forget_early(tls);
    return err;
}

/* The handshake is done; the last of the checks that make the connection fit for use. */
static enum err on_shaken(struct tls *tls)
{
    if (!tls_alpn_is_ours(tls->ssl)) {
        SSL_shutdown(tls->ssl);
        return break_with(tls, ERR_TLS_ALPN, "");
    }
    if (!tls->is_client) {
        tls->state = TLS_SECURED;
        return ERR_OK;
    }
    tls_resume_shaken(tls);
    /* There is no way here without tls_on_certificate() or a ticket that suits; this keeps it so
     * should OpenSSL ever know one. */
    if (!tls->authenticated && tls->peer.options->profile == TLS_STRICT)
        return break_with(tls, ERR_TLS_UNTRUSTED, "");
    tls->state = TLS_SECURED;
    return settle_early(tls);
}

static enum err shake(struct tls *tls)
{
    forget_errors();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return on_shaken(tls);
    return wants_more(tls, result) ? ERR_OK : on_error(tls, result);
}

size_t tls_early_max(const struct tls *tls)
{
    if (tls->state != TLS_NEW || !tls->peer.options->early_data || !tls_resume_seals_early(tls))
        return 0;
    return SSL_SESSION_get_max_early_data(SSL_get_session(tls->ssl));
}

static bool keep_early(struct tls *tls, struct span early)
{
    tls->early = malloc(early.len);
    if (!tls->early)
        return false;
    memcpy(tls->early, early.data, early.len);
    tls->early_len = early.len;
    return true;
}

static enum err send_early(struct tls *tls)
{
    struct span early = span_of(tls->early, tls->early_len), message;
    size_t written;

    while (span_take(&early, framing_first(early), &message) && message.len > 0) {
        forget_errors();
        int result = SSL_write_early_data(tls->ssl, message.data, message.len, &written);
        if (result != 1)
            return on_error(tls, result);
    }
    if (tls_resume_seals_early(tls))
        return ERR_OK;
    buf_clear(&tls->pipe.out); /* the clock was set just now; nobody has seen it yet */
    return break_with(tls, ERR_TLS_FAILED, "the clock was set");
}

/* A ticket that ended since the caller asked how much: what was to be early goes as if the server
 * had not taken it. */
enum err tls_begin(struct tls *tls, struct span early)
{
    size_t max = tls_early_max(tls);

    if (tls->state != TLS_NEW)
        return ERR_OK;
    tls->state = TLS_SHAKING;
    if (early.len > 0 && !keep_early(tls, early))
        return break_with(tls, ERR_NO_MEMORY, "");
    return early.len > 0 && early.len <= max ? send_early(tls) : shake(tls);
}

/* ---------------------------------------------------------------- receiving */

/* One record's plain text at most. On the stack: it is needed for this call alone, and a reader
 * that has another connection receive must not find it overwritten. */
enum { PLAIN_MAX = 16 * 1024 };

/* For each message of a handshake, tickets among them, OpenSSL makes room to write, and keeps it
 * until something is written: 16 KiB of every idle connection. Only between two records ("RH": a
 * header is next), as the begin of one is kept in there; SSL_free_buffers() sees to half headers.
 */
static void release_room(struct tls *tls)
{
    if (strcmp(SSL_rstate_string(tls->ssl), "RH") == 0)
        SSL_free_buffers(tls->ssl);
}

/* No plain text came of a read: no more is there, or none will come. */
static enum err on_no_plain(struct tls *tls, int result, bool was_handshake)
{
    if (tls_key_updates_are_too_many(tls))
        return break_with(tls, ERR_TLS_FAILED, "too many key updates");
    if (wants_more(tls, result)) {
        if (was_handshake)
            release_room(tls);
        return ERR_OK;
    }
    if (SSL_get_error(tls->ssl, result) != SSL_ERROR_ZERO_RETURN)
        return on_error(tls, result);
    tls->state = TLS_PEER_CLOSED;
    return ERR_PEER_CLOSED;
}

/* What the reader wants after one of its calls, in which it may have broken the connection. */
static enum err after_reader(struct tls *tls, bool goes_on)
{
    tls->is_deaf = !goes_on;
    return tls->state == TLS_BROKEN ? tls->err : ERR_OK;
}

static enum err read_records(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    uint8_t plain[PLAIN_MAX];
    size_t len;

    for (bool is_first = true;; is_first = false) {
        forget_errors();
        int result = SSL_read_ex(tls->ssl, plain, sizeof(plain), &len);
        if (result != 1)
            return on_no_plain(tls, result, is_first);
        tls->plain_len += len;
        enum err err = after_reader(tls, reader->on_plain(owner, span_of(plain, len)));
        if (err || tls->is_deaf)
            return err;
        /* OpenSSL takes whole records and no byte more: asking for another costs as much. */
        if (tls->pipe.in.len == 0 && SSL_pending(tls->ssl) == 0)
            return ERR_OK;
    }
}

static enum err read_plain(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    keep_buffers(tls);
    enum err err = read_records(tls, reader, owner);
    release_buffers(tls);
    release_room(tls);
    return err;
}

static enum err receive_securely(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    enum err err = shake(tls);

    if (err || tls->state != TLS_SECURED)
        return err;
    if (reader->on_secured)
        err = after_reader(tls, reader->on_secured(owner));
    return err || tls->is_deaf ? err : read_plain(tls, reader, owner);
}

static enum err tls_receive_wire(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    switch (tls->state) {
    case TLS_NEW:
    case TLS_SHAKING:
        tls->state = TLS_SHAKING;
        tls_errors_note(tls, tls->pipe.in);
        return receive_securely(tls, reader, owner);
    case TLS_SECURED:
        return tls->is_deaf ? ERR_OK : read_plain(tls, reader, owner);
    case TLS_PEER_CLOSED:
        return ERR_PEER_CLOSED;
    case TLS_BROKEN:
        break;
    }
    return tls->err;
}

enum err tls_receive(struct tls *tls, struct span wire, const struct tls_reader *reader,
                     void *owner)
{
    tls->pipe.in = wire;
    enum err err = tls_receive_wire(tls, reader, owner);
    tls->pipe.in = span_of(NULL, 0);
    return err;
}

/* ---------------------------------------------------------------- sending */

enum err tls_send_messages(struct tls *tls, struct span messages)
{
    struct span message;
    enum err err = ERR_OK;

    keep_buffers(tls);
    while (!err && span_take(&messages, framing_first(messages), &message) && message.len > 0) {
        if (messages.len == 0)
            release_buffers(tls); /* after this record */
        err = tls_send(tls, message);
    }
    release_buffers(tls);
    return err;
}

enum err tls_send(struct tls *tls, struct span plain)
{
    size_t written;

    if (!tls_is_secured(tls) || tls->is_ended)
        return ERR_CLOSED;
    if (plain.len == 0)
        return ERR_OK;
    forget_errors();
    int result = SSL_write_ex(tls->ssl, plain.data, plain.len, &written);
    return result == 1 ? ERR_OK : on_error(tls, result);
}

void tls_end(struct tls *tls)
{
    if (!tls_is_secured(tls) || tls->is_ended)
        return;
    tls->is_ended = true;
    forget_errors();
    SSL_shutdown(tls->ssl);
}

/* ---------------------------------------------------------------- questions */

struct buf *tls_wire(struct tls *tls)
{
    return &tls->pipe.out;
}

size_t tls_held_bytes(const struct tls *tls)
{
    return tls->pipe.out.cap + (tls_is_secured(tls) ? TLS_SECURED_BYTES : TLS_HANDSHAKE_BYTES);
}

bool tls_is_secured(const struct tls *tls)
{
    return tls->state == TLS_SECURED || tls->state == TLS_PEER_CLOSED;
}

struct tls_facts tls_facts(const struct tls *tls)
{
    const SSL_CIPHER *cipher = SSL_get_current_cipher(tls->ssl);

    return (struct tls_facts){
        .version = cipher ? SSL_get_version(tls->ssl) : "",
        .cipher = cipher ? SSL_CIPHER_get_name(cipher) : "",
        .resumed = tls_is_secured(tls) && SSL_session_reused(tls->ssl),
        .authenticated = tls_is_secured(tls) && tls->authenticated,
        .early_accepted = SSL_get_early_data_status(tls->ssl) == SSL_EARLY_DATA_ACCEPTED,
    };
}

const char *tls_detail(const struct tls *tls)
{
    return tls->state == TLS_BROKEN ? tls->detail : "";
}
