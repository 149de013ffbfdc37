/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/siphash.h"

static uint8_t key[SIPHASH_KEY_BYTES];

static int setup(void **state)
{
    (void)state;
    for (uint8_t i = 0; i < sizeof(key); i++)
        key[i] = i;
    return 0;
}

/* Hashes the bytes 0, 1, 2 and so on, from memory of exactly this length. */
static uint64_t tag_of(size_t len)
{
    uint8_t *bytes = malloc(len ? len : 1);
    for (size_t i = 0; i < len; i++)
        bytes[i] = (uint8_t)i;
    uint64_t tag = siphash_2_4(key, bytes, len);
    free(bytes);
    return tag;
}

/* The test vector of the SipHash paper (15 bytes) and the vectors of its reference code. */
static void test_published_vectors_hold(void **state)
{
    (void)state;
    const struct {
        size_t len;
        uint64_t tag;
    } rows[] = {
        {0, 0x726fdb47dd0e0e31}, {1, 0x74f839c593dc67fd}, {2, 0x0d6c8009d9a94f5a},
        {3, 0x85676696d7fb7e2d}, {4, 0xcf2794e0277187b7}, {5, 0x18765564cd99a68d},
        {7, 0xab0200f58b01d137}, {8, 0x93f5f5799a932462}, {15, 0xa129ca6149be45e5},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(tag_of(rows[i].len), rows[i].tag);
}

static void tag_of_parts(uint64_t out[2], const struct span *parts, size_t count)
{
    struct siphash hash;
    siphash_begin(&hash, key);
    for (size_t i = 0; i < count; i++)
        siphash_add(&hash, parts[i]);
    siphash_end(hash, out);
}

/* The tag of several parts equals the tag that OpenSSL's 16-byte SIPHASH computes for their framed
 * bytes. */
static void test_parts_have_the_tag_of_their_framed_bytes(void **state)
{
    (void)state;
    uint64_t tag[2], other[2];
    tag_of_parts(tag, NULL, 0);
    assert_int_equal(tag[0], 0xe6a825ba047f81a3);
    assert_int_equal(tag[1], 0x930255c71472f66d);
    const struct span parts[] = {span_of("abc", 3), span_of("", 0), span_of("12345678", 8)};
    tag_of_parts(tag, parts, 3);
    assert_int_equal(tag[0], 0x2805f8838907ea77);
    assert_int_equal(tag[1], 0x703c56e98958c95b);
    const struct span moved[] = {span_of("ab", 2), span_of("c", 1), span_of("12345678", 8)};
    tag_of_parts(other, moved, 3);
    assert_true(other[0] != tag[0] && other[1] != tag[1]);
}

static void test_tags_may_share_their_first_parts(void **state)
{
    (void)state;
    uint64_t first[2], second[2], whole[2];
    struct siphash hash;
    siphash_begin(&hash, key);
    siphash_add(&hash, span_of("abc", 3));
    struct siphash shared = hash;
    siphash_add(&hash, span_of("one", 3));
    siphash_end(hash, first);
    siphash_add(&shared, span_of("two", 3));
    siphash_end(shared, second);
    tag_of_parts(whole, (const struct span[]){span_of("abc", 3), span_of("one", 3)}, 2);
    assert_memory_equal(first, whole, sizeof(whole));
    tag_of_parts(whole, (const struct span[]){span_of("abc", 3), span_of("two", 3)}, 2);
    assert_memory_equal(second, whole, sizeof(whole));
}

static void test_each_bit_of_key_and_message_counts(void **state)
{
    (void)state;
    uint8_t message[21] = "what clients send up";
    uint64_t tag = siphash_2_4(key, message, sizeof(message));
    for (size_t bit = 0; bit < 8 * sizeof(message); bit++) {
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(siphash_2_4(key, message, sizeof(message)), tag);
        message[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t bit = 0; bit < 8 * sizeof(key); bit++) {
        key[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_not_equal(siphash_2_4(key, message, sizeof(message)), tag);
        key[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

static void test_zeros_at_the_end_count(void **state)
{
    (void)state;
    static const uint8_t zeros[20];
    for (size_t len = 1; len < sizeof(zeros); len++)
        assert_int_not_equal(siphash_2_4(key, zeros, len), siphash_2_4(key, zeros, len - 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_published_vectors_hold, setup),
        cmocka_unit_test_setup(test_parts_have_the_tag_of_their_framed_bytes, setup),
        cmocka_unit_test_setup(test_tags_may_share_their_first_parts, setup),
        cmocka_unit_test_setup(test_each_bit_of_key_and_message_counts, setup),
        cmocka_unit_test_setup(test_zeros_at_the_end_count, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
