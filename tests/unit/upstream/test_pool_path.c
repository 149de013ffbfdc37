/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The network changes under the connections. Facts about the old network must delay nothing. */

#include "upstream/pool_path.h"

#include "unit/upstream/world.h"

static void change(struct world *world)
{
    upstreams_network_changed(world->upstreams, NETWORK_CHANGED);
    fake_loop_settle(world->loop);
}

static size_t open_conns(struct fake_peer *peer)
{
    return fake_server_open_conns(fake_peer_server(peer));
}

/* A server with one kept connection that is ready, and without UDP. */
struct place {
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void place_open(struct place *place)
{
    struct upstream_options options = world_no_fallback();
    place->upstream =
        world_open_server(&place->world, &place->peer, answer_by_name, NULL, &options);
    fake_loop_advance(place->world.loop, 100 * MS);
    assert_int_equal(place->world.stats.upstream_ready, 1);
    assert_int_equal(peer_dials(place->peer), 1);
}

static void test_path_change_replaces_connections_make_before_break(void **state)
{
    (void)state;
    struct place place;
    place_open(&place);
    change(&place.world);
    /* the old connection stays until another is ready */
    assert_int_equal(open_conns(place.peer), 1);
    fake_loop_advance(place.world.loop, 100 * MS);
    assert_int_equal(peer_dials(place.peer), 2);
    assert_true(fake_conn_was_closed(peer_conn(place.peer, 0)));
    assert_int_equal(open_conns(place.peer), 1);
    assert_int_equal(place.world.stats.upstream_closes_network, 1);
    world_close(&place.world);
}

static void test_path_query_in_flight_gets_its_answer_on_the_old_connection(void **state)
{
    (void)state;
    struct place place;
    struct asker asker;
    place_open(&place);
    ask(&asker, &place.world, "www.example", place.upstream);
    change(&place.world);
    fake_loop_advance(place.world.loop, 50 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(fake_conn_was_closed(peer_conn(place.peer, 0)), true);
    assert_int_equal(peer_stream_queries(place.peer), 1);
    world_close(&place.world);
}

/* The second query leaves at once, without the usual 400 ms of silence. */
static void test_path_lost_address_asks_queries_in_flight_again_at_once(void **state)
{
    (void)state;
    struct place place;
    struct asker asker;
    place_open(&place);
    fake_conn_go_dark(peer_conn(place.peer, 0));
    ask(&asker, &place.world, "www.example", place.upstream);
    fake_loop_advance(place.world.loop, 20 * MS);
    fake_net_lose_address(place.world.net);
    change(&place.world);
    assert_int_equal(place.world.stats.upstream_ready, 0);
    fake_loop_advance(place.world.loop, 30 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&place.world);
}

static void test_path_change_ends_every_rest(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_FAIL_NOW);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 60 * S);
    while (upstream->pool.backoff.until_at < loop_now(world.loop) + S)
        fake_loop_advance(world.loop, 10 * MS);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    assert_int_equal(world.stats.upstream_resting, 1);
    assert_true(upstream_is_ill(upstream));
    change(&world);
    assert_false(upstream_is_ill(upstream));
    ask(&asker, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 30 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&world);
}

