/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A text from the daemon passes to the output, in pieces of any size. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "ctl/stream.h"
#include "nailup/control.h"

static char *printed;
static size_t printed_len;
static bool is_taken, is_whole;

static int end(void **state)
{
    (void)state;
    free(printed);
    printed = NULL;
    return 0;
}

/* Streams the text in pieces of this size. Returns the output. */
static const char *streamed(const char *text, size_t len, size_t piece, bool json)
{
    FILE *out;
    struct stream stream;

    free(printed);
    out = open_memstream(&printed, &printed_len);
    assert_int_equal(stream_begin(&stream, out, json), ERR_OK);
    is_taken = true;
    for (size_t at = 0; at < len && is_taken; at += piece)
        is_taken = stream_take(&stream, text + at, len - at < piece ? len - at : piece);
    is_whole = stream_end(&stream);
    fclose(out);
    return printed;
}

static void test_pieces_of_each_size_give_the_same_lines(void **state)
{
    static const char text[] = "first\n\nthird\tcell\nend\n";

    (void)state;
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        assert_string_equal(streamed(text, sizeof(text) - 1, piece, false),
                            "first\n\nthird\tcell\n");
        assert_true(is_taken && is_whole);
    }
}

static void test_json_is_a_list_of_strings(void **state)
{
    static const char text[] = "a \"b\"\nc\\d\nend\n";

    (void)state;
    assert_string_equal(streamed(text, sizeof(text) - 1, 3, true),
                        "{\"text\": [\n \"a \\\"b\\\"\",\n \"c\\\\d\"]}\n");
    assert_string_equal(streamed("end\n", 4, 4, true), "{\"text\": []}\n");
    assert_true(is_whole);
}

static void test_a_text_that_was_cut_is_not_whole_and_its_json_is_valid(void **state)
{
    (void)state;
    assert_string_equal(streamed("a\nhalf a li", 11, 4, true), "{\"text\": [\n \"a\"]}\n");
    assert_false(is_whole);
    assert_string_equal(streamed("", 0, 1, false), "");
    assert_false(is_whole);
    streamed("a\nend", 5, 5, false);
    assert_false(is_whole);
}

static void test_nothing_may_follow_the_last_line(void **state)
{
    (void)state;
    streamed("a\nend\nb\n", 8, 8, false);
    assert_false(is_taken);
}

static void test_escape_sequences_do_not_reach_the_terminal(void **state)
{
    static const char text[] = "\033[2J\ta\rb\xff\nend\n";

    (void)state;
    assert_string_equal(streamed(text, sizeof(text) - 1, 2, false), "?[2J\ta?b?\n");
}

static void test_a_line_beyond_the_bound_ends_the_text(void **state)
{
    size_t len = CONTROL_TEXT_LINE_MAX + 1;
    char *line = malloc(len);

    (void)state;
    memset(line, 'a', len);
    streamed(line, len, 4096, true);
    assert_false(is_taken);
    assert_string_equal(printed, "{\"text\": []}\n");
    line[len - 1] = '\n'; /* the longest line that fits ends with its newline */
    line[len - 2] = '\n';
    streamed(line, len - 1, 4096, false);
    assert_true(is_taken);
    assert_int_equal(printed_len, len - 1);
    free(line);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_teardown(test, end)
    const struct CMUnitTest tests[] = {
        TEST(test_pieces_of_each_size_give_the_same_lines),
        TEST(test_json_is_a_list_of_strings),
        TEST(test_a_text_that_was_cut_is_not_whole_and_its_json_is_valid),
        TEST(test_nothing_may_follow_the_last_line),
        TEST(test_escape_sequences_do_not_reach_the_terminal),
        TEST(test_a_line_beyond_the_bound_ends_the_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
