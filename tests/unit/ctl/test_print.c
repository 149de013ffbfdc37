/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/print.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/ctl/given.h"

/* Returns the output of a printer for a reply, valid until the next call. */
static const char *printed(void (*print)(const struct parsed_reply *, FILE *), const char *reply)
{
    static char text[8192];
    struct parsed_reply answer;
    FILE *out = fmemopen(text, sizeof(text), "w");

    assert_int_equal(parse(&answer, reply), ERR_OK);
    memset(text, 0, sizeof(text));
    print(&answer, out);
    fclose(out);
    answer_deinit(&answer);
    return text;
}

static void print_plain(const struct parsed_reply *answer, FILE *out)
{
    print_text(answer, &(struct print_style){0}, out);
}

static void print_narrow(const struct parsed_reply *answer, FILE *out)
{
    print_text(answer, &(struct print_style){.width = 40}, out);
}

static void print_coloured(const struct parsed_reply *answer, FILE *out)
{
    print_text(answer, &(struct print_style){.colour = true}, out);
}

/* Returns the printed text of one cell of this type. */
static const char *cell(const char *type, const char *value)
{
    static char text[8192];
    char reply[512];

    snprintf(reply, sizeof(reply), "ok\nrecord\tr\ncolumns\tx:%s\nrow\t%s\nend\n", type, value);
    /* leaves out "x  ", the first cell and its margin */
    strcpy(text, printed(print_plain, reply) + 3);
    text[strcspn(text, "\n")] = '\0';
    return text;
}

static void test_durations_have_the_unit_that_fits(void **state)
{
    (void)state;
    assert_string_equal(cell("duration", "0"), "0us");
    assert_string_equal(cell("duration", "999"), "999us");
    assert_string_equal(cell("duration", "1000"), "1.00ms");
    assert_string_equal(cell("duration", "25800"), "25.8ms");
    assert_string_equal(cell("duration", "325000"), "325ms");
    assert_string_equal(cell("duration", "3210000"), "3.2s");
    assert_string_equal(cell("duration", "59999999"), "59.9s");
    assert_string_equal(cell("duration", "60000000"), "1m00s");
    assert_string_equal(cell("duration", "3599000000"), "59m59s");
    assert_string_equal(cell("duration", "7980000000"), "2h13m");
    assert_string_equal(cell("duration", "457200000000"), "5d07h");
}

static void test_sizes_have_the_unit_that_fits(void **state)
{
    (void)state;
    assert_string_equal(cell("bytes", "0"), "0B");
    assert_string_equal(cell("bytes", "1023"), "1023B");
    assert_string_equal(cell("bytes", "1536"), "1.5KiB");
    assert_string_equal(cell("bytes", "134217728"), "128MiB");
}

static void test_other_types_are_formatted_for_people(void **state)
{
    (void)state;
    assert_string_equal(cell("ratio", "0.750000"), "75.0%");
    assert_string_equal(cell("count", "42"), "42");
    assert_string_equal(cell("flag", "yes"), "yes");
    assert_string_equal(cell("count", ""), "-");
}

static void test_columns_are_aligned_numbers_to_the_right(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\ntable\tt\n"
                                             "columns\tname:text\tin_use:count\tnote:text\n"
                                             "row\ta\t5\tx\nrow\tlonger\t12345678\ty\nend\n"),
                        "name      in use  note\n"
                        "a              5  x\n"
                        "longer  12345678  y\n");
}

static void test_columns_without_values_are_left_out(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\ntable\tt\ncolumns\ta:text\tb:text\tc:count\n"
                                             "row\tx\t\t1\nrow\t\t\t\nend\n"),
                        "a  c\n"
                        "x  1\n"
                        "-  -\n");
}

#define CONNECTIONS                                                                                \
    "ok\ntable\tconnections\ncolumns\tupstream:text\tstate:text\tcipher:text\tage:duration\t"      \
    "last_close:text\n"                                                                            \
    "row\t192.0.2.1@853\tready\tTLS_AES_256_GCM_SHA384\t5000000\tidle timeout of the peer\n"       \
    "row\t192.0.2.2@853\tresting\tTLS_AES_256_GCM_SHA384\t7000000\trefused\nend\n"

