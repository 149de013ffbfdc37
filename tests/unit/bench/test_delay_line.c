/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The delay line: each item comes out once, in the order of the due times. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/rand.h"
#include "delay_line.h"

enum { MANY = 100000 };

static struct delay_line line;
static struct delayed items[MANY];

static int init(void **state)
{
    (void)state;
    delay_line_init(&line);
    return 0;
}

static int deinit(void **state)
{
    (void)state;
    delay_line_deinit(&line);
    return 0;
}

static void add(size_t index, uint64_t due_us)
{
    items[index].due_us = due_us;
    assert_int_equal(delay_line_add(&line, &items[index]), ERR_OK);
}

static void test_nothing_is_due_in_an_empty_line(void **state)
{
    (void)state;
    assert_null(delay_line_take(&line, UINT64_MAX));
    assert_true(delay_line_next_us(&line) == UINT64_MAX);
}

static void test_an_answer_stays_until_it_is_due(void **state)
{
    (void)state;
    add(0, 500);
    assert_int_equal(delay_line_next_us(&line), 500);
    assert_null(delay_line_take(&line, 499));
    assert_ptr_equal(delay_line_take(&line, 500), &items[0]);
    assert_int_equal(delay_line_count(&line), 0);
    assert_true(delay_line_next_us(&line) == UINT64_MAX);
}

static void test_equal_delays_keep_their_order(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3000; i++)
        add(i, 7);
    for (size_t i = 0; i < 3000; i++)
        assert_ptr_equal(delay_line_take(&line, 7), &items[i]);
}

static void test_a_short_delay_overtakes_long_ones(void **state)
{
    (void)state;
    add(0, 1000);
    add(1, 10);
    add(2, 2000);
    assert_int_equal(delay_line_next_us(&line), 10);
    assert_ptr_equal(delay_line_take(&line, 5000), &items[1]);
    assert_ptr_equal(delay_line_take(&line, 5000), &items[0]);
    assert_ptr_equal(delay_line_take(&line, 5000), &items[2]);
}

static void test_a_hundred_thousand_random_delays_come_out_sorted(void **state)
{
    (void)state;
    uint64_t last = 0;
    rand_seed_for_tests(2);
    for (size_t i = 0; i < MANY; i++)
        add(i, rand_below(1000000));
    for (size_t i = 0; i < MANY; i++) {
        struct delayed *item = delay_line_take(&line, UINT64_MAX);
        assert_true(item->due_us >= last);
        last = item->due_us;
    }
    assert_null(delay_line_take(&line, UINT64_MAX));
}

static void test_the_ring_wraps_while_it_is_in_use(void **state)
{
    (void)state;
    size_t in = 0, out = 0;
    while (out < 20000) {
        for (int i = 0; i < 7 && in < 20000; i++, in++)
            add(in, in);
        for (int i = 0; i < 5 && out < in; i++, out++)
            assert_ptr_equal(delay_line_take(&line, UINT64_MAX), &items[out]);
        if (in == 20000)
            for (; out < in; out++)
                assert_ptr_equal(delay_line_take(&line, UINT64_MAX), &items[out]);
    }
}

static void test_the_bound_holds(void **state)
{
    (void)state;
    items[0].due_us = 1;
    for (size_t i = 0; i < DELAY_LINE_MAX; i++)
        assert_int_equal(delay_line_add(&line, &items[0]), ERR_OK);
    assert_int_equal(delay_line_add(&line, &items[0]), ERR_LIMIT);
    assert_int_equal(delay_line_count(&line), DELAY_LINE_MAX);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, init, deinit)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(test_nothing_is_due_in_an_empty_line),
        CASE(test_an_answer_stays_until_it_is_due),
        CASE(test_equal_delays_keep_their_order),
        CASE(test_a_short_delay_overtakes_long_ones),
        CASE(test_a_hundred_thousand_random_delays_come_out_sorted),
        CASE(test_the_ring_wraps_while_it_is_in_use),
        CASE(test_the_bound_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
