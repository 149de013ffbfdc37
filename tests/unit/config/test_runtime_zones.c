/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/check.h"
#include "config/runtime_zones.h"
#include "dns/rrtype.h"
#include "unit/config/config_text.h"

static char why[RUNTIME_ZONE_WHY_MAX];

#define WORDS(...)                                                                                 \
    ARRAY_LEN(((const char *[]){__VA_ARGS__})), (const char *[])                                   \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static struct runtime_zone forward_of(const char *zone, size_t count, const char *const words[])
{
    struct runtime_zone forward;
    assert_int_equal(runtime_zone_parse(&forward, zone, count, words, why), ERR_OK);
    return forward;
}

static void expect_no_forward(const char *zone, size_t count, const char *const words[],
                              const char *sentence)
{
    struct runtime_zone forward;
    assert_int_equal(runtime_zone_parse(&forward, zone, count, words, why), ERR_INVALID);
    assert_string_equal(why, sentence);
}

/* Checks whether the zone may be added to this file. */
static enum err check_in(const char *file, const char *zone, size_t count,
                         const char *const words[])
{
    struct config *config = load_fine(file);
    struct runtime_zone forward = forward_of(zone, count, words);
    enum err err = runtime_zone_check(config, &forward, why);
    config_free(config);
    return err;
}

static void expect_refused(const char *file, const char *zone, const char *server,
                           const char *sentence)
{
    assert_int_equal(check_in(file, zone, 1, &server), ERR_INVALID);
    assert_string_equal(why, sentence);
}

static void expect_fine(const char *file, const char *zone, const char *server)
{
    if (check_in(file, zone, 1, &server))
        fail_msg("%s", why);
}

/* ---- reading ---- */

static void test_a_zone_and_its_servers_are_read(void **state)
{
    (void)state;
    struct runtime_zone forward =
        forward_of("Corp.Example", WORDS("192.0.2.1", "192.0.2.2@5353", "::1#DNS.Example."));
    assert_memory_equal(forward.wire, "\4corp\7example", 14);
    assert_int_equal(forward.name_len, 14);
    assert_int_equal(forward.upstream_count, 3);
    assert_false(forward.upstreams[0].has_port);
    assert_true(forward.upstreams[1].has_port);
    assert_int_equal(addr_port(&forward.upstreams[1].addr), 5353);
    assert_string_equal(forward.upstreams[2].auth_name, "dns.example");
    forward = forward_of(".", WORDS("fe80::1%lo@5353"));
    assert_int_equal(addr_port(&forward.upstreams[0].addr), 5353);
}

static void test_words_that_are_not_a_zone_or_server_are_reported(void **state)
{
    (void)state;
    static const char *const bad[] = {"dns.example.net",
                                      "192.0.2.256",
                                      "192.0.2.1@",
                                      "192.0.2.1@0",
                                      "0.0.0.0",
                                      "::",
                                      "224.0.0.1",
                                      "fe80::1",
                                      "fe80::1%nothere",
                                      "ff02::1",
                                      "192.0.2.1#bad name",
                                      "192.0.2.1#1.2.3.4",
                                      "192.0.2.1@70000",
                                      ""};
    struct runtime_zone forward;
    expect_no_forward(
        "a..b", WORDS("192.0.2.1"),
        "'a..b' is not a zone name; write it like corp.example, or a dot for all names");
    expect_no_forward(
        "corp.example", WORDS("192.0.2.1", "off"),
        "'off' is not a server address; write it like 192.0.2.53, 192.0.2.53@5353, ::1, "
        "fe80::1%eth0 or 192.0.2.53#dns.example.net");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (runtime_zone_parse(&forward, ".", 1, &bad[i], why) != ERR_INVALID)
            fail_msg("%s is taken", bad[i]);
    const char *many[RUNTIME_UPSTREAMS_MAX + 1];
    for (size_t i = 0; i < RUNTIME_UPSTREAMS_MAX + 1; i++)
        many[i] = "192.0.2.1";
    expect_no_forward(".", ARRAY_LEN(many), many, "name at most 14 servers");
}

/* ---- zones that the file has too ---- */

