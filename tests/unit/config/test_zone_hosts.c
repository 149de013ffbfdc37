/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Upstreams by host name: from the file to routes, with addresses that change. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "config/config.h"
#include "config/runtime_zones.h"
#include "config/zone_hosts.h"
#include "unit/config/config_text.h"
#include "upstream/exchange.h"

#define BOOT "upstream: {bootstrap: [192.0.2.200, \"2001:db8::200@5353\"]}\n"

static struct config *config;
static struct zone_hosts hosts;
static struct route_options routes;
static struct arena arena;

static int begin(void **state)
{
    (void)state;
    hosts = (struct zone_hosts){0};
    config = NULL;
    arena_init(&arena, 1 << 20);
    return 0;
}

static int end(void **state)
{
    (void)state;
    arena_deinit(&arena);
    config_free(config);
    return 0;
}

static void know(const char *name, const char *address)
{
    struct zone_host *host = NULL;
    for (size_t i = 0; i < hosts.count; i++)
        if (strcmp(hosts.list[i].name, name) == 0)
            host = &hosts.list[i];
    if (!host)
        host = &hosts.list[hosts.count++];
    strcpy(host->name, name);
    host->addrs[host->addr_count++] = addr_of(address);
}

static void apply(const char *text)
{
    config_free(config);
    config = load_fine(text);
    assert_int_equal(zone_hosts_routes(&hosts, config, &arena, &routes), ERR_OK);
}

static void expect_server(size_t zone, size_t n, const char *address)
{
    char text[ADDR_TEXT_MAX];
    assert_true(n < routes.zones[zone].upstream_count);
    assert_string_equal(addr_format(&routes.zones[zone].upstreams[n].addr, text), address);
}

static void test_a_zone_awaits_its_hosts_until_an_address_is_known(void **state)
{
    (void)state;
    apply(BOOT "forward-zones: [{name: ., upstreams: [dns.example]}]\n");
    assert_int_equal(config->host_count, 1);
    assert_string_equal(config->hosts[0], "dns.example");
    assert_int_equal(config->bootstrap.count, 2);
    assert_true(config->route.zones[0].awaits_hosts);
    assert_true(routes.zones[0].awaits_hosts);
    assert_int_equal(routes.zones[0].upstream_count, 0);
    know("dns.example", "192.0.2.1");
    know("other.example", "192.0.2.9");
    apply(BOOT "forward-zones: [{name: ., upstreams: [dns.example]}]\n");
    assert_false(routes.zones[0].awaits_hosts);
    assert_int_equal(routes.zones[0].upstream_count, 1);
    expect_server(0, 0, "192.0.2.1@53");
    assert_string_equal(routes.zones[0].upstreams[0].host, "dns.example");
}

static void test_addresses_come_first_and_each_once(void **state)
{
    (void)state;
    know("dns.example", "192.0.2.1");
    know("dns.example", "2001:db8::1");
    know("dns2.example", "192.0.2.1");
    apply(BOOT "forward-zones: [{name: ., upstreams: [dns.example@5353, 192.0.2.7, dns2.example, "
               "192.0.2.1]}]\n");
    assert_int_equal(routes.zones[0].upstream_count, 4);
    expect_server(0, 0, "192.0.2.7@53");
    expect_server(0, 1, "192.0.2.1@53");
    expect_server(0, 2, "192.0.2.1@5353");
    expect_server(0, 3, "2001:db8::1@5353");
    assert_null(routes.zones[0].upstreams[0].host);
}

static void test_the_name_proves_the_identity_unless_something_else_does(void **state)
{
    (void)state;
    know("dns.example", "192.0.2.1");
    apply(BOOT "forward-zones:\n"
               "- {name: a, upstreams: [dns.example], transport: tls}\n"
               "- {name: b, upstreams: ['dns.example#x.example'], transport: tls}\n"
               "- {name: c, upstreams: [dns.example], transport: tls, auth-name: z.example}\n"
               "- {name: d, upstreams: [{address: dns.example, pin-sha256: "
               "[fBvsCJ+wnwFhEsiGyKQHmIHKJJkFk5A/fKsJpIxEKQ4=]}], transport: tls}\n"
               "- {name: e, upstreams: [dns.example], transport: tcp}\n");
    static const char *const names[] = {"dns.example", "x.example", "z.example"};
    for (size_t i = 0; i < 3; i++) {
        const struct upstream_options *options = &routes.zones[i].upstreams[0].options;
        assert_string_equal(options->tls.auth_name, names[i]);
        assert_true(upstream_options_are_strict(options));
        assert_int_equal(options->fallback, UPSTREAM_FALLBACK_NONE);
        expect_server(i, 0, "192.0.2.1@853");
    }
    const struct tls_peer_options *pinned = &routes.zones[3].upstreams[0].options.tls;
    assert_true(!pinned->auth_name || !*pinned->auth_name);
    assert_int_equal(pinned->pins->count, 1);
    assert_null(routes.zones[4].upstreams[0].options.tls.auth_name);
}

