/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "unit/config/config_text.h"

/* Returns the options with which the n-th zone asks the address; zone -1: recursion asks it. */
static struct upstream_options resolve(const struct config *config, int zone, const char *address)
{
    struct route_upstream target;
    char none[] = "";
    const struct config_upstream upstream = {.addr = addr_of(address), .auth_name = none};
    if (zone < 0)
        assert_true(policy_choose(&config->policy, &upstream.addr, &target));
    else
        config_zone_upstream(config, &config->zones[zone], &upstream, &target);
    return target.options;
}

/* The same for a configuration that is loaded only for this check. */
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

static void test_a_prefix_nails_an_address_in_zones_and_in_recursion(void **state)
{
    (void)state;
    for (int zone = -1; zone <= 0; zone++) {
        struct upstream_options options = resolve_in(PREFIXES ZONE, zone, "10.50.1.65");
        assert_true(options.nailed);
        assert_int_equal(options.transport, TRANSPORT_TCP);
        assert_int_equal(options.fallback, UPSTREAM_FALLBACK_UDP);
        options = resolve_in(PREFIXES ZONE, zone, "10.50.1.63");
        assert_false(options.nailed);
        assert_int_equal(options.transport, TRANSPORT_UDP);
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

static void test_max_requests_of_an_entry_overrides_that_of_all_entries(void **state)
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

static void test_max_requests_of_a_zone_overrides_all_others(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [{prefix: 10.0.0.0/8, max-requests: 3}]\n"
        "tcp-upstream-keepalive-maxrequests: 2\n"
        "forward-zones: [{name: ., upstreams: [10.0.0.1], max-requests: 4}]\n";
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").max_requests, 4);
}

#define TCP_ZONE "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tcp}]\n"

static void test_a_zone_with_tcp_has_no_fallback_unless_given(void **state)
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
    assert_int_equal(options.transport, TRANSPORT_TCP);
    assert_false(options.nailed);
}

static void test_an_entry_or_a_zone_with_udp_is_not_nailed(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [10.0.0.0/8, {prefix: 10.0.0.2, transport: udp}]\n"
        "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: udp}]\n";
    assert_false(resolve_in(text, -1, "10.0.0.2").nailed);
    assert_true(resolve_in(text, -1, "10.0.0.1").nailed);
    assert_false(resolve_in(text, 0, "10.0.0.1").nailed);
}

static void test_hold_is_set_globally_per_entry_and_per_zone(void **state)
{
    (void)state;
    static const char text[] =
        "tcp-upstream-keepalive: [10.0.0.0/8, {prefix: 10.0.0.2, hold: no}]\n"
        "forward-zones:\n"
        "  - {name: a.example, upstreams: [10.0.0.1], hold: no}\n"
        "  - {name: b.example, upstreams: [10.0.0.2], hold: yes}\n";
    assert_true(resolve_in(text, -1, "10.0.0.1").hold);
    assert_false(resolve_in(text, -1, "10.0.0.2").hold);
    assert_false(resolve_in(text, 0, "10.0.0.1").hold);
    assert_true(resolve_in(text, 1, "10.0.0.2").hold);
    assert_false(resolve_in("upstream: {hold: no}\n" PREFIXES ZONE, 0, "10.50.1.65").hold);
}

static void test_source_addresses_depend_on_the_family(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {outgoing: [\"2001:db8::7\", 192.0.2.7, 192.0.2.8, 192.0.2.128/25]}\n"
                  "forward-zones: [{name: ., upstreams: [192.0.2.53, \"2001:db8::53\"]}]\n");
    struct sources *v4 = config->outgoing.v4, *v6 = config->outgoing.v6;
    const struct route_upstream *upstreams = config->route.zones[0].upstreams;
    char out[PREFIX_TEXT_MAX];
    assert_ptr_equal(upstreams[0].options.sources, v4);
    assert_ptr_equal(upstreams[1].options.sources, v6);
    assert_int_equal(v4->count, 3);
    assert_string_equal(prefix_format(&v4->list[0].prefix, out), "192.0.2.7");
    assert_string_equal(prefix_format(&v4->list[2].prefix, out), "192.0.2.128/25");
    assert_int_equal(v6->count, 1);
    assert_string_equal(prefix_format(&v6->list[0].prefix, out), "2001:db8::7");
    config_free(config);
}

static void test_protection_against_forgery_applies_to_all_upstreams(void **state)
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

/* ---- TLS ---- */

static void test_tls_of_a_zone_is_strict_and_never_falls_back(void **state)
{
    (void)state;
    static const char text[] =
        "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tls}]\n";
    struct upstream_options options = resolve_in(text, 0, "10.0.0.1");
    assert_int_equal(options.transport, TRANSPORT_TLS);
    assert_int_equal(options.tls.profile, TLS_STRICT);
    assert_int_equal(options.fallback, UPSTREAM_FALLBACK_NONE);
    assert_false(options.nailed);
}

static void test_strict_tls_of_any_place_never_falls_back(void **state)
{
    (void)state;
    assert_int_equal(resolve_in("upstream: {transport: tls}\n" ZONE, 0, "10.0.0.1").fallback,
                     UPSTREAM_FALLBACK_NONE);
    assert_int_equal(resolve_in("tcp-upstream-keepalive: [{prefix: 10.0.0.1, transport: tls}]\n"
                                "upstream: {fallback: udp}\n" ZONE,
                                0, "10.0.0.1")
                         .fallback,
                     UPSTREAM_FALLBACK_NONE);
}

static void test_opportunistic_tls_keeps_its_fallback(void **state)
{
    (void)state;
    static const char text[] =
        "upstream: {transport: tls, profile: opportunistic, fallback-port: 5300}\n"
        "forward-zones:\n"
        "  - {name: a, upstreams: [10.0.0.1], transport: tls}\n"
        "  - {name: b, upstreams: [10.0.0.1], transport: tls, fallback: none}\n"
        "  - {name: c, upstreams: [10.0.0.1], transport: tls, profile: strict}\n";
    assert_int_equal(resolve_in(text, -1, "10.0.0.1").fallback, UPSTREAM_FALLBACK_UDP);
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").fallback, UPSTREAM_FALLBACK_UDP);
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").fallback_port, 5300);
    assert_int_equal(resolve_in(text, 1, "10.0.0.1").fallback, UPSTREAM_FALLBACK_NONE);
    assert_int_equal(resolve_in(text, 2, "10.0.0.1").fallback, UPSTREAM_FALLBACK_NONE);
}

static void test_an_entry_keeps_the_tls_of_the_section_or_the_zone(void **state)
{
    (void)state;
    static const char section[] = "upstream: {transport: tls}\n"
                                  "tcp-upstream-keepalive: [10.0.0.0/8]\n" ZONE;
    static const char zone[] =
        "tcp-upstream-keepalive: [10.0.0.0/8]\n"
        "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tls}]\n";
    for (int i = -1; i <= 0; i++) {
        struct upstream_options options = resolve_in(section, i, "10.0.0.1");
        assert_int_equal(options.transport, TRANSPORT_TLS);
        assert_true(options.nailed);
    }
    assert_int_equal(resolve_in(zone, 0, "10.0.0.1").transport, TRANSPORT_TLS);
    assert_true(resolve_in(zone, 0, "10.0.0.1").nailed);
    assert_int_equal(resolve_in(zone, -1, "10.0.0.1").transport, TRANSPORT_TCP);
}

static void test_an_entry_with_tls_is_nailed_over_tls(void **state)
{
    (void)state;
    struct upstream_options options =
        resolve_in("tcp-upstream-keepalive: [{prefix: 10.0.0.0/8, transport: tls, auth-name: "
                   "A.example.}]\n" ZONE,
                   0, "10.0.0.1");
    assert_int_equal(options.transport, TRANSPORT_TLS);
    assert_true(options.nailed);
}

static void test_an_entry_with_tcp_or_udp_overrides_the_tls_of_the_section(void **state)
{
    (void)state;
    static const char text[] = "upstream: {transport: tls}\n"
                               "tcp-upstream-keepalive: [{prefix: 10.0.0.1, transport: tcp}, "
                               "{prefix: 10.0.0.2, transport: udp}]\n" ZONE;
    assert_int_equal(resolve_in(text, 0, "10.0.0.1").transport, TRANSPORT_TCP);
    assert_int_equal(resolve_in(text, 0, "10.0.0.2").transport, TRANSPORT_UDP);
    assert_false(resolve_in(text, 0, "10.0.0.2").nailed);
}

#define PIN_A "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define PIN_B "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

#define WEAK_ENTRY                                                                                 \
    "tcp-upstream-keepalive: [{prefix: 10.0.0.0/8, transport: tcp, profile: opportunistic, "       \
    "fallback: udp, early-data: yes}]\n"

static void test_an_entry_never_weakens_a_strict_tls_zone(void **state)
{
    (void)state;
    static const char text[] =
        WEAK_ENTRY "forward-zones:\n"
                   "  - {name: a, upstreams: [10.0.0.1], transport: tls}\n"
                   "  - {name: b, upstreams: [10.0.0.1], transport: tls, profile: opportunistic}\n";
    struct upstream_options options = resolve_in(text, 0, "10.0.0.1");
    assert_int_equal(options.transport, TRANSPORT_TLS);
    assert_int_equal(options.tls.profile, TLS_STRICT);
    assert_int_equal(options.fallback, UPSTREAM_FALLBACK_NONE);
    assert_true(options.tls.early_data);
    options = resolve_in(text, 1, "10.0.0.1");
    assert_int_equal(options.tls.profile, TLS_OPPORTUNISTIC);
    assert_int_equal(options.fallback, UPSTREAM_FALLBACK_UDP);
}

static void test_an_entry_never_weakens_a_zone_that_identifies_its_servers(void **state)
{
    (void)state;
    static const char *const keys[] = {"profile: strict", "auth-name: a.example",
                                       "ca-bundle: /a.pem", "pin-sha256: [" PIN_A "]"};
    for (size_t i = 0; i < 4; i++) {
        char text[512];
        snprintf(text, sizeof(text),
                 "upstream: {transport: tls}\n" WEAK_ENTRY
                 "forward-zones: [{name: ., upstreams: [10.0.0.1, 11.0.0.1], %s}]\n",
                 keys[i]);
        struct upstream_options options = resolve_in(text, 0, "10.0.0.1");
        assert_int_equal(options.transport, TRANSPORT_TLS);
        assert_int_equal(options.tls.profile, TLS_STRICT);
    }
    struct upstream_options options =
        resolve_in("upstream: {transport: tls}\n" WEAK_ENTRY
                   "forward-zones: [{name: ., upstreams: [10.0.0.1, 11.0.0.1], tls-groups: P-256, "
                   "profile: opportunistic}]\n",
                   0, "10.0.0.1");
    assert_int_equal(options.transport, TRANSPORT_TCP);
}

static void test_an_entry_takes_no_proof_away_from_a_strict_tls_zone(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "upstream: {auth-name: s.example, ca-bundle: /s.pem, pin-sha256: [" PIN_A "]}\n"
        "tcp-upstream-keepalive:\n"
        "  - {prefix: 10.0.0.1, auth-name: \"\", ca-bundle: \"\", pin-sha256: []}\n"
        "  - {prefix: 10.0.0.2, auth-name: e.example, ca-bundle: /e.pem, pin-sha256: [" PIN_B "]}\n"
        "forward-zones:\n"
        "  - {name: a, upstreams: [10.0.0.1, 10.0.0.2], transport: tls}\n"
        "  - {name: b, upstreams: [10.0.0.1], transport: tls, auth-name: \"\", ca-bundle: \"\", "
        "pin-sha256: []}\n"
        "  - {name: c, upstreams: [10.0.0.1], transport: tls, profile: opportunistic}\n");
    const struct tls_peer_options *tls = &config->route.zones[0].upstreams[0].options.tls;
    assert_string_equal(tls->auth_name, "s.example");
    assert_string_equal(tls->ca_bundle, "/s.pem");
    assert_int_equal(tls->pins->count, 1);
    tls = &config->route.zones[0].upstreams[1].options.tls;
    assert_string_equal(tls->auth_name, "e.example");
    assert_string_equal(tls->ca_bundle, "/e.pem");
    assert_int_equal(tls->pins->sha256[0][31], 0);
    for (int zone = 1; zone <= 2; zone++) {
        tls = &config->route.zones[zone].upstreams[0].options.tls;
        assert_string_equal(tls->auth_name, "");
        assert_string_equal(tls->ca_bundle, "");
        assert_null(tls->pins);
    }
    config_free(config);
}

static void test_an_entry_may_weaken_tls_that_only_the_section_asks_for(void **state)
{
    (void)state;
    struct upstream_options options =
        resolve_in("upstream: {transport: tls}\n"
                   "tcp-upstream-keepalive: [{prefix: 10.0.0.1, profile: opportunistic}]\n" ZONE,
                   0, "10.0.0.1");
    assert_int_equal(options.transport, TRANSPORT_TLS);
    assert_int_equal(options.tls.profile, TLS_OPPORTUNISTIC);
    assert_int_equal(options.fallback, UPSTREAM_FALLBACK_UDP);
}

static void test_an_entry_never_weakens_a_server_with_a_name(void **state)
{
    (void)state;
    struct config *config =
        load_fine("upstream: {transport: tls}\n" WEAK_ENTRY
                  "forward-zones: [{name: ., upstreams: [10.0.0.1#a.example, 10.0.0.2]}]\n");
    const struct route_upstream *upstreams = config->route.zones[0].upstreams;
    assert_int_equal(upstreams[0].options.transport, TRANSPORT_TLS);
    assert_int_equal(upstreams[0].options.tls.profile, TLS_STRICT);
    assert_int_equal(upstreams[0].options.fallback, UPSTREAM_FALLBACK_NONE);
    assert_int_equal(upstreams[1].options.transport, TRANSPORT_TCP);
    config_free(config);
}

static void expect_name(const struct route_upstream *upstream, const char *address,
                        const char *name)
{
    char out[ADDR_TEXT_MAX];
    assert_string_equal(addr_format(&upstream->addr, out), address);
    assert_string_equal(upstream->options.tls.auth_name, name);
}

static void test_a_name_after_an_address_overrides_the_name_of_the_zone(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "upstream: {auth-name: s.example}\n"
        "tcp-upstream-keepalive: [{prefix: 10.0.0.3, auth-name: e.example}]\n"
        "forward-zones:\n"
        "  - {name: a, upstreams: [10.0.0.1#Dns.Example., 10.0.0.2@5853#x, \"::1#y\", 10.0.0.3], "
        "transport: tls, auth-name: z.example}\n"
        "  - {name: b, upstreams: [10.0.0.1, 10.0.0.3], transport: tls}\n");
    const struct route_upstream *upstreams = config->route.zones[0].upstreams;
    expect_name(&upstreams[0], "10.0.0.1@853", "dns.example");
    expect_name(&upstreams[1], "10.0.0.2@5853", "x");
    expect_name(&upstreams[2], "::1@853", "y");
    expect_name(&upstreams[3], "10.0.0.3@853", "z.example");
    upstreams = config->route.zones[1].upstreams;
    expect_name(&upstreams[0], "10.0.0.1@853", "s.example");
    expect_name(&upstreams[1], "10.0.0.3@853", "e.example");
    config_free(config);
}

