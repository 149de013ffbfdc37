/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/upstream/world.h"

#include "upstream/spread.h"

#define T0 (1000 * S)

static uint64_t note(struct spread *spread, uint64_t now, bool saw_hole)
{
    assert_true(spread_is_due(spread, now));
    spread_note(spread, saw_hole, now);
    assert_false(spread_is_due(spread, now));
    return now + SPREAD_LOOK_US;
}

static void test_spread_a_single_loss_changes_nothing(void **state)
{
    (void)state;
    struct spread spread = {0};
    uint64_t now = T0;
    for (int round = 0; round < 100; round++) {
        for (int i = 0; i < SPREAD_LOOKS; i++)
            now = note(&spread, now, i < SPREAD_HOLES - 1);
        assert_int_equal(spread_width(&spread, 1000, now), 0);
    }
}

static void test_spread_repeated_losses_are_remembered_for_a_while(void **state)
{
    (void)state;
    struct spread spread = {0};
    uint64_t now = T0;
    for (int i = 0; i < SPREAD_HOLES; i++)
        now = note(&spread, now, true);
    uint64_t until_at = now - SPREAD_LOOK_US + SPREAD_KEEP_US;
    assert_true(spread_is_lossy(&spread, until_at - 1));
    assert_false(spread_is_lossy(&spread, until_at));
}

static void test_spread_losses_before_a_pause_do_not_count(void **state)
{
    (void)state;
    struct spread spread = {0};
    uint64_t now = T0;
    for (int i = 0; i < 100; i++)
        now = note(&spread, now, true) + SPREAD_LOOKS * SPREAD_LOOK_US;
    assert_false(spread_is_lossy(&spread, now));
}

static void test_spread_width_follows_the_load(void **state)
{
    (void)state;
    struct spread spread = {.lossy_until_at = T0 + 1};
    assert_int_equal(spread_width(&spread, 0, T0), 0);
    assert_int_equal(spread_width(&spread, 2 * SPREAD_IN_FLIGHT - 1, T0), 0);
    assert_int_equal(spread_width(&spread, 2 * SPREAD_IN_FLIGHT, T0), 2);
    assert_int_equal(spread_width(&spread, 10 * SPREAD_IN_FLIGHT, T0), 10);
    assert_int_equal(spread_width(&spread, 10 * SPREAD_IN_FLIGHT, T0 + 1), 0);
}

/* ---- a pool ---- */

static void answer_after_50_ms(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = 50 * MS;
}

enum { ASKERS = 3000 };

/* Sends one query every gap_us for three seconds. With `lossy`, a segment is lost every 50 ms. */
static void run_load(struct world *world, struct fake_peer *peer, struct upstream *upstream,
                     uint64_t gap_us, bool lossy)
{
    static struct asker askers[ASKERS];
    size_t count = MIN(3 * S / gap_us, (size_t)ASKERS);
    for (size_t i = 0; i < count; i++) {
        ask(&askers[i], world, "www.example", upstream);
        fake_loop_advance(world->loop, gap_us);
        if (lossy && i * gap_us / (50 * MS) != (i + 1) * gap_us / (50 * MS))
            fake_conn_retransmit(peer_conn(peer, 0));
    }
    fake_loop_advance(world->loop, S);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
}

static struct upstream *open_pool(struct world *world, struct fake_peer **peer)
{
    struct upstream_options options = world_nailed();
    world_open(world);
    *peer = world_peer(world, "10.1.1.1@53", answer_after_50_ms, NULL);
    struct upstream *upstream = world_upstream(world, "10.1.1.1@53", &options);
    fake_loop_advance(world->loop, 100 * MS);
    assert_int_equal(peer_dials(*peer), 1);
    return upstream;
}

static void test_spread_a_busy_upstream_on_a_lossy_path_gets_more_connections(void **state)
{
    (void)state;
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream = open_pool(&world, &peer);
    run_load(&world, peer, upstream, MS, true); /* 50 queries in flight */
    assert_int_equal(peer_dials(peer), 3);
    uint32_t least = UINT32_MAX;
    LIST_EACH(node, &upstream->pool.conns)
    least = MIN(least, LIST_ITEM(node, struct conn, node)->requests);
    assert_true(least > 500); /* each connection gets its share */
    world_close(&world);
}

/* max-connections is the limit for any number of queries in flight. */
static void test_spread_ends_at_max_connections(void **state)
{
    (void)state;
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream = open_pool(&world, &peer);
    run_load(&world, peer, upstream, MS / 4, true); /* 200 queries in flight */
    assert_int_equal(peer_dials(peer), upstream->options.max_connections);
    world_close(&world);
}

static void test_spread_without_losses_one_connection_carries_it_all(void **state)
{
    (void)state;
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream = open_pool(&world, &peer);
    run_load(&world, peer, upstream, MS, false);
    assert_int_equal(peer_dials(peer), 1);
    world_close(&world);
}

static void test_spread_few_queries_stay_on_one_connection(void **state)
{
    (void)state;
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream = open_pool(&world, &peer);
    run_load(&world, peer, upstream, 4 * MS, true); /* 13 queries in flight */
    assert_int_equal(peer_dials(peer), 1);
    world_close(&world);
}

/* The path is good again and the load is small. The extra connections become idle and close. */
static void test_spread_extra_connections_end_when_idle(void **state)
{
    (void)state;
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream = open_pool(&world, &peer);
    run_load(&world, peer, upstream, MS, true);
    for (int i = 0; i < 200; i++) {
        struct asker asker;
        ask_and_wait(&asker, &world, "www.example", upstream);
        fake_loop_advance(world.loop, S);
    }
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spread_a_single_loss_changes_nothing),
        cmocka_unit_test(test_spread_repeated_losses_are_remembered_for_a_while),
        cmocka_unit_test(test_spread_losses_before_a_pause_do_not_count),
        cmocka_unit_test(test_spread_width_follows_the_load),
        cmocka_unit_test(test_spread_a_busy_upstream_on_a_lossy_path_gets_more_connections),
        cmocka_unit_test(test_spread_ends_at_max_connections),
        cmocka_unit_test(test_spread_without_losses_one_connection_carries_it_all),
        cmocka_unit_test(test_spread_few_queries_stay_on_one_connection),
        cmocka_unit_test(test_spread_extra_connections_end_when_idle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
