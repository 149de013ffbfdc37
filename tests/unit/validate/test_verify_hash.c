/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "unit/validate/hash_text.h"
#include "validate/verify_hash.h"

static void test_hashes_of_two_spans(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) /* the same context is used three times */
        for (int hash = 0; hash < VERIFY_HASHES; hash++)
            for (size_t split = 0; split <= 3; split++) {
                uint8_t out[VERIFY_HASH_MAX];
                char text[2 * VERIFY_HASH_MAX + 1];
                size_t len = verify_hash_bytes((enum verify_hash)hash, span_of("abc", split),
                                               span_of("abc" + split, 3 - split), out);
                hash_text_hex(text, out, len);
                assert_string_equal(text, hash_text_of_abc[hash]);
            }
}

static void test_methods_are_fetched_once(void **state)
{
    (void)state;
    for (int hash = 0; hash < VERIFY_HASHES; hash++) {
        const EVP_MD *method = verify_hash_method((enum verify_hash)hash);
        assert_non_null(method);
        assert_ptr_equal(verify_hash_method((enum verify_hash)hash), method);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes_of_two_spans),
        cmocka_unit_test(test_methods_are_fetched_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
