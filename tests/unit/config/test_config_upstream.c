/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/config/config_text.h"

/* What the address gets, in the n-th zone or in none. */
static struct upstream_options resolve(const struct config *config, int zone, const char *address)
{
    struct upstream_options options;
    struct addr addr = addr_of(address);
    config_upstream_options(config, zone < 0 ? NULL : &config->zones[zone], &addr, &options);
    return options;
}

/* The same of a configuration that is loaded for this question only. */
static struct upstream_options resolve_in(const char *text, int zone, const char *address)
{
    struct config *config = load_fine(text);
    struct upstream_options options = resolve(config, zone, address);
    config_free(config);
    return options;
}

static void test_defaults_are_those_of_upstream(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(ZONE, 0, "192.0.2.53");
    expect_same_options(&options, &upstream_options_default);
}

#define PREFIXES "tcp-upstream-keepalive: [10.50.1.64/27, {prefix: 10.50.1.70, connections: 2}]\n"

static void test_a_prefix_makes_an_address_nailed_wherever_it_turns_up(void **state)
{
    (void)state;
    for (int zone = -1; zone <= 0; zone++) {
        struct upstream_options options = resolve_in(PREFIXES ZONE, zone, "10.50.1.65");
        assert_true(options.nailed);
        assert_int_equal(options.transport, UPSTREAM_TCP);
        assert_int_equal(options.fallback, UPSTREAM_FALLBACK_UDP);
        options = resolve_in(PREFIXES ZONE, zone, "10.50.1.63");
        assert_false(options.nailed);
        assert_int_equal(options.transport, UPSTREAM_UDP);
    }
}

static void test_the_longest_prefix_decides(void **state)
{
    (void)state;
    assert_int_equal(resolve_in(PREFIXES ZONE, 0, "10.50.1.69").connections, 1);
    assert_int_equal(resolve_in(PREFIXES ZONE, 0, "10.50.1.70@5301").connections, 2);
}

#define LAYERS                                                                                     \
    "tcp-upstream-keepalive:\n"                                                                    \
    "  - {prefix: 10.0.0.0/8, max-in-flight: 20, stall-timeout: 2s, tcp-keepalive: {count: 2}}\n"  \
    "upstream: {max-in-flight: 10, stall-timeout: 1s, query-timeout: 1s, max-age: 1h,"             \
    " tcp-keepalive: {idle: never, count: 1}}\n"                                                   \
    "forward-zones: [{name: ., upstreams: [10.0.0.1], max-in-flight: 30,"                          \
    " tcp-keepalive: {interval: 9s}}]\n"

static void test_zone_goes_before_entry_and_entry_before_section(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(LAYERS, 0, "10.0.0.1");
    assert_int_equal(options.max_in_flight, 30);
    assert_int_equal(options.stall_timeout_us, 2000000);
    assert_int_equal(options.query_timeout_us, 1000000);
    assert_int_equal(options.max_age_us, 3600000000);
    options = resolve_in(LAYERS, -1, "10.0.0.1");
    assert_int_equal(options.max_in_flight, 20);
    options = resolve_in(LAYERS, -1, "11.0.0.1");
    assert_int_equal(options.max_in_flight, 10);
}

static void test_a_nested_mapping_overrides_key_by_key(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(LAYERS, 0, "10.0.0.1");
    assert_int_equal(options.keepalive_idle_s, 0);
    assert_int_equal(options.keepalive_interval_s, 9);
    assert_int_equal(options.keepalive_count, 2);
}

static void test_an_entrys_max_requests_goes_before_that_of_all_entries(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [10.0.0.0/8, {prefix: 10.1.0.0/16, max-requests: 3}]\n"
        "tcp-upstream-keepalive-maxrequests: 2\n"
        "upstream: {max-requests: 1}\n" ZONE;
    assert_int_equal(resolve_in(text, 0, "10.1.0.1").max_requests, 3);
    assert_int_equal(resolve_in(text, 0, "10.2.0.1").max_requests, 2);
    assert_int_equal(resolve_in(text, 0, "11.0.0.1").max_requests, 1);
}

static void test_without_maxrequests_for_entries_the_section_holds(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [10.0.0.0/8]\nupstream: {max-requests: 5}\n" ZONE;
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").max_requests, 5);
}

static void test_a_zones_max_requests_goes_before_all(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [{prefix: 10.0.0.0/8, max-requests: 3}]\n"
        "tcp-upstream-keepalive-maxrequests: 2\n"
        "forward-zones: [{name: ., upstreams: [10.0.0.1], max-requests: 4}]\n";
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").max_requests, 4);
}

#define TCP_ZONE "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tcp}]\n"

