/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Upstreams come and go with the configuration. Unchanged ones are left alone. Unwanted ones drain
 * and vanish, whatever their connections do at that moment.
 */

#include "base/log.h"
#include "unit/upstream/world.h"

#define AT "10.1.1.1@53"

static struct upstream *want(struct world *world, const char *addr,
                             const struct upstream_options *options)
{
    struct addr at = fake_addr(addr);
    struct upstream_options wanted = world_options(options);
    struct upstream *upstream = upstreams_want(world->upstreams, &at, &wanted);
    assert_non_null(upstream);
    return upstream;
}

/* Acts as a reload does: wants the new upstream, then drops the former one (may be NULL). */
static struct upstream *change(struct world *world, struct upstream *former, const char *addr,
                               const struct upstream_options *options)
{
    struct upstream *upstream = addr ? want(world, addr, options) : NULL;
    if (former)
        upstreams_unwant(former);
    upstreams_settle(world->upstreams, NULL, NULL);
    return upstream;
}

/* Returns the number of upstreams. None here has a sibling, because all are strict or plain. */
static size_t count(const struct world *world)
{
    return upstreams_count(world->upstreams);
}

static struct upstream_options nailed_only(void)
{
    struct upstream_options options = world_no_fallback();
    return options;
}

static void answer_slowly(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = *(uint64_t *)owner;
}

/* ---- upstreams that stay ---- */

static void test_retire_keeps_an_upstream_of_both_configurations_as_it_is(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(peer_dials(peer), 1);
    ask_and_wait(&asker, &world, "www.example", upstream);
    uint64_t srtt_us = upstream->stream.srtt_us;
    for (int i = 0; i < 100; i++) {
        assert_ptr_equal(change(&world, upstream, AT, &options), upstream);
        upstreams_drop(upstream);
        fake_loop_advance(world.loop, 50 * MS);
    }
    assert_int_equal(peer_dials(peer), 1);
    assert_int_equal(upstream->stream.srtt_us, srtt_us);
    assert_int_equal(world.stats.upstream_ready, 1);
    assert_int_equal(world.quota.used, 1);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(fake_conn_messages(peer_conn(peer, 0)), 2);
    world_close(&world);
}

static void test_retire_waits_until_no_route_wants_the_upstream(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = want(&world, AT, &options);
    assert_ptr_equal(want(&world, AT, &options), upstream);
    assert_int_equal(peer_dials(peer), 0); /* no dial before upstreams_settle() */
    change(&world, upstream, NULL, NULL);
    fake_loop_advance(world.loop, S);
    assert_int_equal(world.stats.upstream_ready, 1);
    change(&world, upstream, NULL, NULL);
    assert_int_equal(world.stats.upstream_ready, 0);
    world_close(&world);
}

struct keeper {
    const struct upstream *expected;
    unsigned asked;
};

static bool keeps(void *context, const struct addr *addr, const struct upstream_options *options)
{
    struct keeper *keeper = context;
    keeper->asked++;
    return addr_equal(addr, &keeper->expected->addr) &&
           options->max_requests == keeper->expected->options.max_requests;
}

