/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The text for Prometheus, line by line. */
#include "control/exposition.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "control/view.h"
#include "nailup/version.h"

static char text[EXPOSITION_MAX + 1];
static struct stats stats;
static struct census census;
static struct control_view view;
static const struct exposition_time moment = {.now = UINT64_C(1000000000), .wall_s = 5000};

static int set_up(void **state)
{
    (void)state;
    memset(&stats, 0, sizeof(stats));
    memset(&census, 0, sizeof(census));
    memset(&view, 0, sizeof(view));
    return 0;
}

static void write_all(const struct census *of)
{
    struct buf out;
    buf_init(&out, EXPOSITION_MAX);
    assert_int_equal(exposition_write(&out, &stats, of, &view, &moment), ERR_OK);
    struct span all = buf_span(&out);
    memcpy(text, all.data, all.len);
    text[all.len] = '\0';
    buf_deinit(&out);
}

static bool has_line(const char *line)
{
    size_t len = strlen(line);
    for (const char *at = text; (at = strstr(at, line)); at++)
        if ((at == text || at[-1] == '\n') && at[len] == '\n')
            return true;
    return false;
}

static void expect_line(const char *line)
{
    if (!has_line(line))
        fail_msg("there is no line: %s", line);
}

static struct census_upstream *add(const char *address, const char *transport)
{
    struct census_upstream *upstream = &census.upstreams[census.count++];
    assert_int_equal(addr_parse(&upstream->addr, address, 53), ERR_OK);
    upstream->transport = transport;
    return upstream;
}

static void test_every_row_is_there_with_its_labels_and_value(void **state)
{
    (void)state;
    for (size_t i = 0; i < STAT_COUNT; i++)
        stats.values[i] = 1000 + i;
    write_all(NULL);
    for (size_t i = 0; i < STAT_COUNT; i++) {
        const struct stat_row *row = &stat_rows[i];
        char line[256];
        snprintf(line, sizeof(line), *row->labels ? "nailup_%s{%s} %zu" : "nailup_%s%s %zu",
                 row->name, row->labels, 1000 + i);
        expect_line(line);
    }
}

static void test_help_and_type_come_once_before_the_samples_of_a_name(void **state)
{
    (void)state;
    write_all(&census);
    expect_line("# HELP nailup_queries_total Queries received from clients.");
    expect_line("# TYPE nailup_queries_total counter");
    expect_line("# HELP nailup_joined_total Queries that joined a task that was already "
                "resolving the same question.");
    expect_line("# TYPE nailup_upstream_connections gauge");
    expect_line("# TYPE nailup_answer_latency_seconds histogram");
    expect_line("nailup_build_info{version=\"" NAILUP_VERSION "\"} 1");
    char seen[200][64];
    size_t count = 0;
    for (const char *at = text; (at = strstr(at, "# TYPE ")); at++, count++) {
        assert_true(count < 200 && sscanf(at, "# TYPE %63s", seen[count]) == 1);
        for (size_t i = 0; i < count; i++)
            assert_string_not_equal(seen[i], seen[count]);
        const char *next = strchr(at, '\n') + 1;
        assert_true(*next == '#' || *next == '\0' ||
                    strncmp(next, seen[count], strlen(seen[count])) == 0);
    }
    assert_true(count > 40);
}

static void test_a_gauge_below_zero_keeps_its_sign(void **state)
{
    (void)state;
    stats.stream_clients = (uint64_t)-2;
    stats.cache_hits = UINT64_MAX;
    write_all(NULL);
    expect_line("nailup_stream_clients -2");
    expect_line("nailup_cache_hits_total 18446744073709551615");
}