#define STRICT "forward-zones: [{name: ., transport: tls, upstreams: [192.0.2.53#dns.example]}]\n"

static void test_a_new_zone_has_the_options_of_the_section(void **state)
{
    (void)state;
    struct route_upstream upstream;
    struct config *config = load_fine("upstream: {transport: tcp}\n" ZONE);
    struct runtime_zone forward = forward_of("corp.example", WORDS("192.0.2.1"));
    runtime_zone_upstream(config, &forward, 0, &upstream);
    assert_int_equal(upstream.options.transport, TRANSPORT_TCP);
    assert_int_equal(addr_port(&upstream.addr), 53);
    config_free(config);
}

static void test_a_zone_of_the_file_keeps_its_options(void **state)
{
    (void)state;
    struct route_upstream upstream;
    struct config *config = load_fine(
        "forward-zones: [{name: ., transport: tls, auth-name: a.example, query-timeout: 3s, "
        "upstreams: [192.0.2.53]}]\n");
    struct runtime_zone forward = forward_of(".", WORDS("192.0.2.1", "192.0.2.2#b.example"));
    assert_int_equal(runtime_zone_check(config, &forward, why), ERR_OK);
    for (size_t i = 0; i < 2; i++) {
        runtime_zone_upstream(config, &forward, i, &upstream);
        assert_int_equal(upstream.options.transport, TRANSPORT_TLS);
        assert_int_equal(upstream.options.tls.profile, TLS_STRICT);
        assert_int_equal(upstream.options.fallback, UPSTREAM_FALLBACK_NONE);
        assert_int_equal(upstream.options.query_timeout_us, 3000000);
        assert_string_equal(upstream.options.tls.auth_name, i ? "b.example" : "a.example");
        assert_int_equal(addr_port(&upstream.addr), 853);
    }
    config_free(config);
}

static void test_strict_tls_is_never_weakened(void **state)
{
    (void)state;
    expect_fine(STRICT, ".", "192.0.2.1");
    expect_fine(STRICT, ".", "192.0.2.1#other.example");
    /* Only an entry for the server in the file makes it strict. */
    expect_refused("tcp-upstream-keepalive: [{prefix: 192.0.2.53, transport: tls}]\n" ZONE, ".",
                   "192.0.2.1",
                   ". is asked over strict TLS, but 192.0.2.1@53 would not be; give the zone "
                   "transport: tls in the file");
    /* The entry for the new server demands less, but the zone demands TLS. */
    expect_fine("tcp-upstream-keepalive: [{prefix: 192.0.2.1, transport: tcp}]\n" STRICT, ".",
                "192.0.2.1");
    expect_fine("tcp-upstream-keepalive: [{prefix: 192.0.2.1, profile: opportunistic}]\n" STRICT,
                ".", "192.0.2.1");
    expect_refused("upstream: {transport: tls}\n"
                   "tcp-upstream-keepalive: [{prefix: 192.0.2.1, transport: udp}]\n" ZONE,
                   ".", "192.0.2.1",
                   ". is asked over strict TLS, but 192.0.2.1@53 would not be; give the zone "
                   "transport: tls in the file");
}

static void test_contradictions_are_refused(void **state)
{
    (void)state;
    expect_refused(ZONE, "corp.example", "127.0.0.1",
                   "127.0.0.1@53 is an address of server.listen: queries would loop");
    expect_refused(ZONE, "corp.example", "192.0.2.1#dns.example",
                   "192.0.2.1@53 has a name for TLS, but would be asked over udp; leave the name "
                   "out, or write transport: tls into the file");
    expect_refused("forward-zones: [{name: ., trust-ad: yes, upstreams: [127.0.0.2]}]\n", ".",
                   "192.0.2.1",
                   ". has trust-ad: yes, which 192.0.2.1@53 is not safe enough for; change that in "
                   "the file");
    assert_int_equal(check_in(ZONE, ".", WORDS("192.0.2.1", "192.0.2.1@53")), ERR_INVALID);
    assert_string_equal(why, "192.0.2.1@53 is given twice; keep one of them");
}