static void test_a_zone_that_says_tcp_has_no_fallback_unless_told(void **state)
{
    (void)state;
    assert_int_equal(resolve_in(TCP_ZONE, 0, "10.0.0.1").fallback, UPSTREAM_FALLBACK_NONE);
    assert_int_equal(
        resolve_in("tcp-upstream-keepalive: [10.0.0.1]\n" TCP_ZONE, 0, "10.0.0.1").fallback,
        UPSTREAM_FALLBACK_NONE);
    assert_int_equal(resolve_in("upstream: {fallback: udp}\n" TCP_ZONE, 0, "10.0.0.1").fallback,
                     UPSTREAM_FALLBACK_UDP);
    assert_int_equal(
        resolve_in("tcp-upstream-keepalive: [{prefix: 10.0.0.1, fallback: udp}]\n" TCP_ZONE, 0,
                   "10.0.0.1")
            .fallback,
        UPSTREAM_FALLBACK_UDP);
}

static void test_tcp_from_elsewhere_keeps_the_fallback(void **state)
{
    (void)state;
    assert_int_equal(resolve_in("upstream: {transport: tcp}\n" ZONE, 0, "10.0.0.1").fallback,
                     UPSTREAM_FALLBACK_UDP);
    assert_int_equal(
        resolve_in("tcp-upstream-keepalive: [{prefix: 10.0.0.1, transport: tcp}]\n" ZONE, 0,
                   "10.0.0.1")
            .fallback,
        UPSTREAM_FALLBACK_UDP);
}

static void test_tcp_without_an_entry_is_not_nailed(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(TCP_ZONE, 0, "10.0.0.1");
    assert_int_equal(options.transport, UPSTREAM_TCP);
    assert_false(options.nailed);
}

static void test_udp_said_of_an_entry_or_a_zone_exempts_it(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [10.0.0.0/8, {prefix: 10.0.0.2, transport: udp}]\n"
        "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: udp}]\n";
    assert_false(resolve_in(text, -1, "10.0.0.2").nailed);
    assert_true(resolve_in(text, -1, "10.0.0.1").nailed);
    assert_false(resolve_in(text, 0, "10.0.0.1").nailed);
}

static void test_source_addresses_go_by_family(void **state)
{
    (void)state;
    static const char text[] = "server: {outgoing: [\"2001:db8::7\", 192.0.2.7]}\n" ZONE;
    char out[ADDR_TEXT_MAX];
    struct upstream_options options = resolve_in(text, 0, "192.0.2.53");
    assert_string_equal(addr_format(&options.source, out), "192.0.2.7@0");
    options = resolve_in(text, 0, "2001:db8::53");
    assert_string_equal(addr_format(&options.source, out), "2001:db8::7@0");
}

static void test_care_against_forgery_holds_for_all(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(
        "recursion: {case-randomisation: no, cookies: no}\n" PREFIXES ZONE, 0, "10.50.1.65");
    assert_false(options.case_randomisation);
    assert_false(options.cookies);
}

static void test_routes_have_every_rule_applied(void **state)
{
    (void)state;
    struct config *config =
        load_fine(PREFIXES "forward-zones: [{name: ., upstreams: [10.50.1.70]}]\n");
    struct upstream_options options = resolve(config, 0, "10.50.1.70");
    expect_same_options(&config->route.zones[0].upstreams[0].options, &options);
    config_free(config);
}

static void test_single_addresses_are_dialled_at_start_unless_a_zone_names_them(void **state)
{
    (void)state;
    struct config *config =
        load_fine("tcp-upstream-keepalive: [10.0.0.1, 10.0.0.2, 10.1.0.0/16, \"2001:db8::1\",\n"
                  "  {prefix: 10.0.0.3, prewarm: no}, {prefix: 10.0.0.4, transport: udp}]\n"
                  "forward-zones: [{name: ., upstreams: [10.0.0.2@5301]}]\n");
    char out[ADDR_TEXT_MAX];
    assert_int_equal(config->route.prewarmed_count, 2);
    assert_string_equal(addr_format(&config->route.prewarmed[0].addr, out), "10.0.0.1@53");
    assert_true(config->route.prewarmed[0].options.nailed);
    assert_string_equal(addr_format(&config->route.prewarmed[1].addr, out), "2001:db8::1@53");
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_those_of_upstream),
        cmocka_unit_test(test_a_prefix_makes_an_address_nailed_wherever_it_turns_up),
        cmocka_unit_test(test_the_longest_prefix_decides),
        cmocka_unit_test(test_zone_goes_before_entry_and_entry_before_section),
        cmocka_unit_test(test_a_nested_mapping_overrides_key_by_key),
        cmocka_unit_test(test_an_entrys_max_requests_goes_before_that_of_all_entries),
        cmocka_unit_test(test_without_maxrequests_for_entries_the_section_holds),
        cmocka_unit_test(test_a_zones_max_requests_goes_before_all),
        cmocka_unit_test(test_a_zone_that_says_tcp_has_no_fallback_unless_told),
        cmocka_unit_test(test_tcp_from_elsewhere_keeps_the_fallback),
        cmocka_unit_test(test_tcp_without_an_entry_is_not_nailed),
        cmocka_unit_test(test_udp_said_of_an_entry_or_a_zone_exempts_it),
        cmocka_unit_test(test_source_addresses_go_by_family),
        cmocka_unit_test(test_care_against_forgery_holds_for_all),
        cmocka_unit_test(test_routes_have_every_rule_applied),
        cmocka_unit_test(test_single_addresses_are_dialled_at_start_unless_a_zone_names_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