/* A discovered upstream is not in the configuration. */
static void test_retire_keeps_discovered_upstreams_with_the_same_options(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    world_peer(&world, AT, NULL, NULL);
    struct upstream *met = world_discover(&world, AT, &options);
    options.max_requests = 5;
    struct upstream *other = world_discover(&world, AT, &options);
    ask_and_wait(&asker, &world, "www.example", met);
    ask_and_wait(&asker, &world, "www.example", other);
    struct keeper keeper = {.expected = met};
    upstreams_drop(met);
    upstreams_drop(other);
    fake_loop_advance(world.loop, 100 * MS);
    upstreams_settle(world.upstreams, keeps, &keeper);
    assert_int_equal(keeper.asked, 2);
    assert_true(other->retiring && !met->retiring);
    fake_loop_advance(world.loop, 300 * MS);
    assert_int_equal(count(&world), 1);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

/* ---- upstreams that go ---- */

static void test_retire_a_changed_option_dials_again_while_the_former_drains(void **state)
{
    (void)state;
    struct world world;
    struct asker before, after;
    uint64_t delay_us = 350 * MS; /* the second try is due later than this */
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, answer_slowly, &delay_us);
    struct upstream *former = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&before, &world, "www.example", former);
    fake_loop_advance(world.loop, 10 * MS);
    options.max_in_flight = 7;
    struct upstream *upstream = change(&world, former, AT, &options);
    assert_ptr_not_equal(upstream, former);
    assert_int_equal(world.stats.upstream_draining, 1);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(peer_dials(peer), 2);
    ask(&after, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 600 * MS);
    assert_int_equal(before.result, ASKER_ANSWERED);
    assert_true(before.over_stream);
    assert_int_equal(before.took_us, 352 * MS);
    assert_int_equal(after.result, ASKER_ANSWERED);
    assert_int_equal(fake_conn_messages(peer_conn(peer, 0)), 1);
    assert_int_equal(fake_conn_state(peer_conn(peer, 0)), FAKE_CONN_CLOSED);
    assert_int_equal(world.stats.upstream_closes_shutdown, 1);
    assert_int_equal(world.stats.upstream_recycles, 0);
    assert_int_equal(count(&world), 2); /* the query still holds the upstream */
    upstreams_drop(former);
    fake_loop_advance(world.loop, 200 * MS);
    assert_int_equal(count(&world), 1);
    fake_loop_advance(world.loop, 100 * S);
    assert_int_equal(peer_dials(peer), 2);
    world_close(&world);
}

static void test_retire_an_idle_upstream_closes_at_once_and_dials_no_more(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    options.connections = 3;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, S);
    assert_int_equal(world.stats.upstream_ready, 3);
    assert_int_equal(world.quota.used, 3);
    change(&world, upstream, NULL, NULL);
    assert_int_equal(world.quota.used, 0);
    assert_int_equal(world.stats.upstream_ready + world.stats.upstream_draining, 0);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, 1000 * S);
    assert_int_equal(count(&world), 0);
    assert_int_equal(peer_dials(peer), 3);
    world_close(&world);
}

static void test_retire_its_places_serve_the_new_upstreams(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    options.connections = 3;
    world_open(&world);
    world.quota.max = 4;
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct fake_peer *other = world_peer(&world, "10.1.1.2@53", NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    struct upstream *poor = change(&world, NULL, "10.1.1.2@53", &options);
    fake_loop_advance(world.loop, S);
    assert_int_equal(peer_dials(other), 1);
    options.idle_timeout_us = 7 * S;
    options.connections = 1;
    change(&world, upstream, AT, &options);
    fake_loop_advance(world.loop, 100 * MS); /* at the next look at the quota, or before */
    assert_int_equal(peer_dials(peer), 3 + 1);
    assert_int_equal(peer_dials(other), 3); /* an upstream that lacked places gets its share, too */
    assert_int_equal(poor->pool.places, 3);
    assert_int_equal(world.quota.used, 4);
    world_close(&world);
}

static void test_retire_its_holders_still_get_answers(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, S);
    change(&world, upstream, NULL, NULL);
    for (unsigned i = 0; i < 20; i++) {
        ask_and_wait(&asker, &world, "www.example", upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(world.loop, 200 * MS);
        assert_int_equal(world.stats.upstream_ready, 0); /* no connection is kept */
        assert_int_equal(world.quota.used, 0);
    }
    assert_int_equal(peer_dials(peer), 21);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, 200 * MS);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

static void test_retire_under_load_dials_no_spares(void **state)
{
    (void)state;
    enum { ASKERS = 500 };
    static struct asker askers[ASKERS];
    struct world world;
    struct upstream_options options = nailed_only();
    options.max_requests = 1000;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, S);
    change(&world, upstream, NULL, NULL);
    for (int i = 0; i < ASKERS; i++)
        ask(&askers[i], &world, "www.example", upstream);
    assert_int_equal(world.stats.upstream_dialing, 1);
    fake_loop_advance(world.loop, 5 * S);
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_true(peer_dials(peer) <= 4);
    assert_int_equal(world.stats.upstream_ready, 0);
    world_close(&world);
}

