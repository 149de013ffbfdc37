/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The hash depends on its bytes and its seed. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/hash.h"

static void test_equal_bytes_hash_equally_at_any_address(void **state)
{
    (void)state;
    char room[64];
    memcpy(room + 3, "example.net", 11);
    assert_true(hash_bytes("example.net", 11, 7) == hash_bytes(room + 3, 11, 7));
}

static void test_seed_and_bytes_change_the_hash(void **state)
{
    (void)state;
    assert_true(hash_bytes("example.net", 11, 7) != hash_bytes("example.net", 11, 8));
    assert_true(hash_bytes("example.net", 11, 7) != hash_bytes("example.org", 11, 7));
    assert_true(hash_bytes("example.net", 11, 7) != hash_bytes("example.net", 10, 7));
}

static void test_an_empty_input_has_a_hash(void **state)
{
    (void)state;
    assert_true(hash_bytes(NULL, 0, 1) == hash_bytes("", 0, 1));
}

/* 10000 keys in 256 buckets: the mean is 39, no bucket is empty, and none has three times the mean.
 */
static void test_low_bits_spread_numbered_keys(void **state)
{
    (void)state;
    unsigned counts[256] = {0};
    for (uint32_t i = 0; i < 10000; i++)
        counts[hash_bytes(&i, sizeof(i), 1) & 255]++;
    for (int i = 0; i < 256; i++)
        assert_in_range(counts[i], 10, 117);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_equal_bytes_hash_equally_at_any_address),
        cmocka_unit_test(test_seed_and_bytes_change_the_hash),
        cmocka_unit_test(test_an_empty_input_has_a_hash),
        cmocka_unit_test(test_low_bits_spread_numbered_keys),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
