/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A TLS connection (tls.h) around one SSL object: its handshake, its records, ALPN and the tickets
 * that it uses and receives. tls_verify.c decides about the peer's identity, tls_context.c about
 * versions and ciphers, tls_tickets.c keeps the tickets.
 *
 * A resumed handshake shows no certificate, so a ticket proves as much as the certificate that was
 * shown when the client received it. tls_verify_session() checks that certificate before the client
 * offers the ticket, and therefore before the ticket seals early data.
 *
 * Invariant: OpenSSL sees the bytes of a tls_receive() only during that call, and has taken all of
 * them when it wants more; its output is in pipe.out when its function returns. forget_errors()
 * precedes each run of calls without a callback between them: OpenSSL would blame this connection
 * for an error that another connection of this thread left in the queue.
 */
#include "tls/tls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/check.h"
#include "base/framing.h"
#include "base/transport.h"
#include "tls/tls_errors.h"
#include "tls/tls_tickets.h"
#include "tls/tls_verify.h"

enum tls_state {
    TLS_NEW, /* a client that has sent nothing yet */
    TLS_HANDSHAKING,
    TLS_SECURED,     /* both sides may send */
    TLS_PEER_CLOSED, /* close_notify came: we may still send */
    TLS_BROKEN,
};

/* OpenSSL reads and writes here instead of a socket. */
struct pipe {
    struct span in; /* borrowed; reads take from its front */
    struct buf out;
    enum err err; /* why a write failed: the bound of out, or memory */
};

struct tls {
    SSL *ssl; /* this struct is its app data */
    struct pipe pipe;
    enum tls_state state;
    bool is_client;
    enum transport transport;       /* has the protocol of ALPN */
    bool is_deaf;                   /* its reader wants no more */
    bool is_ended;                  /* our close_notify is sent */
    bool is_authenticated;          /* client: the peer has proved its identity */
    bool is_ticket_trusted;         /* the offered ticket would prove it too */
    bool has_offered;               /* client: the first flight offers a ticket */
    uint8_t first[TLS_FIRST_BYTES]; /* of the peer */
    uint8_t first_len;
    uint32_t key_updates; /* of the peer */
    uint64_t plain_len;   /* bytes of plain text from the peer */
    enum err err;         /* why it broke; during the handshake: why we refuse the peer */
    const char *detail;
    struct tls_peer peer; /* client */
    uint8_t *early;       /* client: a copy, until the server has accepted or rejected it */
    size_t early_len;
};

/* Clears the thread's error queue. ERR_clear_error() visits all slots even if none is used, which
 * costs a tenth of sealing a query. Even the look costs 200 instructions. */
static void forget_errors(void)
{
    if (ERR_peek_error())
        ERR_clear_error();
}

/* Makes OpenSSL keep its buffer over several records: allocating and freeing 16 KiB for each record
 * is a tenth of the work. */
static void keep_buffers(struct tls *tls)
{
    SSL_clear_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
}

/* Makes OpenSSL free its buffer as soon as a record leaves it empty. */
static void release_buffers(struct tls *tls)
{
    SSL_set_mode(tls->ssl, SSL_MODE_RELEASE_BUFFERS);
}

/* ---------------------------------------------------------------- bytes in and out */

static BIO_METHOD *pipe_method; /* one for the whole process */

static int pipe_on_read(BIO *bio, char *out, size_t max, size_t *len)
{
    struct pipe *pipe = BIO_get_data(bio);
    struct span part;

    BIO_clear_retry_flags(bio);
    *len = MIN(max, pipe->in.len);
    if (*len == 0) {
        BIO_set_retry_read(bio); /* only the reader of the socket knows of an end */
        return 0;
    }
    MUST(span_take(&pipe->in, *len, &part));
    memcpy(out, part.data, part.len);
    return 1;
}

static int pipe_on_write(BIO *bio, const char *data, size_t len, size_t *written)
{
    struct pipe *pipe = BIO_get_data(bio);
    enum err err = buf_append(&pipe->out, data, len);

    BIO_clear_retry_flags(bio);
    *written = err ? 0 : len;
    if (err)
        pipe->err = err;
    return !err;
}