static void test_a_list_fits_the_width_and_what_matters_is_cut_last(void **state)
{
    (void)state;
    assert_string_equal(printed(print_narrow, CONNECTIONS),
                        "upstream       state    last close\n"
                        "192.0.2.1@853  ready    idle timeout of~\n"
                        "192.0.2.2@853  resting  refused\n"
                        "(hidden: cipher, age)\n");
    assert_string_equal(printed(print_plain, CONNECTIONS),
                        "upstream       state    cipher                   age  last close\n"
                        "192.0.2.1@853  ready    TLS_AES_256_GCM_SHA384  5.0s  idle timeout of the "
                        "peer\n"
                        "192.0.2.2@853  resting  TLS_AES_256_GCM_SHA384  7.0s  refused\n");
}

static void test_states_have_colours_and_stay_aligned(void **state)
{
    (void)state;
    assert_string_equal(printed(print_coloured, "ok\ntable\tt\ncolumns\tstate:text\tn:count\n"
                                                "row\tready\t1\nrow\tresting\t2\nrow\tdialing\t3\n"
                                                "end\n"),
                        "state    n\n"
                        "\033[32mready\033[0m    1\n"
                        "\033[31mresting\033[0m  2\n"
                        "\033[33mdialing\033[0m  3\n");
    assert_string_equal(printed(print_coloured, "ok\nrecord\tcheck\ncolumns\tstate:text\t"
                                                "reasons:text\nrow\tdegraded\tno route\nend\n"),
                        "state    \033[31mdegraded\033[0m\n"
                        "reasons  \033[31mno route\033[0m\n");
}

static void test_a_cut_never_splits_a_character(void **state)
{
    (void)state;
    const char *text = printed(print_narrow, "ok\ntable\tt\ncolumns\ta:text\n"
                                             "row\t\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
                                             "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
                                             "\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc\xc3\xbc"
                                             "\xc3\xbc\xc3\xbc\xc3\xbc\nend\n");
    assert_non_null(strstr(text, "\xc3\xbc~\n"));
}

static void test_an_empty_list_says_so(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\ntable\tconnections\ncolumns\ta:text\nend\n"),
                        "no connections\n");
    assert_string_equal(printed(print_json, "ok\ntable\tconnections\ncolumns\ta:text\nend\n"),
                        "{\"connections\": []}\n");
}

static void test_missing_rows_are_counted(void **state)
{
    (void)state;
    assert_string_equal(
        printed(print_plain, "ok\ntable\tt\ncolumns\ta:text\nrow\tx\ncut\t7\nend\n"),
        "a\nx\n(7 more)\n");
    assert_string_equal(printed(print_json, "ok\ntable\tt\ncolumns\ta:text\nrow\tx\ncut\t7\nend\n"),
                        "{\"t\": [\n  {\"a\": \"x\"}],\n \"t_cut\": 7}\n");
    assert_string_equal(printed(print_json, "ok\ntable\tt\ncolumns\ta:text\ncut\t]}\nend\n"),
                        "{\"t\": [],\n \"t_cut\": null}\n");
}

static void test_rates_are_per_second(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\ntable\tt\ncolumns\tq:counter\tq:rate\n"
                                             "row\t7\t12.345\nrow\t8\t1234.5\nrow\t9\t\nend\n"),
                        "q   q/s\n7  12.3\n8  1234\n9     -\n");
    assert_string_equal(printed(print_json, "ok\nrecord\tr\ncolumns\tq:counter\tq:rate\n"
                                            "row\t7\t12.345\nend\n"),
                        "{\"r\": {\"q\": 7, \"q_per_second\": 12.345000}}\n");
    assert_string_equal(printed(print_json, "ok\nrecord\tr\ncolumns\tq:rate\nrow\t1e999\nend\n"),
                        "{\"r\": {\"q_per_second\": null}}\n");
}

static void test_text_cannot_control_a_terminal(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\nrecord\tr\ncolumns\ta\x1b:text\n"
                                             "row\t\x1b]0;x\x07\xc2\x9b\x9b\nend\n"),
                        "a?  ?]0;x????\n");
    assert_string_equal(printed(print_plain, "ok\ntable\t\x1b[2J\ncolumns\ta:text\nend\n"),
                        "no ?[2J\n");
}

