/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The keys of recursion. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "config/runtime_zones.h"
#include "config/options.h"
#include "unit/config/config_text.h"

/* ---- values ---- */

static void test_an_empty_file_resolves_every_name_by_recursion(void **state)
{
    (void)state;
    struct config *config = load_fine("");
    const struct recursion_options *recursion = &config->route.recursion;
    assert_true(recursion->enabled && recursion->priming && recursion->qname_minimisation);
    assert_string_equal(recursion->root_hints, "");
    assert_int_equal(recursion->port, 53);
    assert_int_equal(recursion->prefer_ip, RECURSION_PREFER_ANY);
    assert_true(config->recursion_ipv4 && config->recursion_ipv6);
    assert_int_equal(config->do_not_query.count, 2);
    assert_int_equal(config->route.zone_count, 0);
    assert_ptr_equal(recursion->server_context, &config->policy);
    config_free(config);
}

static void test_values_are_read(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "recursion: {enabled: no, root-hints: hints/root, priming: no, port: 5353, "
        "qname-minimisation: no, do-not-query: [10.1.1.1, 192.0.2.0/24], prefer-ip: 6}\n"
        "forward-zones: [{name: b.example, upstreams: [192.0.2.53]}]\n"
        "stub-zones: [{name: A.Example, upstreams: [10.50.1.65, 10.50.1.66@54], cache: no, "
        "max-in-flight: 7}]\n");
    const struct recursion_options *recursion = &config->route.recursion;
    assert_false(recursion->enabled || recursion->priming || recursion->qname_minimisation);
    assert_string_equal(recursion->root_hints, "hints/root");
    assert_int_equal(recursion->prefer_ip, RECURSION_PREFER_IPV6);
    assert_int_equal(config->do_not_query.count, 2);
    assert_int_equal(config->route.zone_count, 2);
    assert_int_equal(config->route.zones[0].kind, ROUTE_FORWARD);
    assert_true(config->route.zones[0].cache);
    const struct route_zone *stub = &config->route.zones[1];
    assert_int_equal(stub->kind, ROUTE_STUB);
    assert_memory_equal(stub->wire, "\1a\7example", 11);
    assert_false(stub->cache || stub->first || stub->trust_ad);
    assert_int_equal(stub->upstream_count, 2);
    assert_int_equal(stub->upstreams[0].options.max_in_flight, 7);
    assert_int_equal(addr_port(&stub->upstreams[0].addr), 5353);
    assert_int_equal(addr_port(&stub->upstreams[1].addr), 54);
    assert_int_equal(addr_port(&config->route.zones[0].upstreams[0].addr), 53);
    config_free(config);
}

static void test_zones_may_fall_back_to_recursion(void **state)
{
    (void)state;
    struct config *config =
        load_fine("forward-zones: [{name: ., upstreams: [192.0.2.53], first: yes}]\n"
                  "stub-zones: [{name: a, upstreams: [192.0.2.1], first: yes}]\n");
    assert_true(config->route.zones[0].first && config->route.zones[1].first);
    config_free(config);
}

static void test_everything_prints_and_loads_back(void **state)
{
    (void)state;
    static const char text[] =
        "recursion: {enabled: yes, root-hints: root.hints, priming: no, port: 5353, "
        "qname-minimisation: no, do-not-query: [10.1.1.1, \"fd00::/8\"], prefer-ip: 4}\n"
        "forward-zones: [{name: b.example, upstreams: [192.0.2.53], first: yes}]\n"
        "stub-zones: [{name: a.example, upstreams: [10.50.1.65, \"2001:db8::1@54\"], first: yes, "
        "cache: no, transport: tcp, tcp-keepalive: {idle: 3s}}, {name: c, upstreams: "
        "[10.1.1.1]}]\n";
    for (int empty = 0; empty < 2; empty++) {
        struct config *config = load_fine(empty ? "" : text);
        char *printed = print_text(config);
        struct config *again = load_fine(printed);
        char *printed_again = print_text(again);
        assert_string_equal(printed, printed_again);
        if (!empty) {
            assert_non_null(strstr(printed, "do-not-query: [10.1.1.1, \"fd00::/8\"]\n"));
            assert_non_null(strstr(printed, "  prefer-ip: 4\n"));
            assert_non_null(strstr(printed, "  root-hints: \"root.hints\"\n"));
            assert_non_null(strstr(
                printed, "stub-zones:\n"
                         "  - {name: a.example., upstreams: [10.50.1.65@5353, \"2001:db8::1@54\"], "
                         "first: yes, cache: no, validate: yes, aggressive: yes, transport: tcp, "
                         "tcp-keepalive: "
                         "{idle: 3s}}\n"));
        }
        free(printed);
        free(printed_again);
        config_free(config);
        config_free(again);
    }
}