static long pipe_on_control(BIO *bio, int command, long number, void *pointer)
{
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static void make_pipe_method(void)
{
    pipe_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "nailup pipe");
    if (!pipe_method)
        return;
    BIO_meth_set_read_ex(pipe_method, pipe_on_read);
    BIO_meth_set_write_ex(pipe_method, pipe_on_write);
    BIO_meth_set_ctrl(pipe_method, pipe_on_control);
}

static BIO *pipe_bio(struct pipe *pipe)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_pipe_method);
    BIO *bio = pipe_method ? BIO_new(pipe_method) : NULL;
    if (!bio)
        return NULL;
    BIO_set_data(bio, pipe);
    BIO_set_init(bio, 1);
    return bio;
}

/* ---------------------------------------------------------------- ALPN
 *
 * The protocol is that of the transport (RFC 7301), "dot" for DNS over TLS (RFC 7858 section 3.1)
 * and "h2" for DNS over HTTPS (RFC 9113 section 3.2), or the peers negotiate none. Newer
 * versions of OpenSSL refuse a protocol that the client did not offer, but report it as any other
 * bad extension; older versions accept it. So a client checks the extension itself, and the result
 * after the handshake. */

/* Returns the list of one protocol, which its length precedes. */
static struct span alpn_offer(enum transport transport)
{
    const char *alpn = transport_alpn(transport);
    return span_of(alpn, strlen(alpn));
}

/* A server's answer has the length of the list in front, in two bytes. */
static bool is_expected_alpn(struct span answer)
{
    uint16_t len;
    return span_take_u16(&answer, &len) && len == answer.len &&
           span_equal(answer, alpn_offer(TRANSPORT_TLS));
}

static void tls_on_extension(SSL *ssl, int from_server, int type, const unsigned char *data,
                             int len, void *unused)
{
    struct tls *tls = SSL_get_app_data(ssl);

    (void)from_server, (void)unused;
    if (type != TLSEXT_TYPE_application_layer_protocol_negotiation)
        return;
    if (!is_expected_alpn(span_of(data, (size_t)len)))
        tls->err = ERR_TLS_ALPN;
}

