/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * One TLS end on the far side of a fake connection (fake_tls.h): OpenSSL over two memory BIOs,
 * driven by the bytes that arrive.
 *
 * Invariant: after each entry OpenSSL's output has been sent, or dropped by a configured trouble. A
 * stopped end only notes arrivals.
 */

#include <stdlib.h>
#include <string.h>

#include <openssl/err.h>
#include <openssl/x509.h>

#include "base/check.h"
#include "support/fake_tls_inside.h"

enum { PLAIN_MAX = 16384, QUEUE_MAX = 1 << 28, HANDSHAKE_RECORD = 22, TLS_MAJOR = 3 };

/* ---------------------------------------------------------------- life */

struct fake_tls *fake_tls_new(struct fake_conn *conn, SSL_CTX *context,
                              const struct fake_tls_server *server,
                              const struct fake_tls_manner *manner)
{
    struct fake_tls *tls = calloc(1, sizeof(*tls));

    MUST(tls);
    tls->conn = conn;
    tls->server = server;
    tls->manner = *manner;
    tls->facts = (struct fake_tls_facts){.got_alert = -1, .sent_alert = -1, .error = ""};
    buf_init(&tls->early, QUEUE_MAX);
    buf_init(&tls->unsent, QUEUE_MAX);
    buf_init(&tls->raw, FAKE_TLS_RAW_MAX);
    tls->ssl = SSL_new(context);
    tls->in = BIO_new(BIO_s_mem());
    tls->out = BIO_new(BIO_s_mem());
    MUST(tls->ssl && tls->in && tls->out);
    SSL_set_bio(tls->ssl, tls->in, tls->out);
    SSL_set_app_data(tls->ssl, tls);
    if (server)
        SSL_set_accept_state(tls->ssl);
    else
        SSL_set_connect_state(tls->ssl);
    return tls;
}

void fake_tls_free(struct fake_tls *tls)
{
    if (!tls)
        return;
    SSL_free(tls->ssl);
    SSL_SESSION_free(tls->newest);
    buf_deinit(&tls->early);
    buf_deinit(&tls->unsent);
    buf_deinit(&tls->raw);
    free(tls);
}

void fake_tls_accept(struct fake_conn *conn)
{
    const struct fake_tls_server *server = conn->server->tls;

    if (!server)
        return;
    conn->tls = fake_tls_new(conn, server->context, server, &server->manner);
    conn->tls->reads_early = server->early == FAKE_EARLY_ACCEPT;
}

/* ---------------------------------------------------------------- out, and trouble */

static void stop(struct fake_tls *tls)
{
    tls->stopped = true;
    if (tls->manner.trouble == FAKE_TLS_FIN)
        fake_conn_raw_fin(tls->conn);
    if (tls->manner.trouble == FAKE_TLS_RST)
        fake_conn_reset(tls->conn);
}

static bool stops_midway(const struct fake_tls *tls)
{
    enum fake_tls_trouble trouble = tls->manner.trouble;
    return trouble == FAKE_TLS_STALL || trouble == FAKE_TLS_FIN || trouble == FAKE_TLS_RST;
}

/* Returns how many of len bytes may leave before the end stops. *stops_now: the end stops after
 * these bytes. */
static size_t allowance(struct fake_tls *tls, size_t len, bool *stops_now)
{
    const struct fake_tls_manner *manner = &tls->manner;
    size_t left = manner->after_bytes - MIN(manner->after_bytes, tls->sent_bytes);

    *stops_now = false;
    if (!stops_midway(tls))
        return len;
    if (manner->after_flights) {
        *stops_now = tls->sent_flights + 1 >= manner->after_flights;
        return len;
    }
    *stops_now = left <= len;
    return MIN(left, len);
}

static void send_flight(struct fake_tls *tls, struct span bytes, size_t piece_bytes,
                        uint64_t gap_us)
{
    uint64_t delay_us = tls->facts.finished ? 0 : tls->manner.delay_us;
    bool stops_now;
    size_t len = allowance(tls, bytes.len, &stops_now);

    fake_conn_raw_out(tls->conn, span_of(bytes.data, len), piece_bytes, gap_us, delay_us);
    tls->sent_bytes += len;
    tls->sent_flights++;
    if (stops_now)
        stop(tls);
}

void fake_tls_flush(struct fake_tls *tls, size_t piece_bytes, uint64_t gap_us)
{
    char *data;
    long len = BIO_get_mem_data(tls->out, &data);

    if (len <= 0)
        return;
    if (!tls->stopped)
        send_flight(tls, span_of(data, (size_t)len), piece_bytes, gap_us);
    (void)BIO_reset(tls->out);
}

