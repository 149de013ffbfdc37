/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UPSTREAM_WORLD_H
#define NAILUP_TESTS_UPSTREAM_WORLD_H

/*
 * A worker's upstreams in virtual time: a loop, a network, the upstreams, and askers that start
 * exchanges and record the results. An instant is a number of microseconds.
 *
 * The tests of streams are built a second time with WORLD_TLS, which makes all streams TLS:
 * strict if the test's options have no fallback, else opportunistic, with UDP at the same server
 * for queries that TLS cannot take.
 */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rand.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "support/fake_loop.h"
#include "support/fake_net.h"
#include "support/fake_peer.h"
#include "tls/tls_tickets.h"
#include "upstream/exchange.h"
#include "upstream/pool_hold.h"
#include "upstream/upstream.h"
#include "upstream/upstreams.h"
#ifdef WORLD_TLS
#include "unit/upstream/world_tls.h"
#endif

#define MS US_PER_MS
#define S US_PER_S

struct world {
    struct loop *loop;
    struct fake_net *net;
    struct stats stats;
    struct nail_quota quota;
    struct tls_tickets *tickets; /* owned by the world, unless tickets_lent is set */
    bool tickets_lent;
    struct upstreams *upstreams;
};

/* WORLD_STREAM is the transport of a stream. WORLD_COST is the factor of real time that a dial or a
 * peer costs, so that tests with thousands of them use fewer. */
#ifdef WORLD_TLS
#define WORLD_STREAM FAKE_TLS
#define WORLD_COST 5
#else
#define WORLD_STREAM FAKE_TCP
#define WORLD_COST 1
#endif

enum asker_result { ASKER_WAITING, ASKER_ANSWERED, ASKER_FAILED };

struct asker {
    struct world *world;
    struct exchange exchange;
    uint8_t wire[NAME_WIRE_MAX];
    enum asker_result result;
    struct exchange_failure failure;
    uint64_t asked_at, took_us;
    bool over_stream;
    struct upstream *from;
    uint16_t rcode;
    uint16_t bad_rcode; /* rejects answers with this rcode; 0: none */
};

static inline enum exchange_verdict asker_on_answer(void *owner,
                                                    const struct exchange_answer *answer)
{
    struct asker *asker = owner;
    uint16_t rcode = message_rcode(answer->message);
    if (asker->bad_rcode && rcode == asker->bad_rcode)
        return EXCHANGE_ANOTHER;
    assert_int_equal(asker->result, ASKER_WAITING);
    /* The name has the case of the question, because the exchange undoes the random case. */
    assert_memory_equal(answer->message->question.name.wire, asker->wire,
                        answer->message->question.name.len);
    asker->result = ASKER_ANSWERED;
    asker->took_us = loop_now(asker->world->loop) - asker->asked_at;
    asker->over_stream = answer->over_stream;
    asker->from = answer->upstream;
    asker->rcode = rcode;
    return EXCHANGE_TAKEN;
}

static inline void asker_on_failed(void *owner, const struct exchange_failure *failure)
{
    struct asker *asker = owner;
    assert_int_equal(asker->result, ASKER_WAITING);
    asker->result = ASKER_FAILED;
    asker->took_us = loop_now(asker->world->loop) - asker->asked_at;
    asker->failure = *failure;
}

static const struct exchange_handler asker_handler = {.on_answer = asker_on_answer,
                                                      .on_failed = asker_on_failed};

/* tickets: owned by the test and shared with another world; NULL: the world makes its own. */
static inline void world_open_with(struct world *world, struct tls_tickets *tickets)
{
    memset(world, 0, sizeof(*world));
    rand_seed_for_tests(4242);
    world->loop = loop_new();
    world->net = fake_net_of(world->loop);
    world->quota.max = 1000;
    world->upstreams = upstreams_new(world->loop, &world->stats, &world->quota);
    assert_non_null(world->upstreams);
    world->tickets_lent = tickets != NULL;
    world->tickets = tickets ? tickets : tls_tickets_new();
    upstreams_use_tickets(world->upstreams, world->tickets);
}

static inline void world_open(struct world *world)
{
    world_open_with(world, NULL);
}

/* Closes everything and checks that all counts of open objects are zero. */
static inline void world_close(struct world *world)
{
    upstreams_free(world->upstreams);
    fake_loop_settle(world->loop);
    assert_int_equal(fake_net_open_sockets(world->net), 0);
    assert_int_equal(world->stats.upstream_in_flight, 0);
    assert_int_equal(world->stats.upstream_ready + world->stats.upstream_dialing +
                         world->stats.upstream_resting + world->stats.upstream_parked +
                         world->stats.upstream_draining + world->stats.upstream_securing,
                     0);
    assert_int_equal(world->quota.used, 0);
    if (!world->tickets_lent)
        tls_tickets_free(world->tickets);
    loop_free(world->loop);
}

static inline struct upstream_options world_nailed(void)
{
    struct upstream_options options = upstream_options_default;
    options.nailed = true;
    options.transport = TRANSPORT_TCP;
#ifdef WORLD_TLS
    world_tls_expect(&options, TLS_STRICT);
#endif
    return options;
}