/* The dial sent its first packets into the old network. */
static void test_path_change_during_a_dial_dials_again(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    ask(&asker, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(world.stats.upstream_dialing, 1);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    change(&world);
    fake_loop_advance(world.loop, 30 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

static void test_path_draining_connection_keeps_its_answer_unless_its_address_is_lost(void **state)
{
    (void)state;
    for (int lost = 0; lost < 2; lost++) {
        struct place place;
        struct asker asker;
        place_open(&place);
        ask(&asker, &place.world, "slow.example", place.upstream);
        upstreams_recycle(place.world.upstreams, NULL);
        fake_loop_advance(place.world.loop, 100 * MS);
        assert_int_equal(place.world.stats.upstream_draining, 1);
        if (lost)
            fake_net_lose_address(place.world.net);
        change(&place.world);
        assert_int_equal(place.world.stats.upstream_draining, !lost);
        fake_loop_advance(place.world.loop, 2 * S);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        world_close(&place.world);
    }
}

/* For each change, each kept connection is dialled once. Old connections do not accumulate,
 * whatever the dials do. */
static void test_path_storm_of_changes_is_bounded(void **state)
{
    (void)state;
    struct place place;
    struct asker asker;
    size_t most = 0;
    place_open(&place);
    struct fake_server *server = fake_peer_server(place.peer);
    for (unsigned i = 0; i < 300 / WORLD_COST; i++) {
        fake_server_set_dial(server, i % 3 == 1   ? FAKE_DIAL_BLACKHOLE
                                     : i % 3 == 2 ? FAKE_DIAL_FAIL_NOW
                                                  : FAKE_DIAL_ACCEPT);
        if (i % 7 == 0)
            fake_net_lose_address(place.world.net);
        change(&place.world);
        fake_loop_advance(place.world.loop, i % 5 * 10 * MS);
        most = fake_net_open_sockets(place.world.net) > most
                   ? fake_net_open_sockets(place.world.net)
                   : most;
    }
    assert_in_range(most, 1, 4);
    assert_in_range(peer_dials(place.peer), 2, 301);
    fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
    change(&place.world);
    ask_and_wait(&asker, &place.world, "www.example", place.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fake_loop_advance(place.world.loop, 20 * S);
    assert_int_equal(open_conns(place.peer), 1);
    world_close(&place.world);
}

static void test_path_resume_leaves_no_old_connection(void **state)
{
    (void)state;
    struct place place;
    struct asker asker;
    place_open(&place);
    fake_conn_go_dark(peer_conn(place.peer, 0));
    fake_loop_jump(place.world.loop, 3600 * S);
    upstreams_network_changed(place.world.upstreams, NETWORK_RESUMED);
    ask(&asker, &place.world, "www.example", place.upstream);
    fake_loop_advance(place.world.loop, 30 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(place.world.stats.upstream_ready, 1);
    assert_int_equal(place.world.stats.upstream_closes_network, 1);
    world_close(&place.world);
}

/* The new network resets connections that it does not know. Such resets, and losses in the old
 * network, do not count against the server. */
static void test_path_ends_in_the_old_network_count_against_no_server(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_no_fallback();
    options.connections = 4;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(world.stats.upstream_ready, 4);
    fake_server_set_accept_delay(fake_peer_server(peer), 50 * MS);
    change(&world);
    fake_server_reset_all(fake_peer_server(peer));
    fake_loop_advance(world.loop, 20 * MS);
    assert_int_equal(upstream->pool.backoff.failures, 0);
    assert_int_equal(world.stats.upstream_resting, 0);
    fake_loop_advance(world.loop, 500 * MS);
    assert_int_equal(world.stats.upstream_ready, 4);
    world_close(&world);
}

#ifndef WORLD_TLS /* this world has no streams */
static void test_path_silence_in_the_old_network_makes_no_server_ill(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[8];
    struct upstream_options options = upstream_options_default;
    options.transport = TRANSPORT_UDP;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    fake_server_set_udp(fake_peer_server(peer), FAKE_UDP_DROP);
    for (int i = 0; i < 8; i++)
        ask(&askers[i], &world, "www.example", upstream);
    fake_loop_advance(world.loop, 300 * MS);
    change(&world);
    fake_server_set_udp(fake_peer_server(peer), FAKE_UDP_DELIVER);
    for (int i = 0; i < 60; i++) {
        fake_loop_advance(world.loop, 100 * MS);
        assert_false(upstream_is_ill(upstream));
        assert_int_equal(upstream->udp.silences, 0);
    }
    for (int i = 0; i < 8; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&world);
}
#endif

static void test_path_idle_connections_without_a_place_close(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    options.nailed = false;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    ask_and_wait(&asker, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 5 * S);
    assert_int_equal(open_conns(peer), 1);
    change(&world);
    fake_loop_advance(world.loop, 5 * S);
    assert_int_equal(open_conns(peer), 0);
    assert_int_equal(peer_dials(peer), 1);
    world_close(&world);
}

static void test_path_change_dials_no_unused_upstream(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_no_fallback();
    options.prewarm = false;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    (void)world_upstream(&world, "10.1.1.1@53", &options);
    change(&world);
    upstreams_network_changed(world.upstreams, NETWORK_RESUMED);
    fake_loop_advance(world.loop, 5 * S);
    assert_int_equal(peer_dials(peer), 0);
    world_close(&world);
}

/* A query that one server lost must not leave on a connection of another server that is lost as
 * well. */
static void test_path_lost_queries_find_no_pool_with_old_facts(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[2];
    struct upstream *group[2];
    struct fake_peer *peers[2];
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    for (int i = 0; i < 2; i++) {
        const char *text = i ? "10.1.1.2@53" : "10.1.1.1@53";
        peers[i] = world_peer(&world, text, answer_by_name, NULL);
        group[i] = world_upstream(&world, text, &options);
    }
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 2; i++) {
        fake_conn_go_dark(peer_conn(peers[i], 0));
        ask(&askers[i], &world, "www.example", group[i]);
        exchange_stop(&askers[i].exchange);
        ask_group(&askers[i], &world, "www.example", group, 2);
    }
    fake_loop_advance(world.loop, 10 * MS);
    fake_net_lose_address(world.net);
    change(&world);
    fake_loop_advance(world.loop, 30 * MS);
    for (int i = 0; i < 2; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&world);
}

static void test_path_change_makes_a_new_cookie_and_accepts_the_old_one(void **state)
{
    (void)state;
    struct place place;
    const struct addr any = {0};
    struct cookie made;
    uint8_t before[EDNS_COOKIE_CLIENT], server[EDNS_COOKIE_SERVER_MIN] = {7};
    place_open(&place);
    struct cookies *cookies = &place.upstream->cookies;
    const struct cookie *cookie = cookies_find(cookies, &any, &made);
    memcpy(before, cookie->bytes, sizeof(before));
    cookies_take_server(cookies, &any, span_of(before, sizeof(before)),
                        span_of(server, sizeof(server)));
    assert_int_equal(cookie->len, EDNS_COOKIE_CLIENT + EDNS_COOKIE_SERVER_MIN);
    change(&place.world);
    assert_memory_not_equal(cookie->bytes, before, sizeof(before));
    assert_int_equal(cookie->len, EDNS_COOKIE_CLIENT);
    assert_true(cookies_are_ours(cookies, &any, span_of(before, sizeof(before))));
    assert_true(cookies_are_ours(cookies, &any, span_of(cookie->bytes, sizeof(before))));
    change(&place.world);
    assert_false(cookies_are_ours(cookies, &any, span_of(before, sizeof(before))));
    world_close(&place.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_path_change_replaces_connections_make_before_break),
        cmocka_unit_test(test_path_query_in_flight_gets_its_answer_on_the_old_connection),
        cmocka_unit_test(test_path_lost_address_asks_queries_in_flight_again_at_once),
        cmocka_unit_test(test_path_change_ends_every_rest),
        cmocka_unit_test(test_path_change_during_a_dial_dials_again),
        cmocka_unit_test(test_path_draining_connection_keeps_its_answer_unless_its_address_is_lost),
        cmocka_unit_test(test_path_storm_of_changes_is_bounded),
        cmocka_unit_test(test_path_resume_leaves_no_old_connection),
        cmocka_unit_test(test_path_ends_in_the_old_network_count_against_no_server),
#ifndef WORLD_TLS
        cmocka_unit_test(test_path_silence_in_the_old_network_makes_no_server_ill),
#endif
        cmocka_unit_test(test_path_idle_connections_without_a_place_close),
        cmocka_unit_test(test_path_change_dials_no_unused_upstream),
        cmocka_unit_test(test_path_lost_queries_find_no_pool_with_old_facts),
        cmocka_unit_test(test_path_change_makes_a_new_cookie_and_accepts_the_old_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