static void expect_port(const char *text, uint16_t port)
{
    struct config *config = load_fine(text);
    assert_int_equal(addr_port(&config->route.zones[0].upstreams[0].addr), port);
    config_free(config);
}

static void test_the_port_depends_on_the_transport(void **state)
{
    (void)state;
    expect_port("forward-zones: [{name: ., upstreams: [10.0.0.1]}]", 53);
    expect_port("forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tcp}]", 53);
    expect_port("forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tls}]", 853);
    expect_port("forward-zones: [{name: ., upstreams: [10.0.0.1@53], transport: tls}]", 53);
    expect_port("upstream: {transport: tls}\n" ZONE, 853);
    expect_port("upstream: {transport: tls}\n"
                "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: udp}]",
                53);
    expect_port("tcp-upstream-keepalive: [{prefix: 10.0.0.1, transport: tls}]\n"
                "forward-zones: [{name: ., upstreams: [10.0.0.1]}]",
                853);
}

static void test_a_server_may_have_its_own_name_and_pins(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "tcp-upstream-keepalive: [{prefix: 192.0.2.0/24, transport: tcp, profile: opportunistic}]\n"
        "forward-zones:\n  - name: .\n    transport: tls\n    auth-name: zone.example\n"
        "    pin-sha256: [" PIN_A "]\n    upstreams:\n"
        "      - {address: 192.0.2.1, auth-name: A.example, pin-sha256: [" PIN_B "]}\n"
        "      - {address: 192.0.2.2#b.example}\n"
        "      - {address: \"2001:db8::3@8853\", pin-sha256: [" PIN_A ", " PIN_B "]}\n"
        "      - 192.0.2.4\n");
    static const char *const names[] = {"a.example", "b.example", "zone.example", "zone.example"};
    static const size_t pins[] = {1, 1, 2, 1};
    const struct route_upstream *upstreams = config->route.zones[0].upstreams;
    for (size_t i = 0; i < 4; i++) {
        const struct upstream_options *options = &upstreams[i].options;
        assert_string_equal(options->tls.auth_name, names[i]);
        assert_int_equal(options->tls.pins->count, pins[i]);
        assert_int_equal(options->tls.profile, TLS_STRICT);
        assert_int_equal(options->transport, TRANSPORT_TLS);
        assert_int_equal(options->fallback, UPSTREAM_FALLBACK_NONE);
    }
    assert_int_equal(upstreams[0].options.tls.pins->sha256[0][31], 0);
    assert_int_equal(upstreams[1].options.tls.pins->sha256[0][31], 31);
    assert_int_equal(addr_port(&upstreams[2].addr), 8853);
    config_free(config);
}