/* OpenSSL calls this only for clients that offer protocols. */
static int tls_on_alpn_offer(SSL *ssl, const unsigned char **out, unsigned char *out_len,
                             const unsigned char *offered, unsigned offered_len, void *unused)
{
    const struct tls *tls = SSL_get_app_data(ssl);
    struct span ours = alpn_offer(tls->transport);
    unsigned char *chosen;
    int result = SSL_select_next_proto(&chosen, out_len, ours.data, (unsigned)ours.len, offered,
                                       offered_len);

    (void)unused;
    *out = chosen;
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

/* The protocol of the transport was negotiated, or none at all. */
static bool is_alpn_ours(const SSL *ssl)
{
    const struct tls *tls = SSL_get_app_data(ssl);
    struct span ours = alpn_offer(tls->transport);
    const unsigned char *name;
    unsigned len;

    SSL_get0_alpn_selected(ssl, &name, &len);
    return len == 0 || (len == ours.data[0] && memcmp(name, ours.data + 1, len) == 0);
}

/* ---------------------------------------------------------------- tickets of a client */

static int64_t wall_clock_s(void)
{
    return (int64_t)time(NULL);
}

/* Whether the client may offer the ticket of its session. The opportunistic profile allows any. */
static bool may_offer(struct tls *tls)
{
    enum err err = tls_verify_session(tls->ssl, &tls->peer, wall_clock_s());

    tls->is_ticket_trusted = err == ERR_OK;
    return !err || tls->peer.options->profile == TLS_OPPORTUNISTIC;
}

/* Takes the newest suitable ticket for the handshake to offer, and drops unsuitable ones (such as
 * one whose certificate has expired). If none is left, the full handshake reports what is wrong. */
static void take_ticket(struct tls *tls)
{
    SSL_SESSION *session;

    while (tls->peer.tickets && (session = tls_rack_take(tls->peer.tickets, wall_clock_s()))) {
        bool is_set = SSL_set_session(tls->ssl, session) == 1;
        SSL_SESSION_free(session);
        tls->has_offered = is_set && may_offer(tls);
        if (tls->has_offered)
            return;
        SSL_set_session(tls->ssl, NULL);
    }
}

/* Whether OpenSSL offers the ticket at its present age. It does not if the clock was set back, or
 * if the dial outlasted the ticket, but it still announces early data. It then has no secret to
 * seal the data with and uses zeros, so that everybody can open it. */
static bool can_seal_early(const struct tls *tls)
{
    const SSL_SESSION *ticket = SSL_get_session(tls->ssl);
    int64_t age_s;

    return ticket && SSL_SESSION_has_ticket(ticket) &&
           !__builtin_sub_overflow(wall_clock_s(), tls_tickets_given_at(ticket), &age_s) &&
           age_s >= 0 && (uint64_t)age_s <= SSL_SESSION_get_ticket_lifetime_hint(ticket);
}

/* After a failed handshake that offered a ticket. The server may be unable to handle this ticket
 * (RFC 8446 appendix D.3: early data to a server that went back to TLS 1.2), and a client need not
 * try each ticket. */
static void drop_tickets(struct tls *tls)
{
    SSL_SESSION *session;

    while (tls->has_offered && (session = tls_rack_take(tls->peer.tickets, wall_clock_s())))
        SSL_SESSION_free(session);
}

/* Gives the ticket of a client that sent nothing back: another connection may use it. */
static void give_ticket_back(struct tls *tls)
{
    SSL_SESSION *session = tls->peer.tickets ? SSL_get1_session(tls->ssl) : NULL;

    if (session)
        tls_rack_put(tls->peer.tickets, session);
}

static void keep_ticket(struct tls *tls, SSL_SESSION *session)
{
    if (!tls->peer.tickets)
        return;
    SSL_SESSION_up_ref(session);
    tls_rack_put(tls->peer.tickets, session);
}

/* Frees the certificates above the peer's own, which are no longer needed: some kilobytes per
 * connection, and as much in each ticket that is copied from its session. */
static void drop_chain(struct tls *tls)
{
    STACK_OF(X509) *chain = SSL_get_peer_cert_chain(tls->ssl);

    while (chain && sk_X509_num(chain) > 1)
        X509_free(sk_X509_pop(chain));
}

static int tls_on_ticket(SSL *ssl, SSL_SESSION *session)
{
    struct tls *tls = SSL_get_app_data(ssl);

    drop_chain(tls);
    if (is_alpn_ours(ssl))
        keep_ticket(tls, session);
    return 0; /* OpenSSL keeps its reference */
}

/* TLS 1.2 tickets allow more than one use, and OpenSSL reports only those of a full handshake. */
static void keep_tls12_ticket(struct tls *tls)
{
    if (SSL_session_reused(tls->ssl) && SSL_version(tls->ssl) == TLS1_2_VERSION)
        keep_ticket(tls, SSL_get_session(tls->ssl));
}

/* ---------------------------------------------------------------- callbacks of a context */

static int tls_on_certificate(X509_STORE_CTX *store, void *unused)
{
    SSL *ssl = X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx());
    struct tls *tls = SSL_get_app_data(ssl);

    (void)unused;
    enum err err = tls_verify_shown(tls->peer.options, store, &tls->detail);
    tls->is_authenticated = err == ERR_OK;
    /* Drops it, because each of thousands of connections would keep it. */
    X509_STORE_CTX_set0_verified_chain(store, NULL);
    if (tls->peer.options->profile == TLS_OPPORTUNISTIC)
        return 1;
    tls->err = err;
    return err == ERR_OK;
}

static bool has_too_many_key_updates(const struct tls *tls)
{
    return tls->key_updates > TLS_KEY_UPDATES_MAX + tls->plain_len / TLS_KEY_UPDATE_BYTES;
}

/* Counts key updates. An update ends with its record, so after one too many this can withhold the
 * remaining bytes from OpenSSL. */
