/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "control/reply.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

/* Returns the whole reply as a string, valid until the next call. */
static const char *text_of(const struct reply *reply)
{
    static char text[32768];
    struct span all = buf_span(&reply->buf);

    assert_true(all.len < sizeof(text));
    memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    return text;
}

static void put_number(struct reply *reply, uint64_t number)
{
    reply_row(reply);
    reply_count(reply, number);
    reply_row_end(reply);
}

static void test_a_table_is_its_name_its_columns_and_a_line_for_each_row(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "things", "name:text\tsize:bytes\tage:duration\tshare:ratio\tnew:flag");
    reply_row(&reply);
    reply_text(&reply, "a thing");
    reply_count(&reply, UINT64_MAX);
    reply_duration(&reply, 1500);
    reply_ratio(&reply, 1, 4);
    reply_flag(&reply, true);
    reply_row_end(&reply);
    reply_end(&reply);
    assert_string_equal(text_of(&reply),
                        "ok\ntable\tthings\n"
                        "columns\tname:text\tsize:bytes\tage:duration\tshare:ratio\tnew:flag\n"
                        "row\ta thing\t18446744073709551615\t1500\t0.250000\tyes\n"
                        "end\n");
    reply_deinit(&reply);
}

static void test_an_unknown_value_is_an_empty_cell(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_record(&reply, "thing", "a:ratio\tb:count\tc:text\td:flag");
    reply_row(&reply);
    reply_ratio(&reply, 0, 0);
    reply_unknown(&reply);
    reply_text(&reply, "");
    reply_flag(&reply, false);
    reply_row_end(&reply);
    reply_end(&reply);
    assert_non_null(strstr(text_of(&reply), "\nrow\t\t\t\tno\nend\n"));
    reply_deinit(&reply);
}

static void test_text_cannot_forge_cells_or_lines(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "things", "name:text\tother:text");
    reply_row(&reply);
    reply_text(&reply, "a\tb\nend\n\x01\x7f");
    reply_text(&reply, "\xc3\xa9"); /* bytes above ASCII pass unchanged */
    reply_row_end(&reply);
    reply_end(&reply);
    assert_non_null(strstr(text_of(&reply), "\nrow\ta?b?end???\t\xc3\xa9\nend\n"));
    reply_deinit(&reply);
}

static void test_a_cell_too_long_loses_its_end_and_no_other_cell_its_place(void **state)
{
    struct reply reply;
    char text[CONTROL_ROW_MAX * 2];
    int tabs = 0;

    (void)state;
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_row(&reply);
    for (int i = 0; i < CONTROL_COLUMNS_MAX - 1; i++)
        reply_text(&reply, text);
    reply_count(&reply, 42);
    reply_row_end(&reply);
    const char *row = text_of(&reply);
    for (const char *p = row; *p; p++)
        tabs += *p == '\t';
    assert_int_equal(tabs, CONTROL_COLUMNS_MAX);
    assert_string_equal(strrchr(row, '\t'), "\t42\n");
    reply_deinit(&reply);
}

static void test_a_refusal_replaces_the_whole_reply(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "things", "number:count");
    put_number(&reply, 1);
    reply_refuse(&reply, "not %s", "today\nor\ttomorrow");
    reply_end(&reply);
    assert_true(reply.refused);
    assert_string_equal(text_of(&reply), "refused\tnot today?or?tomorrow\nend\n");
    reply_deinit(&reply);
}

static void test_rows_that_do_not_fit_are_counted_and_the_reply_stays_whole(void **state)
{
    struct reply reply;
    unsigned rows = 0, cut = 0;

    (void)state;
    reply_init(&reply, 256);
    reply_ok(&reply);
    reply_table(&reply, "things", "number:count");
    for (unsigned i = 0; i < 100; i++)
        put_number(&reply, 1000 + i);
    reply_end(&reply);
    const char *text = text_of(&reply);
    assert_true(strlen(text) <= 256);
    for (const char *row = text; (row = strstr(row, "\nrow\t")); row++)
        rows++;
    assert_int_equal(sscanf(strstr(text, "\ncut\t"), "\ncut\t%u\nend\n", &cut), 1);
    assert_true(rows > 0);
    assert_int_equal(rows + cut, 100);
    reply_deinit(&reply);
}

