/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The parts of one change become one report. A flapping link causes a bounded number of reports. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/network_gather.h"
#include "unit/upstream/world.h"

static struct loop *loop;
static struct network_gather gather;
static unsigned told;
static uint64_t told_at;
static enum network_change told_last;

static void on_changed(void *context, enum network_change change)
{
    assert_ptr_equal(context, &told);
    told++;
    told_at = loop_now(loop);
    told_last = change;
}

static int open_gather(void **state)
{
    (void)state;
    loop = loop_new();
    told = 0;
    network_gather_init(&gather, loop, on_changed, &told);
    return 0;
}

static int close_gather(void **state)
{
    (void)state;
    network_gather_deinit(&gather);
    loop_free(loop);
    return 0;
}

static void test_gather_reports_once_when_the_network_is_quiet(void **state)
{
    (void)state;
    uint64_t begin = loop_now(loop);
    for (int i = 0; i < 5; i++) {
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(loop, 50 * MS);
    }
    assert_int_equal(told, 0);
    fake_loop_advance(loop, 5 * S);
    assert_int_equal(told, 1);
    assert_in_range(told_at - begin, 200 * MS + NETWORK_QUIET_US, 201 * MS + NETWORK_QUIET_US);
    assert_int_equal(told_last, NETWORK_CHANGED);
}

static void test_gather_waits_no_longer_than_its_bound(void **state)
{
    (void)state;
    uint64_t begin = loop_now(loop);
    while (told == 0) {
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(loop, 50 * MS);
    }
    assert_in_range(told_at - begin, NETWORK_GATHER_US, NETWORK_GATHER_US + MS);
}

static void test_gather_of_a_sleep_and_a_change_reports_the_sleep(void **state)
{
    (void)state;
    network_gather_note(&gather, NETWORK_RESUMED);
    network_gather_note(&gather, NETWORK_CHANGED);
    fake_loop_advance(loop, S);
    assert_int_equal(told, 1);
    assert_int_equal(told_last, NETWORK_RESUMED);
}

static void test_gather_of_a_link_that_flaps_every_second_is_bounded(void **state)
{
    (void)state;
    for (int i = 0; i < 3600; i++) {
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(loop, S);
    }
    assert_in_range(told, 360, 360 + NETWORK_BURST);
    unsigned before = told;
    fake_loop_advance(loop, NETWORK_EVERY_US); /* the last change is reported too */
    assert_int_equal(told, before + 1);
    fake_loop_advance(loop, 3600 * S);
    assert_int_equal(told, before + 1);
}

static void dial_anew(void *context, enum network_change change)
{
    upstreams_network_changed(context, change);
}

static void answer_all(void *owner, const struct fake_ask *asked, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, asked->query, "192.0.2.1", 300);
}

/* For an hour, the link is up for half of each second. */
static void test_gather_of_a_flapping_link_bounds_dials(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.fallback = UPSTREAM_FALLBACK_NONE;
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_all, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    network_gather_init(&gather, world.loop, dial_anew, world.upstreams);
    for (int i = 0; i < 7200; i++) {
        fake_server_set_dial(fake_peer_server(peer), i % 2 ? FAKE_DIAL_ACCEPT : FAKE_DIAL_FAIL_NOW);
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(world.loop, 500 * MS);
    }
    /* One dial for each report, plus one retry after each rest. */
    assert_in_range(fake_net_counts(world.net).dials + fake_net_counts(world.net).dial_errors, 1,
                    4 * (3600 * S / NETWORK_EVERY_US + NETWORK_BURST));
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    network_gather_deinit(&gather);
    upstreams_network_changed(world.upstreams, NETWORK_CHANGED);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&world);
}

static void test_gather_is_quick_again_after_a_calm_period(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(loop, S);
    }
    fake_loop_advance(loop, 60 * S);
    for (int i = 1; i <= NETWORK_BURST; i++) {
        unsigned before = told;
        network_gather_note(&gather, NETWORK_CHANGED);
        fake_loop_advance(loop, NETWORK_QUIET_US + MS);
        assert_int_equal(told, before + 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_gather_reports_once_when_the_network_is_quiet,
                                        open_gather, close_gather),
        cmocka_unit_test_setup_teardown(test_gather_waits_no_longer_than_its_bound, open_gather,
                                        close_gather),
        cmocka_unit_test_setup_teardown(test_gather_of_a_sleep_and_a_change_reports_the_sleep,
                                        open_gather, close_gather),
        cmocka_unit_test_setup_teardown(test_gather_of_a_link_that_flaps_every_second_is_bounded,
                                        open_gather, close_gather),
        cmocka_unit_test_setup_teardown(test_gather_is_quick_again_after_a_calm_period, open_gather,
                                        close_gather),
        cmocka_unit_test(test_gather_of_a_flapping_link_bounds_dials),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
