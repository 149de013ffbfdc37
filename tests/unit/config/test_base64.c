/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "config/base64.h"

/* The examples of RFC 4648 section 10. */
static void test_the_samples_of_the_rfc(void **state)
{
    (void)state;
    static const char *const texts[] = {"",         "Zg==",     "Zm8=",    "Zm9v",
                                        "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        uint8_t out[8];
        size_t len;
        assert_true(base64_read(texts[i], strlen(texts[i]), out, sizeof(out), &len));
        assert_int_equal(len, i);
        assert_memory_equal(out, "foobar", i);
    }
}

static void test_other_texts_are_refused(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "Z", "Zg", "Zg=", "Zh==", "Zm9=", "====", "Z===", "Zm 8", "Zm8=Zm8=", "Zm-_"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        uint8_t out[8];
        size_t len;
        assert_false(base64_read(texts[i], strlen(texts[i]), out, sizeof(out), &len));
    }
}

static void test_bytes_beyond_the_bound_are_refused(void **state)
{
    (void)state;
    uint8_t out[6];
    size_t len;
    assert_true(base64_read("Zm9vYmFy", 8, out, 6, &len));
    assert_false(base64_read("Zm9vYmFy", 8, out, 5, &len));
    assert_false(base64_read("Zg==", 4, out, 0, &len));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_samples_of_the_rfc),
        cmocka_unit_test(test_other_texts_are_refused),
        cmocka_unit_test(test_bytes_beyond_the_bound_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
