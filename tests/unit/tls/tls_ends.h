/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_NET_TLS_ENDS_H
#define NAILUP_TESTS_UNIT_NET_TLS_ENDS_H

/* Two TLS ends joined in memory. Each is ours or a misbehaving one of OpenSSL. */

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/rand.h"
#include "support/tls_certs.h"
#include "tls/tls.h"
#include "tls/tls_context.h"

static inline struct span text_span(const char *text)
{
    return span_of(text, strlen(text));
}

enum { PLAIN_MAX = 1024 * 1024, ROUNDS_MAX = 100000 };

/* One of our ends, and what its reader received. */
struct end {
    struct tls *tls;
    struct buf plain; /* all plain text that it received */
    unsigned secured, pieces;
    bool stop_on_secured, stop_on_plain;
    enum err err; /* the first error */
};

static inline bool on_end_secured(void *owner)
{
    struct end *end = owner;
    MUST(tls_is_secured(end->tls));
    end->secured++;
    return !end->stop_on_secured;
}

static inline bool on_end_plain(void *owner, struct span bytes)
{
    struct end *end = owner;
    MUST(bytes.len > 0 && end->secured == 1);
    MUST(buf_append(&end->plain, bytes.data, bytes.len) == ERR_OK);
    end->pieces++;
    return !end->stop_on_plain;
}

static const struct tls_reader end_reader = {on_end_secured, on_end_plain};

static inline void end_init(struct end *end, struct tls *tls)
{
    MUST(tls);
    *end = (struct end){.tls = tls};
    buf_init(&end->plain, PLAIN_MAX);
}

static inline void end_deinit(struct end *end)
{
    if (end->tls)
        tls_free(&end->tls);
    buf_deinit(&end->plain);
}

/* Passes a separate copy, so that ASan detects a read beyond it. */
static inline void end_receive(struct end *end, struct span piece)
{
    uint8_t *copy = malloc(piece.len ? piece.len : 1);
    if (piece.len)
        memcpy(copy, piece.data, piece.len);
    enum err err = tls_receive(end->tls, span_of(copy, piece.len), &end_reader, end);
    free(copy);
    if (!end->err)
        end->err = err;
}

static inline void end_begin(struct end *end, struct span early)
{
    enum err err = tls_begin(end->tls, early);
    if (!end->err)
        end->err = err;
}

/* Returns how many of len bytes move in one piece. */
typedef size_t cut_fn(size_t len);

static inline size_t cut_none(size_t len)
{
    return len;
}

static inline size_t cut_bytes(size_t len)
{
    return len ? 1 : 0;
}

static inline size_t cut_random(size_t len)
{
    return len ? 1 + (size_t)rand_below(len) : 0;
}

/* Moves the waiting bytes from one end to the other, unless the receiver has failed. Returns false
 * if no bytes wait. */
static inline bool move(struct end *from, struct end *to, cut_fn *cut)
{
    struct buf *wire = tls_wire(from->tls);
    if (buf_len(wire) == 0)
        return false;
    while (buf_len(wire) > 0) {
        struct span all = buf_span(wire);
        size_t len = cut(all.len);
        if (!to->err)
            end_receive(to, span_of(all.data, len));
        buf_consume(wire, len);
    }
    return true;
}

/* Runs until both ends are silent. */
static inline void settle(struct end *client, struct end *server, cut_fn *cut)
{
    unsigned rounds = 0;
    bool moved = true;

    while (moved) {
        moved = move(client, server, cut);
        moved = move(server, client, cut) || moved;
        MUST(++rounds < ROUNDS_MAX);
    }
}

/* ---------------------------------------------------------------- common objects */

/* An authority, its certificate for "dns.test" and 192.0.2.1, and contexts for both ends. */
struct ends {
    struct tls_certs *ca;
    struct tls_cert *cert;
    char *ca_path;
    struct addr addr;
    struct tls_peer_options options;
    struct tls_context *client, *server;
};

static inline struct tls_context *new_server_context(const struct tls_cert *cert,
                                                     struct tls_ticket_keys *keys)
{
    char why[TLS_WHY_MAX];
    struct tls_context *context;
    struct tls_server_options options = {.certificate = tls_certs_certificate(cert),
                                         .key = tls_certs_key(cert),
                                         .ticket_keys = keys};

    MUST(tls_context_server(&context, &options, why) == ERR_OK);
    return context;
}

static inline struct tls_context *new_client_context(const struct tls_peer_options *options)
{
    char why[TLS_WHY_MAX];
    struct tls_context *context;

    MUST(tls_context_client(&context, options, why) == ERR_OK);
    return context;
}

static inline void ends_init(struct ends *ends, struct tls_ticket_keys *keys)
{
    *ends = (struct ends){.ca = tls_certs_authority("Test CA")};
    ends->cert = tls_certs_make(&(struct tls_cert_wish){
        .ca = ends->ca, .name = "dns.test", .ip = "192.0.2.1", .intermediate = true});
    ends->ca_path = tls_certs_file(tls_certs_pem(ends->ca));
    ends->options =
        (struct tls_peer_options){.auth_name = (char *)"dns.test", .ca_bundle = ends->ca_path};
    MUST(addr_parse(&ends->addr, "192.0.2.1", 853) == ERR_OK);
    ends->client = new_client_context(&ends->options);
    ends->server = new_server_context(ends->cert, keys);
}

static inline void ends_deinit(struct ends *ends)
{
    tls_context_free(ends->client);
    tls_context_free(ends->server);
    tls_certs_free(ends->ca);
    tls_certs_free_cert(ends->cert);
    unlink(ends->ca_path);
    free(ends->ca_path);
}

/* Makes a client that has not started its handshake. */
static inline void ends_client(struct ends *ends, struct end *client, struct tls_rack *tickets)
{
    struct tls_peer peer = {.addr = &ends->addr, .options = &ends->options, .tickets = tickets};

    end_init(client, tls_client(ends->client, &peer));
}

#endif
