/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The estimate of a peer's idle limit. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/idle_limit.h"

#define S US_PER_S

static void test_idle_limit_is_the_shorter_of_announced_and_observed(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    assert_int_equal(idle_limit_us(&limit), 0);
    idle_limit_announced(&limit, 30 * S);
    assert_int_equal(idle_limit_us(&limit), 30 * S);
    assert_true(idle_limit_closed(&limit, 10 * S, 0));
    assert_int_equal(idle_limit_us(&limit), 10 * S);
    idle_limit_announced(&limit, 5 * S);
    assert_int_equal(idle_limit_us(&limit), 5 * S);
}

static void test_idle_limit_is_the_shortest_recent_one(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    idle_limit_closed(&limit, 3 * S, 0);
    idle_limit_closed(&limit, 2 * S, 0);
    idle_limit_closed(&limit, 3 * S, 0);
    assert_int_equal(idle_limit_us(&limit), 2 * S);
    idle_limit_closed(&limit, 30 * S, 0); /* the close after 2 s was an accident */
    assert_int_equal(idle_limit_us(&limit), 30 * S);
}

/* The same connection has idled for longer, so the peer closed it for another reason. */
static void test_idle_limit_learns_nothing_from_a_close_that_is_too_early(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    assert_false(idle_limit_closed(&limit, 2 * S, 5 * S));
    assert_int_equal(idle_limit_us(&limit), 0);
    assert_true(idle_limit_closed(&limit, 5 * S, 5 * S + S / 2)); /* clocks of servers are coarse */
    assert_int_equal(idle_limit_us(&limit), 5 * S);
}

/* The PowerDNS Recursor closes after two to ten seconds. Two closes in a row are not an
 * accident. */
static void test_idle_limit_of_a_varying_server_is_its_shortest(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    idle_limit_closed(&limit, 10 * S, 0);
    assert_false(idle_limit_closed(&limit, 4 * S, 7 * S));
    assert_int_equal(idle_limit_us(&limit), 10 * S);
    assert_true(idle_limit_closed(&limit, 3 * S, 7 * S));
    assert_int_equal(idle_limit_us(&limit), 3 * S);
}

static unsigned held_until_it_grows(struct idle_limit *limit)
{
    uint64_t before = limit->observed_us;
    for (unsigned held = 1; held <= 2 * IDLE_LIMIT_PATIENCE_MAX; held++) {
        idle_limit_held(limit, before * 3 / 4);
        if (limit->observed_us != before)
            return held;
    }
    return 0;
}

/* A server that restarts closes a connection after 3 s, although its limit is 120 s. */
static void test_idle_limit_recovers_from_an_accident(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    unsigned held = 0;
    idle_limit_closed(&limit, 3 * S, 0);
    while (limit.observed_us < 120 * S)
        held += held_until_it_grows(&limit);
    assert_in_range(held, 1, 80);
}

static void test_idle_limit_probes_more_and_more_rarely(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    unsigned expected = IDLE_LIMIT_PATIENCE;
    idle_limit_closed(&limit, 2 * S, 0);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(held_until_it_grows(&limit), expected);
        idle_limit_closed(&limit, 2 * S - 1000, 0);
        assert_true(idle_limit_us(&limit) < 2 * S);
        /* the limit has not grown since, so nothing changes */
        idle_limit_closed(&limit, 2 * S - 1000, 0);
        expected = expected < IDLE_LIMIT_PATIENCE_CONFIRMED ? IDLE_LIMIT_PATIENCE_CONFIRMED
                   : expected < IDLE_LIMIT_PATIENCE_MAX     ? 2 * expected
                                                            : IDLE_LIMIT_PATIENCE_MAX;
    }
}

static void test_idle_limit_of_an_hour_is_dropped(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    idle_limit_closed(&limit, 3000 * S, 0);
    held_until_it_grows(&limit);
    assert_int_equal(idle_limit_us(&limit), 0);
}

/* A short gap teaches nothing. A gap longer than the estimate corrects it. */
static void test_idle_limit_ignores_short_idle_times(void **state)
{
    (void)state;
    struct idle_limit limit = {0};
    idle_limit_held(&limit, 50 * S);
    assert_int_equal(idle_limit_us(&limit), 0);
    idle_limit_closed(&limit, 10 * S, 0);
    for (int i = 0; i < 1000; i++)
        idle_limit_held(&limit, S);
    assert_int_equal(idle_limit_us(&limit), 10 * S);
    idle_limit_held(&limit, 12 * S);
    assert_int_equal(idle_limit_us(&limit), 12 * S);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_idle_limit_is_the_shorter_of_announced_and_observed),
        cmocka_unit_test(test_idle_limit_is_the_shortest_recent_one),
        cmocka_unit_test(test_idle_limit_learns_nothing_from_a_close_that_is_too_early),
        cmocka_unit_test(test_idle_limit_of_a_varying_server_is_its_shortest),
        cmocka_unit_test(test_idle_limit_recovers_from_an_accident),
        cmocka_unit_test(test_idle_limit_probes_more_and_more_rarely),
        cmocka_unit_test(test_idle_limit_of_an_hour_is_dropped),
        cmocka_unit_test(test_idle_limit_ignores_short_idle_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
