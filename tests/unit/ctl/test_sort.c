/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/sort.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/ctl/given.h"

#define REPLY                                                                                      \
    "ok\ntable\tt\ncolumns\tname:text\tin_flight:count\tq:counter\tq:rate\n"                       \
    "row\tb\t9\t5\t1.5\nrow\ta\t10\t5\t10.25\nrow\td\t\t5\t\nrow\tc\t2\t5\t9.75\nend\n"

static char why[512];

/* Returns the names of the rows in their new order. */
static const char *sorted(const char *by)
{
    static char text[64];
    struct parsed_reply answer;
    assert_int_equal(parse(&answer, REPLY), ERR_OK);
    text[0] = why[0] = '\0';
    if (sort_rows(&answer, by, why, sizeof(why)))
        for (size_t i = 0; i < answer.tables[0].row_count; i++)
            strcat(text, answer_cell(&answer.tables[0], i, 0));
    answer_deinit(&answer);
    return text;
}

static void test_numbers_come_from_the_highest_and_texts_from_a(void **state)
{
    (void)state;
    assert_string_equal(sorted("in_flight"), "abcd");
    assert_string_equal(sorted("in flight"), "abcd");
    assert_string_equal(sorted("name"), "abcd");
    assert_string_equal(sorted("q/s"), "acbd");
}

static void test_a_minus_reverses_but_unknown_values_stay_last(void **state)
{
    (void)state;
    assert_string_equal(sorted("-in_flight"), "cbad");
    assert_string_equal(sorted("-q/s"), "bcad");
    assert_string_equal(sorted("-name"), "dcba");
}

static void test_equal_rows_keep_their_order(void **state)
{
    (void)state;
    assert_string_equal(sorted("q"), "badc");
    assert_string_equal(sorted("-q"), "badc");
}

static void test_an_unknown_column_is_answered_with_those_that_exist(void **state)
{
    (void)state;
    assert_string_equal(sorted("health"), "");
    assert_string_equal(why, "no column 'health'; the columns are name in_flight q q/s");
    assert_string_equal(sorted("\033[31m"), "");
    assert_null(strchr(why, '\033'));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_come_from_the_highest_and_texts_from_a),
        cmocka_unit_test(test_a_minus_reverses_but_unknown_values_stay_last),
        cmocka_unit_test(test_equal_rows_keep_their_order),
        cmocka_unit_test(test_an_unknown_column_is_answered_with_those_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
