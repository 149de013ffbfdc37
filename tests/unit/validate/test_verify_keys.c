/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <malloc.h>

#include <openssl/crypto.h>
#include <openssl/err.h>

#include "validate/algorithm.h"
#include "validate/verify_keys.h"

static struct verify_keys *keys;

/* ---- the memory of OpenSSL ---- */

static size_t openssl_bytes;

static void *counted_malloc(size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    void *memory = malloc(size);
    openssl_bytes += malloc_usable_size(memory);
    return memory;
}

static void counted_free(void *memory, const char *file, int line)
{
    (void)file;
    (void)line;
    openssl_bytes -= malloc_usable_size(memory);
    free(memory);
}

static void *counted_realloc(void *memory, size_t size, const char *file, int line)
{
    (void)file;
    (void)line;
    openssl_bytes -= malloc_usable_size(memory);
    memory = realloc(memory, size);
    openssl_bytes += malloc_usable_size(memory);
    return memory;
}

/* ---- tests ---- */

static int setup(void **state)
{
    (void)state;
    keys = verify_keys_new();
    return keys ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    verify_keys_free(keys);
    return 0;
}

/* For OpenSSL, any 57 bytes are an Ed448 key. */
static struct span ed448_key(uint8_t bytes[57], uint32_t number)
{
    memset(bytes, 0, 57);
    put_u32(bytes, number);
    return span_of(bytes, 57);
}

static void test_a_key_is_made_once(void **state)
{
    (void)state;
    uint8_t bytes[57], again[57];
    const struct verify_key *key = verify_keys_get(keys, ALGORITHM_ED448, ed448_key(bytes, 1));
    assert_non_null(key);
    assert_null(key->context);
    EVP_PKEY *first = key->key;
    key = verify_keys_get(keys, ALGORITHM_ED448, ed448_key(again, 1));
    assert_ptr_equal(key->key, first);
    key = verify_keys_get(keys, ALGORITHM_ED448, ed448_key(again, 2));
    assert_ptr_not_equal(key->key, first);
}

static void test_one_key_under_two_algorithms_is_two_keys(void **state)
{
    (void)state;
    uint8_t rsa[4 + 128] = {3, 1, 0, 1};
    memset(rsa + 4, 0xff, 128);
    struct span field = span_of(rsa, sizeof(rsa));
    EVP_PKEY *sha256 = verify_keys_get(keys, ALGORITHM_RSASHA256, field)->key;
    EVP_PKEY *sha512 = verify_keys_get(keys, ALGORITHM_RSASHA512, field)->key;
    assert_ptr_not_equal(sha256, sha512);
    assert_ptr_equal(verify_keys_get(keys, ALGORITHM_RSASHA256, field)->key, sha256);
    assert_non_null(verify_keys_get(keys, ALGORITHM_RSASHA256, field)->context);
}

static void test_a_point_beside_its_curve_is_no_key(void **state)
{
    (void)state;
    uint8_t point[96];
    memset(point, 0x11, sizeof(point));
    assert_null(verify_keys_get(keys, ALGORITHM_ECDSA_P256, span_of(point, 64)));
    assert_null(verify_keys_get(keys, ALGORITHM_ECDSA_P384, span_of(point, 96)));
    ERR_clear_error();
}

/* There are far more keys than places. A key in use stays, while each of the others is seen once.
 */
static void test_the_bound_on_keys_and_a_key_in_use(void **state)
{
    (void)state;
    uint8_t used[57], bytes[57];
    ed448_key(used, 0xffffffff);
    EVP_PKEY *key = verify_keys_get(keys, ALGORITHM_ED448, span_of(used, 57))->key;
    for (uint32_t i = 0; i < 4 * VERIFY_KEYS_MAX; i++) {
        assert_non_null(verify_keys_get(keys, ALGORITHM_ED448, ed448_key(bytes, i)));
        if (i < 100)
            assert_ptr_equal(verify_keys_get(keys, ALGORITHM_ED448, span_of(used, 57))->key, key);
    }
    assert_ptr_equal(verify_keys_get(keys, ALGORITHM_ED448, span_of(used, 57))->key, key);
}

static void test_the_memory_of_many_keys_is_that_of_a_full_table(void **state)
{
    (void)state;
    uint8_t bytes[57];
    size_t full = 0, before = openssl_bytes;
    for (uint32_t i = 0; i < 8 * VERIFY_KEYS_MAX; i++) {
        assert_non_null(verify_keys_get(keys, ALGORITHM_ED448, ed448_key(bytes, i)));
        if (i == 4 * VERIFY_KEYS_MAX)
            full = openssl_bytes - before;
    }
    assert_true(full > VERIFY_KEYS_MAX * sizeof(bytes));
    assert_true(openssl_bytes - before <= full + full / 16);
}

/* All keys of a group are in use, and a new key still finds a place. */
static void test_keys_that_are_all_in_use_make_room(void **state)
{
    (void)state;
    uint8_t bytes[57];
    for (uint32_t i = 0; i < 4 * VERIFY_KEYS_MAX; i++) {
        struct span key = ed448_key(bytes, 1000000 + i);
        EVP_PKEY *made = verify_keys_get(keys, ALGORITHM_ED448, key)->key;
        assert_ptr_equal(verify_keys_get(keys, ALGORITHM_ED448, key)->key, made);
    }
}

static void test_which_hash_an_algorithm_signs(void **state)
{
    (void)state;
    enum verify_hash hash;
    assert_true(verify_keys_hash(ALGORITHM_RSASHA1_NSEC3, &hash));
    assert_int_equal(hash, VERIFY_SHA1);
    assert_true(verify_keys_hash(ALGORITHM_ECDSA_P384, &hash));
    assert_int_equal(hash, VERIFY_SHA384);
    assert_false(verify_keys_hash(ALGORITHM_ED25519, &hash));
    assert_false(verify_keys_hash(ALGORITHM_ED448, &hash));
}

int main(void)
{
    if (!CRYPTO_set_mem_functions(counted_malloc, counted_realloc, counted_free))
        return 1; /* OpenSSL already has this memory */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_key_is_made_once, setup, teardown),
        cmocka_unit_test_setup_teardown(test_one_key_under_two_algorithms_is_two_keys, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_a_point_beside_its_curve_is_no_key, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_bound_on_keys_and_a_key_in_use, setup, teardown),
        cmocka_unit_test_setup_teardown(test_the_memory_of_many_keys_is_that_of_a_full_table, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_keys_that_are_all_in_use_make_room, setup, teardown),
        cmocka_unit_test(test_which_hash_an_algorithm_signs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
