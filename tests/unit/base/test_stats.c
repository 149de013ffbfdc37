/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counters, their rows, and quantiles of histograms. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "base/rand.h"
#include "base/stats.h"

static void test_counters_rise_and_gauges_fall(void **state)
{
    (void)state;
    struct stats stats = {0};
    STATS_INC(&stats, queries_udp);
    STATS_ADD(&stats, queries_udp, 4);
    STATS_INC(&stats, stream_clients);
    STATS_INC(&stats, stream_clients);
    STATS_DEC(&stats, stream_clients);
    STATS_SET(&stats, cache_bytes, 77);
    assert_int_equal(stats.queries_udp, 5);
    assert_int_equal(stats.stream_clients, 1);
    assert_int_equal(stats.cache_bytes, 77);
}

static void test_adding_by_row_number_reaches_the_field(void **state)
{
    (void)state;
    struct stats stats = {0};
    stats_add_at(&stats, stat_upstream_closes_idle, 3);
    stats_add_at(&stats, stat_upstream_closes_idle, -1);
    assert_int_equal(stats.upstream_closes_idle, 2);
    assert_string_equal(stat_rows[stat_upstream_closes_idle].id, "upstream_closes_idle");
    assert_string_equal(stat_rows[stat_upstream_closes_idle].labels, "reason=\"idle\"");
}

static void test_sums_are_over_workers_and_all_numbers(void **state)
{
    (void)state;
    struct stats workers[3] = {0}, sum = {0};
    for (uint64_t w = 0; w < 3; w++) {
        for (size_t i = 0; i < STAT_COUNT; i++)
            workers[w].values[i] = i + w;
        stats_histogram_add(&workers[w].answer_latency, 10 * w);
        stats_sum(&sum, &workers[w]);
    }
    for (size_t i = 0; i < STAT_COUNT; i++)
        assert_int_equal(sum.values[i], 3 * i + 3);
    assert_int_equal(stats_histogram_count(&sum.answer_latency), 3);
    assert_int_equal(sum.answer_latency.sum_us, 30);
    assert_int_equal(stats_histogram_count(&sum.upstream_latency), 0);
}

static void test_a_gauge_below_zero_in_one_worker_sums_right(void **state)
{
    (void)state;
    struct stats a = {0}, b = {0}, sum = {0};
    STATS_DEC(&a, stream_clients);
    STATS_ADD(&b, stream_clients, 3);
    stats_sum(&sum, &a);
    stats_sum(&sum, &b);
    assert_int_equal(sum.stream_clients, 2);
}

static void test_buckets_are_without_gap_or_overlap(void **state)
{
    (void)state;
    for (size_t i = 0; i + 1 < HISTOGRAM_BUCKETS; i++) {
        uint64_t limit = stats_histogram_limit_us(i);
        assert_true(limit < stats_histogram_limit_us(i + 1));
        struct histogram histogram = {0};
        stats_histogram_add(&histogram, limit);
        stats_histogram_add(&histogram, limit + 1);
        assert_int_equal(histogram.counts[i], 1);
        assert_int_equal(histogram.counts[i + 1], 1);
    }
    assert_int_equal(stats_histogram_limit_us(HISTOGRAM_BUCKETS - 2), (1 << 24) - 1);
}

static void test_endless_times_share_the_last_bucket(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    stats_histogram_add(&histogram, 1 << 24);
    stats_histogram_add(&histogram, UINT64_MAX / 2);
    assert_int_equal(histogram.counts[HISTOGRAM_BUCKETS - 1], 2);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.5), 1 << 24);
}

static void test_a_quantile_is_at_most_a_quarter_too_large(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    for (uint64_t us = 1; us <= 100000; us++)
        stats_histogram_add(&histogram, us);
    for (int percent = 1; percent <= 100; percent++) {
        uint64_t exact = 1000 * (uint64_t)percent;
        uint64_t told = stats_histogram_quantile_us(&histogram, percent / 100.0);
        assert_in_range(told, exact, exact * 5 / 4);
    }
}

static void test_quantiles_at_the_edges(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.5), 0);
    stats_histogram_add(&histogram, 0);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.5), 0);
    stats_histogram_add(&histogram, 3);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.0), 0);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.5), 0);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 0.51), 3);
    assert_int_equal(stats_histogram_quantile_us(&histogram, 1.0), 3);
}

static void test_counts_up_to_a_limit(void **state)
{
    (void)state;
    struct histogram histogram = {0};
    stats_histogram_add(&histogram, 1);
    stats_histogram_add(&histogram, 1023);
    stats_histogram_add(&histogram, 1024);
    assert_int_equal(stats_histogram_count_to(&histogram, 0), 0);
    assert_int_equal(stats_histogram_count_to(&histogram, 1), 1);
    assert_int_equal(stats_histogram_count_to(&histogram, 1023), 2);
    assert_int_equal(stats_histogram_count_to(&histogram, UINT64_MAX), 3);
}

static void test_histogram_rows_lead_to_their_fields(void **state)
{
    (void)state;
    struct stats stats = {0};
    assert_true(stat_histogram_count >= 2);
    assert_ptr_equal(stats_histogram_at(&stats, 0), &stats.answer_latency);
    assert_string_equal(stat_histogram_rows[0].name, "answer_latency_seconds");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counters_rise_and_gauges_fall),
        cmocka_unit_test(test_adding_by_row_number_reaches_the_field),
        cmocka_unit_test(test_sums_are_over_workers_and_all_numbers),
        cmocka_unit_test(test_a_gauge_below_zero_in_one_worker_sums_right),
        cmocka_unit_test(test_buckets_are_without_gap_or_overlap),
        cmocka_unit_test(test_endless_times_share_the_last_bucket),
        cmocka_unit_test(test_a_quantile_is_at_most_a_quarter_too_large),
        cmocka_unit_test(test_quantiles_at_the_edges),
        cmocka_unit_test(test_counts_up_to_a_limit),
        cmocka_unit_test(test_histogram_rows_lead_to_their_fields),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