static void test_private_addresses_and_names_that_may_have_them(void **state)
{
    (void)state;
    struct config *config = load_fine("recursion: {private-addresses: [10.0.0.0/8, \"fd00::/8\"], "
                                      "private-domains: [Corp.Example, home.arpa.]}\n");
    const struct private_addrs *private = &config->route.recursion.private;
    char *printed = print_text(config);
    assert_non_null(private->prefixes);
    assert_non_null(private->names);
    assert_int_equal(config->do_not_query.count, 2);
    assert_non_null(strstr(printed, "  private-addresses: [10.0.0.0/8, \"fd00::/8\"]\n"
                                    "  private-domains: [corp.example., home.arpa.]\n"));
    free(printed);
    config_free(config);
    config = load_fine("recursion: {private-domains: [corp.example]}\n");
    assert_null(config->route.recursion.private.prefixes);
    config_free(config);
    expect_errors(
        "recursion: {private-addresses: [10.0.0.0/8, inside], private-domains: [a.b, A.B., "
        "a..b]}\n",
        "f:1:45: error: recursion.private-addresses[1]: takes an address or a prefix such as "
        "10.1.1.1, 10.50.1.64/27 or \"2001:db8::/32\", without a port, not \"inside\"\nf:1:77: "
        "error: recursion.private-domains[1]: a.b. is given twice; keep one of them\nf:1:83: "
        "error: recursion.private-domains[2]: takes a domain name such as corp.example, or a "
        "single dot for everything, not \"a..b\"\n");
}

/* ---- errors ---- */

static void test_errors_about_contradictions_have_a_remedy(void **state)
{
    (void)state;
    expect_errors("recursion: {enabled: no}",
                  "f:1:13: error: recursion.enabled: is no, and no zone has servers, so nothing "
                  "could be answered; write yes, or add the servers to ask, for example "
                  "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n");
    config_free(load_fine("recursion: {enabled: no}\n"
                          "stub-zones: [{name: a, upstreams: [192.0.2.1]}]\n"));
    expect_errors("recursion: {enabled: no}\n"
                  "forward-zones: [{name: ., upstreams: [192.0.2.53], first: yes}]\n"
                  "stub-zones: [{name: a, upstreams: [192.0.2.1], first: yes}]\n",
                  "f:2:52: error: forward-zones[0].first: falls back to recursion, which "
                  "recursion.enabled: no turns off; leave one of them out\n"
                  "f:3:48: error: stub-zones[0].first: falls back to recursion, which "
                  "recursion.enabled: no turns off; leave one of them out\n");
    expect_errors("forward-zones: [{name: A.example, upstreams: [192.0.2.53]}]\n"
                  "stub-zones: [{name: b, upstreams: [192.0.2.1]}, {name: a.Example, upstreams: "
                  "[192.0.2.1]}]\n",
                  "f:2:50: error: stub-zones[1].name: a.example. is in forward-zones too, but its "
                  "servers are either recursive or authoritative; keep one of them\n");
}

static void test_tls_for_all_authoritative_servers_gets_a_warning(void **state)
{
    (void)state;
    static const char expected[] =
        "f:1:12: warning: upstream.transport: tls also applies to the authoritative servers that "
        "recursion discovers, and few of them support it; write it into the zones and entries "
        "whose servers do, or write recursion.enabled: no\n";
    struct config *config = load_fine("upstream: {transport: tls, profile: opportunistic}\n");
    struct span said = buf_span(&config->warnings);
    assert_int_equal(said.len, strlen(expected));
    assert_memory_equal(said.data, expected, said.len);
    config_free(config);
    config = load_fine("upstream: {transport: tls, profile: opportunistic}\n"
                       "forward-zones: [{name: ., upstreams: [192.0.2.53]}]\n");
    assert_int_equal(buf_span(&config->warnings).len, 0);
    config_free(config);
}