static void tls_on_message(int is_written, int version, int type, const void *bytes, size_t len,
                           SSL *ssl, void *unused)
{
    const uint8_t *message = bytes;

    (void)version, (void)unused;
    if (is_written || type != SSL3_RT_HANDSHAKE || len == 0 || message[0] != SSL3_MT_KEY_UPDATE)
        return;
    struct tls *tls = SSL_get_app_data(ssl);
    tls->key_updates++;
    if (has_too_many_key_updates(tls))
        tls->pipe.in = span_of(NULL, 0);
}

bool tls_install(SSL_CTX *ctx, bool is_client)
{
    SSL_CTX_set_msg_callback(ctx, tls_on_message);
    if (!is_client) {
        SSL_CTX_set_alpn_select_cb(ctx, tls_on_alpn_offer, NULL);
        return true;
    }
    /* The opportunistic profile needs this too: tls_on_certificate() lets its peers pass. */
    SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(ctx, tls_on_certificate, NULL);
    SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
    SSL_CTX_sess_set_new_cb(ctx, tls_on_ticket);
    struct span ours = alpn_offer(TRANSPORT_TLS);
    return SSL_CTX_set_alpn_protos(ctx, ours.data, (unsigned)ours.len) == 0;
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
    tls->transport = TRANSPORT_TLS;
    tls->state = is_client ? TLS_NEW : TLS_HANDSHAKING;
    tls->detail = "";
    tls->ssl = SSL_new(context->ctx);
    bio = tls->ssl && SSL_set_app_data(tls->ssl, tls) ? pipe_bio(&tls->pipe) : NULL;
    if (!bio) {
        tls_free(&tls);
        return NULL;
    }
    SSL_set_bio(tls->ssl, bio, bio);
    return tls;
}

struct tls *tls_client(struct tls_context *context, const struct tls_peer *peer)
{
    struct tls *tls = tls_new(context, true);

    if (!tls)
        return NULL;
    tls->peer = *peer;
    SSL_set_connect_state(tls->ssl);
    SSL_set_tlsext_debug_callback(tls->ssl, tls_on_extension);
    if (!tls_verify_prepare(tls->ssl, &tls->peer)) {
        tls_free(&tls);
        return NULL;
    }
    take_ticket(tls);
    return tls;
}

struct tls *tls_server(struct tls_context *context)
{
    struct tls *tls = tls_new(context, false);

    if (tls)
        SSL_set_accept_state(tls->ssl);
    return tls;
}

void tls_set_transport(struct tls *tls, enum transport transport)
{
    tls->transport = transport;
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
        give_ticket_back(tls);
    /* Otherwise OpenSSL treats the connection as broken and its tickets as not resumable. */
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

/* Breaks the connection with the error of a call that wants no more bytes. */
static enum err tls_on_error(struct tls *tls, int result)
{
    unsigned long code = ERR_peek_last_error();
    const char *reason = ERR_reason_error_string(code);

    if (tls->state == TLS_HANDSHAKING)
        drop_tickets(tls);
    if (tls->pipe.err)
        return break_with(tls, tls->pipe.err, "");
    if (tls->state == TLS_HANDSHAKING && tls->err)
        return break_with(tls, tls->err, tls->detail);
    if (SSL_get_error(tls->ssl, result) == SSL_ERROR_ZERO_RETURN)
        return break_with(tls, ERR_TLS_CLOSED, "close notify");
    return break_with(tls, tls_errors_of(code, span_of(tls->first, tls->first_len)), reason);
}

static bool wants_more(const struct tls *tls, int result)
{
    return !tls->pipe.err && SSL_get_error(tls->ssl, result) == SSL_ERROR_WANT_READ;
}

/* ---------------------------------------------------------------- handshake */

/* Sends the early data that the server rejected, ahead of everything else. */
static enum err resend_early(struct tls *tls)
{
    enum err err = ERR_OK;

    if (tls->early_len > 0 && SSL_get_early_data_status(tls->ssl) != SSL_EARLY_DATA_ACCEPTED)
        err = tls_send_messages(tls, span_of(tls->early, tls->early_len));
    forget_early(tls);
    return err;
}

/* The handshake is complete: runs the last checks before the connection may be used. */
static enum err tls_on_handshake(struct tls *tls)
{
    if (!is_alpn_ours(tls->ssl)) {
        SSL_shutdown(tls->ssl);
        return break_with(tls, ERR_TLS_ALPN, "");
    }
    if (!tls->is_client) {
        tls->state = TLS_SECURED;
        return ERR_OK;
    }
    if (SSL_session_reused(tls->ssl))
        tls->is_authenticated = tls->is_ticket_trusted;
    drop_chain(tls);
    keep_tls12_ticket(tls);
    /* Only tls_on_certificate() or a suitable ticket leads here. This check holds even if OpenSSL
     * should ever find another way. */
    if (!tls->is_authenticated && tls->peer.options->profile == TLS_STRICT)
        return break_with(tls, ERR_TLS_UNTRUSTED, "");
    tls->state = TLS_SECURED;
    return resend_early(tls);
}

static enum err handshake(struct tls *tls)
{
    forget_errors();
    int result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        return tls_on_handshake(tls);
    return wants_more(tls, result) ? ERR_OK : tls_on_error(tls, result);
}

size_t tls_early_max(const struct tls *tls)
{
    if (tls->state != TLS_NEW || !tls->peer.options->early_data || !can_seal_early(tls))
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
            return tls_on_error(tls, result);
    }
    if (can_seal_early(tls))
        return ERR_OK;
    buf_clear(&tls->pipe.out); /* the clock was set just now; no byte has left yet */
    return break_with(tls, ERR_TLS_FAILED, "the clock was set");
}