/* Pins demand TLS, as a name does, so an entry with tcp cannot remove it. */
static void test_an_entry_never_weakens_a_server_with_pins(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "upstream: {transport: tls}\n"
        "tcp-upstream-keepalive: [{prefix: 192.0.2.0/24, transport: tcp}]\n"
        "forward-zones: [{name: ., upstreams: [{address: 192.0.2.1, pin-sha256: [" PIN_A "]}]}]\n");
    const struct upstream_options *options = &config->route.zones[0].upstreams[0].options;
    assert_int_equal(options->transport, TRANSPORT_TLS);
    assert_int_equal(options->tls.pins->count, 1);
    config_free(config);
}

static void test_invalid_mappings_of_servers_are_refused(void **state)
{
    (void)state;
#define IN_ZONE(server) "forward-zones: [{name: ., transport: tls, upstreams: [" server "]}]"
#define AT "f:1:55: error: forward-zones[0].upstreams[0]"
    expect_errors(IN_ZONE("{}"),
                  AT ": has no address; write {address: 192.0.2.53, auth-name: dns.example}\n");
    expect_errors(IN_ZONE("{address: 192.0.2.1, transport: tcp}"),
                  "f:1:76: error: forward-zones[0].upstreams[0].transport: is unknown; the keys "
                  "are address, auth-name and pin-sha256\n");
    expect_errors(IN_ZONE("{address: 192.0.2.1#a.example, auth-name: b.example}"),
                  AT ": has the name a.example after the # and auth-name too; keep one\n");
    expect_errors(IN_ZONE("192.0.2.1, {address: 192.0.2.1, auth-name: b.example}"),
                  "f:1:66: error: forward-zones[0].upstreams[1]: 192.0.2.1 is given twice; keep "
                  "one of them\n");
    assert_null(load_text(IN_ZONE("{address: 192.0.2.1, pin-sha256: [x]}")));
    assert_non_null(strstr(errors_text, "upstreams[0].pin-sha256[0]: takes the SHA-256"));
    assert_null(load_text(IN_ZONE("{address: [], auth-name: {a: b}}")));
    expect_errors("forward-zones: [{name: ., upstreams: [{address: 192.0.2.1, pin-sha256: [" PIN_A
                  "]}]}]",
                  "f:1:39: error: forward-zones[0].upstreams[0]: has pin-sha256 for TLS, but is "
                  "asked over udp; write transport: tls in the zone, or leave the pins out\n");
}

