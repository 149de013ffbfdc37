/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Query files: the load reads the format of dnsperf, and reports other lines by their number. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "query_file.h"

static const struct wire_style plain = {.recursion_desired = true};
static struct query_file file;
static size_t line;

static enum err load(const char *text, const struct wire_style *style)
{
    FILE *in = fmemopen((void *)text, strlen(text), "r");
    enum err err = query_file_load(&file, in, style, &line);
    fclose(in);
    return err;
}

static void test_each_line_becomes_a_query(void **state)
{
    (void)state;
    assert_int_equal(load("a.example A\nb.example.\tAAAA\r\n. NS", &plain), ERR_OK);
    assert_int_equal(file.count, 3);
    struct span first = query_file_at(&file, 0), last = query_file_at(&file, 2);
    assert_int_equal(first.len, 12 + 11 + 4);
    assert_memory_equal(first.data, "\0\0\1\0\0\1\0\0\0\0\0\0\1a\7example\0\0\1\0\1", first.len);
    assert_memory_equal(last.data + 12, "\0\0\2\0\1", 5);
    query_file_deinit(&file);
}

static void test_comments_and_empty_lines_are_skipped(void **state)
{
    (void)state;
    assert_int_equal(load("; no\n\n# no\n   \nyes A\n", &plain), ERR_OK);
    assert_int_equal(file.count, 1);
    assert_int_equal(line, 5);
    query_file_deinit(&file);
}

static void test_edns_is_added_as_the_style_says(void **state)
{
    (void)state;
    struct wire_style style = {.edns_bytes = 1232, .dnssec_ok = true};
    assert_int_equal(load("a A", &style), ERR_OK);
    struct wire_query query;
    assert_true(wire_parse_query(query_file_at(&file, 0), &query));
    assert_true(query.has_edns && query.dnssec_ok);
    assert_int_equal(query.udp_size, 1232);
    query_file_deinit(&file);
}

static void test_a_bad_line_is_reported_by_its_number(void **state)
{
    (void)state;
    static const char *const bad[] = {"ok A\na..b A\n", "ok A\nname\n", "ok A\nname NOTYPE\n",
                                      "ok A\nname TYPE65536\n", "ok A\na\\25 A\n"};
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        assert_int_equal(load(bad[i], &plain), ERR_INVALID);
        assert_int_equal(line, 2);
        assert_null(file.bytes);
    }
}

static void test_a_file_without_queries_is_an_error(void **state)
{
    (void)state;
    assert_int_equal(load("; nothing\n", &plain), ERR_NOT_FOUND);
}

static void test_names_and_labels_beyond_their_lengths_are_refused(void **state)
{
    (void)state;
    char text[400];
    memset(text, 'a', sizeof(text));
    strcpy(text + 63, " A\n");
    assert_int_equal(load(text, &plain), ERR_OK);
    query_file_deinit(&file);
    memset(text, 'a', sizeof(text));
    strcpy(text + 64, " A\n");
    assert_int_equal(load(text, &plain), ERR_INVALID);
    for (int i = 0; i < 300; i++)
        text[i] = i % 2 ? '.' : 'a';
    strcpy(text + 254, " A\n"); /* the longest name: 127 labels of one letter, 255 bytes */
    assert_int_equal(load(text, &plain), ERR_OK);
    query_file_deinit(&file);
    for (int i = 0; i < 300; i++)
        text[i] = i % 2 ? '.' : 'a';
    strcpy(text + 256, " A\n");
    assert_int_equal(load(text, &plain), ERR_INVALID);
}

static void test_thousands_of_queries_grow_the_memory(void **state)
{
    (void)state;
    static char text[100000 * 12];
    size_t len = 0;
    for (int i = 0; i < 50000; i++)
        len += (size_t)sprintf(text + len, "n%d TXT\n", i);
    assert_int_equal(load(text, &plain), ERR_OK);
    assert_int_equal(file.count, 50000);
    assert_memory_equal(query_file_at(&file, 49999).data + 13, "n49999", 6);
    query_file_deinit(&file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_line_becomes_a_query),
        cmocka_unit_test(test_comments_and_empty_lines_are_skipped),
        cmocka_unit_test(test_edns_is_added_as_the_style_says),
        cmocka_unit_test(test_a_bad_line_is_reported_by_its_number),
        cmocka_unit_test(test_a_file_without_queries_is_an_error),
        cmocka_unit_test(test_names_and_labels_beyond_their_lengths_are_refused),
        cmocka_unit_test(test_thousands_of_queries_grow_the_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
