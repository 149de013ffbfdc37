/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/rates.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/ctl/given.h"

#define SECONDS UINT64_C(1000000)

/* Returns the cells of the first table: blanks between columns, newlines after rows. */
static const char *cells(const struct parsed_reply *answer)
{
    static char text[4096];
    const struct table *table = &answer->tables[0];
    size_t len = 0;
    text[0] = '\0';
    for (size_t row = 0; row < table->row_count; row++) {
        for (size_t i = 0; i < table->column_count; i++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", i ? " " : "",
                                    answer_cell(table, row, i));
        len += (size_t)snprintf(text + len, sizeof(text) - len, "\n");
    }
    return text;
}

/* Returns the cells of the second reply with its rates, elapsed_us after the first. before NULL:
 * there is no first reply. */
static const char *rates(const char *before, const char *now, uint64_t elapsed_us)
{
    static char text[4096];
    struct parsed_reply old, new;
    if (before)
        assert_int_equal(parse(&old, before), ERR_OK);
    assert_int_equal(parse(&new, now), ERR_OK);
    rates_add(&new, before ? &old : NULL, elapsed_us);
    snprintf(text, sizeof(text), "%s", cells(&new));
    if (before)
        answer_deinit(&old);
    answer_deinit(&new);
    return text;
}

#define UPSTREAMS                                                                                  \
    "ok\ntable\tu\ncolumns\tworker:count\tupstream:text\tqueries:counter\tready:count\n"
#define CONNS "ok\ntable\tc\ncolumns\tupstream:text\tage:duration\trequests:counter\n"

static void test_a_rate_follows_each_counter(void **state)
{
    (void)state;
    assert_string_equal(rates(UPSTREAMS "row\t0\ta\t10\t1\nend\n",
                              UPSTREAMS "row\t0\ta\t25\t2\nend\n", 2 * SECONDS),
                        "0 a 25 7.500 2\n");
}

static void test_the_first_answer_has_no_rates_yet(void **state)
{
    (void)state;
    assert_string_equal(rates(NULL, UPSTREAMS "row\t0\ta\t25\t2\nend\n", SECONDS), "0 a 25  2\n");
    assert_string_equal(rates(NULL, UPSTREAMS "end\n", SECONDS), "");
}

static void test_rows_are_found_by_their_keys_in_any_order(void **state)
{
    (void)state;
    assert_string_equal(
        rates(UPSTREAMS "row\t0\ta\t10\t1\nrow\t0\tb\t20\t1\nrow\t1\ta\t30\t1\nend\n",
              UPSTREAMS
              "row\t0\tb\t21\t1\nrow\t1\ta\t32\t1\nrow\t1\tc\t9\t1\nrow\t0\ta\t13\t1\nend\n",
              SECONDS),
        "0 b 21 1.000 1\n1 a 32 2.000 1\n1 c 9  1\n0 a 13 3.000 1\n");
}

static void test_rows_with_equal_keys_are_matched_by_their_order(void **state)
{
    (void)state;
    assert_string_equal(rates(UPSTREAMS "row\t0\ta\t10\t1\nrow\t0\ta\t50\t1\nend\n",
                              UPSTREAMS "row\t0\ta\t11\t1\nrow\t0\ta\t52\t1\nend\n", SECONDS),
                        "0 a 11 1.000 1\n0 a 52 2.000 1\n");
}

static void test_a_replaced_row_has_no_rate_and_its_neighbour_keeps_its_own(void **state)
{
    (void)state;
    assert_string_equal(rates(CONNS "row\ta\t9000000\t10\nrow\ta\t5000000\t20\nend\n",
                              CONNS "row\ta\t7000000\t26\nrow\ta\t100000\t4\nend\n", 2 * SECONDS),
                        "a 7000000 26 3.000\na 100000 4 \n");
}

static void test_a_counter_that_restarted_has_no_rate(void **state)
{
    (void)state;
    assert_string_equal(
        rates(UPSTREAMS "row\t0\ta\t10\t1\nend\n", UPSTREAMS "row\t0\ta\t3\t1\nend\n", SECONDS),
        "0 a 3  1\n");
    assert_string_equal(
        rates(UPSTREAMS "row\t0\ta\t10\t1\nend\n", UPSTREAMS "row\t0\ta\t13\t1\nend\n", 0),
        "0 a 13  1\n");
    assert_string_equal(
        rates(UPSTREAMS "row\t0\ta\t\t1\nend\n", UPSTREAMS "row\t0\ta\t13\t1\nend\n", SECONDS),
        "0 a 13  1\n");
}

static void test_tables_that_differ_are_harmless(void **state)
{
    (void)state;
    assert_string_equal(
        rates(CONNS "row\ta\t9000000\t10\nend\n", UPSTREAMS "row\t0\ta\t3\t1\nend\n", SECONDS),
        "0 a 3  1\n");
    assert_string_equal(rates("ok\ntable\tu\ncolumns\tqueries:text\nrow\tx\nend\n",
                              UPSTREAMS "row\t0\ta\t3\t1\nend\n", SECONDS),
                        "0 a 3  1\n");
}

/* A hostile reply must not make the search slow. */
static void test_the_search_for_a_row_is_bounded(void **state)
{
    static char before[65536];
    size_t len = (size_t)sprintf(before, "%s", UPSTREAMS);
    (void)state;
    for (int i = 0; i < 2000; i++)
        len += (size_t)sprintf(before + len, "row\t%d\ta\t1\t1\n", i);
    strcpy(before + len, "end\n");
    assert_string_equal(rates(before, UPSTREAMS "row\t999\ta\t3\t1\nend\n", SECONDS),
                        "999 a 3 2.000 1\n");
    assert_string_equal(rates(before, UPSTREAMS "row\t1000\ta\t3\t1\nend\n", SECONDS),
                        "1000 a 3  1\n");
    assert_string_equal(
        rates(before, UPSTREAMS "row\t999\ta\t3\t1\nrow\t1500\ta\t2\t1\nend\n", SECONDS),
        "999 a 3 2.000 1\n1500 a 2 1.000 1\n");
}

static void test_a_table_without_room_is_unchanged(void **state)
{
    char reply[1024] = "ok\ntable\tt\ncolumns";
    struct parsed_reply answer;
    (void)state;
    for (int i = 0; i < CONTROL_COLUMNS_MAX; i++)
        strcat(reply, "\tx:counter");
    strcat(reply, "\nend\n");
    assert_int_equal(parse(&answer, reply), ERR_OK);
    rates_add(&answer, NULL, SECONDS);
    assert_int_equal(answer.tables[0].column_count, CONTROL_COLUMNS_MAX);
    answer_deinit(&answer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_rate_follows_each_counter),
        cmocka_unit_test(test_the_first_answer_has_no_rates_yet),
        cmocka_unit_test(test_rows_are_found_by_their_keys_in_any_order),
        cmocka_unit_test(test_rows_with_equal_keys_are_matched_by_their_order),
        cmocka_unit_test(test_a_replaced_row_has_no_rate_and_its_neighbour_keeps_its_own),
        cmocka_unit_test(test_a_counter_that_restarted_has_no_rate),
        cmocka_unit_test(test_tables_that_differ_are_harmless),
        cmocka_unit_test(test_the_search_for_a_row_is_bounded),
        cmocka_unit_test(test_a_table_without_room_is_unchanged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
