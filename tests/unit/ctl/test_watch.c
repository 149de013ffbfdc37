/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The period of a watch. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ctl/watch.h"

static void period_is(const char *text, uint64_t wanted_us)
{
    uint64_t us = 0;

    assert_true(watch_parse_period(text, &us));
    assert_true(us == wanted_us);
}

static void test_seconds_may_have_a_fraction(void **state)
{
    (void)state;
    period_is("1", 1000000);
    period_is("0.25", 250000);
    period_is("1e1", 10000000);
    period_is("2.0000004", 2000000);
}

static void test_the_bounds_are_part_of_the_range(void **state)
{
    (void)state;
    period_is("0.1", WATCH_PERIOD_MIN_US);
    period_is("3600", WATCH_PERIOD_MAX_US);
}

static void test_other_text_is_refused_and_changes_nothing(void **state)
{
    static const char *const wrong[] = {"",    " ",   "x",    "1x",     "1 2",    "-1",   "0",
                                        "nan", "inf", "-inf", "0.0999", "3600.1", "1e999"};
    uint64_t us = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(watch_parse_period(wrong[i], &us));
    assert_int_equal(us, 7);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds_may_have_a_fraction),
        cmocka_unit_test(test_the_bounds_are_part_of_the_range),
        cmocka_unit_test(test_other_text_is_refused_and_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
