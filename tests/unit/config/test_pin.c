/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "config/pin.h"

/* The 32 bytes 0, 1, 2 ... 31. Another program has encoded them. */
#define COUNTING "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="

static void expect_counting(const char *text)
{
    uint8_t pin[TLS_PIN_BYTES] = {0};
    char out[PIN_TEXT_MAX];
    assert_true(pin_parse(text, pin));
    for (uint8_t i = 0; i < TLS_PIN_BYTES; i++)
        assert_int_equal(pin[i], i);
    assert_string_equal(pin_format(pin, out), COUNTING);
}

static void test_a_pin_is_base64(void **state)
{
    (void)state;
    expect_counting(COUNTING);
}

static void test_pins_are_read_in_the_forms_of_other_programs(void **state)
{
    (void)state;
    expect_counting("sha256//" COUNTING);
    expect_counting("pin-sha256=\"" COUNTING "\"");
}

static void test_a_malformed_pin_is_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",
        "=",
        "sha256//",
        "pin-sha256=\"",
        "pin-sha256=\"\"",
        "pin-sha256=\"" COUNTING,
        "pin-sha256=" COUNTING,
        "SHA256//" COUNTING,
        "sha256/" COUNTING,
        "sha256//sha256//" COUNTING,
        " " COUNTING,
        COUNTING "=",
        COUNTING " ",
        /* without the last digit; without the '='; with an extra digit; of another length */
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh=",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8A=",
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHg==",
        /* the bits behind the last byte are not zero */
        "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh9=",
        /* the URL-safe alphabet; a blank; an '=' in the middle */
        "-_ECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=",
        "AAECAwQFBgcICQoLDA0O xAREhMUFRYXGBkaGxwdHh8=",
        "AAECAwQFBgcICQoLDA0O=xAREhMUFRYXGBkaGxwdHh8=",
    };
    uint8_t pin[TLS_PIN_BYTES];
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        if (pin_parse(wrong[i], pin))
            fail_msg("%s was taken", wrong[i]);
}

static void test_every_bit_counts(void **state)
{
    (void)state;
    for (size_t bit = 0; bit < 8 * TLS_PIN_BYTES; bit++) {
        uint8_t pin[TLS_PIN_BYTES] = {0}, again[TLS_PIN_BYTES];
        char out[PIN_TEXT_MAX];
        pin[bit / 8] = (uint8_t)(1 << bit % 8);
        assert_true(pin_parse(pin_format(pin, out), again));
        assert_memory_equal(pin, again, TLS_PIN_BYTES);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_pin_is_base64),
        cmocka_unit_test(test_pins_are_read_in_the_forms_of_other_programs),
        cmocka_unit_test(test_a_malformed_pin_is_refused),
        cmocka_unit_test(test_every_bit_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
