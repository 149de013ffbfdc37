/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/units.h"
#include "upstream/pace.h"

#define T0 (1000 * US_PER_S)

static void test_pace_allows_a_burst_of_one_second(void **state)
{
    (void)state;
    struct pace pace = {0};
    for (int i = 0; i < 200; i++)
        assert_int_equal(pace_take(&pace, T0, 200), T0);
    assert_int_equal(pace_take(&pace, T0, 200), T0 + US_PER_S / 200);
}

static void test_pace_a_refusal_takes_no_token(void **state)
{
    (void)state;
    struct pace pace = {0};
    assert_int_equal(pace_take(&pace, T0, 1), T0);
    for (int i = 0; i < 10; i++)
        assert_int_equal(pace_take(&pace, T0, 1), T0 + US_PER_S);
    assert_int_equal(pace_take(&pace, T0 + US_PER_S, 1), T0 + US_PER_S);
}

static void test_pace_keeps_its_rate_over_a_long_time(void **state)
{
    (void)state;
    struct pace pace = {0};
    unsigned taken = 0;
    for (uint64_t now = T0; now < T0 + 60 * US_PER_S; now += US_PER_MS)
        taken += pace_take(&pace, now, 50) == now;
    assert_in_range(taken, 50 * 60, 50 * 61);
}

static void test_pace_saves_no_more_than_one_second(void **state)
{
    (void)state;
    struct pace pace = {0};
    (void)pace_take(&pace, T0, 10);
    unsigned taken = 0;
    for (int i = 0; i < 100; i++)
        taken += pace_take(&pace, T0 + 3600 * US_PER_S, 10) == T0 + 3600 * US_PER_S;
    assert_int_equal(taken, 10);
}

static void test_pace_works_with_rates_finer_than_the_clock(void **state)
{
    (void)state;
    struct pace pace = {0};
    assert_int_equal(pace_take(&pace, T0, 100000), T0);
    assert_int_equal(pace_take(&pace, T0, UINT32_MAX), T0);
}

static void test_pace_a_returned_token_may_be_taken_again(void **state)
{
    (void)state;
    struct pace pace = {0};
    pace_give(&pace, 10); /* the pace never exceeds its capacity */
    for (int i = 0; i < 10; i++)
        assert_int_equal(pace_take(&pace, T0, 10), T0);
    pace_give(&pace, 10);
    assert_int_equal(pace_take(&pace, T0, 10), T0);
    assert_int_equal(pace_take(&pace, T0, 10), T0 + US_PER_S / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pace_allows_a_burst_of_one_second),
        cmocka_unit_test(test_pace_a_refusal_takes_no_token),
        cmocka_unit_test(test_pace_keeps_its_rate_over_a_long_time),
        cmocka_unit_test(test_pace_saves_no_more_than_one_second),
        cmocka_unit_test(test_pace_a_returned_token_may_be_taken_again),
        cmocka_unit_test(test_pace_works_with_rates_finer_than_the_clock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
