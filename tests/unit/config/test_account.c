/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "config/account.h"

static void test_a_user_may_have_a_group(void **state)
{
    static const char *const sound[] = {"",       "nailup",    "nailup:adm", "990:991",
                                        "a-b_c.", "user@home", "nailup:0",   NULL};
    (void)state;
    for (const char *const *text = sound; *text; text++)
        assert_true(account_is_sound(*text, true));
    assert_true(account_is_sound("adm", false));
    assert_false(account_is_sound("nailup:adm", false));
}

static void test_a_word_that_is_not_a_user_is_refused(void **state)
{
    static const char *const wrong[] = {":",  ":adm", "nailup:", "a:b:c", "two words", "a\nb",
                                        "-x", "a/b",  "a:-b",    " ",     NULL};
    char long_one[ACCOUNT_WORD_MAX + 2];

    (void)state;
    for (const char *const *text = wrong; *text; text++)
        assert_false(account_is_sound(*text, true));
    memset(long_one, 'x', sizeof(long_one));
    long_one[ACCOUNT_WORD_MAX] = '\0';
    assert_true(account_is_sound(long_one, true));
    long_one[ACCOUNT_WORD_MAX] = 'x';
    long_one[ACCOUNT_WORD_MAX + 1] = '\0';
    assert_false(account_is_sound(long_one, true));
}

static void test_modes_are_octal(void **state)
{
    static const char *const wrong[] = {"",     "60",   "0668", "1660", "00660",
                                        "432x", "-660", "4660", " 660", NULL};
    uint16_t mode;

    (void)state;
    assert_true(account_parse_mode("0660", &mode));
    assert_int_equal(mode, 0660);
    assert_true(account_parse_mode("600", &mode));
    assert_int_equal(mode, 0600);
    for (const char *const *text = wrong; *text; text++)
        assert_false(account_parse_mode(*text, &mode));
}

static void test_the_system_knows_root_by_name_and_number(void **state)
{
    struct account_user user;
    uint32_t gid;

    (void)state;
    assert_true(account_find_user("root", &user));
    assert_true(user.has_entry && user.uid == 0 && user.gid == 0);
    assert_true(account_find_user("0", &user));
    assert_string_equal(user.name, "root");
    assert_true(account_find_group("root", &gid));
    assert_int_equal(gid, 0);
}

static void test_a_number_needs_no_entry_and_a_name_does(void **state)
{
    struct account_user user;
    uint32_t gid;

    (void)state;
    assert_true(account_find_user("4242424", &user));
    assert_false(user.has_entry);
    assert_int_equal(user.uid, 4242424);
    assert_string_equal(user.name, "");
    assert_true(account_find_group("4242424", &gid));
    assert_int_equal(gid, 4242424);
    assert_false(account_find_user("no-such-user-here", &user));
    assert_false(account_find_group("no-such-group-here", &gid));
}

static void test_minus_one_is_not_a_user(void **state)
{
    struct account_user user;
    uint32_t gid;

    (void)state;
    assert_false(account_find_user("4294967295", &user));
    assert_false(account_find_user("18446744073709551616", &user));
    assert_false(account_find_group("4294967295", &gid));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_user_may_have_a_group),
        cmocka_unit_test(test_a_word_that_is_not_a_user_is_refused),
        cmocka_unit_test(test_modes_are_octal),
        cmocka_unit_test(test_the_system_knows_root_by_name_and_number),
        cmocka_unit_test(test_a_number_needs_no_entry_and_a_name_does),
        cmocka_unit_test(test_minus_one_is_not_a_user),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