static void test_an_entry_nails_the_addresses_of_a_host(void **state)
{
    (void)state;
    know("dns.example", "192.0.2.1");
    know("dns.example", "198.51.100.1");
    apply(BOOT "tcp-upstream-keepalive: [192.0.2.0/24]\n"
               "forward-zones: [{name: ., upstreams: [dns.example], transport: tls}]\n");
    assert_true(routes.zones[0].upstreams[0].options.nailed);
    assert_false(routes.zones[0].upstreams[1].options.nailed);
    assert_true(upstream_options_are_strict(&routes.zones[0].upstreams[0].options));
}

static void test_a_hostile_name_makes_no_loop_and_no_invalid_server(void **state)
{
    (void)state;
    know("dns.example", "127.0.0.1"); /* our own listener: a loop */
    know("dns.example", "0.0.0.0");
    know("dns.example", "224.0.0.1");
    know("dns.example", "255.255.255.255");
    know("dns.example", "ff02::1");
    know("dns.example", "fe80::1"); /* without a zone, the address has no link */
    apply(BOOT "forward-zones: [{name: ., upstreams: [dns.example]}]\n");
    assert_int_equal(routes.zones[0].upstream_count, 0);
    assert_true(routes.zones[0].awaits_hosts);
    apply(BOOT "forward-zones: [{name: ., upstreams: [dns.example@5353]}]\n");
    assert_int_equal(routes.zones[0].upstream_count, 1);
    expect_server(0, 0, "127.0.0.1@5353");
}

static void test_a_zone_has_no_more_upstreams_than_an_exchange_takes(void **state)
{
    char text[4096] = BOOT "forward-zones: [{name: ., upstreams: [192.0.2.1";
    (void)state;
    for (int i = 0; i < 8; i++) {
        char name[32];
        sprintf(name, "dns%d.example", i);
        sprintf(text + strlen(text), ", %s", name);
        for (int j = 0; j < ZONE_HOST_ADDRS_MAX; j++) {
            char addr[32];
            sprintf(addr, "10.1.%d.%d", i, j);
            know(name, addr);
        }
    }
    strcat(text, "]}]\n");
    apply(text);
    assert_int_equal(routes.zones[0].upstream_count, EXCHANGE_GROUP_MAX);
    expect_server(0, 0, "192.0.2.1@53");
}

static void test_stub_zones_have_hosts_too(void **state)
{
    (void)state;
    know("ns.other.example", "192.0.2.1");
    apply("forward-zones: [{name: x.example, upstreams: [192.0.2.3]}]\n"
          "stub-zones: [{name: corp.example, upstreams: [ns.other.example]}]\n");
    assert_int_equal(routes.zones[0].upstream_count, 1);
    expect_server(1, 0, "192.0.2.1@53");
    assert_int_equal(routes.zones[1].kind, ROUTE_STUB);
}

static void test_a_zone_set_at_run_time_replaces_its_hosts(void **state)
{
    struct runtime_zones forwards = {0};
    struct runtime_zone forward;
    struct route_options out;
    char why[RUNTIME_ZONE_WHY_MAX];
    const char *server = "192.0.2.77";
    (void)state;
    apply(BOOT "forward-zones: [{name: a.example, upstreams: [dns.example]}, {name: b.example, "
               "upstreams: [dns.example], transport: tls}]\n");
    assert_int_equal(runtime_zone_parse(&forward, "a.example", 1, &server, why), ERR_OK);
    assert_int_equal(runtime_zone_check(config, &forward, why), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &forward), ERR_OK);
    assert_int_equal(runtime_zones_routes(&forwards, config, &routes, &arena, &out), ERR_OK);
    assert_int_equal(out.zones[0].upstream_count, 1);
    assert_false(out.zones[0].awaits_hosts);
    assert_true(out.zones[1].awaits_hosts);
    runtime_zones_deinit(&forwards);
}

static void test_a_zone_that_is_strict_by_its_hosts_stays_strict(void **state)
{
    struct runtime_zone forward;
    char why[RUNTIME_ZONE_WHY_MAX];
    const char *server = "192.0.2.77";
    (void)state;
    config = load_fine("upstream: {bootstrap: [192.0.2.200], transport: tls}\n"
                       "tcp-upstream-keepalive: [{prefix: 192.0.2.77, transport: udp}]\n"
                       "forward-zones: [{name: b.example, upstreams: [dns.example]}]\n");
    assert_int_equal(runtime_zone_parse(&forward, "b.example", 1, &server, why), ERR_OK);
    assert_int_equal(runtime_zone_check(config, &forward, why), ERR_INVALID);
    assert_non_null(strstr(why, "is asked over strict TLS"));
}