static void test_a_histogram_is_cumulative_and_in_seconds(void **state)
{
    (void)state;
    stats_histogram_add(&stats.answer_latency, 3);
    stats_histogram_add(&stats.answer_latency, 1000);
    stats_histogram_add(&stats.answer_latency, 2500000);
    stats_histogram_add(&stats.answer_latency, 60000000);
    write_all(NULL);
    expect_line("nailup_answer_latency_seconds_bucket{le=\"0.000015\"} 1");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"0.000767\"} 1");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"0.001023\"} 2");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"2.097151\"} 2");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"3.145727\"} 3");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"16.777215\"} 3");
    expect_line("nailup_answer_latency_seconds_bucket{le=\"+Inf\"} 4");
    expect_line("nailup_answer_latency_seconds_sum 62.501003");
    expect_line("nailup_answer_latency_seconds_count 4");
    expect_line("nailup_upstream_latency_seconds_count 0");
}

static void test_the_limits_of_buckets_rise_and_so_do_their_counts(void **state)
{
    (void)state;
    for (uint64_t us = 1; us < UINT64_C(1) << 30; us = us * 3 / 2 + 1)
        stats_histogram_add(&stats.upstream_latency, us);
    write_all(NULL);
    static const char start[] = "nailup_upstream_latency_seconds_bucket{le=\"";
    double before = 0;
    unsigned long long count_before = 0;
    int buckets = 0;
    for (const char *at = text; (at = strstr(at, start)); at++, buckets++) {
        double limit = strtod(at + sizeof(start) - 1, NULL); /* also for +Inf */
        unsigned long long count = strtoull(strchr(at, '}') + 1, NULL, 10);
        assert_true(limit > before && count >= count_before);
        before = limit;
        count_before = count;
    }
    assert_in_range(buckets, 30, 50);
}

static void test_an_upstream_has_its_address_and_transport_as_labels(void **state)
{
    (void)state;
    struct census_upstream *one = add("192.0.2.53@853", "tls");
    one->values[PER_UPSTREAM_queries] = 7;
    one->values[PER_UPSTREAM_ready] = 2;
    one->values[PER_UPSTREAM_stream_rtt_us] = 1234567;
    add("2001:db8::53", "udp");
    census.left_out = 3;
    write_all(&census);
    expect_line("# TYPE nailup_per_upstream_queries_total counter");
    expect_line(
        "nailup_per_upstream_queries_total{upstream=\"192.0.2.53@853\",transport=\"tls\"} 7");
    expect_line(
        "nailup_per_upstream_ready_connections{upstream=\"192.0.2.53@853\",transport=\"tls\"} 2");
    expect_line(
        "nailup_per_upstream_queries_total{upstream=\"2001:db8::53@53\",transport=\"udp\"} 0");
    expect_line("nailup_per_upstream_left_out 3");
}

static void test_a_time_that_was_never_measured_is_left_out(void **state)
{
    (void)state;
    add("192.0.2.53@853", "tls")->values[PER_UPSTREAM_stream_rtt_us] = 1500;
    write_all(&census);
    expect_line("nailup_per_upstream_stream_answer_seconds{upstream=\"192.0.2.53@853\","
                "transport=\"tls\"} 0.001500");
    assert_null(strstr(text, "nailup_per_upstream_udp_answer_seconds{"));
}

static void test_without_a_census_single_upstreams_are_left_out(void **state)
{
    (void)state;
    write_all(NULL);
    assert_null(strstr(text, "per_upstream"));
}

/* The longest addresses and numbers in every field. */
static void test_the_largest_exposition_fits(void **state)
{
    (void)state;
    memset(&stats, 0xee, sizeof(stats));
    for (size_t i = 0; i < CENSUS_UPSTREAMS_MAX; i++) {
        struct census_upstream *one = add("ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff@65535", "tls");
        memset(one->values, 0xee, sizeof(one->values));
    }
    write_all(&census);
    assert_true(strlen(text) < EXPOSITION_MAX * 9 / 10);
}

static void test_an_exposition_that_does_not_fit_is_an_error(void **state)
{
    struct buf out;
    (void)state;
    buf_init(&out, 4096);
    assert_int_equal(exposition_write(&out, &stats, NULL, &view, &moment), ERR_LIMIT);
    buf_deinit(&out);
}

/* ---- zones held here ---- */