/* If the ticket expired after the caller asked for tls_early_max(), the early data is sent as if
 * the server had rejected it. */
enum err tls_begin(struct tls *tls, struct span early)
{
    size_t max = tls_early_max(tls);

    if (tls->state != TLS_NEW)
        return ERR_OK;
    tls->state = TLS_HANDSHAKING;
    if (early.len > 0 && !keep_early(tls, early))
        return break_with(tls, ERR_NO_MEMORY, "");
    return early.len > 0 && early.len <= max ? send_early(tls) : handshake(tls);
}

/* ---------------------------------------------------------------- receiving */

enum {
    /* On the stack, because a reader may make another connection receive, which must not overwrite
     * it. Holds the plain text of any record. */
    PLAIN_MAX = 16 * 1024,
    /* If less room is left, the reader first gets the records that are already open, because a
     * message that is split must be copied. */
    PLAIN_ROOM = 2 * 1024,
};

/* OpenSSL allocates room to write for each handshake message, including tickets, and keeps it until
 * the next write: 16 KiB of every idle connection. Frees it between two records only ("RH": a
 * header is next), because the buffer keeps the beginning of a record; SSL_free_buffers() itself
 * respects a partial header. */
static void release_write_room(struct tls *tls)
{
    if (strcmp(SSL_rstate_string(tls->ssl), "RH") == 0)
        SSL_free_buffers(tls->ssl);
}

/* The last read brought no plain text: decides whether more may come. */
static enum err tls_on_no_plain(struct tls *tls, int result)
{
    if (has_too_many_key_updates(tls))
        return break_with(tls, ERR_TLS_FAILED, "too many key updates");
    if (wants_more(tls, result))
        return ERR_OK;
    if (SSL_get_error(tls->ssl, result) != SSL_ERROR_ZERO_RETURN)
        return tls_on_error(tls, result);
    tls->state = TLS_PEER_CLOSED;
    return ERR_PEER_CLOSED;
}

/* After a call of the reader, which may have broken the connection. */
static enum err after_reader(struct tls *tls, bool goes_on)
{
    tls->is_deaf = !goes_on;
    return tls->state == TLS_BROKEN ? tls->err : ERR_OK;
}

/* Opens the records that are there, one after the other, and returns the length of their plain
 * text. Judges the end of the bytes at once: the reader's calls would change OpenSSL's errors. */
