/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Nailed connections to peers that close idle connections: for how much of the time one is ready,
 * and at which cost. */

#include "dns/edns.h"
#include "support/fake_opt.h"
#include "unit/upstream/world.h"
#include "upstream/hold.h"
#include "upstream/pool_hold.h"

enum { CONNS_MAX = 2000 };

/* A peer with an idle limit, and what the test observes of it. */
struct server {
    uint64_t limit_us;        /* the limit; 0: none */
    uint64_t sweeps_every_us; /* the interval at which it looks for idle connections; 0: it looks
                                 all the time */
    bool drops_holds;         /* does not answer queries without RD */
    uint64_t hold_takes_us;   /* the answer time for queries without RD */
    uint16_t announces_100ms; /* the timeout that it announces (RFC 7828); 0: none */
    uint64_t heard_at[CONNS_MAX];
    size_t first_conn; /* earlier connections have ended */
    size_t holds, hold_conns[CONNS_MAX];
    uint16_t hold_type;
    size_t hold_len, hold_name_len;
    bool hold_asks_keepalive, hold_was_too_early;
    struct loop *loop;
};

static void note_hold(struct server *server, const struct fake_ask *ask, struct message *query,
                      uint64_t quiet_us)
{
    struct edns_keepalive keepalive;
    server->holds++;
    server->hold_conns[ask->conn]++;
    server->hold_type = query->question.type;
    server->hold_name_len = query->question.name.len;
    server->hold_len = ask->query.len;
    server->hold_asks_keepalive |= edns_find_keepalive(&query->edns, &keepalive) == EDNS_FOUND;
    server->hold_was_too_early |= ask->index > 0 && quiet_us < HOLD_DISTANCE_US;
}

static void serve(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct server *server = owner;
    struct message query;

    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (!ask->stream)
        return;
    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    assert_true(ask->conn < CONNS_MAX);
    uint64_t now = loop_now(server->loop);
    bool is_hold = !(query.flags & HEADER_RD);
    if (is_hold)
        note_hold(server, ask, &query, now - server->heard_at[ask->conn]);
    server->heard_at[ask->conn] = now;
    if (is_hold)
        answer->delay_us = server->hold_takes_us;
    if (is_hold && server->drops_holds)
        answer->how = FAKE_SILENT;
    else if (server->announces_100ms)
        fake_opt_keepalive(answer, server->announces_100ms);
}

struct fixture {
    struct world world;
    struct server server;
    struct fake_peer *peer;
    struct upstream *upstream;
    uint64_t ready_us, total_us;
    uint64_t ready_since_at;
};

static void fixture_open_as(struct fixture *f, uint64_t limit_us,
                            const struct upstream_options *options, bool is_met)
{
    memset(f, 0, sizeof(*f));
    world_open(&f->world);
    f->server.limit_us = limit_us;
    f->server.loop = f->world.loop;
    f->peer = world_peer(&f->world, "10.1.1.1@53", serve, &f->server);
    fake_server_set_latency(fake_peer_server(f->peer), 2 * MS);
    f->upstream = is_met ? world_discover(&f->world, "10.1.1.1@53", options)
                         : world_upstream(&f->world, "10.1.1.1@53", options);
    fake_loop_advance(f->world.loop, 100 * MS);
}

static void fixture_open(struct fixture *f, uint64_t limit_us,
                         const struct upstream_options *options)
{
    fixture_open_as(f, limit_us, options, false);
}

static void close_what_idles(struct fixture *f)
{
    uint64_t now = loop_now(f->world.loop), every_us = f->server.sweeps_every_us;
    if (every_us && f->total_us % every_us != 0)
        return;
    size_t dials = peer_dials(f->peer);
    while (f->server.first_conn < dials &&
           fake_conn_state(peer_conn(f->peer, f->server.first_conn)) > FAKE_CONN_OPEN)
        f->server.first_conn++;
    for (size_t i = f->server.first_conn; f->server.limit_us && i < dials; i++) {
        struct fake_conn *conn = peer_conn(f->peer, i);
        uint64_t since = MAX(f->server.heard_at[i], fake_conn_dialed_at(conn) + 4 * MS);
        if (fake_conn_state(conn) == FAKE_CONN_OPEN && now >= since + f->server.limit_us)
            fake_conn_close(conn);
    }
}

/* Lets time pass in steps of a millisecond. */
static void pass(struct fixture *f, uint64_t us)
{
    for (uint64_t at = 0; at < us; at += MS) {
        fake_loop_advance(f->world.loop, MS);
        close_what_idles(f);
        f->total_us += MS;
        f->ready_us += f->world.stats.upstream_ready > 0 ? MS : 0;
    }
}

