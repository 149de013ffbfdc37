/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "base/check.h"
#include "validate/algorithm.h"

static const uint8_t modern[] = {8, 10, 13, 14, 15, 16};

static bool is_modern(unsigned algorithm)
{
    for (size_t i = 0; i < ARRAY_LEN(modern); i++)
        if (modern[i] == algorithm)
            return true;
    return false;
}

static void test_sha1_counts_only_where_it_is_allowed(void **state)
{
    (void)state;
    for (unsigned algorithm = 0; algorithm < 256; algorithm++) {
        bool is_sha1 = algorithm == 5 || algorithm == 7;
        assert_int_equal(algorithm_is_supported((uint8_t)algorithm, false), is_modern(algorithm));
        assert_int_equal(algorithm_is_supported((uint8_t)algorithm, true),
                         is_modern(algorithm) || is_sha1);
    }
}

static void test_three_digests_are_supported(void **state)
{
    (void)state;
    for (unsigned type = 0; type < 256; type++)
        assert_int_equal(algorithm_is_digest_supported((uint8_t)type),
                         type == 1 || type == 2 || type == 4);
}

static void test_algorithms_have_names(void **state)
{
    (void)state;
    char out[ALGORITHM_TEXT_MAX];
    assert_string_equal(algorithm_name(13, out), "ECDSAP256SHA256");
    assert_string_equal(algorithm_name(8, out), "RSASHA256");
    assert_string_equal(algorithm_name(255, out), "algorithm 255");
}