static void test_local_data_needs_no_servers(void **state)
{
    (void)state;
    expect_refused("local-zones: [{name: 10.in-addr.arpa, action: nxdomain}]\n" ZONE,
                   "8.10.in-addr.arpa", "192.0.2.1",
                   "8.10.in-addr.arpa. is answered by local-zones, local-data or block-lists; add "
                   "it to local-zones with action: transparent");
    expect_refused("local-data: [home.arpa A 192.0.2.9, \"*.home.arpa A 192.0.2.9\"]\n" ZONE,
                   "home.arpa", "192.0.2.1",
                   "home.arpa. is answered by local-zones, local-data or block-lists; add it to "
                   "local-zones with action: transparent");
    expect_fine("local-zones: [{name: corp.example, action: transparent}]\n" ZONE, "a.corp.example",
                "192.0.2.1");
    expect_fine("local-data: [corp.example A 192.0.2.9]\n" ZONE, "corp.example", "192.0.2.1");
}

static void test_a_zone_held_for_clients_needs_no_servers(void **state)
{
    (void)state;
    static const char reason[] =
        "corp.example. is held here by auth-zones, so no server of it would be asked; give it "
        "for: upstream in the file, or remove it from auth-zones";
    expect_refused("auth-zones: [{name: corp.example, file: /z}]\n" ZONE, "Corp.Example",
                   "192.0.2.1", reason);
    expect_refused("auth-zones: [{name: corp.example, file: /z, fallback: yes, for: both}]\n" ZONE,
                   "corp.example", "192.0.2.1", reason);
    expect_fine("auth-zones: [{name: corp.example, file: /z}]\n" ZONE, "lab.corp.example",
                "192.0.2.1");
    expect_fine("auth-zones: [{name: corp.example, file: /z, for: upstream}]\n" ZONE,
                "corp.example", "192.0.2.1");
    expect_fine("auth-zones: [{name: corp.example, file: /z}]\n" ZONE, "example", "192.0.2.1");
}

static void test_a_special_use_zone_may_have_servers(void **state)
{
    (void)state;
    static const char *const zones[] = {"home.arpa", "10.in-addr.arpa", "8.10.in-addr.arpa",
                                        "local",     "a.b.test",        "168.192.in-addr.arpa",
                                        "localhost"};
    for (size_t i = 0; i < ARRAY_LEN(zones); i++)
        expect_fine(ZONE, zones[i], "192.0.2.1");
    expect_fine("local-data: [nas.home.arpa A 192.0.2.9]\n" ZONE, "home.arpa", "192.0.2.1");
}

static enum local_verdict verdict_of(const struct local_names *names, const char *text)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct local_result result;
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    return local_names_find(names, &question, &result);
}

static void test_special_use_names_make_way_for_runtime_zones(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    struct runtime_zones forwards = {0};
    struct local_names *names;
    assert_int_equal(runtime_zones_local_names(&forwards, config, &names), ERR_OK);
    assert_null(names);
    struct runtime_zone home = forward_of("home.arpa", WORDS("192.0.2.1"));
    struct runtime_zone all = forward_of(".", WORDS("192.0.2.1"));
    assert_int_equal(runtime_zones_put(&forwards, &home), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &all), ERR_OK);
    assert_int_equal(runtime_zones_local_names(&forwards, config, &names), ERR_OK);
    assert_int_equal(verdict_of(names, "nas.home.arpa"), LOCAL_NOT);
    assert_int_equal(verdict_of(names, "nas.local"), LOCAL_ANSWERED);
    assert_int_equal(verdict_of(config->local, "nas.home.arpa"), LOCAL_ANSWERED);
    local_names_free(names);
    runtime_zones_deinit(&forwards);
    config_free(config);
}

/* ---- the list ---- */

static void test_a_runtime_zone_is_set_replaced_and_removed(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    struct runtime_zone one = forward_of("corp.example", WORDS("192.0.2.1"));
    struct runtime_zone other = forward_of("corp.example", WORDS("192.0.2.2"));
    struct name name = {one.wire, one.name_len};
    assert_int_equal(runtime_zones_put(&forwards, &one), ERR_OK);
    assert_true(runtime_zone_is_same(runtime_zones_find(&forwards, name), &one));
    assert_false(runtime_zone_is_same(&other, &one));
    assert_int_equal(runtime_zones_put(&forwards, &other), ERR_OK);
    assert_int_equal(forwards.count, 1);
    assert_true(runtime_zone_is_same(runtime_zones_find(&forwards, name), &other));
    assert_true(runtime_zones_remove(&forwards, name));
    assert_false(runtime_zones_remove(&forwards, name));
    assert_null(runtime_zones_find(&forwards, name));
    runtime_zones_deinit(&forwards);
}