static void flush(struct fake_tls *tls)
{
    fake_tls_flush(tls, tls->manner.piece_bytes, tls->manner.gap_us);
}

/* OpenSSL has reported an error: sends its alert, then a FIN. */
static void give_up(struct fake_tls *tls)
{
    const char *why = ERR_reason_error_string(ERR_peek_error());

    tls->facts.error = why ? why : "closed";
    ERR_clear_error();
    flush(tls);
    tls->stopped = true;
    fake_conn_raw_fin(tls->conn);
}

/* Handles a call of OpenSSL that did not succeed. */
static void check(struct fake_tls *tls, int result)
{
    int error = SSL_get_error(tls->ssl, result);

    if (error == SSL_ERROR_SSL || error == SSL_ERROR_SYSCALL)
        give_up(tls);
}

/* Sends the configured garbage in place of the first flight. False: none is configured. */
static bool says_something_else(struct fake_tls *tls)
{
    static const char garbage[] = "\x00\xff this is no record of TLS \x16\x03 nor is this \xff\x00";
    static const uint8_t dns[] = {0, 12, 0, 0, 0x81, 0x81, 0, 0, 0, 0, 0, 0, 0, 0};
    static const uint8_t alert[] = {21, 3, 3, 0, 2, SSL3_AL_FATAL, SSL_AD_HANDSHAKE_FAILURE};
    struct span words = {0};

    if (tls->manner.trouble == FAKE_TLS_GARBAGE)
        words = span_of(garbage, sizeof(garbage));
    if (tls->manner.trouble == FAKE_TLS_PLAIN)
        words = span_of(dns, sizeof(dns));
    if (tls->manner.trouble == FAKE_TLS_REFUSE)
        words = span_of(alert, sizeof(alert));
    if (words.len == 0)
        return false;
    fake_conn_raw_out(tls->conn, words, tls->manner.piece_bytes, tls->manner.gap_us,
                      tls->manner.delay_us);
    tls->stopped = true;
    if (tls->manner.trouble == FAKE_TLS_REFUSE)
        fake_conn_raw_fin(tls->conn);
    return true;
}

/* ---------------------------------------------------------------- sealing */

static bool takes_plain(const struct fake_tls *tls)
{
    return tls->facts.finished ||
           (tls->server && SSL_get_early_data_status(tls->ssl) == SSL_EARLY_DATA_ACCEPTED);
}

/* A server may answer early data before the handshake is done (RFC 8446 section 4.4.4). */
static int seal_record(struct fake_tls *tls, struct span piece, size_t *done)
{
    if (tls->facts.finished)
        return SSL_write_ex(tls->ssl, piece.data, piece.len, done);
    return SSL_write_early_data(tls->ssl, piece.data, piece.len, done);
}

static void seal(struct fake_tls *tls, struct span *plain)
{
    size_t most = tls->manner.record_bytes ? tls->manner.record_bytes : PLAIN_MAX, done;
    struct span piece;

    while (plain->len > 0 && !tls->stopped) {
        int result;
        ERR_clear_error();
        result = seal_record(tls, span_of(plain->data, MIN(most, plain->len)), &done);
        if (result != 1) {
            check(tls, result);
            return;
        }
        tls->facts.plain_out += done;
        MUST(span_take(plain, done, &piece));
    }
}

void fake_tls_send(struct fake_tls *tls, struct span plain, size_t piece_bytes, uint64_t gap_us)
{
    if (tls->stopped)
        return;
    if (takes_plain(tls) && buf_len(&tls->unsent) == 0)
        seal(tls, &plain);
    if (!tls->stopped && plain.len > 0)
        MUST(buf_append(&tls->unsent, plain.data, plain.len) == ERR_OK);
    if (piece_bytes)
        fake_tls_flush(tls, piece_bytes, gap_us);
    else
        flush(tls);
}

static void send_what_waited(struct fake_tls *tls)
{
    struct span plain = buf_span(&tls->unsent);

    if (!tls->facts.finished || tls->stopped || plain.len == 0)
        return;
    seal(tls, &plain);
    buf_consume(&tls->unsent, buf_len(&tls->unsent) - plain.len);
}

bool fake_tls_end(struct fake_tls *tls)
{
    if (tls->facts.finished && !tls->stopped && tls->manner.ending != FAKE_TLS_END_ABRUPT) {
        (void)SSL_shutdown(tls->ssl);
        flush(tls);
    }
    return tls->manner.ending != FAKE_TLS_END_NOTIFY;
}

/* ---------------------------------------------------------------- the handshake */

static void note_peer(struct fake_tls_facts *facts, X509 *peer)
{
    uint8_t *der = NULL;
    int len = i2d_X509_PUBKEY(X509_get_X509_PUBKEY(peer), &der);

    facts->has_certificate = true;
    MUST(len > 0);
    MUST(EVP_Digest(der, (size_t)len, facts->pin, NULL, EVP_sha256(), NULL) == 1);
    OPENSSL_free(der);
}

