/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/layout.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

/* The columns of `nailupctl connections --watch`. */
static const struct table connections = {
    .name = "connections",
    .column_count = 8,
    .columns = {{"connections", COLUMN_COUNT},
                {"upstream", COLUMN_TEXT},
                {"state", COLUMN_TEXT},
                {"requests", COLUMN_COUNTER},
                {"requests", COLUMN_RATE},
                {"rtt", COLUMN_DURATION},
                {"last_close", COLUMN_TEXT},
                {"cipher", COLUMN_TEXT}},
};

static int widths[CONTROL_COLUMNS_MAX];
static size_t hidden[CONTROL_COLUMNS_MAX];

static size_t fit(unsigned width)
{
    static const int needed[] = {11, 20, 7, 8, 10, 6, 30, 22};
    memcpy(widths, needed, sizeof(needed));
    return layout_fit(&connections, width, widths, hidden);
}

static unsigned total(void)
{
    unsigned sum = 0;
    for (size_t i = 0; i < connections.column_count; i++)
        if (widths[i] >= 0)
            sum += (unsigned)widths[i] + (sum ? LAYOUT_GAP : 0);
    return sum;
}

static void test_everything_fits_a_wide_window_or_any_width(void **state)
{
    (void)state;
    assert_int_equal(fit(0), 0);
    assert_int_equal(widths[7], 22);
    assert_int_equal(fit(128), 0);
    assert_int_equal(total(), 128);
}

static void test_a_counter_goes_before_its_rate_and_the_cipher_next(void **state)
{
    (void)state;
    assert_int_equal(fit(127), 1);
    assert_int_equal(hidden[0], 3);
    assert_true(widths[4] >= 0);
    assert_int_equal(fit(110), 2);
    assert_int_equal(hidden[1], 7);
}

static void test_the_last_close_stays_in_every_window(void **state)
{
    (void)state;
    for (unsigned width = 40; width <= 140; width++) {
        fit(width);
        assert_true(total() <= width);
        assert_true(widths[1] >= LAYOUT_TEXT_MIN && widths[6] >= LAYOUT_TEXT_MIN);
        assert_true(widths[2] >= 0 && widths[5] >= 0);
    }
}

static void test_a_window_that_is_too_small_gets_the_least_width(void **state)
{
    (void)state;
    fit(1);
    assert_int_equal(widths[6], LAYOUT_TEXT_MIN);
    assert_int_equal(widths[1], LAYOUT_TEXT_MIN);
    assert_int_equal(widths[0], -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everything_fits_a_wide_window_or_any_width),
        cmocka_unit_test(test_a_counter_goes_before_its_rate_and_the_cipher_next),
        cmocka_unit_test(test_the_last_close_stays_in_every_window),
        cmocka_unit_test(test_a_window_that_is_too_small_gets_the_least_width),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
