/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Every error has a sentence, and errno values have an error. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "base/err.h"

static void test_every_error_has_a_sentence(void **state)
{
    (void)state;
    for (int i = 0; i < ERR_COUNT; i++)
        assert_true(strlen(err_str((enum err)i)) > 1);
    assert_string_equal(err_str(ERR_OK), "ok");
}

static void test_sentences_for_clients_fit_the_text_of_an_extended_error(void **state)
{
    (void)state;
    for (int i = ERR_TLS_NOT_SPOKEN; i < ERR_COUNT; i++)
        assert_in_range(strlen(err_str((enum err)i)), 1, 64);
}

static void test_numbers_outside_the_table_have_a_sentence_too(void **state)
{
    (void)state;
    assert_string_equal(err_str(ERR_COUNT), "unknown error");
    assert_string_equal(err_str((enum err) - 1), "unknown error");
}

static void test_errno_values_find_their_error(void **state)
{
    (void)state;
    assert_int_equal(err_from_errno(0), ERR_OK);
    assert_int_equal(err_from_errno(ECONNREFUSED), ERR_REFUSED);
    assert_int_equal(err_from_errno(EMFILE), ERR_NO_FILES);
    assert_int_equal(err_from_errno(EHOSTUNREACH), ERR_UNREACHABLE);
    assert_int_equal(err_from_errno(EADDRINUSE), ERR_ADDRESS_IN_USE);
}

static void test_an_errno_value_without_a_row_is_an_io_error(void **state)
{
    (void)state;
    assert_int_equal(err_from_errno(EIO), ERR_IO);
    assert_int_equal(err_from_errno(99999), ERR_IO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_error_has_a_sentence),
        cmocka_unit_test(test_sentences_for_clients_fit_the_text_of_an_extended_error),
        cmocka_unit_test(test_numbers_outside_the_table_have_a_sentence_too),
        cmocka_unit_test(test_errno_values_find_their_error),
        cmocka_unit_test(test_an_errno_value_without_a_row_is_an_io_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