static uint64_t ready_in_ten_thousand(const struct fixture *f)
{
    return f->ready_us * 10000 / f->total_us;
}

/* Limits of real servers, and shorter ones down to half a second. */
static const uint64_t limits_ms[] = {600, 1000, 1400, 2000, 5000, 10000, 30000, 120000};

static void test_nails_are_ready_while_idle(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(limits_ms); i++) {
        struct fixture f;
        struct upstream_options options = world_nailed();
        fixture_open(&f, limits_ms[i] * MS, &options);
        pass(&f, 320 * S);
        assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
        assert_false(f.server.hold_was_too_early);
        assert_int_equal(f.upstream->pool.backoff.failures, 0);
        world_close(&f.world);
    }
}

static void test_nails_are_warm_for_a_query_every_twenty_seconds(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(limits_ms); i++) {
        struct fixture f;
        struct asker asker;
        struct upstream_options options = world_nailed();
        fixture_open(&f, limits_ms[i] * MS, &options);
        for (int round = 0; round < 16; round++) {
            pass(&f, 20 * S);
            ask_and_wait(&asker, &f.world, "www.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_true(asker.over_stream);
            assert_in_range(asker.took_us, 4 * MS, 5 * MS);
        }
        assert_int_equal(f.world.stats.upstream_cold_queries, 0);
        assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
        assert_false(f.server.hold_was_too_early);
        world_close(&f.world);
    }
}

/* In an hour, a peer with a limit of two seconds closes only a few connections, because probing
 * gets rare. */
static void test_nails_learn_the_limit_once(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 2 * S, &options);
    pass(&f, 3600 * S);
    assert_in_range(f.world.stats.upstream_closes_peer_idle, 1, 10);
    assert_in_range(f.server.holds, 3600 * 2 / 3 - 400, 3600);
    assert_in_range(ready_in_ten_thousand(&f), 9990, 10000);
    struct upstream_view view;
    upstreams_view(f.upstream, loop_now(f.world.loop), &view);
    assert_int_equal(view.holds, f.server.holds);
    assert_in_range(view.idle_limit_us, 1900 * MS, 2600 * MS);
    assert_false(view.is_limit_announced);
    world_close(&f.world);
}

/* This server looks for idle connections every few seconds, so its limit of 2 s seems to vary. */
static void test_nails_of_a_server_whose_limit_varies(void **state)
{
    (void)state;
    static const uint64_t every_ms[] = {1000, 3000, 5000};
    for (size_t i = 0; i < ARRAY_LEN(every_ms); i++) {
        struct fixture f;
        struct upstream_options options = world_nailed();
        fixture_open(&f, 2 * S, &options);
        f.server.sweeps_every_us = every_ms[i] * MS;
        pass(&f, 1800 * S);
        assert_in_range(ready_in_ten_thousand(&f), 9980, 10000);
        assert_in_range(f.world.stats.upstream_closes_peer_idle, 1, 25);
        world_close(&f.world);
    }
}

static void test_nails_obey_an_announced_limit(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 2 * S, &options);
    f.server.announces_100ms = 20;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    pass(&f, 320 * S);
    assert_int_equal(f.ready_us, f.total_us);
    assert_int_equal(f.world.stats.upstream_closes_peer_idle, 0);
    assert_int_equal(peer_dials(f.peer), 1);
    world_close(&f.world);
}

/* A hold query has a cheap question, and does not count as a client's query. */
static void test_nails_hold_with_a_cheap_query_that_no_count_includes(void **state)
{
    (void)state;
    for (int named = 0; named < 2; named++) {
        struct fixture f;
        struct asker asker;
        uint8_t wire[NAME_WIRE_MAX];
        struct name zone;
        struct upstream_options options = world_nailed();
        fixture_open(&f, 5 * S, &options);
        assert_int_equal(name_parse(&zone, wire, "corp.example", 12), ERR_OK);
        if (named)
            upstreams_set_hold_zone(f.upstream, zone);
        pass(&f, 60 * S);
        assert_in_range(f.server.holds, 10, 16);
        assert_int_equal(f.server.hold_type, named ? RRTYPE_SOA : RRTYPE_NS);
        assert_int_equal(f.server.hold_name_len, named ? zone.len : 1);
        assert_true(f.server.hold_asks_keepalive);
        if (WORLD_STREAM == FAKE_TLS)
            assert_int_equal(f.server.hold_len % EDNS_PADDING_QUERY, 0);

        const struct stats *stats = &f.world.stats;
        assert_int_equal(stats->upstream_holds, f.server.holds);
        assert_int_equal(stats->upstream_holds_answered, f.server.holds);
        assert_int_equal(stats->upstream_queries_tcp + stats->upstream_queries_tls, 0);
        assert_int_equal(stats->upstream_answers_tcp + stats->upstream_answers_tls, 0);
        assert_int_equal(stats->upstream_in_flight, 0);
        assert_int_equal(f.upstream->queries + f.upstream->answers, 0);
        assert_int_equal(f.upstream->stream.srtt_us, 0);
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(stats->upstream_queries_tcp + stats->upstream_queries_tls, 1);
        world_close(&f.world);
    }
}