/* These queries had a connection when they began to wait, and keep it. */
static void test_retire_queries_that_wait_for_room_lose_no_connection(void **state)
{
    (void)state;
    enum { ASKERS = 16 };
    static struct asker askers[ASKERS];
    struct world world;
    uint64_t delay_us = 200 * MS;
    struct upstream_options options = nailed_only();
    options.max_in_flight = 4;
    options.max_connections = 1;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, answer_slowly, &delay_us);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < ASKERS; i++)
        ask(&askers[i], &world, "www.example", upstream);
    fake_loop_advance(world.loop, 20 * MS);
    change(&world, upstream, NULL, NULL);
    fake_loop_advance(world.loop, 2 * S);
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(peer), 1);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

/* ---- hostile, and at the wrong moment ---- */

static void be_silent(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    (void)ask;
    answer->how = FAKE_SILENT;
}

static void test_retire_a_silent_peer_delays_the_end_by_a_bound(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    options.query_timeout_us = 3 * S;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, be_silent, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&asker, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 10 * MS);
    change(&world, upstream, NULL, NULL);
    fake_loop_advance(world.loop, EXCHANGE_WALL_US);
    assert_int_equal(asker.result, ASKER_FAILED);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, 2 * options.query_timeout_us);
    assert_int_equal(count(&world), 0);
    assert_int_equal(fake_net_open_sockets(world.net), 0);
    assert_true(peer_dials(peer) <= 1 + EXCHANGE_ATTEMPTS_MAX);
    world_close(&world);
}

static void test_retire_gives_a_dial_up(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_blackhole(&world, AT);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 10 * MS);
    assert_int_equal(world.stats.upstream_dialing, 1);
    change(&world, upstream, NULL, NULL);
    assert_int_equal(world.stats.upstream_dialing, 0);
    assert_int_equal(fake_net_open_sockets(world.net), 0);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, 100 * S);
    assert_int_equal(peer_dials(peer), 1);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

/* In the TLS build of this file, this happens in the middle of the handshake. */
static void test_retire_finishes_a_dial_that_a_query_waits_for(void **state)
{
    (void)state;
    for (uint64_t when = 0; when <= 360 * MS; when += 20 * MS) {
        struct world world;
        struct asker asker;
        struct upstream_options options = nailed_only();
        options.connect_timeout_us = 2 * S;
        world_open(&world);
        struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
        fake_server_set_latency(fake_peer_server(peer), 50 * MS);
        fake_server_set_accept_delay(fake_peer_server(peer), 100 * MS);
        struct upstream *upstream = change(&world, NULL, AT, &options);
        ask(&asker, &world, "www.example", upstream);
        fake_loop_advance(world.loop, when);
        change(&world, upstream, NULL, NULL);
        fake_loop_advance(world.loop, S);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_int_equal(peer_dials(peer), 1);
        assert_int_equal(fake_net_open_sockets(world.net), 0);
        world_close(&world);
    }
}

static void test_retire_fails_queries_whose_dial_fails(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_blackhole(&world, AT);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    ask(&asker, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 10 * MS);
    change(&world, upstream, NULL, NULL);
    fake_loop_advance(world.loop, EXCHANGE_WALL_US);
    assert_int_equal(asker.result, ASKER_FAILED);
    upstreams_drop(upstream);
    fake_loop_advance(world.loop, 2 * S);
    assert_int_equal(count(&world), 0);
    size_t dials = peer_dials(peer);
    fake_loop_advance(world.loop, 100 * S);
    assert_int_equal(peer_dials(peer), dials);
    world_close(&world);
}