/* Nailed options, with which UDP may not replace the stream. */
static inline struct upstream_options world_no_fallback(void)
{
    struct upstream_options options = world_nailed();
    options.fallback = UPSTREAM_FALLBACK_NONE;
    return options;
}

static inline struct upstream_options world_options(const struct upstream_options *options)
{
    struct upstream_options wanted = *options;
#ifdef WORLD_TLS
    bool falls_back = wanted.fallback == UPSTREAM_FALLBACK_UDP;
    wanted.tls.profile = falls_back ? TLS_OPPORTUNISTIC : TLS_STRICT;
#endif
    return wanted;
}

static inline struct upstream *world_upstream(struct world *world, const char *addr,
                                              const struct upstream_options *options)
{
    struct addr at = fake_addr(addr);
    struct upstream_options wanted = world_options(options);
    struct upstream *upstream = upstreams_get(world->upstreams, &at, &wanted);
    assert_non_null(upstream);
    return upstream;
}

/* Holds the upstream until upstreams_drop(). */
static inline struct upstream *world_discover(struct world *world, const char *addr,
                                              const struct upstream_options *options)
{
    struct addr at = fake_addr(addr);
    struct upstream_options wanted = world_options(options);
    struct upstream *upstream = upstreams_discover(world->upstreams, &at, &wanted);
    assert_non_null(upstream);
    return upstream;
}

static inline struct fake_peer *world_peer(struct world *world, const char *addr, fake_peer_fn fn,
                                           void *owner)
{
    struct addr at = fake_addr(addr);
    struct fake_peer *peer = fake_peer_new(world->net, &at, fn, owner);
#ifdef WORLD_TLS
    struct fake_tls_options server = world_tls_server();
    fake_peer_speak_tls(peer, &server);
#endif
    return peer;
}

/* Makes a server that accepts no connections and answers nothing over streams. It costs little
 * time. */
static inline struct fake_peer *world_blackhole(struct world *world, const char *addr)
{
    struct addr at = fake_addr(addr);
    struct fake_peer *peer = fake_peer_new(world->net, &at, NULL, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    return peer;
}

static inline size_t peer_stream_queries(const struct fake_peer *peer)
{
    return WORLD_STREAM == FAKE_TLS ? fake_peer_tls_queries(peer) : fake_peer_tcp_queries(peer);
}

/* The address of the only server in most tests. */
#define WORLD_SERVER "10.1.1.1@53"

/* Opens the world with one server, and returns its upstream. *peer becomes the server. */
static inline struct upstream *world_open_server(struct world *world, struct fake_peer **peer,
                                                 fake_peer_fn fn, void *owner,
                                                 const struct upstream_options *options)
{
    world_open(world);
    *peer = world_peer(world, WORLD_SERVER, fn, owner);
    return world_upstream(world, WORLD_SERVER, options);
}

/* A name that begins with l gets no answer, one with s an answer after 900 ms, and one with v an
 * answer after 2.5 s. */
static inline void answer_by_name(void *owner, const struct fake_ask *ask,
                                  struct fake_answer *answer)
{
    (void)owner;
    uint8_t first = ask->query.data[13] | 0x20;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (first == 'l')
        answer->how = FAKE_SILENT;
    if (first == 's')
        answer->delay_us = 900 * MS;
    if (first == 'v')
        answer->delay_us = 2500 * MS;
}

/* Starts an exchange for "name" without ending the turn. */
static inline void ask_group(struct asker *asker, struct world *world, const char *name,
                             struct upstream *const *group, size_t count)
{
    memset(asker, 0, sizeof(*asker));
    asker->world = world;
    asker->asked_at = loop_now(world->loop);
    exchange_init(&asker->exchange, world->upstreams, &asker_handler, asker);
    struct exchange_question question = {.recursion_desired = true};
    assert_int_equal(name_parse(&question.question.name, asker->wire, name, strlen(name)), ERR_OK);
    question.question.type = RRTYPE_A;
    question.question.cls = RRCLASS_IN;
    exchange_start(&asker->exchange, &question, group, count);
}

static inline void ask(struct asker *asker, struct world *world, const char *name,
                       struct upstream *upstream)
{
    /* exchanges borrow their group, so each has an entry here */
    static struct upstream *kept[4096];
    static size_t next;
    struct upstream **group = &kept[next++ % 4096];
    *group = upstream;
    ask_group(asker, world, name, group, 1);
}

/* Starts an exchange and runs until it ends. */
static inline void ask_and_wait(struct asker *asker, struct world *world, const char *name,
                                struct upstream *upstream)
{
    ask(asker, world, name, upstream);
    for (int i = 0; i < 10000 && asker->result == ASKER_WAITING; i++)
        fake_loop_advance(world->loop, MS);
    assert_int_not_equal(asker->result, ASKER_WAITING);
}

static inline struct fake_conn *peer_conn(struct fake_peer *peer, size_t number)
{
    return fake_server_conn(fake_peer_server(peer), number);
}

/* Returns the number of dials of the world's streams that timed out. */
static inline uint64_t world_timeouts(const struct world *world)
{
    return WORLD_STREAM == FAKE_TLS ? world->stats.upstream_dials_tls_timeout
                                    : world->stats.upstream_dials_tcp_timeout;
}

static inline size_t peer_dials(struct fake_peer *peer)
{
    return fake_server_dials(fake_peer_server(peer));
}

#endif