static void test_several_tables_have_their_names(void **state)
{
    (void)state;
    assert_string_equal(printed(print_plain, "ok\nrecord\tone\ncolumns\tab_c:text\td:count\n"
                                             "row\tx\t1\ntable\ttwo\ncolumns\te:text\nend\n"),
                        "one\nab c  x\nd     1\n\ntwo\nno two\n");
}

static void test_json_has_numbers_flags_and_nulls(void **state)
{
    (void)state;
    assert_string_equal(
        printed(print_json, "ok\nrecord\tr\ncolumns\ta:count\tb:flag\tc:flag\td:count\te:text\t"
                            "f:ratio\tg:duration\th:bytes\n"
                            "row\t18446744073709551615\tyes\tno\t\t\t0.5\t1500000\t7\nend\n"),
        "{\"r\": {\"a\": 18446744073709551615, \"b\": true, \"c\": false, \"d\": null, "
        "\"e\": \"\", \"f\": 0.500000, \"g_seconds\": 1.500000, \"h_bytes\": 7}}\n");
}

static void test_json_is_valid_whatever_the_daemon_sends(void **state)
{
    (void)state;
    assert_string_equal(printed(print_json, "ok\ntable\tt\"\ncolumns\ta\\:text\tb:count\n"
                                            "row\t\"\\\x01\xc3\xa9\xff\xc0\xaf\xed\xa0\x80\t-1\n"
                                            "row\tx\t0x10\nend\n"),
                        "{\"t\\\"\": [\n"
                        "  {\"a\\\\\": \"\\\"\\\\\\u0001\xc3\xa9\\ufffd\\ufffd\\ufffd"
                        "\\ufffd\\ufffd\\ufffd\", \"b\": null},\n"
                        "  {\"a\\\\\": \"x\", \"b\": null}]}\n");
}

static void test_json_has_null_for_malformed_numbers(void **state)
{
    (void)state;
    assert_string_equal(printed(print_json, "ok\ntable\tt\ncolumns\ta:ratio\n"
                                            "row\tnan\nrow\tinf\nrow\t-1\nend\n"),
                        "{\"t\": [\n  {\"a\": null},\n  {\"a\": null},\n  {\"a\": null}]}\n");
}

static void test_a_level_indents_the_next_cell(void **state)
{
    (void)state;
    static const char reply[] = "ok\ntable\tt\ncolumns\tdepth:level\tstep:text\tn:count\n"
                                "row\t0\ta\t1\nrow\t2\tb\t2\nrow\t99999999999\tc\t3\nend\n";
    assert_string_equal(printed(print_plain, reply),
                        "step                                       n\n"
                        "a                                          1\n"
                        "    b                                      2\n"
                        "                                        c  3\n");
    assert_non_null(
        strstr(printed(print_json, reply), "{\"depth\": 2, \"step\": \"b\", \"n\": 2}"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_durations_have_the_unit_that_fits),
        cmocka_unit_test(test_sizes_have_the_unit_that_fits),
        cmocka_unit_test(test_other_types_are_formatted_for_people),
        cmocka_unit_test(test_columns_are_aligned_numbers_to_the_right),
        cmocka_unit_test(test_columns_without_values_are_left_out),
        cmocka_unit_test(test_a_list_fits_the_width_and_what_matters_is_cut_last),
        cmocka_unit_test(test_states_have_colours_and_stay_aligned),
        cmocka_unit_test(test_a_cut_never_splits_a_character),
        cmocka_unit_test(test_an_empty_list_says_so),
        cmocka_unit_test(test_missing_rows_are_counted),
        cmocka_unit_test(test_rates_are_per_second),
        cmocka_unit_test(test_text_cannot_control_a_terminal),
        cmocka_unit_test(test_several_tables_have_their_names),
        cmocka_unit_test(test_a_level_indents_the_next_cell),
        cmocka_unit_test(test_json_has_numbers_flags_and_nulls),
        cmocka_unit_test(test_json_has_null_for_malformed_numbers),
        cmocka_unit_test(test_json_is_valid_whatever_the_daemon_sends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