static void test_pins_follow_the_place_and_can_be_removed(void **state)
{
    (void)state;
    struct config *config =
        load_fine("upstream: {transport: tls, pin-sha256: [" PIN_A ", " PIN_B "]}\n"
                  "tcp-upstream-keepalive: [{prefix: 10.0.0.1, pin-sha256: [" PIN_B "]}, "
                  "{prefix: 10.0.0.2, pin-sha256: []}]\n"
                  "forward-zones: [{name: ., upstreams: [10.0.0.1, 10.0.0.2, 10.0.0.3]}]\n");
    const struct route_upstream *upstreams = config->route.zones[0].upstreams;
    assert_int_equal(upstreams[0].options.tls.pins->count, 1);
    assert_int_equal(upstreams[0].options.tls.pins->sha256[0][31], 0);
    assert_null(upstreams[1].options.tls.pins);
    assert_int_equal(upstreams[2].options.tls.pins->count, 2);
    assert_int_equal(upstreams[2].options.tls.pins->sha256[0][31], 31);
    config_free(config);
}

static void test_keys_of_tls_make_no_difference_to_plain_upstreams(void **state)
{
    (void)state;
    struct upstream_options options = resolve_in(
        "upstream: {auth-name: a.example, profile: opportunistic, early-data: yes, pin-sha256: "
        "[" PIN_A "], tls-groups: X25519}\n" ZONE,
        0, "192.0.2.53");
    expect_same_options(&options, &upstream_options_default);
}