static void expect_warning(const char *text, const char *warning)
{
    struct config *config = load_fine(text);
    struct span said = buf_span(&config->warnings);
    assert_int_equal(said.len, strlen(warning));
    if (said.len)
        assert_memory_equal(said.data, warning, said.len);
    config_free(config);
}

static void test_hints_without_a_server_to_ask_get_a_warning(void **state)
{
    (void)state;
    expect_warning("recursion: {do-not-query: [0.0.0.0/0, '::/0']}\n",
                   "f:1:13: warning: recursion.do-not-query has every root server of the built-in "
                   "hints, so recursion may ask none of them; remove their addresses from that "
                   "list ([] is an empty list; the default is 127.0.0.0/8 and ::1)\n");
    expect_warning("recursion: {do-not-query: [0.0.0.0/0]}\n", "");
    expect_warning("recursion: {do-not-query: [0.0.0.0/0, '::/0'], enabled: no}\n" ZONE, "");
    expect_warning("recursion: {do-not-query: [0.0.0.0/0, '::/0']}\n" ZONE, "");
}

static void test_impossible_values_are_errors(void **state)
{
    (void)state;
    static const char takes_prefix[] = "takes an address or a prefix such as 10.1.1.1, "
                                       "10.50.1.64/27 or \"2001:db8::/32\", without a port, not";
    char errors[1024];
    expect_errors(
        "recursion: {port: 0, prefer-ip: 5, priming: 1}",
        "f:1:19: error: recursion.port: 0 is out of range; takes 1 to 65535\n"
        "f:1:33: error: recursion.prefer-ip: takes any, 4 or 6, not \"5\"; did you mean "
        "4?\n"
        "f:1:45: error: recursion.priming: takes yes or no, not \"1\"; did you mean yes?\n");
    snprintf(
        errors, sizeof(errors),
        "f:1:40: error: recursion.do-not-query[1]: 10.1.0.0/8 is given twice; keep one of them\n"
        "f:1:52: error: recursion.do-not-query[2]: %s \"x\"\n"
        "f:1:55: error: recursion.do-not-query[3]: %s \"1.2.3.4@53\"\n"
        "f:1:67: error: recursion.do-not-query[4]: %s a list\n",
        takes_prefix, takes_prefix, takes_prefix);
    expect_errors("recursion: {do-not-query: [10.0.0.0/8, 10.1.0.0/8, x, 1.2.3.4@53, [a]]}",
                  errors);
    expect_errors("recursion: {root-hints: \"a\\nb\", prming: no}",
                  "f:1:25: error: recursion.root-hints: takes a path, or \"\" for none, not "
                  "\"a?b\"\n"
                  "f:1:33: error: recursion.prming: is unknown; did you mean priming?\n");
}

static void test_invalid_stub_zones_are_refused(void **state)
{
    (void)state;
    expect_errors(
        "stub-zones: [{name: a, upstreams: [192.0.2.1], trust-ad: yes}]",
        "f:1:48: error: stub-zones[0].trust-ad: is unknown here; it belongs to an item of "
        "forward-zones\n");
    expect_errors("stub-zones: [{name: a}, {upstreams: [192.0.2.1]}, b]",
                  "f:1:14: error: stub-zones[0]: has no upstreams; takes a list of addresses and "
                  "host names such as [192.0.2.53, \"2001:db8::53@5353\", dns.example.net]\n"
                  "f:1:25: error: stub-zones[1]: has no name; takes a domain name such as "
                  "corp.example, or a single dot for everything\n"
                  "f:1:51: error: stub-zones[2]: takes a mapping such as {name: ., upstreams: "
                  "[192.0.2.53]}, not \"b\"\n");
    expect_errors("stub-zones: [{name: a, upstreams: [192.0.2.1]}, {name: A, upstreams: "
                  "[192.0.2.2]}]",
                  "f:1:49: error: stub-zones[1]: zone a. is given twice; write all of its "
                  "upstreams into one of them\n");
    expect_errors("stub-zones: [{name: a, upstreams: [127.0.0.1, 192.0.2.1#ns.example], "
                  "connections: 5}]",
                  "f:1:14: error: stub-zones[0]: connections 5 is above max-connections 4; lower "
                  "the one or raise the other\n"
                  "f:1:14: error: stub-zones[0]: 127.0.0.1@53 is an address of server.listen: "
                  "queries would loop\n"
                  "f:1:47: error: stub-zones[0].upstreams[1]: names a server for TLS "
                  "(#ns.example), but is asked over udp; write transport: tls in the zone, or "
                  "leave the name out\n");
}