static void test_rows_collected_elsewhere_are_taken_within_the_bound(void **state)
{
    struct reply reply, rows;

    (void)state;
    reply_init(&rows, 128);
    for (unsigned i = 0; i < 20; i++) /* 20 rows of 9 bytes exceed the bound here */
        put_number(&rows, 1000 + i);
    assert_true(rows.cut > 0);
    uint64_t cut = rows.cut;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "things", "number:count");
    reply_take_rows(&reply, &rows);
    assert_int_equal(reply.cut, cut);
    reply_deinit(&reply);

    reply_init(&reply, 140);
    reply_ok(&reply);
    reply_table(&reply, "things", "number:count");
    reply_take_rows(&reply, &rows);
    assert_true(reply.cut > cut);
    reply_end(&reply);
    assert_true(buf_len(&reply.buf) <= 140);
    reply_deinit(&reply);
    reply_deinit(&rows);
}

static void test_each_table_counts_its_own_cut_rows(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, CONTROL_REPLY_MAX);
    reply_ok(&reply);
    reply_table(&reply, "first", "number:count");
    reply.cut = 3;
    reply_table(&reply, "second", "number:count");
    put_number(&reply, 1);
    reply_end(&reply);
    assert_string_equal(text_of(&reply), "ok\ntable\tfirst\ncolumns\tnumber:count\ncut\t3\n"
                                         "table\tsecond\ncolumns\tnumber:count\nrow\t1\nend\n");
    reply_deinit(&reply);
}

static void test_errors_follow_a_refusal(void **state)
{
    struct reply reply;

    (void)state;
    reply_init(&reply, 4096);
    reply_ok(&reply);
    reply_refuse(&reply, "nothing was changed");
    reply_errors_begin(&reply);
    reply_error(&reply, "f:1:2: error: a: is bad");
    reply_error(&reply, "f:3:4: error: b: is\tworse");
    reply_end(&reply);
    assert_string_equal(text_of(&reply), "refused\tnothing was changed\n"
                                         "table\terrors\ncolumns\terror:text\n"
                                         "row\tf:1:2: error: a: is bad\n"
                                         "row\tf:3:4: error: b: is?worse\nend\n");
    reply_deinit(&reply);
}

static void test_arguments_of_a_command_are_counted(void **state)
{
    int least, most;

    (void)state;
    control_argument_counts("", &least, &most);
    assert_true(least == 0 && most == 0);
    control_argument_counts("[PREFIX]", &least, &most);
    assert_true(least == 0 && most == 1);
    control_argument_counts("NAME [TYPE]", &least, &most);
    assert_true(least == 1 && most == 2);
    control_argument_counts("[ZONE] [SERVER...]", &least, &most);
    assert_true(least == 0 && most == CONTROL_WORDS_MAX - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_table_is_its_name_its_columns_and_a_line_for_each_row),
        cmocka_unit_test(test_an_unknown_value_is_an_empty_cell),
        cmocka_unit_test(test_text_cannot_forge_cells_or_lines),
        cmocka_unit_test(test_a_cell_too_long_loses_its_end_and_no_other_cell_its_place),
        cmocka_unit_test(test_a_refusal_replaces_the_whole_reply),
        cmocka_unit_test(test_rows_that_do_not_fit_are_counted_and_the_reply_stays_whole),
        cmocka_unit_test(test_rows_collected_elsewhere_are_taken_within_the_bound),
        cmocka_unit_test(test_each_table_counts_its_own_cut_rows),
        cmocka_unit_test(test_errors_follow_a_refusal),
        cmocka_unit_test(test_arguments_of_a_command_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