static void test_retire_ends_a_rest_after_a_failure(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_REFUSE);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    while (world.stats.upstream_resting == 0)
        fake_loop_advance(world.loop, 10 * MS);
    change(&world, upstream, NULL, NULL);
    assert_int_equal(world.stats.upstream_resting, 0);
    upstreams_drop(upstream);
    size_t dials = peer_dials(peer);
    fake_loop_advance(world.loop, 1000 * S);
    assert_int_equal(peer_dials(peer), dials);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

static void test_retire_leaves_the_line_of_dials(void **state)
{
    (void)state;
    enum { MANY = DIALER_MAX + 20 };
    struct world world;
    struct upstream *upstreams[MANY];
    struct upstream_options options = nailed_only();
    char text[32];
    world_open(&world);
    for (int i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "10.2.0.%d@53", i);
        world_blackhole(&world, text);
        upstreams[i] = want(&world, text, &options);
    }
    upstreams_settle(world.upstreams, NULL, NULL);
    assert_int_equal(world.stats.upstream_dialing, DIALER_MAX);
    for (int i = 0; i < MANY; i++)
        upstreams_unwant(upstreams[i]);
    upstreams_settle(world.upstreams, NULL, NULL);
    assert_int_equal(world.stats.upstream_dialing + world.stats.upstream_parked, 0);
    assert_int_equal(upstreams_env(world.upstreams)->dialer.under_way, 0);
    for (int i = 0; i < MANY; i++)
        upstreams_drop(upstreams[i]);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    world_close(&world);
}

/* A probe starts beside a client's question, and outlives it. */
static void test_retire_waits_for_a_probe(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = upstream_options_default;
    struct upstream *group[2];
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", be_silent, NULL);
    world_peer(&world, "10.1.1.2@53", NULL, NULL);
    group[0] = want(&world, "10.1.1.1@53", &options);
    group[1] = want(&world, "10.1.1.2@53", &options);
    upstreams_settle(world.upstreams, NULL, NULL);
    for (int i = 0; i < 1000 && !upstreams_env(world.upstreams)->probe_count; i++) {
        fake_loop_advance(world.loop, S);
        ask_group(&asker, &world, "www.example", group, 2);
        while (asker.result == ASKER_WAITING)
            fake_loop_advance(world.loop, MS);
    }
    assert_int_equal(upstreams_env(world.upstreams)->probe_count, 1);
    upstreams_unwant(group[0]);
    upstreams_settle(world.upstreams, NULL, NULL);
    upstreams_drop(group[0]);
    size_t queries = fake_peer_queries(peer);
    fake_loop_advance(world.loop, 200 * MS);
    assert_int_equal(count(&world), 2);
    fake_loop_advance(world.loop, 3 * S);
    assert_int_equal(upstreams_env(world.upstreams)->probe_count, 0);
    assert_int_equal(count(&world), 1);
    assert_int_equal(fake_peer_queries(peer), queries);
    world_close(&world);
}

static void test_retire_and_shutdown_may_come_together(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    world_peer(&world, AT, be_silent, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&asker, &world, "www.example", upstream);
    change(&world, upstream, NULL, NULL);
    exchange_stop(&asker.exchange);
    world_close(&world);
}

/* ---- wanted again ---- */

static void test_retire_an_upstream_wanted_again_gets_a_new_connection(void **state)
{
    (void)state;
    struct world world;
    struct asker before, after;
    uint64_t delay_us = 350 * MS;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, answer_slowly, &delay_us);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&before, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 10 * MS);
    change(&world, upstream, NULL, NULL);
    fake_loop_advance(world.loop, 150 * MS);
    assert_ptr_equal(change(&world, NULL, AT, &options), upstream);
    assert_int_equal(world.quota.used, 1);
    fake_loop_advance(world.loop, 100 * MS);
    assert_int_equal(world.stats.upstream_ready, 1);
    assert_int_equal(world.stats.upstream_draining, 1);
    ask(&after, &world, "www.example", upstream);
    fake_loop_advance(world.loop, S);
    assert_int_equal(before.result, ASKER_ANSWERED);
    assert_int_equal(before.took_us, 352 * MS);
    assert_int_equal(after.result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(peer), 2);
    assert_int_equal(count(&world), 1);
    fake_loop_advance(world.loop, 100 * S);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