/* With queries at random times as well, no hold query comes within a second of another query. */
static void test_nails_hold_queries_keep_their_distance(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[400];
    struct upstream_options options = world_nailed();
    fixture_open(&f, 2 * S, &options);
    for (int i = 0; i < 400; i++) {
        ask(&askers[i], &f.world, "www.example", f.upstream);
        pass(&f, (1 + rand_below(3000)) * MS);
    }
    assert_false(f.server.hold_was_too_early);
    assert_true(f.server.holds > 50);
    for (int i = 0; i < 400; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

/* Hold queries count towards max-requests, and the next connection is ready in time. */
static void test_nails_hold_queries_count_towards_max_requests(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.max_requests = HOLD_REQUESTS_MIN;
    fixture_open(&f, 2 * S, &options);
    pass(&f, 600 * S);
    assert_true(peer_dials(f.peer) >= 4);
    for (size_t i = 0; i < peer_dials(f.peer); i++)
        assert_in_range(fake_conn_messages(peer_conn(f.peer, i)), 0, HOLD_REQUESTS_MIN);
    assert_in_range(ready_in_ten_thousand(&f), 9990, 10000);
    world_close(&f.world);
}

static void test_nails_with_few_requests_are_replaced(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    options.max_requests = HOLD_REQUESTS_MIN - 1;
    fixture_open(&f, 10 * S, &options);
    pass(&f, 320 * S);
    assert_int_equal(f.server.holds, 0);
    assert_in_range(f.world.stats.upstream_holds_replaced, 30, 50);
    assert_in_range(ready_in_ten_thousand(&f), 9990, 10000);
    assert_in_range(f.world.stats.upstream_closes_peer_idle, 1, 3);
    world_close(&f.world);
}

/* With `hold: no`, idle connections send nothing, and a query dials. */
static void test_nails_send_nothing_without_hold(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.hold = false;
    options.connections = 2;
    fixture_open(&f, 5 * S, &options);
    pass(&f, 100 * S);
    assert_int_equal(f.server.holds, 0);
    assert_int_equal(peer_dials(f.peer), 2);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    pass(&f, S);
    assert_int_equal(f.world.stats.upstream_ready, 2);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_true(asker.over_stream);
    pass(&f, 100 * S);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    assert_int_equal(f.server.holds, 0);
    world_close(&f.world);
}

/* RFC 7766 section 6.2.3: the pool holds the connection of a discovered server for ten minutes
 * after a query. */
static void test_nails_of_discovered_servers_are_held_for_ten_minutes(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open_as(&f, 10 * S, &options, true);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    pass(&f, HOLD_UNUSED_US - S);
    assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
    pass(&f, 20 * S);
    size_t holds = f.server.holds, dials = peer_dials(f.peer);
    pass(&f, 600 * S);
    assert_int_equal(f.server.holds, holds);
    assert_int_equal(peer_dials(f.peer), dials);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    f.ready_us = f.total_us = 0;
    pass(&f, 300 * S);
    assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
    upstreams_drop(f.upstream);
    world_close(&f.world);
}

/* The server announces twenty minutes: its connection is held for that long. */
static void test_nails_of_discovered_servers_are_held_as_long_as_announced(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open_as(&f, 10 * S, &options, true);
    f.server.announces_100ms = 12000;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    pass(&f, 1190 * S);
    assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
    pass(&f, 30 * S);
    size_t holds = f.server.holds;
    pass(&f, 300 * S);
    assert_int_equal(f.server.holds, holds);
    upstreams_drop(f.upstream);
    world_close(&f.world);
}

/* A hold query finds a connection that died silently, and the successor is ready when a query
 * comes. The server's health stays good. */
static void test_nails_that_died_are_detected_while_idle(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, 10 * S, &options);
    f.server.announces_100ms = 100;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    pass(&f, 9 * S);
    assert_int_equal(peer_dials(f.peer), 2);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_in_range(asker.took_us, 4 * MS, 5 * MS);
    assert_int_equal(f.world.stats.upstream_holds_silent, 1);
    assert_int_equal(f.upstream->timeouts, 0);
    assert_false(upstream_is_ill(f.upstream));
    pass(&f, 30 * S);
    /* the successor and the dead connection */
    assert_int_equal(fake_server_open_conns(fake_peer_server(f.peer)), 1 + 1);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    world_close(&f.world);
}

/* The server drops queries without RD. Successors replace idle connections instead, and the server
 * does not count as ill. */
static void test_nails_of_servers_that_drop_hold_queries_are_replaced(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 5 * S, &options);
    f.server.drops_holds = true;
    pass(&f, 320 * S);
    assert_int_equal(f.server.holds, HOLD_UNANSWERED_MAX);
    assert_true(f.world.stats.upstream_holds_replaced > 50);
    assert_in_range(ready_in_ten_thousand(&f), 9950, 10000);
    assert_false(upstream_is_ill(f.upstream));
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

/* The first answer shows that the server is slow. Its connections are then no longer replaced for
 * slow hold queries. */
static void test_nails_of_a_slow_server_stay(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 0, &options);
    f.server.announces_100ms = 100;
    f.server.hold_takes_us = 600 * MS;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    pass(&f, 320 * S);
    assert_int_equal(peer_dials(f.peer), 2);
    assert_int_equal(f.world.stats.upstream_holds_silent, 1);
    assert_true(f.world.stats.upstream_holds_answered > 25);
    world_close(&f.world);
}