static void test_single_addresses_over_tls_are_dialled_at_start(void **state)
{
    (void)state;
    struct config *config = load_fine("tcp-upstream-keepalive: [10.0.0.1, {prefix: 10.0.0.2, "
                                      "transport: tls}]\n" ZONE);
    char out[ADDR_TEXT_MAX];
    assert_int_equal(config->route.prewarmed_count, 2);
    assert_string_equal(addr_format(&config->route.prewarmed[0].addr, out), "10.0.0.1@53");
    assert_string_equal(addr_format(&config->route.prewarmed[1].addr, out), "10.0.0.2@853");
    assert_int_equal(config->route.prewarmed[1].options.transport, TRANSPORT_TLS);
    config_free(config);
}

/* ---- every mixture of places ---- */

/* The transport, profile and fallback that a place gives; 0: not given. */
struct said {
    int transport, profile, fallback;
};

enum { MIXTURES = 4 * 3 * 3 };

static struct said said_of(int number)
{
    return (struct said){number % 4, number / 4 % 3, number / 12};
}

static size_t put_said(char *out, struct said said)
{
    static const char *const transports[] = {"", ", transport: udp", ", transport: tcp",
                                             ", transport: tls"};
    static const char *const profiles[] = {"", ", profile: strict", ", profile: opportunistic"};
    static const char *const fallbacks[] = {"", ", fallback: none", ", fallback: udp"};
    return (size_t)sprintf(out, "%s%s%s", transports[said.transport], profiles[said.profile],
                           fallbacks[said.fallback]);
}

