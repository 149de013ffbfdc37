/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/answer.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>

#include "unit/ctl/given.h"

static void test_tables_and_records_are_parsed(void **state)
{
    struct parsed_reply answer;

    (void)state;
    assert_int_equal(parse(&answer, "ok\nrecord\tone\ncolumns\ta:text\nrow\tx\n"
                                    "table\tmany\ncolumns\tb:duration\tc:flag\nrow\t1\tyes\n"
                                    "row\t\tno\ncut\t9\nend\n"),
                     ERR_OK);
    assert_null(answer.refused);
    assert_int_equal(answer.table_count, 2);
    assert_true(answer.tables[0].is_record);
    const struct table *many = &answer.tables[1];
    assert_false(many->is_record);
    assert_string_equal(many->name, "many");
    assert_string_equal(many->columns[1].name, "c");
    assert_int_equal(many->columns[0].type, COLUMN_DURATION);
    assert_int_equal(many->row_count, 2);
    assert_string_equal(answer_cell(many, 0, 1), "yes");
    assert_string_equal(answer_cell(many, 1, 0), "");
    assert_string_equal(many->cut, "9");
    answer_deinit(&answer);
}

static void test_a_refusal_is_its_sentence(void **state)
{
    struct parsed_reply answer;

    (void)state;
    assert_int_equal(parse(&answer, "refused\tnot today\nend\n"), ERR_OK);
    assert_string_equal(answer.refused, "not today");
    assert_int_equal(answer.table_count, 0);
    answer_deinit(&answer);
}

static void test_a_type_of_a_newer_daemon_is_text(void **state)
{
    struct parsed_reply answer;

    (void)state;
    assert_int_equal(parse(&answer, "ok\ntable\tt\ncolumns\ta:colour\nrow\tred\nend\n"), ERR_OK);
    assert_int_equal(answer.tables[0].columns[0].type, COLUMN_TEXT);
    answer_deinit(&answer);
}

static void test_many_rows_are_kept(void **state)
{
    static char text[200000];
    struct parsed_reply answer;
    size_t len = (size_t)sprintf(text, "ok\ntable\tt\ncolumns\ta:count\tb:count\n");

    (void)state;
    for (int i = 0; i < 10000; i++)
        len += (size_t)sprintf(text + len, "row\t%d\t%d\n", i, -i);
    strcpy(text + len, "end\n");
    assert_int_equal(parse(&answer, text), ERR_OK);
    assert_int_equal(answer.tables[0].row_count, 10000);
    assert_string_equal(answer_cell(&answer.tables[0], 9999, 1), "-9999");
    answer_deinit(&answer);
}

static void test_a_reply_that_was_cut_anywhere_is_refused(void **state)
{
    static const char whole[] = "ok\ntable\tt\ncolumns\ta:text\tb:count\nrow\tx\t1\ncut\t2\nend\n";
    struct parsed_reply answer;

    (void)state;
    for (size_t len = 0; len < sizeof(whole) - 1; len++)
        assert_int_equal(parse_bytes(&answer, whole, len), ERR_BAD_MESSAGE);
    assert_int_equal(parse(&answer, whole), ERR_OK);
    answer_deinit(&answer);
}

static void test_malformed_replies_are_refused(void **state)
{
    static const char *const bad[] = {
        "HTTP/1.1 400 Bad Request\r\n\r\n",
        "end\n",
        "ok\textra\nend\n",
        "ok\nend\nend\n",
        "ok\nend\nmore",
        "refused\nend\n",
        "ok\nrow\tx\nend\n",
        "ok\ncolumns\ta:text\nend\n",
        "ok\ntable\nend\n",
        "ok\ntable\t\nend\n",
        "ok\ntable\tt\nrow\tx\nend\n",
        "ok\ntable\tt\ncolumns\nend\n",
        "ok\ntable\tt\ncolumns\ta\nend\n",
        "ok\ntable\tt\ncolumns\t:text\nend\n",
        "ok\ntable\tt\ncolumns\ta:text\ncolumns\tb:text\nend\n",
        "ok\ntable\tt\ncolumns\ta:text\nrow\nend\n",
        "ok\ntable\tt\ncolumns\ta:text\nrow\tx\ty\nend\n",
        "ok\nrecord\tt\ncolumns\ta:text\nrow\tx\nrow\ty\nend\n",
        "ok\ntable\tt\ncolumns\tabcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz:text\nend\n",
        "ok\ntable\tt\nnonsense\nend\n",
        "ok\n\nend\n",
    };
    struct parsed_reply answer;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(parse(&answer, bad[i]), ERR_BAD_MESSAGE);
    assert_int_equal(parse_bytes(&answer, "ok\n\0\nend\n", 9), ERR_BAD_MESSAGE);
}

static void test_tables_and_columns_are_bounded(void **state)
{
    static char text[65536];
    struct parsed_reply answer;
    size_t len = (size_t)sprintf(text, "ok\n");

    (void)state;
    for (int i = 0; i < 17; i++)
        len += (size_t)sprintf(text + len, "table\tt\n");
    strcpy(text + len, "end\n");
    assert_int_equal(parse(&answer, text), ERR_BAD_MESSAGE);

    len = (size_t)sprintf(text, "ok\ntable\tt\ncolumns");
    for (int i = 0; i < CONTROL_COLUMNS_MAX; i++)
        len += (size_t)sprintf(text + len, "\tc:text");
    strcpy(text + len, "\nend\n");
    assert_int_equal(parse(&answer, text), ERR_OK);
    answer_deinit(&answer);
    strcpy(text + len, "\tc:text\nend\n");
    assert_int_equal(parse(&answer, text), ERR_BAD_MESSAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tables_and_records_are_parsed),
        cmocka_unit_test(test_a_refusal_is_its_sentence),
        cmocka_unit_test(test_a_type_of_a_newer_daemon_is_text),
        cmocka_unit_test(test_many_rows_are_kept),
        cmocka_unit_test(test_a_reply_that_was_cut_anywhere_is_refused),
        cmocka_unit_test(test_malformed_replies_are_refused),
        cmocka_unit_test(test_tables_and_columns_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
