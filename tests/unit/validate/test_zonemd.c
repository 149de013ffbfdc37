/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/zone/zone_make.h"

#include "validate/zonemd.h"

/* RFC 8976 appendix A.1. */
#define SIMPLE                                                                                     \
    "@ 86400 SOA ns1 admin 2018031900 1800 900 604800 86400\n"                                     \
    "@ 86400 NS ns1\n@ 86400 NS ns2\n"                                                             \
    "ns1 3600 A 203.0.113.63\nns2 3600 AAAA 2001:db8::63\n"
#define SIMPLE_DIGEST                                                                              \
    "c68090d90a7aed716bc459f9340e3d7c1370d4d24b7e2fc3a1ddc0b9a87153b9a9713b3c9ae5cc27777f98b8e730" \
    "044c"

static void assert_result(const char *text, enum zonemd_result result)
{
    struct zone_data *data = zone_make("example", text);
    assert_int_equal(zonemd_check(data), result);
    zone_data_unref(data);
}

static void test_the_digest_of_the_rfc_matches(void **state)
{
    (void)state;
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n", ZONEMD_MATCHES);
}

static void test_case_and_order_do_not_matter(void **state)
{
    (void)state;
    assert_result("NS2 3600 AAAA 2001:db8::63\n@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n"
                  "@ 86400 NS NS2\n@ 86400 NS ns1\nns1 3600 A 203.0.113.63\n"
                  "@ 86400 SOA NS1 Admin 2018031900 1800 900 604800 86400\n",
                  ZONEMD_MATCHES);
}

static void test_signatures_of_the_digest_are_left_out(void **state)
{
    (void)state;
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n"
                         "@ 86400 RRSIG ZONEMD 8 1 86400 20300101000000 20200101000000 1 @ AAAA\n",
                  ZONEMD_MATCHES);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n"
                         "@ 86400 RRSIG NS 8 1 86400 20300101000000 20200101000000 1 @ AAAA\n",
                  ZONEMD_DIFFERS);
}

static void test_any_change_is_found(void **state)
{
    (void)state;
    assert_result(SIMPLE "x 60 A 192.0.2.1\n@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n",
                  ZONEMD_DIFFERS);
    assert_result("@ 86400 SOA ns1 admin 2018031901 1800 900 604800 86400\n"
                  "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n",
                  ZONEMD_DIFFERS);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 c68090d9\n", ZONEMD_DIFFERS);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 2 " SIMPLE_DIGEST "\n", ZONEMD_DIFFERS);
}

static void test_one_digest_that_matches_is_enough(void **state)
{
    (void)state;
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n"
                         "@ 86400 ZONEMD 2018031900 1 240 e2d523f654b9422a96c5a8f44607bbee\n",
                  ZONEMD_MATCHES);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n"
                         "@ 86400 ZONEMD 2018031900 1 1 00112233445566778899aabb\n",
                  ZONEMD_DIFFERS);
}

static void test_unknown_and_missing_digests_have_different_results(void **state)
{
    (void)state;
    assert_result(SIMPLE, ZONEMD_ABSENT);
    assert_result(SIMPLE "ns1 86400 ZONEMD 2018031900 1 1 " SIMPLE_DIGEST "\n", ZONEMD_ABSENT);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 2 1 " SIMPLE_DIGEST "\n", ZONEMD_UNKNOWN);
    assert_result(SIMPLE "@ 86400 ZONEMD 2018031900 1 9 " SIMPLE_DIGEST "\n", ZONEMD_UNKNOWN);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_digest_of_the_rfc_matches),
        cmocka_unit_test(test_case_and_order_do_not_matter),
        cmocka_unit_test(test_signatures_of_the_digest_are_left_out),
        cmocka_unit_test(test_any_change_is_found),
        cmocka_unit_test(test_one_digest_that_matches_is_enough),
        cmocka_unit_test(test_unknown_and_missing_digests_have_different_results),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