static bool is_strict(struct said said, struct said section)
{
    return (said.profile ? said.profile : section.profile) != 2;
}

/* test_config_check_tls.c tests these errors. */
static bool is_contradiction(struct said said, struct said section, bool is_zone)
{
    bool has_no_tls = is_zone && said.profile && said.transport && said.transport != 3;
    return has_no_tls || (said.transport == 3 && said.fallback == 2 && is_strict(said, section));
}

static void expect_rules(struct said section, struct said zone,
                         const struct route_upstream *upstream)
{
    const struct upstream_options *options = &upstream->options;
    bool is_tls = options->transport == TRANSPORT_TLS;
    if (zone.transport)
        assert_int_equal(options->transport, zone.transport - 1);
    if (zone.transport == 3 && is_strict(zone, section))
        assert_int_equal(options->tls.profile, TLS_STRICT);
    if (section.transport == 3 && !zone.transport && zone.profile == 1)
        assert_true(is_tls && options->tls.profile == TLS_STRICT);
    if (is_tls && options->tls.profile == TLS_STRICT)
        assert_int_equal(options->fallback, UPSTREAM_FALLBACK_NONE);
    assert_int_equal(options->nailed, options->transport != TRANSPORT_UDP);
    assert_int_equal(addr_port(&upstream->addr), is_tls ? 853 : 53);
}

/* Makes a configuration with this section, an entry of each kind, and zones of each kind. Each zone
 * has a server in each entry. */
static struct config *load_mixture(char *text, struct said section)
{
    size_t len = (size_t)sprintf(text, "upstream: {connections: 1");
    len += put_said(text + len, section);
    len += (size_t)sprintf(text + len, "}\ntcp-upstream-keepalive:\n");
    for (int i = 0; i < MIXTURES; i++) {
        if (is_contradiction(said_of(i), section, false))
            continue;
        len += (size_t)sprintf(text + len, "- {prefix: 10.0.%d.0/24", i);
        len += put_said(text + len, said_of(i));
        len += (size_t)sprintf(text + len, "}\n");
    }
    len += (size_t)sprintf(text + len, "forward-zones:\n");
    for (int i = 0; i < MIXTURES; i++) {
        if (is_contradiction(said_of(i), section, true))
            continue;
        len += (size_t)sprintf(text + len, "- {name: z%d, upstreams: [", i);
        for (int j = 0; j < MIXTURES; j++)
            if (!is_contradiction(said_of(j), section, false))
                len += (size_t)sprintf(text + len, "10.0.%d.1, ", j);
        len += (size_t)sprintf(text + len, "]");
        len += put_said(text + len, said_of(i));
        len += (size_t)sprintf(text + len, "}\n");
    }
    return load_fine(text);
}

