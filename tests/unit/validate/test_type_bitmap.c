/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/validate/denial_sample.h"

#include "validate/type_bitmap.h"

static struct span bitmap_of(const char *types)
{
    static uint8_t bytes[SAMPLE_BITMAP_MAX];
    return span_of(bytes, sample_bitmap(bytes, types));
}

static void test_bitmap_of_rfc_4034_section_4_3_is_read(void **state)
{
    (void)state;
    /* A MX RRSIG NSEC TYPE1234 */
    static const uint8_t bytes[] =
        "\x00\x06\x40\x01\x00\x00\x00\x03"
        "\x04\x1b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00"
        "\x00\x00\x00\x00\x00\x00\x20";
    struct span bitmap = span_of(bytes, sizeof(bytes) - 1);
    assert_true(type_bitmap_is_sound(bitmap));
    for (unsigned type = 0; type <= UINT16_MAX; type++) {
        bool expected = type == RRTYPE_A || type == RRTYPE_MX || type == RRTYPE_RRSIG ||
                        type == RRTYPE_NSEC || type == 1234;
        assert_int_equal(type_bitmap_has(bitmap, (uint16_t)type), expected);
    }
    assert_memory_equal(bitmap_of("A MX RRSIG NSEC TYPE1234").data, bytes, bitmap.len);
}

static void test_first_and_last_bits_of_windows_are_found(void **state)
{
    (void)state;
    struct span bitmap = bitmap_of("TYPE0 TYPE255 TYPE256 TYPE511 TYPE65280 TYPE65535");
    assert_true(type_bitmap_is_sound(bitmap));
    static const uint16_t present[] = {0, 255, 256, 511, 65280, 65535};
    static const uint16_t absent[] = {1, 254, 257, 510, 512, 65279, 65281, 65534};
    for (size_t i = 0; i < ARRAY_LEN(present); i++)
        assert_true(type_bitmap_has(bitmap, present[i]));
    for (size_t i = 0; i < ARRAY_LEN(absent); i++)
        assert_false(type_bitmap_has(bitmap, absent[i]));
    assert_true(type_bitmap_has_only(bitmap, present, ARRAY_LEN(present)));
    assert_false(type_bitmap_has_only(bitmap, present, ARRAY_LEN(present) - 1));
}

static void test_empty_bitmap_has_no_types(void **state)
{
    (void)state;
    assert_true(type_bitmap_is_sound(span_of(NULL, 0)));
    assert_false(type_bitmap_has(span_of(NULL, 0), RRTYPE_A));
    assert_true(type_bitmap_has_only(span_of(NULL, 0), NULL, 0));
}

static void test_only_looks_at_every_window(void **state)
{
    (void)state;
    static const uint16_t allowed[] = {RRTYPE_RRSIG, RRTYPE_NSEC};
    assert_true(type_bitmap_has_only(bitmap_of("RRSIG NSEC"), allowed, 2));
    assert_true(type_bitmap_has_only(bitmap_of("NSEC"), allowed, 2));
    assert_false(type_bitmap_has_only(bitmap_of("RRSIG NSEC A"), allowed, 2));
    assert_false(type_bitmap_has_only(bitmap_of("RRSIG NSEC CAA"), allowed, 2));
    /* 302 is 46 + 256 */
    assert_false(type_bitmap_has_only(bitmap_of("RRSIG NSEC TYPE302"), allowed, 2));
}

#define ASSERT_UNSOUND(literal) assert_false(type_bitmap_is_sound(BYTES(literal)))

static void test_windows_that_do_not_fit_are_unsound(void **state)
{
    (void)state;
    ASSERT_UNSOUND("\x00");
    ASSERT_UNSOUND("\x00\x01");
    ASSERT_UNSOUND("\x00\x02\x40");
    ASSERT_UNSOUND("\x00\x01\x40\x01");
    ASSERT_UNSOUND("\x00\x01\x40\x01\x20\x40");
}

static void test_window_lengths_of_0_and_33_are_unsound(void **state)
{
    (void)state;
    ASSERT_UNSOUND("\x00\x00");
    ASSERT_UNSOUND("\x00\x00\x01\x01\x40");
    uint8_t bytes[2 + 33] = {0, 33};
    assert_false(type_bitmap_is_sound(span_of(bytes, sizeof(bytes))));
    bytes[1] = 32;
    assert_true(type_bitmap_is_sound(span_of(bytes, sizeof(bytes) - 1)));
}

static void test_repeated_and_descending_windows_are_unsound(void **state)
{
    (void)state;
    ASSERT_UNSOUND("\x00\x01\x40\x00\x01\x20");
    ASSERT_UNSOUND("\x01\x01\x40\x00\x01\x20");
    ASSERT_UNSOUND("\xff\x01\x40\xff\x01\x20");
    assert_true(type_bitmap_is_sound(BYTES("\x00\x01\x40\xff\x01\x20")));
}

static void test_zero_bytes_at_the_end_of_a_window_are_tolerated(void **state)
{
    (void)state;
    struct span bitmap = BYTES("\x00\x03\x40\x00\x00");
    assert_true(type_bitmap_is_sound(bitmap));
    assert_true(type_bitmap_has(bitmap, RRTYPE_A));
    assert_false(type_bitmap_has(bitmap, RRTYPE_NS));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bitmap_of_rfc_4034_section_4_3_is_read),
        cmocka_unit_test(test_first_and_last_bits_of_windows_are_found),
        cmocka_unit_test(test_empty_bitmap_has_no_types),
        cmocka_unit_test(test_only_looks_at_every_window),
        cmocka_unit_test(test_windows_that_do_not_fit_are_unsound),
        cmocka_unit_test(test_window_lengths_of_0_and_33_are_unsound),
        cmocka_unit_test(test_repeated_and_descending_windows_are_unsound),
        cmocka_unit_test(test_zero_bytes_at_the_end_of_a_window_are_tolerated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