static void test_there_is_a_bound(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    for (int i = 0; i <= RUNTIME_ZONES_MAX; i++) {
        char zone[32];
        snprintf(zone, sizeof(zone), "z%d.example", i);
        struct runtime_zone forward = forward_of(zone, WORDS("192.0.2.1"));
        assert_int_equal(runtime_zones_put(&forwards, &forward),
                         i < RUNTIME_ZONES_MAX ? ERR_OK : ERR_LIMIT);
    }
    struct runtime_zone again = forward_of("z7.example", WORDS("192.0.2.2"));
    assert_int_equal(runtime_zones_put(&forwards, &again), ERR_OK);
    assert_int_equal(forwards.count, RUNTIME_ZONES_MAX);
    runtime_zones_deinit(&forwards);
    assert_int_equal(forwards.count, 0);
}

static void test_runtime_zones_override_the_file(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    struct route_options route;
    struct arena arena;
    struct config *config =
        load_fine("forward-zones:\n  - {name: ., upstreams: [192.0.2.53]}\n"
                  "  - {name: corp.example, cache: no, upstreams: [192.0.2.54, 192.0.2.55]}\n");
    struct runtime_zone of_file = forward_of("corp.example", WORDS("192.0.2.1"));
    struct runtime_zone of_none = forward_of("vpn.example", WORDS("192.0.2.2", "192.0.2.3"));
    arena_init(&arena, 1 << 20);
    assert_int_equal(runtime_zones_routes(&forwards, config, &config->route, &arena, &route),
                     ERR_OK);
    assert_ptr_equal(route.zones, config->route.zones);
    assert_int_equal(runtime_zones_put(&forwards, &of_file), ERR_OK);
    assert_int_equal(runtime_zones_put(&forwards, &of_none), ERR_OK);
    assert_int_equal(runtime_zones_routes(&forwards, config, &config->route, &arena, &route),
                     ERR_OK);
    assert_int_equal(route.zone_count, 3);
    assert_ptr_equal(route.zones[0].upstreams, config->route.zones[0].upstreams);
    assert_int_equal(route.zones[1].upstream_count, 1);
    assert_false(route.zones[1].cache);
    struct addr server = addr_of("192.0.2.1");
    assert_true(addr_equal(&route.zones[1].upstreams[0].addr, &server));
    assert_int_equal(route.zones[2].upstream_count, 2);
    assert_true(route.zones[2].cache);
    assert_memory_equal(route.zones[2].wire, of_none.wire, of_none.name_len);
    assert_int_equal(config->route.zones[1].upstream_count, 2);
    arena_deinit(&arena);
    runtime_zones_deinit(&forwards);
    config_free(config);
}

static void expect_no_portal(const char *file, const char *server, const char *sentence)
{
    struct runtime_zone portal;
    struct config *config = load_fine(file);
    assert_int_equal(runtime_portal_read(&portal, config, server, why), ERR_INVALID);
    assert_non_null(strstr(why, sentence));
    config_free(config);
}

#define WITH_STRICT                                                                                \
    "server: {listen: [127.0.0.1]}\nforward-zones: [{name: ., upstreams: "                         \
    "[9.9.9.9#dns.quad9.net], "                                                                    \
    "transport: tls}, {name: corp.example, upstreams: [192.0.2.9#a.example], transport: tls}]\n"

