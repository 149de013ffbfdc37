/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/workers.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#include "ctl/shape.h"
#include "unit/ctl/given.h"

static struct parsed_reply answer;

/* Returns all rows: blanks between cells, semicolons between rows. */
static const char *rows(void)
{
    static char text[4096];
    const struct table *table = &answer.tables[0];
    text[0] = '\0';
    for (size_t i = 0; i < table->row_count; i++)
        for (size_t j = 0; j < table->column_count; j++)
            sprintf(text + strlen(text), "%s%s", j ? "|" : i ? "; " : "", answer_cell(table, i, j));
    return text;
}

static const char *summed(const char *reply)
{
    assert_int_equal(parse(&answer, reply), ERR_OK);
    workers_sum(&answer);
    const char *text = rows();
    return text;
}

#define UPSTREAMS                                                                                  \
    "ok\ntable\tupstreams\ncolumns\tworker:count\tupstream:text\ttransport:text\tnailed:flag\t"    \
    "health:text\tready:count\tqueries:counter\tudp_rtt:duration\tidle_limit:duration\n"

static void test_upstreams_are_added_up_in_the_order_of_their_first_rows(void **state)
{
    (void)state;
    assert_string_equal(summed(UPSTREAMS
                               "row\t0\t192.0.2.9@53\tudp\tno\tgood\t1\t10\t3000\t5000\n"
                               "row\t0\t192.0.2.1@53\tudp\tno\tgood\t1\t1\t\t\n"
                               "row\t1\t192.0.2.9@53\tudp\tyes\till\t2\t20\t1000\t9000\n"
                               "row\t1\t192.0.2.1@53\ttcp\tno\tgood\t0\t2\t\t\n"
                               "row\t2\t192.0.2.9@53\tudp\tno\tgood\t3\t30\t\t7000\nend\n"),
                        "3|192.0.2.9@53|udp|yes|ill (1 of 3)|6|60|2000|9000; "
                        "1|192.0.2.1@53|udp|no|good|1|1||; 1|192.0.2.1@53|tcp|no|good|0|2||");
    assert_string_equal(answer.tables[0].columns[0].name, "workers");
    answer_deinit(&answer);
}

#define CONNECTIONS                                                                                \
    "ok\ntable\tconnections\ncolumns\tworker:count\tupstream:text\ttransport:text\tstate:text\t"   \
    "age:duration\trequests:counter\tmax_requests:count\tlast_close:text\tauthenticated:flag\n"

static void test_connections_are_added_up_by_state(void **state)
{
    (void)state;
    assert_string_equal(
        summed(CONNECTIONS "row\t0\ta@853\ttls\tready\t5\t10\t100\t\tyes\n"
                           "row\t0\ta@853\ttls\tready\t9\t10\t100\trefused\tyes\n"
                           "row\t1\ta@853\ttls\tready\t7\t10\t100\treset\tno\n"
                           "row\t1\ta@853\ttls\tresting\t1\t0\t100\trefused\t\nend\n"),
        "3|a@853|tls|ready|9|30|100|refused (1 of 3)|no; 1|a@853|tls|resting|1|0|100|refused|");
    assert_string_equal(answer.tables[0].columns[0].name, "connections");
    answer_deinit(&answer);
}

static void test_other_tables_and_empty_ones_stay(void **state)
{
    (void)state;
    assert_string_equal(summed("ok\ntable\tzones\ncolumns\tzone:text\tgood:count\n"
                               "row\ta\t1\nrow\ta\t1\nend\n"),
                        "a|1; a|1");
    answer_deinit(&answer);
    assert_string_equal(
        summed("ok\ntable\tt\ncolumns\tworker:count\tn:count\nrow\t0\t1\nrow\t1\t2\n"
               "end\n"),
        "0|1; 1|2");
    answer_deinit(&answer);
    assert_string_equal(summed(UPSTREAMS "end\n"), "");
    answer_deinit(&answer);
}

/* The socket may bring anything: cells that are not numbers, or are empty. */
static void test_hostile_cells_are_added_up_without_harm(void **state)
{
    (void)state;
    assert_string_equal(summed(UPSTREAMS
                               "row\tx\t\t\tmaybe\t\t-5\tabc\t99999999999999999999999\tz\n"
                               "row\t\t\t\t\t\t\t\t\t\nend\n"),
                        "2|||no||18446744073709551611|0|18446744073709551615|0");
    answer_deinit(&answer);
}

static void test_one_worker_is_picked_by_its_number(void **state)
{
    (void)state;
    const struct shape one = {.worker = "1"}, all = {.worker = "all"}, none = {.worker = "7"};
    const char *reply = CONNECTIONS "row\t0\ta\ttls\tready\t5\t1\t9\t\tyes\n"
                                    "row\t1\tb\ttls\tready\t5\t1\t9\t\tyes\n"
                                    "row\t10\tc\ttls\tready\t5\t1\t9\t\tyes\nend\n";
    assert_int_equal(parse(&answer, reply), ERR_OK);
    shape_workers(&all, &answer);
    assert_int_equal(answer.tables[0].row_count, 3);
    shape_workers(&one, &answer);
    assert_string_equal(rows(), "1|b|tls|ready|5|1|9||yes");
    shape_workers(&none, &answer);
    assert_int_equal(answer.tables[0].row_count, 0);
    answer_deinit(&answer);
}

static void test_words_of_the_option_worker(void **state)
{
    (void)state;
    assert_true(shape_is_worker("0") && shape_is_worker("1023") && shape_is_worker("all") &&
                shape_is_worker("sum"));
    assert_false(shape_is_worker("") || shape_is_worker("-1") || shape_is_worker("12345") ||
                 shape_is_worker("1x") || shape_is_worker("none") || shape_is_worker("01"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_upstreams_are_added_up_in_the_order_of_their_first_rows),
        cmocka_unit_test(test_connections_are_added_up_by_state),
        cmocka_unit_test(test_other_tables_and_empty_ones_stay),
        cmocka_unit_test(test_hostile_cells_are_added_up_without_harm),
        cmocka_unit_test(test_one_worker_is_picked_by_its_number),
        cmocka_unit_test(test_words_of_the_option_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
