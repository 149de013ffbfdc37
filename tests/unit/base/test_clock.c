/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/clock.h"

#define S ((int64_t)US_PER_S)

static void test_a_forward_step_of_the_wall_clock_counts_as_time(void **state)
{
    (void)state;
    assert_int_equal(clock_step_us(1000 * S, 1000 * S + 1800 * S), 1800 * S);
    assert_int_equal(clock_step_us(-5 * S, 5 * S), 10 * S);
    assert_int_equal(clock_step_us(0, 3 * S), 3 * S);
}

static void test_corrections_and_backward_steps_of_the_wall_clock_do_not_count(void **state)
{
    (void)state;
    assert_int_equal(clock_step_us(1000 * S, 1000 * S), 0);
    assert_int_equal(clock_step_us(1000 * S, 1000 * S + 3 * S - 1), 0);
    assert_int_equal(clock_step_us(1000 * S, 0), 0);
}

static void test_a_step_has_a_bound(void **state)
{
    (void)state;
    assert_int_equal(clock_step_us(0, 80LL * 365 * 86400 * S), CLOCK_STEP_MAX_US);
}

static void test_the_first_look_counts_no_step(void **state)
{
    (void)state;
    assert_int_equal(clock_step_us(INT64_MIN, 0), 0);
    assert_int_equal(clock_step_us(INT64_MIN, INT64_MAX / 2), 0);
}

static void test_the_clock_never_goes_backward(void **state)
{
    (void)state;
    uint64_t last = clock_now_us();
    for (int i = 0; i < 10000; i++) {
        uint64_t now = i % 2 ? clock_now_us() : clock_look_us();
        assert_true(now >= last);
        last = now;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_forward_step_of_the_wall_clock_counts_as_time),
        cmocka_unit_test(test_corrections_and_backward_steps_of_the_wall_clock_do_not_count),
        cmocka_unit_test(test_a_step_has_a_bound),
        cmocka_unit_test(test_the_first_look_counts_no_step),
        cmocka_unit_test(test_the_clock_never_goes_backward),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
