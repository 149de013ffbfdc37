/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "dns/case_bits.h"

static void test_set_bits_make_letters_upper_case(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name = sample_name(wire, "WWW.example.com");
    uint8_t bits[CASE_BITS_MAX] = {0x02 | 0x40, 0x80};
    case_randomise(wire, name.len, bits);
    for (unsigned i = 0; i < name.len; i++) {
        bool is_letter = (wire[i] | 0x20) >= 'a' && (wire[i] | 0x20) <= 'z';
        bool is_upper = wire[i] >= 'A' && wire[i] <= 'Z';
        assert_true(!is_letter || is_upper == (bits[i / 8] >> i % 8 & 1));
    }
}

static void test_clear_bits_make_lower_case_and_set_bits_upper_case(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX], bits[CASE_BITS_MAX];
    struct name name = sample_name(wire, "Www.Example-7.com");
    memset(bits, 0xff, sizeof(bits));
    case_randomise(wire, name.len, bits);
    assert_true(name_equal_exact(name, NAME("WWW.EXAMPLE-7.COM")));
    memset(bits, 0, sizeof(bits));
    case_randomise(wire, name.len, bits);
    assert_true(name_equal_exact(name, NAME("www.example-7.com")));
}

static void test_only_letters_change(void **state)
{
    (void)state;
    uint8_t bits[CASE_BITS_MAX];
    memset(bits, 0xff, sizeof(bits));
    for (unsigned byte = 0; byte < 256; byte++) {
        uint8_t wire[] = {2, (uint8_t)byte, (uint8_t)byte, 0};
        bool is_lower = byte >= 'a' && byte <= 'z';
        case_randomise(wire, sizeof(wire), bits);
        assert_int_equal(wire[1], is_lower ? byte - 32 : byte);
        assert_int_equal(wire[0], 2);
    }
}

static void test_longest_name_is_within_the_bits(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX], bits[CASE_BITS_MAX] = {0};
    for (unsigned i = 0; i < 254; i += 2) {
        wire[i] = 1;
        wire[i + 1] = 'X';
    }
    wire[254] = 0;
    struct name name = {.wire = wire, .len = 255};
    assert_int_equal(case_letters(name), 127);
    case_randomise(wire, 255, bits);
    assert_int_equal(wire[253], 'x');
    assert_int_equal(wire[254], 0);
}

/* Reading by words and blocks gives the same result as reading by bytes, and touches nothing after
 * the name or the bits. */
static void test_every_byte_of_every_length_has_its_own_bit(void **state)
{
    (void)state;
    for (unsigned len = 1; len <= NAME_WIRE_MAX; len++) {
        uint8_t *bits = test_malloc((len + 7) / 8), *wire = test_malloc(len), wanted[NAME_WIRE_MAX];
        for (unsigned i = 0; i < (len + 7) / 8; i++)
            bits[i] = (uint8_t)(i * 37 + len * 11 + 5);
        for (unsigned i = 0; i < len; i++) {
            wire[i] = (uint8_t)(i * 7 + len);
            uint8_t folded = name_fold_byte(wire[i]);
            bool is_letter = folded >= 'a' && folded <= 'z';
            wanted[i] = (uint8_t)(folded ^ (is_letter && bits[i / 8] >> i % 8 & 1 ? 0x20 : 0));
        }
        case_randomise(wire, (uint8_t)len, bits);
        assert_memory_equal(wire, wanted, len);
        test_free(bits);
        test_free(wire);
    }
}

static void test_letters_are_counted(void **state)
{
    (void)state;
    assert_int_equal(case_letters(NAME("Www.example-1.com")), 13);
    assert_int_equal(case_letters(NAME("1.2.3")), 0);
    assert_int_equal(case_letters(name_root()), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_set_bits_make_letters_upper_case),
        cmocka_unit_test(test_clear_bits_make_lower_case_and_set_bits_upper_case),
        cmocka_unit_test(test_only_letters_change),
        cmocka_unit_test(test_longest_name_is_within_the_bits),
        cmocka_unit_test(test_every_byte_of_every_length_has_its_own_bit),
        cmocka_unit_test(test_letters_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
