/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The histogram: exact for small values, within a 64th for others, and merged without loss. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "latency.h"

static struct latency latency, other;

static int init(void **state)
{
    (void)state;
    latency_init(&latency);
    latency_init(&other);
    return 0;
}

static void test_an_empty_histogram_has_only_zeros(void **state)
{
    (void)state;
    assert_int_equal(latency_percentile(&latency, 50), 0);
    assert_true(latency_mean(&latency) == 0);
    assert_int_equal(latency.max, 0);
}

static void test_small_values_are_exact(void **state)
{
    (void)state;
    for (uint64_t value = 1; value <= 60; value++)
        latency_record(&latency, value);
    assert_int_equal(latency_percentile(&latency, 50), 30);
    assert_int_equal(latency_percentile(&latency, 0), 1);
    assert_int_equal(latency_percentile(&latency, 100), 60);
    assert_true(latency_mean(&latency) == 30.5);
    assert_int_equal(latency.min, 1);
}

static void test_every_value_is_within_a_sixtyfourth(void **state)
{
    (void)state;
    for (uint64_t value = 1; value < 1ULL << 40; value = value * 21 / 20 + 1) {
        latency_init(&latency);
        latency_record(&latency, value);
        /* a large maximum, so that it never limits the result */
        latency_record(&latency, UINT64_MAX);
        uint64_t told = latency_percentile(&latency, 50);
        assert_true(told >= value);
        assert_true(told - value <= value / 64);
    }
}

static void test_a_percentile_never_exceeds_the_maximum(void **state)
{
    (void)state;
    latency_record(&latency, 1000001);
    assert_int_equal(latency_percentile(&latency, 99.9), 1000001);
}

static void test_the_longest_durations_share_the_last_bucket(void **state)
{
    (void)state;
    latency_record(&latency, UINT64_MAX);
    latency_record(&latency, 1ULL << 50);
    assert_int_equal(latency.buckets[LATENCY_BUCKETS - 1], 2);
    assert_int_equal(latency.max, UINT64_MAX);
}

static void test_one_slow_answer_in_a_hundred_is_the_99_9th_and_not_the_99th(void **state)
{
    (void)state;
    for (int i = 0; i < 99; i++)
        latency_record(&latency, 10);
    latency_record(&latency, 50);
    assert_int_equal(latency_percentile(&latency, 99), 10);
    assert_int_equal(latency_percentile(&latency, 99.9), 50);
}

static void test_merging_equals_recording_in_one(void **state)
{
    (void)state;
    struct latency *both = &latency;
    for (uint64_t i = 0; i < 1000; i++)
        latency_record(i % 2 ? both : &other, i * 37);
    latency_merge(both, &other);
    assert_int_equal(both->count, 1000);
    assert_int_equal(both->sum, 37 * 999 * 500);
    assert_int_equal(both->min, 0);
    assert_int_equal(both->max, 999 * 37);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_an_empty_histogram_has_only_zeros, init),
        cmocka_unit_test_setup(test_small_values_are_exact, init),
        cmocka_unit_test_setup(test_every_value_is_within_a_sixtyfourth, init),
        cmocka_unit_test_setup(test_a_percentile_never_exceeds_the_maximum, init),
        cmocka_unit_test_setup(test_the_longest_durations_share_the_last_bucket, init),
        cmocka_unit_test_setup(test_one_slow_answer_in_a_hundred_is_the_99_9th_and_not_the_99th,
                               init),
        cmocka_unit_test_setup(test_merging_equals_recording_in_one, init),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
