/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

#include "ctl/fit.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <setjmp.h>
#include <cmocka.h>

static const char *fitted(const char *text, unsigned width, unsigned height, unsigned *lines)
{
    static const struct fit_frame frame = {"<", ">"};
    static char out[4096];
    FILE *file = fmemopen(out, sizeof(out), "w");
    *lines = fit_print(text, width, height, &frame, file);
    fputc('\0', file);
    fclose(file);
    return out;
}

static void test_text_that_fits_is_unchanged(void **state)
{
    unsigned lines;
    (void)state;
    assert_string_equal(fitted("ab\n\ncd\n", 2, 3, &lines), "<ab><><cd>");
    assert_int_equal(lines, 3);
    assert_string_equal(fitted("ab\ncd", 5, 9, &lines), "<ab><cd>");
    assert_string_equal(fitted("", 5, 9, &lines), "");
    assert_int_equal(lines, 0);
}

static void test_long_lines_are_cut(void **state)
{
    unsigned lines;
    (void)state;
    assert_string_equal(fitted("abcdef\nab\n", 3, 5, &lines), "<abc><ab>");
    assert_string_equal(fitted("abc\n", 0, 5, &lines), "<>");
}

static void test_a_character_of_several_bytes_is_not_cut_in_two(void **state)
{
    unsigned lines;
    (void)state;
    assert_string_equal(fitted("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80x\n", 3, 5, &lines),
                        "<\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80>");
    assert_string_equal(fitted("a\x80\x80\x80\n", 1, 5, &lines), "<a\x80\x80\x80>");
}

static void test_colours_take_no_room_and_end_at_a_cut(void **state)
{
    unsigned lines;
    (void)state;
    assert_string_equal(fitted("\033[31mabc\033[0m d\n", 5, 5, &lines), "<\033[31mabc\033[0m d>");
    assert_string_equal(fitted("\033[31mabc\033[0m d\n", 2, 5, &lines), "<\033[31mab\033[0m>");
    /* an incomplete sequence is no colour */
    assert_string_equal(fitted("\033[31\n", 3, 5, &lines), "<\033[3\033[0m>");
}

static void test_lines_that_do_not_fit_are_counted(void **state)
{
    unsigned lines;
    (void)state;
    assert_string_equal(fitted("a\nb\nc\nd\n", 80, 3, &lines), "<a><b><(2 more lines)>");
    assert_int_equal(lines, 3);
    assert_string_equal(fitted("a\nb\n", 80, 1, &lines), "<(2 more lines)>");
    assert_string_equal(fitted("a\nb\nc\n", 4, 1, &lines), "<(3 m>");
    assert_string_equal(fitted("a\n", 80, 0, &lines), "");
    assert_int_equal(lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text_that_fits_is_unchanged),
        cmocka_unit_test(test_long_lines_are_cut),
        cmocka_unit_test(test_a_character_of_several_bytes_is_not_cut_in_two),
        cmocka_unit_test(test_colours_take_no_room_and_end_at_a_cut),
        cmocka_unit_test(test_lines_that_do_not_fit_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