static void test_no_mixture_of_places_weakens_strict_tls(void **state)
{
    (void)state;
    static char text[256 * 1024];
    size_t checked = 0;
    for (int i = 0; i < MIXTURES; i++) {
        struct said section = said_of(i);
        if (is_contradiction(section, section, false))
            continue;
        struct config *config = load_mixture(text, section);
        for (size_t z = 0; z < config->zone_count; z++) {
            int number = atoi((const char *)config->zones[z].wire + 2);
            const struct route_zone *zone = &config->route.zones[z];
            for (size_t u = 0; u < zone->upstream_count; u++, checked++)
                expect_rules(section, said_of(number), &zone->upstreams[u]);
        }
        config_free(config);
    }
    assert_true(checked > 20000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_are_those_of_upstream),
        cmocka_unit_test(test_a_prefix_nails_an_address_in_zones_and_in_recursion),
        cmocka_unit_test(test_the_longest_prefix_decides),
        cmocka_unit_test(test_zone_goes_before_entry_and_entry_before_section),
        cmocka_unit_test(test_a_nested_mapping_overrides_key_by_key),
        cmocka_unit_test(test_max_requests_of_an_entry_overrides_that_of_all_entries),
        cmocka_unit_test(test_without_maxrequests_for_entries_the_section_holds),
        cmocka_unit_test(test_max_requests_of_a_zone_overrides_all_others),
        cmocka_unit_test(test_a_zone_with_tcp_has_no_fallback_unless_given),
        cmocka_unit_test(test_tcp_from_elsewhere_keeps_the_fallback),
        cmocka_unit_test(test_tcp_without_an_entry_is_not_nailed),
        cmocka_unit_test(test_an_entry_or_a_zone_with_udp_is_not_nailed),
        cmocka_unit_test(test_hold_is_set_globally_per_entry_and_per_zone),
        cmocka_unit_test(test_source_addresses_depend_on_the_family),
        cmocka_unit_test(test_protection_against_forgery_applies_to_all_upstreams),
        cmocka_unit_test(test_routes_have_every_rule_applied),
        cmocka_unit_test(test_single_addresses_are_dialled_at_start_unless_a_zone_names_them),
        cmocka_unit_test(test_tls_of_a_zone_is_strict_and_never_falls_back),
        cmocka_unit_test(test_strict_tls_of_any_place_never_falls_back),
        cmocka_unit_test(test_opportunistic_tls_keeps_its_fallback),
        cmocka_unit_test(test_an_entry_keeps_the_tls_of_the_section_or_the_zone),
        cmocka_unit_test(test_an_entry_with_tls_is_nailed_over_tls),
        cmocka_unit_test(test_an_entry_with_tcp_or_udp_overrides_the_tls_of_the_section),
        cmocka_unit_test(test_an_entry_never_weakens_a_strict_tls_zone),
        cmocka_unit_test(test_an_entry_never_weakens_a_zone_that_identifies_its_servers),
        cmocka_unit_test(test_an_entry_takes_no_proof_away_from_a_strict_tls_zone),
        cmocka_unit_test(test_an_entry_may_weaken_tls_that_only_the_section_asks_for),
        cmocka_unit_test(test_an_entry_never_weakens_a_server_with_a_name),
        cmocka_unit_test(test_a_name_after_an_address_overrides_the_name_of_the_zone),
        cmocka_unit_test(test_the_port_depends_on_the_transport),
        cmocka_unit_test(test_a_server_may_have_its_own_name_and_pins),
        cmocka_unit_test(test_an_entry_never_weakens_a_server_with_pins),
        cmocka_unit_test(test_invalid_mappings_of_servers_are_refused),
        cmocka_unit_test(test_pins_follow_the_place_and_can_be_removed),
        cmocka_unit_test(test_keys_of_tls_make_no_difference_to_plain_upstreams),
        cmocka_unit_test(test_single_addresses_over_tls_are_dialled_at_start),
        cmocka_unit_test(test_no_mixture_of_places_weakens_strict_tls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
