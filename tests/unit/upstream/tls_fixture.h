/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_UPSTREAM_TLS_FIXTURE_H
#define NAILUP_TESTS_UPSTREAM_TLS_FIXTURE_H

/*
 * One upstream over TLS and its server at port 853. Port 53 of the same address is another
 * server, which exists only if a test opens it.
 */

#include "unit/upstream/world.h"
#include "unit/upstream/world_tls.h"

#define TLS_AT "10.1.1.1@853"
#define PLAIN_AT "10.1.1.1@53"

struct tls_fixture {
    struct world world;
    struct fake_tls_options server; /* the behaviour of the peer */
    struct fake_peer *peer;
    struct upstream *upstream;
};

/* Names keep their case, so that assert_nothing_plain() finds them on the wire. */
static inline struct upstream_options strict(void)
{
    struct upstream_options options = world_nailed();
    world_tls_expect(&options, TLS_STRICT);
    options.case_randomisation = false;
    return options;
}

static inline struct upstream_options opportunistic(void)
{
    struct upstream_options options = strict();
    options.tls.profile = TLS_OPPORTUNISTIC;
    return options;
}

/* Makes the server behave as f->server says. */
static inline void fixture_speak(struct tls_fixture *f)
{
    fake_peer_speak_tls(f->peer, &f->server);
}

/* Opens the world and a server without faults. The test makes the upstream. */
static inline void fixture_open_server(struct tls_fixture *f, fake_peer_fn fn)
{
    world_open(&f->world);
    f->server = world_tls_server();
    f->peer = world_peer(&f->world, TLS_AT, fn, NULL);
    fixture_speak(f);
}

static inline void fixture_dial(struct tls_fixture *f, const struct upstream_options *options)
{
    f->upstream = world_upstream(&f->world, TLS_AT, options);
}

/* Opens everything and waits for the first connection. */
static inline void fixture_open(struct tls_fixture *f, fake_peer_fn fn,
                                const struct upstream_options *options)
{
    fixture_open_server(f, fn);
    fixture_dial(f, options);
    fake_loop_advance(f->world.loop, 100 * MS);
    assert_true(f->world.stats.upstream_ready >= 1);
}

/* Asserts that no query left over UDP or TCP, and that the name is on no TLS connection in plain
 * text. */
static inline void assert_nothing_plain(struct tls_fixture *f)
{
    static const uint8_t name[] = "\3www\7example";
    assert_int_equal(fake_net_counts(f->world.net).udp_queries, 0);
    assert_int_equal(fake_peer_tcp_queries(f->peer), 0);
    for (size_t i = 0; i < peer_dials(f->peer); i++) {
        struct fake_conn *conn = peer_conn(f->peer, i);
        if (!fake_conn_speaks_tls(conn))
            continue;
        assert_false(fake_conn_tls_raw_has(conn, span_of(name, sizeof(name) - 1)));
        assert_false(fake_conn_tls_facts(conn)->plain_first);
    }
}

static inline void fixture_close_strict(struct tls_fixture *f)
{
    assert_nothing_plain(f);
    world_close(&f->world);
}

static inline const struct fake_tls_facts *conn_facts(struct tls_fixture *f, size_t number)
{
    return fake_conn_tls_facts(peer_conn(f->peer, number));
}

#endif