/* ---- discovered servers ---- */

static struct route_upstream meet(const struct config *config, const char *address)
{
    const struct recursion_options *recursion = &config->route.recursion;
    struct route_upstream met;
    struct addr addr = addr_of(address);
    assert_true(recursion->server_options(recursion->server_context, &addr, &met));
    assert_true(addr_equal_ip(&met.addr, &addr));
    return met;
}

static bool is_met(const struct config *config, const char *address)
{
    const struct recursion_options *recursion = &config->route.recursion;
    struct route_upstream met;
    struct addr addr = addr_of(address);
    return recursion->server_options(recursion->server_context, &addr, &met);
}

static void test_a_discovered_server_in_a_prefix_is_nailed(void **state)
{
    (void)state;
    struct config *config =
        load_fine("tcp-upstream-keepalive: [10.50.1.64/27]\n"
                  "server: {outgoing: [192.0.2.7, \"2001:db8::7\"]}\n"
                  "stub-zones: [{name: a, upstreams: [10.50.1.65], max-in-flight: 7}]\n"
                  "recursion: {port: 5353}\n");
    struct route_upstream met = meet(config, "10.50.1.65@99");
    assert_true(met.options.nailed);
    assert_int_equal(met.options.transport, TRANSPORT_TCP);
    /* a zone's option does not apply outside the zone */
    assert_int_equal(met.options.max_in_flight, 256);
    assert_int_equal(addr_port(&met.addr), 5353);
    config_free(config);
}

static void test_others_are_asked_over_udp_from_the_source_of_their_family(void **state)
{
    (void)state;
    struct config *config = load_fine("server: {outgoing: [192.0.2.7, \"2001:db8::7\"]}\n"
                                      "tcp-upstream-keepalive: [10.50.1.64/27]\n");
    struct route_upstream met = meet(config, "10.50.1.63");
    assert_false(met.options.nailed);
    assert_int_equal(met.options.transport, TRANSPORT_UDP);
    assert_ptr_equal(met.options.sources, config->outgoing.v4);
    met = meet(config, "2001:db8::1");
    assert_ptr_equal(met.options.sources, config->outgoing.v6);
    assert_int_equal(addr_port(&met.addr), 53);
    config_free(config);
}

static void test_tls_of_an_entry_has_its_own_port_and_plain_text_that_of_recursion(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "tcp-upstream-keepalive: [{prefix: 10.1.0.0/16, transport: tls, profile: opportunistic}]\n"
        "recursion: {port: 5353}\n");
    struct route_upstream met = meet(config, "10.1.2.3");
    assert_int_equal(addr_port(&met.addr), 853);
    assert_int_equal(met.options.fallback_port, 5353);
    config_free(config);
}

/* Builds the mapped form by hand, because addr_parse() turns its text into an IPv4 address. */
static bool is_mapped_met(const struct config *config, const char *ipv4)
{
    const struct recursion_options *recursion = &config->route.recursion;
    struct addr addr = {.in6 = {.sin6_family = AF_INET6}};
    struct route_upstream met;
    addr.in6.sin6_addr.s6_addr[10] = addr.in6.sin6_addr.s6_addr[11] = 0xff;
    assert_int_equal(inet_pton(AF_INET, ipv4, &addr.in6.sin6_addr.s6_addr[12]), 1);
    return recursion->server_options(recursion->server_context, &addr, &met);
}

static void test_forbidden_servers_are_not_asked(void **state)
{
    (void)state;
    struct config *config = load_fine("recursion: {do-not-query: [10.0.0.0/8, \"fd00::/8\"]}\n"
                                      "server: {listen: [192.0.2.7, \"2001:db8::7@5353\"]}\n");
    static const char *const never[] = {
        "10.1.1.1",        "fd00::1",     "0.0.0.0",   "0.1.2.3", "224.0.0.251",
        "255.255.255.255", "240.0.0.1",   "ff02::fb",  "::",      "fe80::1",
        "::ffff:10.1.1.1", "::192.0.2.8", "192.0.2.7", /* our own address */
    };
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
        assert_false(is_met(config, never[i]));
    assert_true(is_met(config, "192.0.2.8"));
    assert_false(is_mapped_met(config, "192.0.2.8"));
    assert_true(is_met(config, "2001:db8::7")); /* another port than our listener's */
    /* the operator's list replaces the default, which forbids loopback */
    assert_true(is_met(config, "127.0.0.1"));
    config_free(config);
    config = load_fine("");
    assert_false(is_met(config, "127.0.0.2"));
    assert_false(is_met(config, "::1"));
    config_free(config);
}