/* One query is in flight all the time while the upstream goes, comes back and goes again. */
static void test_retire_an_upstream_wanted_again_in_a_pause_is_nailed_afterwards(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, NULL, NULL);
    struct upstream *upstream = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    upstream->pool.ended_ready_at = upstream->pool.keepalive.zero_at = loop_now(world.loop);
    upstream->pool.keepalive.zeros = 10; /* RFC 7828: one zero more means a pause of five minutes */
    pool_heard_keepalive(&upstream->pool, NULL, 0);
    change(&world, upstream, NULL, NULL);
    assert_ptr_equal(change(&world, NULL, AT, &options), upstream);
    fake_loop_advance(world.loop, 60 * S);
    assert_int_equal(peer_dials(peer), 1);
    fake_loop_advance(world.loop, 600 * S);
    assert_int_equal(peer_dials(peer), 2);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

static void test_retire_two_changes_during_one_drain_lose_no_query(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[3];
    struct upstream *former[3];
    uint64_t delay_us = 350 * MS;
    struct upstream_options options = nailed_only();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, AT, answer_slowly, &delay_us);
    former[0] = change(&world, NULL, AT, &options);
    for (unsigned i = 0; i < 3; i++) {
        fake_loop_advance(world.loop, 100 * MS);
        ask(&askers[i], &world, "www.example", former[i]);
        fake_loop_advance(world.loop, 10 * MS);
        options.max_in_flight = 256 - (i + 1) % 2;
        if (i < 2)
            former[i + 1] = change(&world, former[i], AT, &options);
    }
    assert_ptr_equal(former[2], former[0]);
    assert_int_equal(world.quota.used, 1);
    fake_loop_advance(world.loop, 2 * S);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(peer), 3);
    upstreams_drop(former[0]);
    upstreams_drop(former[1]);
    fake_loop_advance(world.loop, 200 * MS);
    assert_int_equal(count(&world), 1);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

