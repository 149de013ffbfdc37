/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/dialer.h"

static struct dial_turn *last;
static unsigned started;

static void on_turn(struct dial_turn *turn)
{
    last = turn;
    started++;
}

static void open_with(struct dialer *dialer, struct dial_turn *turns, size_t count)
{
    last = NULL;
    started = 0;
    dialer_init(dialer);
    for (size_t i = 0; i < count; i++)
        dial_turn_init(&turns[i], on_turn);
}

static void test_dialer_lets_so_many_dial_and_no_more(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 2];
    open_with(&dialer, turns, DIALER_MAX + 2);
    for (int i = 0; i < DIALER_MAX + 2; i++)
        dialer_ask(&dialer, &turns[i], false);
    assert_int_equal(started, DIALER_MAX);
    dialer_leave(&dialer, &turns[7]);
    assert_ptr_equal(last, &turns[DIALER_MAX]);
    dialer_leave(&dialer, &turns[7]); /* a second time is nothing */
    assert_int_equal(started, DIALER_MAX + 1);
    assert_int_equal(dialer.under_way, DIALER_MAX);
}

static void test_dialer_leaving_the_line_takes_nobodys_turn(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 2];
    open_with(&dialer, turns, DIALER_MAX + 2);
    for (int i = 0; i < DIALER_MAX + 2; i++)
        dialer_ask(&dialer, &turns[i], false);
    dialer_leave(&dialer, &turns[DIALER_MAX]);
    assert_int_equal(started, DIALER_MAX);
    dialer_leave(&dialer, &turns[0]);
    assert_ptr_equal(last, &turns[DIALER_MAX + 1]);
}

static void test_dialer_those_that_failed_before_come_last(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 3];
    open_with(&dialer, turns, DIALER_MAX + 3);
    for (int i = 0; i < DIALER_MAX + 3; i++)
        dialer_ask(&dialer, &turns[i], i < DIALER_MAX + 1);
    for (int i = 0; i < 3; i++) {
        static const int order[] = {DIALER_MAX + 1, DIALER_MAX + 2, DIALER_MAX};
        dialer_leave(&dialer, &turns[i]);
        assert_ptr_equal(last, &turns[order[i]]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialer_lets_so_many_dial_and_no_more),
        cmocka_unit_test(test_dialer_leaving_the_line_takes_nobodys_turn),
        cmocka_unit_test(test_dialer_those_that_failed_before_come_last),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
