/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Recycling is exact, makes a connection before it breaks one, and causes no cold query. */

#include "unit/upstream/world.h"

static size_t most_on_a_conn(struct fake_peer *peer)
{
    size_t most = 0;
    for (size_t i = 0; i < peer_dials(peer); i++) {
        size_t messages = fake_conn_messages(peer_conn(peer, i));
        most = messages > most ? messages : most;
    }
    return most;
}

/* Sends sequential queries, one per round trip, under this max-requests. */
static void run_sequential(uint32_t max_requests, unsigned queries)
{
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_requests = max_requests;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (unsigned i = 0; i < queries; i++) {
        ask_and_wait(&asker, &world, "www.example", upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.over_stream);
    }
    assert_int_equal(peer_stream_queries(peer), queries);
    assert_int_equal(fake_peer_udp_queries(peer), 0);
    assert_int_equal(most_on_a_conn(peer), queries < max_requests ? queries : max_requests);
    assert_int_equal(world.stats.upstream_cold_queries, 0);
    assert_int_equal(world.stats.upstream_recycles, queries / max_requests);
    for (size_t i = 0; i < queries / max_requests; i++)
        assert_int_equal(fake_conn_messages(peer_conn(peer, i)), max_requests);
    world_close(&world);
}

static void test_recycling_after_each_query(void **state)
{
    (void)state;
    run_sequential(1, 50);
}

static void test_recycling_after_two_queries(void **state)
{
    (void)state;
    run_sequential(2, 51);
}

static void test_recycling_after_ten_thousand_queries(void **state)
{
    (void)state;
    run_sequential(10000, 25000);
}

/* The pool dials the successor before the last query leaves. */
static void test_recycling_makes_before_it_breaks(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_requests = 10;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (unsigned i = 0; i < 9; i++)
        ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(fake_conn_messages(peer_conn(peer, 0)), 9);
    assert_int_equal(peer_dials(peer), 2);
    assert_int_equal(fake_conn_state(peer_conn(peer, 1)), FAKE_CONN_OPEN);
    fake_loop_advance(world.loop, 5 * MS); /* time for the rest of a TLS handshake */
    assert_int_equal(world.stats.upstream_ready, 2);
    for (unsigned i = 9; i < 100; i++)
        ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(world.stats.upstream_cold_queries, 0);
    assert_int_equal(most_on_a_conn(peer), 10);
    world_close(&world);
}

/* A thousand queries come at once, far more than one connection may carry. The surplus goes over
 * UDP, and no connection carries one too many. */
static void test_recycling_is_exact_under_a_burst(void **state)
{
    (void)state;
    struct world world;
    static struct asker askers[1000];
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_requests = 7;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 1000; i++)
        ask(&askers[i], &world, "www.example", upstream);
    fake_loop_advance(world.loop, S);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(most_on_a_conn(peer), 7);
    assert_int_equal(peer_stream_queries(peer) + fake_peer_udp_queries(peer), 1000);
    world_close(&world);
}

static void test_recycling_by_age_replaces_an_idle_connection(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_age_us = 10 * S;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 8900 * MS);
    assert_int_equal(peer_dials(peer), 1);
    fake_loop_advance(world.loop, 2200 * MS);
    assert_int_equal(peer_dials(peer), 2);
    assert_true(fake_conn_was_closed(peer_conn(peer, 0)));
    assert_true(fake_conn_dialed_at(peer_conn(peer, 1)) < fake_conn_ended_at(peer_conn(peer, 0)));
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

/* The old connection serves until its successor is ready. */
static void test_recycling_by_age_waits_for_the_successor(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_age_us = 10 * S;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, S);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_REFUSE);
    fake_loop_advance(world.loop, 60 * S);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_true(asker.over_stream);
    assert_int_equal(fake_conn_messages(peer_conn(peer, 0)), 1);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 6 * S);
    assert_true(fake_conn_was_closed(peer_conn(peer, 0)));
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