static void test_costs_are_those_of_the_measurements(void **state)
{
    (void)state;
    static const struct {
        uint8_t algorithm;
        uint16_t key_bytes, units;
    } rows[] = {{8, 132, 1},  {8, 260, 2},  {5, 260, 2},   {10, 388, 5},  {8, 516, 8},
                {8, 0, 1},    {13, 64, 8},  {14, 96, 90},  {15, 32, 13},  {16, 57, 29},
                {99, 100, 1}, {8, 1000, 8}, {8, 65535, 8}, {13, 9999, 8}, {5, 3, 1}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(algorithm_cost(rows[i].algorithm, rows[i].key_bytes), rows[i].units);
}

static void test_keys_of_curves_have_one_length(void **state)
{
    (void)state;
    static const uint8_t bytes[200];
    static const struct {
        uint8_t algorithm, len;
    } rows[] = {{13, 64}, {14, 96}, {15, 32}, {16, 57}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        for (size_t len = 0; len < sizeof(bytes); len++)
            assert_int_equal(algorithm_key_is_sound(rows[i].algorithm, bytes, len),
                             len == rows[i].len);
    assert_false(algorithm_key_is_sound(99, bytes, 32));
}

/* ---- RSA ---- */

struct rsa_key {
    uint8_t bytes[70000];
    size_t len;
};

static struct rsa_key rsa;

/* Makes the field of a key: the exponent, and a modulus of this many bits whose last byte is odd.
 */
static struct span rsa_field(struct span exponent, size_t modulus_bits)
{
    rsa.len = 0;
    if (exponent.len < 256) {
        rsa.bytes[rsa.len++] = (uint8_t)exponent.len;
    } else {
        rsa.bytes[0] = 0;
        put_u16(rsa.bytes + 1, (uint16_t)exponent.len);
        rsa.len = 3;
    }
    memcpy(rsa.bytes + rsa.len, exponent.data, exponent.len);
    rsa.len += exponent.len;
    size_t modulus_bytes = (modulus_bits + 7) / 8;
    memset(rsa.bytes + rsa.len, 0xff, modulus_bytes);
    if (modulus_bits % 8)
        rsa.bytes[rsa.len] = (uint8_t)((1 << modulus_bits % 8) - 1);
    rsa.len += modulus_bytes;
    return span_of(rsa.bytes, rsa.len);
}

static bool is_rsa_sound_with(uint8_t algorithm, struct span exponent, size_t modulus_bits)
{
    struct span field = rsa_field(exponent, modulus_bits);
    return algorithm_key_is_sound(algorithm, field.data, field.len);
}

#define F4 BYTES("\1\0\1")

static void test_an_rsa_modulus_has_512_to_4096_bits(void **state)
{
    (void)state;
    for (size_t bits = 1; bits < 4200; bits++) {
        assert_int_equal(is_rsa_sound_with(8, F4, bits), bits >= 512 && bits <= 4096);
        assert_int_equal(is_rsa_sound_with(5, F4, bits), bits >= 512 && bits <= 4096);
        assert_int_equal(is_rsa_sound_with(10, F4, bits), bits >= 1024 && bits <= 4096);
    }
    assert_false(is_rsa_sound_with(8, F4, 500000));
}

static void test_an_rsa_exponent_is_odd_above_1_and_has_33_bits_at_most(void **state)
{
    (void)state;
    static const struct {
        struct span exponent;
        bool is_sound;
    } rows[] = {
        {{(const uint8_t *)"", 0}, false},
        {{(const uint8_t *)"\0", 1}, false},
        {{(const uint8_t *)"\0\0\0", 3}, false},
        {{(const uint8_t *)"\1", 1}, false},
        {{(const uint8_t *)"\2", 1}, false},
        {{(const uint8_t *)"\3", 1}, true},
        {{(const uint8_t *)"\0\0\3", 3}, true},
        {{(const uint8_t *)"\1\0\1", 3}, true},
        {{(const uint8_t *)"\xff\xff\xff\xff", 4}, true},
        {{(const uint8_t *)"\1\0\0\0\1", 5}, true}, /* the exponent of .lv */
        {{(const uint8_t *)"\1\0\0\0\0", 5}, false},
        {{(const uint8_t *)"\2\0\0\0\1", 5}, false},
        {{(const uint8_t *)"\1\0\0\0\0\0\0\0\1", 9}, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(is_rsa_sound_with(8, rows[i].exponent, 2048), rows[i].is_sound);
}

static void test_a_huge_rsa_exponent_is_refused(void **state)
{
    (void)state;
    static uint8_t exponent[65535];
    memset(exponent, 0xff, sizeof(exponent));
    for (size_t len = 6; len < 1024; len++)
        assert_false(is_rsa_sound_with(8, span_of(exponent, len), 2048));
    assert_false(is_rsa_sound_with(8, span_of(exponent, sizeof(exponent)), 2048));
}

static void test_a_long_rsa_exponent_costs_double(void **state)
{
    (void)state;
    assert_int_equal(algorithm_key_cost(8, rsa_field(F4, 2048)), 2);
    assert_int_equal(algorithm_key_cost(8, rsa_field(BYTES("\3"), 4096)), 8);
    assert_int_equal(algorithm_key_cost(8, rsa_field(BYTES("\1\0\0\0\1"), 4096)), 16);
    assert_int_equal(algorithm_key_cost(10, rsa_field(BYTES("\xff\xff\xff\xff"), 1024)), 2);
    assert_int_equal(algorithm_key_cost(13, rsa_field(BYTES("\xff\xff\xff\xff"), 1024)), 8);
    assert_int_equal(algorithm_key_cost(99, BYTES("\5")), 1);
    assert_int_equal(algorithm_key_cost(8, BYTES("\5")), 1);
    assert_int_equal(algorithm_key_cost(8, span_of(NULL, 0)), 1);
}

static void test_an_even_rsa_modulus_is_refused(void **state)
{
    (void)state;
    struct span field = rsa_field(F4, 2048);
    assert_true(algorithm_key_is_sound(8, field.data, field.len));
    rsa.bytes[rsa.len - 1] = 0xfe;
    assert_false(algorithm_key_is_sound(8, field.data, field.len));
}

static void test_zeros_in_front_of_a_modulus_do_not_count(void **state)
{
    (void)state;
    uint8_t field[4 + 256 + 600] = {3, 1, 0, 1};
    memset(field + 4 + 256, 0xff, 64);
    assert_true(algorithm_key_is_sound(8, field, 4 + 256 + 64));
    assert_false(algorithm_key_is_sound(10, field, 4 + 256 + 64)); /* a modulus of 512 bits */
    memset(field, 0, sizeof(field));
    memcpy(field, "\3\1\0\1", 4);
    assert_false(algorithm_key_is_sound(8, field, sizeof(field)));
}

static void test_a_truncated_rsa_field_is_refused(void **state)
{
    (void)state;
    struct span exponent, modulus;
    static const struct span rows[] = {
        {NULL, 0},
        {(const uint8_t *)"\0", 1},
        {(const uint8_t *)"\0\1", 2},
        {(const uint8_t *)"\5abcd", 5},
        {(const uint8_t *)"\0\1\0ab", 5},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        assert_false(algorithm_rsa_split(rows[i], &exponent, &modulus));
        assert_false(algorithm_key_is_sound(8, rows[i].data, rows[i].len));
    }
    assert_true(algorithm_rsa_split(BYTES("\0\0\3\1\0\1xyz"), &exponent, &modulus));
    assert_true(span_equal(exponent, F4));
    assert_true(span_equal(modulus, BYTES("xyz")));
}

/* This test is the last one, because a refusal cannot be undone. */
static void test_a_refused_algorithm_does_not_count(void **state)
{
    (void)state;
    algorithm_refuse(7);
    algorithm_refuse(16);
    assert_false(algorithm_is_supported(7, true));
    assert_false(algorithm_is_supported(16, true));
    assert_true(algorithm_is_supported(5, true));
    assert_true(algorithm_is_supported(15, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sha1_counts_only_where_it_is_allowed),
        cmocka_unit_test(test_three_digests_are_supported),
        cmocka_unit_test(test_algorithms_have_names),
        cmocka_unit_test(test_costs_are_those_of_the_measurements),
        cmocka_unit_test(test_keys_of_curves_have_one_length),
        cmocka_unit_test(test_an_rsa_modulus_has_512_to_4096_bits),
        cmocka_unit_test(test_an_rsa_exponent_is_odd_above_1_and_has_33_bits_at_most),
        cmocka_unit_test(test_a_huge_rsa_exponent_is_refused),
        cmocka_unit_test(test_a_long_rsa_exponent_costs_double),
        cmocka_unit_test(test_an_even_rsa_modulus_is_refused),
        cmocka_unit_test(test_zeros_in_front_of_a_modulus_do_not_count),
        cmocka_unit_test(test_a_truncated_rsa_field_is_refused),
        cmocka_unit_test(test_a_refused_algorithm_does_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