static void name_zone(struct control_zone *zone, const char *text_of_name)
{
    struct name name;
    assert_int_equal(name_parse(&name, zone->wire, text_of_name, strlen(text_of_name)), ERR_OK);
    zone->name_len = name.len;
}

static void test_each_zone_held_here_has_its_serial_and_times(void **state)
{
    (void)state;
    const struct control_zone_times times = {.confirmed_at_s = 4970,
                                             .expires_at = UINT64_C(1060000000)};
    const struct control_zone_times expired = {.confirmed_at_s = 1000};
    struct control_zone zones[] = {
        {.state = CONTROL_ZONE_SERVED,
         .serial = 7,
         .loaded_at = UINT64_C(990000000),
         .times = &times},
        {.state = CONTROL_ZONE_EXPIRED, .times = &expired},
        {.state = CONTROL_ZONE_KEPT, .serial = 9, .loaded_at = UINT64_C(999000000)},
    };
    name_zone(&zones[0], "a.test");
    name_zone(&zones[1], "b.test");
    name_zone(&zones[2], "c\"d.test");
    view.held = zones;
    view.held_count = ARRAY_LEN(zones);
    write_all(NULL);
    expect_line("nailup_held_zone_serial{zone=\"a.test.\"} 7");
    expect_line("nailup_held_zone_age_seconds{zone=\"a.test.\"} 10");
    expect_line("nailup_held_zone_confirmed_seconds{zone=\"a.test.\"} 30");
    expect_line("nailup_held_zone_expiry_seconds{zone=\"a.test.\"} 60");
    expect_line("nailup_held_zone_expired{zone=\"a.test.\"} 0");
    expect_line("nailup_held_zone_confirmed_seconds{zone=\"b.test.\"} 4000");
    expect_line("nailup_held_zone_expiry_seconds{zone=\"b.test.\"} 0");
    expect_line("nailup_held_zone_expired{zone=\"b.test.\"} 1");
    assert_null(strstr(text, "held_zone_serial{zone=\"b.test"));
    assert_null(strstr(text, "held_zone_confirmed_seconds{zone=\"c"));
    assert_null(strstr(text, "held_zone_expiry_seconds{zone=\"c"));
    assert_non_null(strstr(text, "nailup_held_zone_serial{zone=\"c"));
}

static void test_the_first_zones_have_their_own_figures(void **state)
{
    (void)state;
    static struct control_zone zones[EXPOSITION_ZONES_MAX + 1];
    char name[64];
    for (size_t i = 0; i < ARRAY_LEN(zones); i++) {
        snprintf(name, sizeof(name), "z%zu.test", i);
        name_zone(&zones[i], name);
    }
    view.held = zones;
    view.held_count = ARRAY_LEN(zones);
    write_all(NULL);
    expect_line("nailup_held_zone_expired{zone=\"z127.test.\"} 0");
    assert_null(strstr(text, "z128.test"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_every_row_is_there_with_its_labels_and_value, set_up),
        cmocka_unit_test_setup(test_help_and_type_come_once_before_the_samples_of_a_name, set_up),
        cmocka_unit_test_setup(test_a_gauge_below_zero_keeps_its_sign, set_up),
        cmocka_unit_test_setup(test_a_histogram_is_cumulative_and_in_seconds, set_up),
        cmocka_unit_test_setup(test_the_limits_of_buckets_rise_and_so_do_their_counts, set_up),
        cmocka_unit_test_setup(test_an_upstream_has_its_address_and_transport_as_labels, set_up),
        cmocka_unit_test_setup(test_a_time_that_was_never_measured_is_left_out, set_up),
        cmocka_unit_test_setup(test_without_a_census_single_upstreams_are_left_out, set_up),
        cmocka_unit_test_setup(test_the_largest_exposition_fits, set_up),
        cmocka_unit_test_setup(test_an_exposition_that_does_not_fit_is_an_error, set_up),
        cmocka_unit_test_setup(test_each_zone_held_here_has_its_serial_and_times, set_up),
        cmocka_unit_test_setup(test_the_first_zones_have_their_own_figures, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
