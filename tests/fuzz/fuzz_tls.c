/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The first byte chooses the use of the rest, the second the pieces in which bytes arrive.
 *
 * - Bytes for a client or a server that waits for its peer's first flight. Such an end sends
 *   nothing to a peer without the keys, and its error is final.
 * - Places and bits for a whole conversation of two ends. These bits are flipped on the wire. An
 *   end receives a prefix of the other's bytes and nothing else, a client accepts only an
 *   authenticated peer, and without a flip both receive everything.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/check.h"
#include "base/rand.h"
#include "support/tls_certs.h"
#include "tls/tls.h"
#include "tls/tls_context.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { TO_CLIENT, TO_SERVER, FLIPS, KINDS };
enum { ROUNDS_MAX = 64, FLIP_BYTES = 4 };

static struct {
    struct addr addr;
    struct tls_peer_options options;
    struct tls_context *client, *server;
} here;

/* One end of a conversation. */
struct end {
    struct tls *tls;
    const char *says, *expects;
    size_t heard;
    uint64_t sent; /* how many bytes it has sent */
    bool said, is_client;
    enum err err;
};

static void set_up(void)
{
    char why[TLS_WHY_MAX];
    struct tls_certs *ca = tls_certs_authority("Fuzz CA");
    struct tls_cert *cert = tls_certs_make(&(struct tls_cert_wish){.ca = ca, .name = "dns.test"});
    char *path = tls_certs_file(tls_certs_pem(ca));
    struct tls_server_options server = {.certificate = tls_certs_certificate(cert),
                                        .key = tls_certs_key(cert)};

    here.options = (struct tls_peer_options){.auth_name = (char *)"dns.test", .ca_bundle = path};
    MUST(addr_parse(&here.addr, "192.0.2.1", 853) == ERR_OK);
    MUST(tls_context_client(&here.client, &here.options, why) == ERR_OK);
    MUST(tls_context_server(&here.server, &server, why) == ERR_OK);
    unlink(path);
    free(path);
    here.options.ca_bundle = NULL;
    tls_certs_free_cert(cert);
    tls_certs_free(ca);
}

static bool on_secured(void *owner)
{
    struct end *end = owner;

    MUST(tls_is_secured(end->tls));
    MUST(!end->is_client || tls_facts(end->tls).authenticated);
    return true;
}

static bool on_plain(void *owner, struct span bytes)
{
    struct end *end = owner;

    MUST(end->expects && bytes.len <= strlen(end->expects) - end->heard);
    MUST(memcmp(bytes.data, end->expects + end->heard, bytes.len) == 0);
    end->heard += bytes.len;
    return true;
}

static const struct tls_reader reader = {on_secured, on_plain};

static void end_init(struct end *end, bool is_client)
{
    const struct tls_peer peer = {.addr = &here.addr, .options = &here.options};

    *end = (struct end){.is_client = is_client};
    end->tls = is_client ? tls_client(here.client, &peer) : tls_server(here.server);
    MUST(end->tls);
    MUST(tls_begin(end->tls, span_of(NULL, 0)) == ERR_OK);
}

/* Feeds pieces of up to max bytes, each from its own memory. */
static void feed(struct end *end, struct span bytes, size_t max)
{
    struct span piece;

    while (bytes.len > 0 && !end->err) {
        MUST(span_take(&bytes, max ? MIN(max, bytes.len) : bytes.len, &piece));
        uint8_t *copy = malloc(piece.len);
        memcpy(copy, piece.data, piece.len);
        end->err = tls_receive(end->tls, span_of(copy, piece.len), &reader, end);
        free(copy);
    }
}

/* ---- random bytes ---- */

static void check_random_bytes(bool is_client, struct span bytes, size_t max)
{
    struct end end;
    static const uint8_t more[64];

    end_init(&end, is_client);
    feed(&end, bytes, max);
    MUST(!tls_is_secured(end.tls) && !tls_facts(end.tls).authenticated);
    MUST(end.err != ERR_OK || tls_detail(end.tls)[0] == 0);
    if (end.err)
        MUST(tls_receive(end.tls, span_of(more, sizeof(more)), &reader, &end) == end.err);
    MUST(tls_send(end.tls, span_of(more, sizeof(more))) != ERR_OK);
    tls_free(&end.tls);
}

/* ---- flipped bits ---- */

/* Flips the chosen bits in the bytes that `from` is about to send. */
static bool flip(struct end *from, struct buf *wire, struct span flips)
{
    struct span one;
    bool any = false;

    while (span_take(&flips, FLIP_BYTES, &one)) {
        uint64_t at = get_u16(one.data + 1);
        if ((one.data[0] & 1) != from->is_client || at < from->sent ||
            at - from->sent >= buf_len(wire) || one.data[3] == 0)
            continue;
        wire->data[wire->start + (at - from->sent)] ^= one.data[3];
        any = true;
    }
    return any;
}

static void say(struct end *end)
{
    if (end->said || !tls_is_secured(end->tls))
        return;
    end->said = true;
    MUST(tls_send(end->tls, span_of(end->says, strlen(end->says))) == ERR_OK);
    tls_end(end->tls);
}

static bool move(struct end *from, struct end *to, struct span flips, size_t max, bool *flipped)
{
    struct buf *wire = tls_wire(from->tls);
    size_t len = buf_len(wire);

    if (len == 0)
        return false;
    *flipped = flip(from, wire, flips) || *flipped;
    feed(to, buf_span(wire), max);
    from->sent += len;
    buf_consume(wire, len);
    return true;
}

static void check_flips(struct span flips, size_t max)
{
    struct end client, server;
    bool flipped = false, moved = true;

    end_init(&client, true);
    end_init(&server, false);
    client.says = server.expects = "a question of the client";
    server.says = client.expects = "an answer of the server";
    for (int i = 0; moved; i++) {
        MUST(i < ROUNDS_MAX);
        say(&client);
        moved = move(&client, &server, flips, max, &flipped);
        say(&server);
        moved = move(&server, &client, flips, max, &flipped) || moved;
    }
    if (!flipped) {
        MUST(client.err == ERR_PEER_CLOSED && client.heard == strlen(client.expects));
        MUST(server.err == ERR_PEER_CLOSED && server.heard == strlen(server.expects));
    }
    tls_free(&client.tls);
    tls_free(&server.tls);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span rest;

    if (!here.client)
        set_up();
    if (size < 2)
        return 0;
    rest = span_of(data + 2, size - 2);
    if (data[0] % KINDS == FLIPS)
        check_flips(rest, data[1]);
    else
        check_random_bytes(data[0] % KINDS == TO_CLIENT, rest, data[1]);
    return 0;
}