static void test_a_wildcard_listener_makes_every_own_address_a_loop(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "recursion: {do-not-query: [192.0.2.1]}\nserver: {listen: [0.0.0.0, '::']}\n",
        "recursion: {do-not-query: [192.0.2.1], port: 54}\nserver: {listen: [0.0.0.0, '::']}\n",
    };
    struct ifaddrs *first;
    assert_int_equal(getifaddrs(&first), 0);
    for (unsigned i = 0; i < 2; i++) {
        struct config *config = load_fine(texts[i]);
        const struct recursion_options *recursion = &config->route.recursion;
        for (const struct ifaddrs *at = first; at; at = at->ifa_next) {
            struct route_upstream met;
            struct addr addr;
            if (!at->ifa_addr || addr_from_sockaddr(&addr, at->ifa_addr) || addr_lacks_zone(&addr))
                continue;
            if (addr_family(&addr) == AF_INET6 && addr.in6.sin6_scope_id)
                continue;
            assert_int_equal(recursion->server_options(recursion->server_context, &addr, &met),
                             i == 1);
        }
        assert_true(is_met(config, "192.0.2.8"));
        config_free(config);
    }
    freeifaddrs(first);
}

/* ---- zones set at run time ---- */

static void test_a_forward_takes_the_place_of_a_stub_zone(void **state)
{
    (void)state;
    struct config *config =
        load_fine("forward-zones: [{name: b, upstreams: [192.0.2.53]}]\n"
                  "stub-zones: [{name: c, upstreams: [10.1.1.1]}, {name: a, upstreams: [10.1.1.1], "
                  "max-in-flight: 7}]\n");
    struct runtime_zone forward;
    struct runtime_zones forwards = {0};
    struct arena arena;
    struct route_options out;
    char why[RUNTIME_ZONE_WHY_MAX];
    const char *const upstreams[] = {"192.0.2.1"};
    arena_init(&arena, 1 << 20);
    assert_int_equal(runtime_zone_parse(&forward, "a", 1, upstreams, why), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &forward), ERR_OK);
    assert_int_equal(runtime_zones_routes(&forwards, config, &config->route, &arena, &out), ERR_OK);
    assert_int_equal(out.zone_count, 3);
    assert_int_equal(out.zones[2].kind, ROUTE_FORWARD);
    assert_int_equal(out.zones[2].upstreams[0].options.max_in_flight, 7);
    assert_int_equal(addr_port(&out.zones[2].upstreams[0].addr), 53);
    assert_int_equal(out.zones[1].kind, ROUTE_STUB);
    assert_ptr_equal(out.recursion.server_context, &config->policy);
    runtime_zones_deinit(&forwards);
    arena_deinit(&arena);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_empty_file_resolves_every_name_by_recursion),
        cmocka_unit_test(test_values_are_read),
        cmocka_unit_test(test_zones_may_fall_back_to_recursion),
        cmocka_unit_test(test_everything_prints_and_loads_back),
        cmocka_unit_test(test_private_addresses_and_names_that_may_have_them),
        cmocka_unit_test(test_tls_for_all_authoritative_servers_gets_a_warning),
        cmocka_unit_test(test_hints_without_a_server_to_ask_get_a_warning),
        cmocka_unit_test(test_errors_about_contradictions_have_a_remedy),
        cmocka_unit_test(test_impossible_values_are_errors),
        cmocka_unit_test(test_invalid_stub_zones_are_refused),
        cmocka_unit_test(test_a_discovered_server_in_a_prefix_is_nailed),
        cmocka_unit_test(test_others_are_asked_over_udp_from_the_source_of_their_family),
        cmocka_unit_test(test_tls_of_an_entry_has_its_own_port_and_plain_text_that_of_recursion),
        cmocka_unit_test(test_forbidden_servers_are_not_asked),
        cmocka_unit_test(test_a_wildcard_listener_makes_every_own_address_a_loop),
        cmocka_unit_test(test_a_forward_takes_the_place_of_a_stub_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
