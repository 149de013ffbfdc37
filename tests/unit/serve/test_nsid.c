/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The two forms of an NSID, and texts in another form. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/nsid.h"

static void test_both_forms_are_read(void **state)
{
    (void)state;
    uint8_t out[8] = {0};
    assert_true(nsid_is_sound("ascii_ns 7"));
    assert_int_equal(nsid_len("ascii_ns 7"), 4);
    nsid_write("ascii_ns 7", out);
    assert_memory_equal(out, "ns 7", 4);
    assert_true(nsid_is_sound("00fFA9"));
    assert_int_equal(nsid_len("00fFA9"), 3);
    nsid_write("00fFA9", out);
    assert_memory_equal(out, "\x00\xff\xa9", 3);
}

static void test_other_texts_are_not_sound(void **state)
{
    (void)state;
    static const char *const texts[] = {"",     "ascii_", "ns7",     "0", "000",
                                        "0x00", "0g",     "ASCII_a", "0 "};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        assert_false(nsid_is_sound(texts[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_forms_are_read),
        cmocka_unit_test(test_other_texts_are_not_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