static void test_a_portal_takes_the_root_in_plain_text_and_leaves_other_zones(void **state)
{
    (void)state;
    struct runtime_zone portal, forward = forward_of("lab.example", WORDS("192.0.2.1"));
    struct runtime_zones zones = {0};
    struct route_options route;
    struct arena arena;
    struct config *config = load_fine(WITH_STRICT);
    assert_int_equal(runtime_portal_read(&portal, config, "192.168.1.1", why), ERR_OK);
    assert_int_equal(runtime_zones_put(&zones, &forward), ERR_OK);
    zones.portal = &portal;
    arena_init(&arena, 1 << 20);
    assert_int_equal(runtime_zones_routes(&zones, config, &config->route, &arena, &route), ERR_OK);
    assert_int_equal(route.zone_count, config->route.zone_count + 1);
    for (size_t i = 0; i < route.zone_count; i++) {
        const struct route_zone *zone = &route.zones[i];
        bool is_root = zone->name_len == 1;
        assert_int_equal(zone->upstreams[0].options.transport == TRANSPORT_UDP,
                         is_root || zone->name_len == forward.name_len);
        assert_int_equal(zone->cache && !zone->validate && !zone->first && !zone->trust_ad,
                         is_root);
    }
    assert_int_equal(config->route.zones[0].upstreams[0].options.transport, TRANSPORT_TLS);
    arena_deinit(&arena);
    runtime_zones_deinit(&zones);
    config_free(config);
}

static void test_a_portal_joins_recursion_as_the_root(void **state)
{
    (void)state;
    struct runtime_zone portal;
    struct runtime_zones zones = {.portal = &portal};
    struct route_options route;
    struct arena arena;
    struct config *config = load_fine("server: {listen: [127.0.0.1]}\n");
    assert_int_equal(runtime_portal_read(&portal, config, "192.168.1.1@5353", why), ERR_OK);
    arena_init(&arena, 1 << 20);
    assert_int_equal(runtime_zones_routes(&zones, config, &config->route, &arena, &route), ERR_OK);
    assert_int_equal(route.zone_count, 1);
    assert_int_equal(addr_port(&route.zones[0].upstreams[0].addr), 5353);
    arena_deinit(&arena);
    config_free(config);
}

static void test_a_portal_must_be_a_plain_server_elsewhere(void **state)
{
    (void)state;
    expect_no_portal(WITH_STRICT, "router", "is not a server address");
    expect_no_portal(WITH_STRICT, "192.168.1.1#dns.example", "plain text");
    expect_no_portal(WITH_STRICT, "127.0.0.1", "queries would loop");
}

static void test_no_memory_for_routes_is_an_error(void **state)
{
    (void)state;
    struct runtime_zones forwards = {0};
    struct route_options route;
    struct arena arena;
    struct config *config = load_fine(ZONE);
    struct runtime_zone forward = forward_of("corp.example", WORDS("192.0.2.1"));
    assert_int_equal(runtime_zones_put(&forwards, &forward), ERR_OK);
    arena_init(&arena, 16);
    assert_int_equal(runtime_zones_routes(&forwards, config, &config->route, &arena, &route),
                     ERR_NO_MEMORY);
    arena_deinit(&arena);
    runtime_zones_deinit(&forwards);
    config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_and_its_servers_are_read),
        cmocka_unit_test(test_words_that_are_not_a_zone_or_server_are_reported),
        cmocka_unit_test(test_a_new_zone_has_the_options_of_the_section),
        cmocka_unit_test(test_a_zone_of_the_file_keeps_its_options),
        cmocka_unit_test(test_strict_tls_is_never_weakened),
        cmocka_unit_test(test_contradictions_are_refused),
        cmocka_unit_test(test_a_zone_held_for_clients_needs_no_servers),
        cmocka_unit_test(test_a_special_use_zone_may_have_servers),
        cmocka_unit_test(test_special_use_names_make_way_for_runtime_zones),
        cmocka_unit_test(test_local_data_needs_no_servers),
        cmocka_unit_test(test_a_runtime_zone_is_set_replaced_and_removed),
        cmocka_unit_test(test_there_is_a_bound),
        cmocka_unit_test(test_runtime_zones_override_the_file),
        cmocka_unit_test(test_a_portal_takes_the_root_in_plain_text_and_leaves_other_zones),
        cmocka_unit_test(test_a_portal_joins_recursion_as_the_root),
        cmocka_unit_test(test_a_portal_must_be_a_plain_server_elsewhere),
        cmocka_unit_test(test_no_memory_for_routes_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
