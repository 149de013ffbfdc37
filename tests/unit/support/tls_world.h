/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_TLS_WORLD_H
#define NAILUP_TESTS_TLS_WORLD_H

/* A fake network with TLS at its far ends, and with links of src/net at the near ends. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "net/acceptor.h"
#include "net/link.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"
#include "support/fake_tls.h"
#include "support/tls_certs.h"
#include "tls/tls.h"
#include "tls/tls_context.h"
#include "tls/tls_ticket_keys.h"
#include "tls/tls_tickets.h"

enum { MS = 1000, QUERY_MAX = 300 };

/* A word for each callback: "open msg fin". */
struct world {
    struct loop *loop;
    struct fake_net *net;
    struct addr addr;
    struct fake_peer *peer;
    struct tls_cert *cert;
    struct tls_context *dialing, *accepting;
    struct tls_peer_options options;
    struct tls_tickets *tickets;
    struct tls_ticket_keys *keys;
    struct acceptor *acceptor;
    struct link *link;
    char words[1024];
    uint64_t message_at;
    bool ask_on_connected; /* as early data, if that is allowed */
    uint8_t query[QUERY_MAX];
    size_t query_len;
    /* what the peer saw */
    struct fake_answer wish; /* how the peer answers: delay and pieces */
    struct fake_ask last_ask;
};

static inline void see(struct world *world, const char *word)
{
    size_t at = strlen(world->words);
    snprintf(world->words + at, sizeof(world->words) - at, "%s%s", at ? " " : "", word);
}

static inline struct span query_of(const struct world *world)
{
    return span_of(world->query, world->query_len);
}

static inline void ask(struct world *world)
{
    assert_int_equal(link_send(world->link, query_of(world)), ERR_OK);
}

/* ---------------------------------------------------------------- the near end */

static inline void on_connected(void *owner)
{
    struct world *world = owner;

    if (world->ask_on_connected && tls_early_max(link_tls(world->link)) >= world->query_len + 2)
        ask(world);
}

static inline void on_open(void *owner)
{
    see(owner, "open");
}

static inline void on_message(void *owner, struct span message)
{
    struct world *world = owner;

    (void)message;
    see(world, "msg");
    world->message_at = loop_now(world->loop);
    if (world->acceptor)
        assert_int_equal(link_send(world->link, message), ERR_OK);
}

static inline void on_peer_closed(void *owner)
{
    see(owner, "fin");
}

static inline void on_failed(void *owner, enum err why)
{
    see(owner, "failed:");
    see(owner, err_str(why));
}

static const struct link_handler link_events = {.on_connected = on_connected,
                                                .on_open = on_open,
                                                .on_message = on_message,
                                                .on_peer_closed = on_peer_closed,
                                                .on_failed = on_failed};

static inline struct link_options link_how(struct tls *tls)
{
    return (struct link_options){.max_unsent_bytes = 200000, .tls = tls};
}

static inline void dial(struct world *world)
{
    struct tls_peer peer = {.addr = &world->addr,
                            .options = &world->options,
                            .tickets =
                                tls_tickets_rack(world->tickets, span_of(world->cert->pin, 32))};
    struct link_options how = link_how(tls_client(world->dialing, &peer));

    world->words[0] = 0;
    assert_int_equal(link_dial(&world->link, world->loop, &world->addr, &how, &link_events, world),
                     ERR_OK);
}

static inline void settle(struct world *world)
{
    fake_loop_advance(world->loop, US_PER_S);
}

static inline void hang_up(struct world *world)
{
    if (world->link)
        link_close(&world->link);
    settle(world);
}

/* ---------------------------------------------------------------- the far end */

static inline void on_ask(void *owner, const struct fake_ask *asked, struct fake_answer *answer)
{
    struct world *world = owner;

    world->last_ask = *asked;
    memcpy(answer, &world->wish, offsetof(struct fake_answer, data));
    answer->len = 0;
    if (answer->how != FAKE_SILENT && answer->how != FAKE_RESET) {
        enum fake_how how = answer->how;
        fake_answer_a(answer, asked->query, "192.0.2.1", 300);
        answer->how = how;
    }
    if (world->wish.len > answer->len) { /* the rest is nothing */
        memset(answer->data + answer->len, 0, world->wish.len - answer->len);
        answer->len = world->wish.len;
    }
}

static inline void speak(struct world *world, struct fake_tls_options options)
{
    options.certificate = world->cert->certificate;
    options.key = world->cert->key;
    fake_peer_speak_tls(world->peer, &options);
}

static inline struct fake_conn *conn(const struct world *world, size_t number)
{
    return fake_server_conn(fake_peer_server(world->peer), number);
}

static inline const struct fake_tls_facts *facts(const struct world *world, size_t number)
{
    return fake_conn_tls_facts(conn(world, number));
}

/* ---------------------------------------------------------------- life */

static inline void make_contexts(struct world *world)
{
    char why[TLS_WHY_MAX];
    struct tls_server_options server = {.certificate = tls_certs_certificate(world->cert),
                                        .key = tls_certs_key(world->cert),
                                        .ticket_keys = world->keys};

    /* Saves the quarter of a second that reading the system's authorities would take. */
    world->options.ca_bundle = (char *)tls_certs_write(world->cert);
    world->options.pins = calloc(1, sizeof(struct tls_pins) + TLS_PIN_BYTES);
    world->options.pins->count = 1;
    memcpy(world->options.pins->sha256[0], world->cert->pin, TLS_PIN_BYTES);
    assert_int_equal(tls_context_client(&world->dialing, &world->options, why), ERR_OK);
    assert_int_equal(tls_context_server(&world->accepting, &server, why), ERR_OK);
}

static inline int set_up(void **state)
{
    struct world *world = calloc(1, sizeof(*world));

    world->loop = loop_new();
    world->net = fake_net_of(world->loop);
    world->addr = fake_addr("192.0.2.53@853");
    world->peer = fake_peer_new(world->net, &world->addr, on_ask, world);
    world->cert = tls_certs_make(&(struct tls_cert_wish){.name = "dns.test"});
    world->tickets = tls_tickets_new();
    world->keys = tls_ticket_keys_new(0);
    world->query_len = fake_query_build(world->query, 0x1234, "secret-name.example", 1, 1232);
    make_contexts(world);
    *state = world;
    return 0;
}

static inline int tear_down(void **state)
{
    struct world *world = *state;

    hang_up(world);
    if (world->acceptor)
        acceptor_close(&world->acceptor);
    assert_int_equal(fake_net_open_sockets(world->net), 0);
    loop_free(world->loop);
    tls_context_free(world->dialing);
    tls_context_free(world->accepting);
    tls_tickets_free(world->tickets);
    tls_ticket_keys_free(world->keys);
    tls_certs_free_cert(world->cert);
    free(world->options.pins);
    free(world);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
