/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include <openssl/evp.h>
#include <openssl/provider.h>

#include "validate/algorithm.h"

static void test_the_probe_refuses_nothing_that_works(void **state)
{
    (void)state;
    algorithm_probe();
    static const uint8_t all[] = {5, 7, 8, 10, 13, 14, 15, 16};
    for (size_t i = 0; i < sizeof(all); i++)
        assert_true(algorithm_is_supported(all[i], true));
}

/* Without a provider, OpenSSL verifies nothing: this is the hardest crypto policy. This test is the
 * last one, because a refusal cannot be undone. */
static void test_the_probe_refuses_what_openssl_refuses(void **state)
{
    (void)state;
    OSSL_PROVIDER *provider = OSSL_PROVIDER_load(NULL, "null");
    assert_non_null(provider);
    assert_true(EVP_set_default_properties(NULL, "provider=none"));
    algorithm_probe();
    for (unsigned algorithm = 0; algorithm < 256; algorithm++)
        assert_false(algorithm_is_supported((uint8_t)algorithm, true));
    OSSL_PROVIDER_unload(provider);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_probe_refuses_nothing_that_works),
        cmocka_unit_test(test_the_probe_refuses_what_openssl_refuses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
