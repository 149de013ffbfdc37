/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The file of secrets, and the secrets that a process makes. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "serve/cookie_secrets.h"

#define A "000102030405060708090a0b0c0d0e0f"
#define B "FFeeDDccBBaa99887766554433221100"

static struct cookie_secrets secrets;
static char why[COOKIE_SECRETS_WHY_MAX];

/* Parses a copy of exactly this length, so that ASan detects an overrun. */
static enum err parse(const char *text)
{
    size_t len = strlen(text);
    char *copy = malloc(len ? len : 1);
    memcpy(copy, text, len);
    enum err err = cookie_secrets_parse(&secrets, span_of(copy, len), why);
    free(copy);
    return err;
}

static void expect_fault(const char *text, const char *place)
{
    assert_int_equal(parse(text), ERR_INVALID);
    assert_int_equal(secrets.count, 0);
    assert_memory_equal(why, place, strlen(place));
    assert_int_equal(why[strlen(place)], ':');
}

static void test_a_secret_a_line(void **state)
{
    (void)state;
    assert_int_equal(parse(A "\n" B "\n"), ERR_OK);
    assert_int_equal(secrets.count, 2);
    assert_memory_equal(secrets.list[0], "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16);
    assert_memory_equal(secrets.list[1],
                        "\xff\xee\xdd\xcc\xbb\xaa\x99\x88\x77\x66\x55\x44\x33\x22\x11\0", 16);
}

static void test_blanks_comments_and_a_missing_last_newline_are_fine(void **state)
{
    (void)state;
    assert_int_equal(parse("# of all servers\n\n \t" A " \r\n   # the old one\n" B), ERR_OK);
    assert_int_equal(secrets.count, 2);
    assert_int_equal(parse(A), ERR_OK);
    assert_int_equal(secrets.count, 1);
}

static void test_faults_are_found_where_they_are(void **state)
{
    (void)state;
    expect_fault("", "1:1");
    expect_fault("\n# nothing\n", "1:1");
    expect_fault("x", "1:1");
    expect_fault("0001", "1:5");
    expect_fault(A "\n" A "0\n", "2:33");
    expect_fault(A "\n  00010203040506070809g", "2:23");
    expect_fault(A " # mine\n", "1:34");
    expect_fault("0x" A, "1:2");
    expect_fault(A " " B, "1:34");
}

static void test_there_may_be_four(void **state)
{
    (void)state;
    assert_int_equal(parse(A "\n" A "\n" A "\n" B "\n"), ERR_OK);
    assert_int_equal(secrets.count, COOKIE_SECRETS_MAX);
    expect_fault(A "\n" A "\n" A "\n" B "\n" B "\n", "5:1");
}

static void test_zero_bytes_end_nothing(void **state)
{
    (void)state;
    static const char text[] = A "\n\0\n" A "\n";
    assert_int_equal(cookie_secrets_parse(&secrets, span_of(text, sizeof(text) - 1), why),
                     ERR_INVALID);
}

static void test_secrets_of_a_process_change_by_the_day(void **state)
{
    (void)state;
    struct cookie_secrets today, again, tomorrow;
    cookie_secrets_of_day(&today, 18000);
    cookie_secrets_of_day(&again, 18000);
    cookie_secrets_of_day(&tomorrow, 18001);
    assert_memory_equal(&today, &again, sizeof(today));
    assert_memory_not_equal(today.list[0], tomorrow.list[0], SIPHASH_KEY_BYTES);
    /* yesterday's secret is still accepted */
    assert_memory_equal(today.list[0], tomorrow.list[1], SIPHASH_KEY_BYTES);
    /* tomorrow's secret is already accepted */
    assert_memory_equal(today.list[2], tomorrow.list[0], SIPHASH_KEY_BYTES);
    assert_memory_not_equal(today.list[0], today.list[0] + 8, 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_secret_a_line),
        cmocka_unit_test(test_blanks_comments_and_a_missing_last_newline_are_fine),
        cmocka_unit_test(test_faults_are_found_where_they_are),
        cmocka_unit_test(test_there_may_be_four),
        cmocka_unit_test(test_zero_bytes_end_nothing),
        cmocka_unit_test(test_secrets_of_a_process_change_by_the_day),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
