/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Valid characters, invalid bytes, and characters that could control a terminal. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "ctl/utf8.h"

static int len_of(const char *text)
{
    return utf8_len((const unsigned char *)text);
}

static void clean_is(const char *text, const char *wanted)
{
    char copy[64];

    snprintf(copy, sizeof(copy), "%s", text);
    assert_ptr_equal(utf8_clean(copy), copy);
    assert_string_equal(copy, wanted);
}

static void test_characters_of_each_length_are_counted(void **state)
{
    (void)state;
    assert_int_equal(len_of("a"), 1);
    assert_int_equal(len_of("\xc3\xa9"), 2);
    assert_int_equal(len_of("\xe2\x82\xac"), 3);
    assert_int_equal(len_of("\xf0\x9f\x98\x80"), 4);
    assert_int_equal(len_of("\xf4\x8f\xbf\xbf"), 4);
}

static void test_overlong_surrogate_and_too_high_forms_are_invalid(void **state)
{
    static const char *const wrong[] = {
        "\x80",         "\xc0\xaf",         "\xc1\xbf",         "\xe0\x80\xaf", "\xed\xa0\x80",
        "\xed\xbf\xbf", "\xf0\x80\x80\xaf", "\xf4\x90\x80\x80", "\xf5\x80",     "\xff"};

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_int_equal(len_of(wrong[i]), 0);
}

static void test_a_truncated_character_is_invalid(void **state)
{
    (void)state;
    assert_int_equal(len_of("\xc3"), 0);
    assert_int_equal(len_of("\xe2\x82"), 0);
    assert_int_equal(len_of("\xf0\x9f\x98"), 0);
}

static void test_valid_text_is_unchanged(void **state)
{
    (void)state;
    clean_is("", "");
    clean_is("plain, \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80",
             "plain, \xc3\xa9 \xe2\x82\xac \xf0\x9f\x98\x80");
}

static void test_escape_sequences_lose_their_power(void **state)
{
    (void)state;
    clean_is("\033[2J", "?[2J");
    clean_is("a\rb\nc\td\x7f", "a?b?c?d?");
    clean_is("\xc2\x9b"
             "31m",
             "??31m"); /* CSI in two bytes */
    clean_is("\xc2\xa0", "\xc2\xa0");
    clean_is("a\xff\xc3z", "a??z");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_characters_of_each_length_are_counted),
        cmocka_unit_test(test_overlong_surrogate_and_too_high_forms_are_invalid),
        cmocka_unit_test(test_a_truncated_character_is_invalid),
        cmocka_unit_test(test_valid_text_is_unchanged),
        cmocka_unit_test(test_escape_sequences_lose_their_power),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