/* Lost hold queries say nothing about the server, so cheap queries hold its connections again. */
static void test_nails_are_held_by_queries_again_after_the_path_was_dead(void **state)
{
    (void)state;
    enum { CONNECTIONS = 3 };
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.connections = CONNECTIONS;
    fixture_open(&f, 0, &options);
    f.server.announces_100ms = 100;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    for (size_t i = 0; i < CONNECTIONS; i++)
        fake_conn_go_dark(peer_conn(f.peer, i));
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    fake_loop_advance(f.world.loop, 60 * S);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(f.world.loop, 10 * S);
    size_t holds = f.server.holds, dials = peer_dials(f.peer);
    fake_loop_advance(f.world.loop, 300 * S);
    assert_int_equal(peer_dials(f.peer), dials);
    assert_true(f.server.holds >= holds + CONNECTIONS * 300 / 10);
    world_close(&f.world);
}

/* The peer closes each connection at once. This counts as a refusal, so the dials rest. */
static void test_nails_of_peers_that_close_at_once_have_a_bound(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    fixture_open(&f, MS, &options);
    pass(&f, 100 * S);
    assert_in_range(peer_dials(f.peer), 25, 120);
    world_close(&f.world);
}

/* The limit is too short to hold a connection. The pool dials once a second, and at once for a
 * query. */
static void test_nails_with_a_very_short_limit_are_dialled_again(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 300 * MS, &options);
    pass(&f, 100 * S);
    assert_in_range(peer_dials(f.peer), 80, 102);
    assert_int_equal(f.upstream->pool.backoff.failures, 0);
    pass(&f, 350 * MS);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nails_are_ready_while_idle),
        cmocka_unit_test(test_nails_are_warm_for_a_query_every_twenty_seconds),
        cmocka_unit_test(test_nails_learn_the_limit_once),
        cmocka_unit_test(test_nails_of_a_server_whose_limit_varies),
        cmocka_unit_test(test_nails_obey_an_announced_limit),
        cmocka_unit_test(test_nails_hold_with_a_cheap_query_that_no_count_includes),
        cmocka_unit_test(test_nails_hold_queries_keep_their_distance),
        cmocka_unit_test(test_nails_hold_queries_count_towards_max_requests),
        cmocka_unit_test(test_nails_with_few_requests_are_replaced),
        cmocka_unit_test(test_nails_send_nothing_without_hold),
        cmocka_unit_test(test_nails_of_discovered_servers_are_held_for_ten_minutes),
        cmocka_unit_test(test_nails_of_discovered_servers_are_held_as_long_as_announced),
        cmocka_unit_test(test_nails_that_died_are_detected_while_idle),
        cmocka_unit_test(test_nails_of_servers_that_drop_hold_queries_are_replaced),
        cmocka_unit_test(test_nails_of_a_slow_server_stay),
        cmocka_unit_test(test_nails_are_held_by_queries_again_after_the_path_was_dead),
        cmocka_unit_test(test_nails_of_peers_that_close_at_once_have_a_bound),
        cmocka_unit_test(test_nails_with_a_very_short_limit_are_dialled_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
