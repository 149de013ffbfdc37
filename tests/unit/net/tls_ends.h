/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UNIT_NET_TLS_ENDS_H
#define NAILUP_TESTS_UNIT_NET_TLS_ENDS_H

/* Two ends of TLS joined in memory: each may be ours or one of OpenSSL alone, made to misbehave. */

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/check.h"
#include "base/rand.h"
#include "net/tls.h"
#include "net/tls_context.h"
#include "support/tls_certs.h"

enum { PLAIN_MAX = 1024 * 1024, ROUNDS_MAX = 100000 };

/* One end of ours, and what its reader was told. */
struct end {
    struct tls *tls;
    struct buf plain; /* all that came */
    unsigned secured, pieces;
    bool stop_on_secured, stop_on_plain;
    enum err err; /* the first that is not ERR_OK */
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

/* In memory of its own, so that a borrowed byte too many is seen. */
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

/* How many bytes of so many go at once. */
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

/* Moves what waits at one end to the other, if that can still take it; false: nothing waited. */
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

/* Until both are silent. */
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

static inline struct span text_span(const char *text)
{
    return span_of(text, strlen(text));
}

#endif