static size_t open_records(struct tls *tls, uint8_t plain[PLAIN_MAX], enum err *end)
{
    size_t len = 0, part;

    *end = ERR_OK;
    forget_errors();
    do {
        int result = SSL_read_ex(tls->ssl, plain + len, PLAIN_MAX - len, &part);
        if (result != 1) {
            *end = tls_on_no_plain(tls, result);
            break;
        }
        len += part;
        tls->plain_len += part;
        /* OpenSSL takes whole records and no byte more: asking for another costs as much as
         * opening one. */
    } while (tls->pipe.in.len > 0 && PLAIN_MAX - len >= PLAIN_ROOM);
    return len;
}

static enum err read_records(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    uint8_t plain[PLAIN_MAX];
    enum err end;

    do {
        size_t len = open_records(tls, plain, &end);
        if (len == 0)
            return end;
        enum err err = after_reader(tls, reader->on_plain(owner, span_of(plain, len)));
        if (err || tls->is_deaf)
            return err;
    } while (!end && (tls->pipe.in.len > 0 || SSL_pending(tls->ssl) > 0));
    return end;
}

static enum err read_plain(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    keep_buffers(tls);
    enum err err = read_records(tls, reader, owner);
    release_buffers(tls);
    release_write_room(tls);
    return err;
}

/* Keeps the peer's first bytes, for tls_errors_of(). */
static void keep_first_bytes(struct tls *tls, struct span wire)
{
    while (tls->first_len < sizeof(tls->first) && span_take_u8(&wire, &tls->first[tls->first_len]))
        tls->first_len++;
}

static enum err receive_handshake(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    enum err err = handshake(tls);

    if (err || tls->state != TLS_SECURED)
        return err;
    if (reader->on_secured)
        err = after_reader(tls, reader->on_secured(owner));
    return err || tls->is_deaf ? err : read_plain(tls, reader, owner);
}

static enum err tls_receive_in_state(struct tls *tls, const struct tls_reader *reader, void *owner)
{
    switch (tls->state) {
    case TLS_NEW:
    case TLS_HANDSHAKING:
        tls->state = TLS_HANDSHAKING;
        keep_first_bytes(tls, tls->pipe.in);
        return receive_handshake(tls, reader, owner);
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
    enum err err = tls_receive_in_state(tls, reader, owner);
    tls->pipe.in = span_of(NULL, 0);
    return err;
}

/* ---------------------------------------------------------------- sending */

static bool may_send(const struct tls *tls)
{
    return tls_is_secured(tls) && !tls->is_ended;
}

/* Makes a record, or several if the text is longer than one. */
static enum err seal(struct tls *tls, struct span plain)
{
    size_t written;
    int result = SSL_write_ex(tls->ssl, plain.data, plain.len, &written);

    return result == 1 ? ERR_OK : tls_on_error(tls, result);
}

enum err tls_send_messages(struct tls *tls, struct span messages)
{
    struct span message;
    enum err err = may_send(tls) || messages.len == 0 ? ERR_OK : ERR_CLOSED;

    forget_errors();
    keep_buffers(tls);
    while (!err && span_take(&messages, framing_first(messages), &message) && message.len > 0) {
        if (messages.len == 0)
            release_buffers(tls); /* after this record */
        err = seal(tls, message);
    }
    release_buffers(tls);
    return err;
}

enum err tls_send(struct tls *tls, struct span plain)
{
    if (!may_send(tls))
        return ERR_CLOSED;
    if (plain.len == 0)
        return ERR_OK;
    forget_errors();
    return seal(tls, plain);
}

void tls_end(struct tls *tls)
{
    if (!tls_is_secured(tls) || tls->is_ended)
        return;
    tls->is_ended = true;
    forget_errors();
    SSL_shutdown(tls->ssl);
}

/* ---------------------------------------------------------------- state */

struct ssl_st *tls_ssl(const struct tls *tls)
{
    return tls->ssl;
}

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
        .authenticated = tls_is_secured(tls) && tls->is_authenticated,
        .early_accepted = SSL_get_early_data_status(tls->ssl) == SSL_EARLY_DATA_ACCEPTED,
        .key_updates = tls->key_updates,
    };
}

const char *tls_detail(const struct tls *tls)
{
    return tls->state == TLS_BROKEN ? tls->detail : "";
}