static void test_retire_a_hundred_changes_in_a_row_leave_one_upstream(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream *upstream = NULL;
    struct upstream_options options = nailed_only();
    world_open(&world);
    world_peer(&world, AT, NULL, NULL);
    for (unsigned i = 0; i < 100; i++) {
        struct upstream *former = upstream;
        options.max_requests = 1000 + i;
        upstream = change(&world, former, AT, &options);
        if (former)
            upstreams_drop(former);
        fake_loop_advance(world.loop, 30 * MS);
        ask_and_wait(&asker, &world, "www.example", upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_int_equal(world.quota.used, 1);
        assert_true(count(&world) <= 8); /* the upstreams of the last tenth of a second */
        assert_true(fake_net_open_sockets(world.net) <= 3);
    }
    fake_loop_advance(world.loop, 200 * MS);
    assert_int_equal(count(&world), 1);
    world_close(&world);
}

/* The table moves entries up when others go. It must still find them. */
static void test_retire_remaining_upstreams_are_still_found(void **state)
{
    (void)state;
    enum { MANY = 300 };
    struct world world;
    static struct upstream *upstreams[MANY];
    struct upstream_options options = upstream_options_default;
    char text[32];
    world_open(&world);
    memset(upstreams, 0, sizeof(upstreams));
    for (unsigned round = 0; round < 30; round++) {
        for (unsigned i = 0; i < MANY; i++) {
            snprintf(text, sizeof(text), "10.4.%u.%u@53", i / 200, i % 200);
            bool stays = rand_below(3) > 0;
            struct upstream *upstream = stays ? want(&world, text, &options) : NULL;
            if (upstreams[i]) {
                assert_true(!stays || upstream == upstreams[i]);
                upstreams_unwant(upstreams[i]);
                upstreams_drop(upstreams[i]);
            }
            upstreams[i] = upstream;
        }
        upstreams_settle(world.upstreams, NULL, NULL);
        fake_loop_advance(world.loop, rand_below(2) ? 300 * MS : 50 * MS);
    }
    fake_loop_advance(world.loop, S);
    size_t left = 0;
    for (unsigned i = 0; i < MANY; i++)
        left += upstreams[i] != NULL;
    assert_int_equal(upstreams_count(world.upstreams), left);
    world_close(&world);
}

/* ---- the view of upstreams ---- */

struct seen {
    uint64_t queries, dials;
    unsigned nailed, draining;
};

static void see(void *context, const struct upstream_view *view)
{
    struct seen *seen = context;
    if (addr_port(&view->addr) != 53 || strcmp(view->transport, "udp") == 0)
        return;
    seen->queries += view->queries;
    seen->dials += view->dials;
    seen->nailed += view->nailed;
    seen->draining += strcmp(view->health, "draining") == 0;
}

static struct seen seen_in(struct world *world)
{
    struct seen seen = {0};
    upstreams_each(world->upstreams, see, &seen);
    return seen;
}

static void test_retire_is_shown_as_draining_and_counts_never_fall(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = nailed_only();
    world_open(&world);
    world_peer(&world, AT, NULL, NULL);
    struct upstream *former = change(&world, NULL, AT, &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 10; i++)
        ask_and_wait(&asker, &world, "www.example", former);
    options.max_age_us = 100 * S;
    struct upstream *upstream = change(&world, former, AT, &options);
    fake_loop_advance(world.loop, 200 * MS);
    struct seen seen = seen_in(&world);
    assert_int_equal(seen.draining, 1);
    assert_int_equal(seen.nailed, 1);
    assert_int_equal(seen.queries, 10);
    assert_int_equal(seen.dials, 2);
    upstreams_drop(former);
    fake_loop_advance(world.loop, 200 * MS);
    seen = seen_in(&world);
    assert_int_equal(seen.draining, 0);
    assert_int_equal(seen.queries, 10);
    assert_int_equal(seen.dials, 2);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(seen_in(&world).queries, 11);
    world_close(&world);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_retire_keeps_an_upstream_of_both_configurations_as_it_is),
        cmocka_unit_test(test_retire_waits_until_no_route_wants_the_upstream),
        cmocka_unit_test(test_retire_keeps_discovered_upstreams_with_the_same_options),
        cmocka_unit_test(test_retire_a_changed_option_dials_again_while_the_former_drains),
        cmocka_unit_test(test_retire_an_idle_upstream_closes_at_once_and_dials_no_more),
        cmocka_unit_test(test_retire_its_places_serve_the_new_upstreams),
        cmocka_unit_test(test_retire_its_holders_still_get_answers),
        cmocka_unit_test(test_retire_under_load_dials_no_spares),
        cmocka_unit_test(test_retire_queries_that_wait_for_room_lose_no_connection),
        cmocka_unit_test(test_retire_a_silent_peer_delays_the_end_by_a_bound),
        cmocka_unit_test(test_retire_gives_a_dial_up),
        cmocka_unit_test(test_retire_finishes_a_dial_that_a_query_waits_for),
        cmocka_unit_test(test_retire_fails_queries_whose_dial_fails),
        cmocka_unit_test(test_retire_ends_a_rest_after_a_failure),
        cmocka_unit_test(test_retire_leaves_the_line_of_dials),
        cmocka_unit_test(test_retire_waits_for_a_probe),
        cmocka_unit_test(test_retire_and_shutdown_may_come_together),
        cmocka_unit_test(test_retire_an_upstream_wanted_again_gets_a_new_connection),
        cmocka_unit_test(test_retire_an_upstream_wanted_again_in_a_pause_is_nailed_afterwards),
        cmocka_unit_test(test_retire_two_changes_during_one_drain_lose_no_query),
        cmocka_unit_test(test_retire_a_hundred_changes_in_a_row_leave_one_upstream),
        cmocka_unit_test(test_retire_remaining_upstreams_are_still_found),
        cmocka_unit_test(test_retire_is_shown_as_draining_and_counts_never_fall),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