static void note_handshake(struct fake_tls *tls)
{
    struct fake_tls_facts *facts = &tls->facts;
    X509 *peer = SSL_get0_peer_certificate(tls->ssl);
    const uint8_t *alpn;
    unsigned len;

    facts->finished = true;
    facts->resumed = SSL_session_reused(tls->ssl);
    facts->version = (enum fake_tls_version)SSL_version(tls->ssl);
    facts->early_accepted = SSL_get_early_data_status(tls->ssl) == SSL_EARLY_DATA_ACCEPTED;
    SSL_get0_alpn_selected(tls->ssl, &alpn, &len);
    if (len > 0)
        /* an ALPN name has at most 255 bytes, so the last byte stays 0 */
        memcpy(facts->alpn, alpn, len);
    if (peer)
        note_peer(facts, peer);
}

/* Sends rejected early data again, before anything else. */
static void on_finished(struct fake_tls *tls)
{
    struct span early = buf_span(&tls->early);

    note_handshake(tls);
    if (!tls->facts.early_accepted)
        seal(tls, &early);
    buf_clear(&tls->early);
}

static void hand_out(struct fake_tls *tls, const uint8_t *bytes, size_t len, bool early)
{
    uint8_t *copy = malloc(len); /* a copy, so that ASan detects a use after the callback */

    MUST(copy);
    memcpy(copy, bytes, len);
    if (early)
        tls->facts.early_bytes += len;
    else
        tls->facts.plain_in += len;
    tls->in_early = early;
    fake_conn_plain_in(tls->conn, span_of(copy, len));
    tls->in_early = false;
    free(copy);
}

static void read_early(struct fake_tls *tls)
{
    uint8_t bytes[PLAIN_MAX];
    size_t len;

    while (tls->reads_early && !tls->stopped) {
        int result;
        ERR_clear_error();
        result = SSL_read_early_data(tls->ssl, bytes, sizeof(bytes), &len);
        if (result == SSL_READ_EARLY_DATA_ERROR) {
            check(tls, 0);
            return;
        }
        tls->reads_early = result == SSL_READ_EARLY_DATA_SUCCESS;
        if (len > 0)
            hand_out(tls, bytes, len, true);
    }
}

static void shake_hands(struct fake_tls *tls)
{
    int result;

    read_early(tls);
    if (tls->facts.finished || tls->reads_early || tls->stopped)
        return;
    ERR_clear_error();
    result = SSL_do_handshake(tls->ssl);
    if (result == 1)
        on_finished(tls);
    else
        check(tls, result);
}

static void open_records(struct fake_tls *tls)
{
    uint8_t bytes[PLAIN_MAX];
    size_t len;

    while (tls->facts.finished && !tls->stopped) {
        int result;
        ERR_clear_error();
        result = SSL_read_ex(tls->ssl, bytes, sizeof(bytes), &len);
        if (result != 1) {
            check(tls, result);
            return;
        }
        hand_out(tls, bytes, len, false);
    }
}

void fake_tls_go_on(struct fake_tls *tls)
{
    shake_hands(tls);
    flush(tls);
    open_records(tls);
    send_what_waited(tls);
    flush(tls);
}

void fake_tls_begin(struct fake_tls *tls, struct span early)
{
    size_t done;

    if (says_something_else(tls))
        return;
    if (early.len > 0)
        MUST(buf_append(&tls->early, early.data, early.len) == ERR_OK);
    if (early.len > 0 && early.len <= SSL_SESSION_get_max_early_data(SSL_get0_session(tls->ssl)))
        MUST(SSL_write_early_data(tls->ssl, early.data, early.len, &done) == 1);
    fake_tls_go_on(tls);
}

/* ---------------------------------------------------------------- receiving */

static void note_raw(struct fake_tls *tls, struct span wire)
{
    size_t len = buf_len(&tls->raw);

    if (len == 0 && wire.len > 0)
        tls->facts.plain_first =
            wire.data[0] != HANDSHAKE_RECORD || (wire.len > 1 && wire.data[1] != TLS_MAJOR);
    MUST(buf_append(&tls->raw, wire.data, MIN(wire.len, FAKE_TLS_RAW_MAX - len)) == ERR_OK);
}

void fake_tls_arrived(struct fake_tls *tls, struct span wire)
{
    note_raw(tls, wire);
    if (tls->stopped || (tls->server && says_something_else(tls)))
        return;
    MUST(BIO_write(tls->in, wire.data, (int)wire.len) == (int)wire.len);
    fake_tls_go_on(tls);
}
