/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Two clocks show how long a machine slept. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "daemon/sleep_watch.h"
#include "loop/loop.h"
#include "support/fake_fd_watch.h"

#define S US_PER_S

static void test_sleep_is_the_lead_that_boottime_gained(void **state)
{
    (void)state;
    uint64_t slept = 0;
    assert_int_equal(sleep_watch_since(&slept, 100 * S, 100 * S), 0);
    assert_int_equal(sleep_watch_since(&slept, 3800 * S, 200 * S), 3600 * S);
    assert_int_equal(sleep_watch_since(&slept, 3900 * S, 300 * S), 0);
    assert_int_equal(sleep_watch_since(&slept, 4010 * S, 400 * S), 10 * S);
}

static void test_short_sleeps_add_up(void **state)
{
    (void)state;
    uint64_t slept = 0;
    assert_int_equal(sleep_watch_since(&slept, 101 * S, 100 * S), 0);
    assert_int_equal(sleep_watch_since(&slept, 103 * S, 101 * S), 2 * S);
}

/* A kernel never does this, but the result must be harmless. */
static void test_clocks_that_run_backwards_are_not_sleep(void **state)
{
    (void)state;
    uint64_t slept = 10 * S;
    assert_int_equal(sleep_watch_since(&slept, 5 * S, 100 * S), 0);
    assert_int_equal(sleep_watch_since(&slept, 105 * S, 100 * S), 0);
    assert_int_equal(slept, 10 * S);
}

static void on_woke(void *context, uint64_t slept_us)
{
    (void)slept_us;
    ++*(unsigned *)context;
}

static void test_sleep_watch_does_nothing_while_nothing_happens(void **state)
{
    (void)state;
    unsigned woken = 0;
    struct sleep_watch *watch;
    struct loop *loop = loop_new();
    assert_int_equal(sleep_watch_open(&watch, loop, on_woke, &woken), ERR_OK);
    assert_false(fake_fd_watch_poll());
    assert_int_equal(woken, 0);
    sleep_watch_close(&watch);
    assert_int_equal(fake_fd_watch_count(), 0);
    sleep_watch_close(&watch);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sleep_is_the_lead_that_boottime_gained),
        cmocka_unit_test(test_short_sleeps_add_up),
        cmocka_unit_test(test_clocks_that_run_backwards_are_not_sleep),
        cmocka_unit_test(test_sleep_watch_does_nothing_while_nothing_happens),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
