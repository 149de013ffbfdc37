/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "cache/lifetime.h"

static const struct lifetime_bounds bounds = {
    .min_ttl_s = 10, .max_ttl_s = 86400, .max_negative_ttl_s = 900, .failure_ttl_s = 5};

static void test_a_positive_answer_stays_between_min_and_max(void **state)
{
    (void)state;
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_POSITIVE, 3), 10);
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_POSITIVE, 300), 300);
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_POSITIVE, 604800), 86400);
}

static void test_a_negative_answer_has_its_own_upper_bound(void **state)
{
    (void)state;
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_NODATA, 3600), 900);
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_NXDOMAIN, 3600), 900);
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_NXDOMAIN, 60), 60);
}

static void test_a_negative_answer_has_its_own_lower_bound(void **state)
{
    (void)state;
    struct lifetime_bounds patient = bounds;
    patient.min_negative_ttl_s = 100;
    assert_int_equal(lifetime_ttl(&patient, ANSWER_NODATA, 60), 100);
    assert_int_equal(lifetime_ttl(&patient, ANSWER_POSITIVE, 60), 60);
    patient.min_negative_ttl_s = 1000;
    assert_int_equal(lifetime_ttl(&patient, ANSWER_NXDOMAIN, 60), 900);
}

static void test_the_shorter_lifetime_wins_when_bounds_contradict(void **state)
{
    (void)state;
    struct lifetime_bounds odd = {.min_ttl_s = 2000, .max_ttl_s = 1000, .max_negative_ttl_s = 5000};
    assert_int_equal(lifetime_ttl(&odd, ANSWER_POSITIVE, 1), 1000);
    assert_int_equal(lifetime_ttl(&odd, ANSWER_NODATA, 4000), 1000);
}

static void test_a_failure_is_kept_as_configured_and_five_minutes_at_most(void **state)
{
    (void)state;
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_FAILURE, 0), 5);
    assert_int_equal(lifetime_ttl(&bounds, ANSWER_FAILURE, 86400), 5);
    struct lifetime_bounds long_one = {.max_ttl_s = 86400, .failure_ttl_s = 3600};
    assert_int_equal(lifetime_ttl(&long_one, ANSWER_FAILURE, 0), 300);
}

static void test_zero_and_ttls_above_31_bits_count_as_zero(void **state)
{
    (void)state;
    struct lifetime_bounds plain = {.max_ttl_s = 86400};
    assert_int_equal(lifetime_ttl(&plain, ANSWER_POSITIVE, 0), 0);
    assert_int_equal(lifetime_ttl(&plain, ANSWER_POSITIVE, 0x80000000u), 0);
    assert_int_equal(lifetime_ttl(&plain, ANSWER_POSITIVE, 0x7fffffffu), 86400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_positive_answer_stays_between_min_and_max),
        cmocka_unit_test(test_a_negative_answer_has_its_own_upper_bound),
        cmocka_unit_test(test_a_negative_answer_has_its_own_lower_bound),
        cmocka_unit_test(test_the_shorter_lifetime_wins_when_bounds_contradict),
        cmocka_unit_test(test_a_failure_is_kept_as_configured_and_five_minutes_at_most),
        cmocka_unit_test(test_zero_and_ttls_above_31_bits_count_as_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
