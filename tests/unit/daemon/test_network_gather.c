/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Pieces of a change become one, and a link that flaps for ever is told of within its bound. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/network_gather.h"
#include "support/fake_loop.h"

#define MS US_PER_MS
#define S US_PER_S

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

static void test_gather_tells_once_when_it_is_quiet(void **state)
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

static void test_gather_of_a_sleep_and_a_change_tells_of_the_sleep(void **state)
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
    fake_loop_advance(loop, NETWORK_EVERY_US); /* the last one is not forgotten */
    assert_int_equal(told, before + 1);
    fake_loop_advance(loop, 3600 * S);
    assert_int_equal(told, before + 1);
}

static void test_gather_is_quick_again_after_a_calm(void **state)
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
        cmocka_unit_test_setup_teardown(test_gather_tells_once_when_it_is_quiet, open_gather,
                                        close_gather),
        cmocka_unit_test_setup_teardown(test_gather_waits_no_longer_than_its_bound, open_gather,
                                        close_gather),
        cmocka_unit_test_setup_teardown(test_gather_of_a_sleep_and_a_change_tells_of_the_sleep,
                                        open_gather, close_gather),
        cmocka_unit_test_setup_teardown(test_gather_of_a_link_that_flaps_every_second_is_bounded,
                                        open_gather, close_gather),
        cmocka_unit_test_setup_teardown(test_gather_is_quick_again_after_a_calm, open_gather,
                                        close_gather),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