static void test_recycling_by_command_affects_only_the_prefix(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();
    struct prefix prefix;

    world_open(&world);
    struct fake_peer *in = world_peer(&world, "10.50.1.65@53", NULL, NULL);
    struct fake_peer *out = world_peer(&world, "10.60.1.1@53", NULL, NULL);
    world_upstream(&world, "10.50.1.65@53", &options);
    world_upstream(&world, "10.60.1.1@53", &options);
    fake_loop_advance(world.loop, S);
    assert_int_equal(prefix_parse(&prefix, "10.50.1.64/27"), ERR_OK);
    assert_int_equal(upstreams_recycle(world.upstreams, &prefix), 1);
    fake_loop_advance(world.loop, S);
    assert_int_equal(peer_dials(in), 2);
    assert_int_equal(peer_dials(out), 1);
    assert_int_equal(upstreams_recycle(world.upstreams, NULL), 2);
    fake_loop_advance(world.loop, S);
    assert_int_equal(peer_dials(in), 3);
    assert_int_equal(peer_dials(out), 2);
    world_close(&world);
}

/* The old connection drains, and still answers its queries in flight. */
static void answer_slowly(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = 300 * MS;
}

static void test_recycling_drains_queries_in_flight(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[4];
    struct upstream_options options = world_nailed();

    world_open(&world);
    options.max_requests = 4;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_slowly, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 4; i++)
        ask(&askers[i], &world, "www.example", upstream);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(world.stats.upstream_draining, 1);
    fake_loop_advance(world.loop, 400 * MS);
    for (int i = 0; i < 4; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(fake_conn_messages(peer_conn(peer, 0)), 4);
    assert_true(fake_conn_was_closed(peer_conn(peer, 0)));
    assert_int_equal(world.stats.upstream_draining, 0);
    assert_int_equal(fake_peer_queries(peer), 4);
    world_close(&world);
}

/* A successor uses its predecessor's place, and needs no other from the quota. */
static void test_recycling_needs_no_more_places(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();

    world_open(&world);
    world.quota.max = 1;
    options.max_requests = 5;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 50; i++)
        ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(peer_stream_queries(peer), 50);
    assert_int_equal(world.stats.upstream_cold_queries, 0);
    assert_int_equal(world.quota.used, 1);
    world_close(&world);
}

static void be_silent(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    (void)ask;
    answer->how = FAKE_SILENT;
}

static void on_quiet(void *owner)
{
    (void)owner;
}

/* A late answer is worth a wait of 30 s, but only on a bounded number of connections. */
static void test_recycling_few_drain_for_long(void **state)
{
    (void)state;
    enum { COUNT = CONN_LATE_DRAINS_MAX + 20 };
    static const struct exchange_handler lingers = {.on_answer = asker_on_answer,
                                                    .on_failed = asker_on_failed,
                                                    .on_quiet = on_quiet,
                                                    .lingers = true};
    static struct asker askers[COUNT];
    struct world world;
    struct upstream_options options = world_no_fallback();
    options.max_requests = 1;
    world_open(&world);
    world_peer(&world, "10.1.1.1@53", be_silent, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < COUNT; i++) {
        ask(&askers[i], &world, "www.example", upstream);
        askers[i].exchange.handler = &lingers;
        fake_loop_advance(world.loop, 10 * MS);
    }
    fake_loop_advance(world.loop, EXCHANGE_WALL_US + 2 * options.query_timeout_us);
    assert_int_equal(world.stats.upstream_draining, CONN_LATE_DRAINS_MAX);
    fake_loop_advance(world.loop, CONN_LATE_US);
    assert_int_equal(world.stats.upstream_draining, 0);
    assert_int_equal(upstreams_env(world.upstreams)->late_drains, 0);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_recycling_after_each_query),
        cmocka_unit_test(test_recycling_after_two_queries),
        cmocka_unit_test(test_recycling_after_ten_thousand_queries),
        cmocka_unit_test(test_recycling_makes_before_it_breaks),
        cmocka_unit_test(test_recycling_is_exact_under_a_burst),
        cmocka_unit_test(test_recycling_by_age_replaces_an_idle_connection),
        cmocka_unit_test(test_recycling_by_age_waits_for_the_successor),
        cmocka_unit_test(test_recycling_by_command_affects_only_the_prefix),
        cmocka_unit_test(test_recycling_needs_no_more_places),
        cmocka_unit_test(test_recycling_drains_queries_in_flight),
        cmocka_unit_test(test_recycling_few_drain_for_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