static void test_a_name_that_only_its_own_zone_could_resolve_is_an_error(void **state)
{
    (void)state;
    expect_errors("forward-zones: [{name: ., upstreams: [dns.example]}]\n",
                  "f:1:39: error: forward-zones[0].upstreams[0]: the name dns.example belongs to "
                  "the zone ., which has no server with an address; add one, or "
                  "upstream.bootstrap: [9.9.9.9]\n");
    expect_errors("stub-zones: [{name: corp.example, upstreams: [ns.corp.example]}]\n",
                  "f:1:47: error: stub-zones[0].upstreams[0]: the name ns.corp.example belongs to "
                  "the zone corp.example., which has no server with an address; add one, or "
                  "upstream.bootstrap: [9.9.9.9]\n");
    expect_errors("recursion: {enabled: no}\n"
                  "forward-zones: [{name: a.example, upstreams: [dns.example]}]\n",
                  "f:2:47: error: forward-zones[0].upstreams[0]: no zone has the name "
                  "dns.example, and recursion.enabled is no; add upstream.bootstrap: [9.9.9.9]\n");
    /* Each of the two zones needs the other. */
    config = load_text("forward-zones: [{name: a.example, upstreams: [x.b.example]}, {name: "
                       "b.example, upstreams: [x.a.example]}]\n");
    assert_null(config);
}

static void test_wrong_hosts_and_bootstrap_servers_are_errors(void **state)
{
    (void)state;
    expect_errors(BOOT "forward-zones: [{name: ., upstreams: [dns.example, DNS.example.]}]\n",
                  "f:2:52: error: forward-zones[0].upstreams[1]: dns.example is given twice; "
                  "keep one of them\n");
    expect_errors("upstream: {bootstrap: [127.0.0.1]}\n" ZONE,
                  "f:1:12: error: upstream.bootstrap: 127.0.0.1@53 is an address of "
                  "server.listen: queries would loop\n");
    expect_errors(BOOT "forward-zones: [{name: ., upstreams: ['dns.example#x.example']}]\n",
                  "f:2:39: error: forward-zones[0].upstreams[0]: names a server for TLS "
                  "(#x.example), but is asked over udp; write transport: tls in the zone, or "
                  "leave the name out\n");
    expect_errors(BOOT "forward-zones: [{name: ., upstreams: [dns.example], trust-ad: yes}]\n",
                  "f:2:17: error: forward-zones[0]: trust-ad: yes needs upstreams over TLS with "
                  "profile: strict, or on the loopback interface, and dns.example is neither: its "
                  "answers could be changed in transit\n");
}

static void test_hosts_are_bounded(void **state)
{
    char text[8192] = BOOT "forward-zones: [{name: ., upstreams: [";
    (void)state;
    for (int i = 0; i < CONFIG_HOSTS_MAX; i++)
        sprintf(text + strlen(text), "d%d.example, ", i);
    strcpy(text + strlen(text) - 2, "]}");
    size_t len = strlen(text);
    strcat(text, ", {name: b, upstreams: [d0.example]}]\n");
    config = load_fine(text); /* a repeated name does not count again */
    assert_int_equal(config->host_count, CONFIG_HOSTS_MAX);
    strcpy(text + len, ", {name: b, upstreams: [dx.example]}]\n");
    assert_null(load_text(text));
    assert_non_null(strstr(errors_text, "is one host name too many; use at most 64"));
}

static void test_hosts_print_as_they_load(void **state)
{
    struct buf out;
    (void)state;
    config = load_fine(BOOT "forward-zones: [{name: ., upstreams: [Dns.Example@853, 192.0.2.1, "
                            "'ns1.#x.example'], transport: tls}]\n");
    buf_init(&out, 1 << 20);
    assert_int_equal(config_print(config, &out), ERR_OK);
    assert_int_equal(buf_append(&out, "", 1), ERR_OK);
    const char *text = (const char *)buf_span(&out).data;
    assert_non_null(
        strstr(text, "upstreams: [192.0.2.1@853, dns.example@853, ns1.#x.example], first"));
    assert_non_null(strstr(text, "bootstrap: [192.0.2.200@53, \"2001:db8::200@5353\"]"));
    struct config *again = load_fine(text);
    assert_int_equal(again->zones[0].host_count, 2);
    config_free(again);
    buf_deinit(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(test_a_zone_awaits_its_hosts_until_an_address_is_known),
        TEST(test_addresses_come_first_and_each_once),
        TEST(test_the_name_proves_the_identity_unless_something_else_does),
        TEST(test_an_entry_nails_the_addresses_of_a_host),
        TEST(test_a_hostile_name_makes_no_loop_and_no_invalid_server),
        TEST(test_a_zone_has_no_more_upstreams_than_an_exchange_takes),
        TEST(test_stub_zones_have_hosts_too),
        TEST(test_a_zone_set_at_run_time_replaces_its_hosts),
        TEST(test_a_zone_that_is_strict_by_its_hosts_stays_strict),
        TEST(test_a_name_that_only_its_own_zone_could_resolve_is_an_error),
        TEST(test_wrong_hosts_and_bootstrap_servers_are_errors),
        TEST(test_hosts_are_bounded),
        TEST(test_hosts_print_as_they_load),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
