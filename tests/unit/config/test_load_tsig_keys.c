/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Keys of tsig-keys, and the primaries of auth-zones that use them. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/config/config_text.h"

#define ZONE_OF(primaries) "auth-zones: [{name: a.test, primaries: [" primaries "]}]\n"
#define KEYS "tsig-keys: [{name: K.test, algorithm: hmac-sha512, secret-file: /k}]\n"

static void assert_server(const struct xfr_primary *server, const char *addr, bool has_tls)
{
    char text[ADDR_TEXT_MAX];
    assert_string_equal(addr_format(&server->addr, text), addr);
    assert_int_equal(server->has_tls, has_tls);
    if (has_tls)
        assert_int_equal(server->tls.profile, TLS_STRICT);
}

static void test_primaries_have_ports_and_tls(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE_OF(
        "192.0.2.1, 192.0.2.2@5353, 192.0.2.3#ns.test, 192.0.2.4@853, \"2001:db8::1\", "
        "{address: 192.0.2.5, tls: yes}, {address: 192.0.2.6, auth-name: b.test}, "
        "{address: 192.0.2.7, pin-sha256: [fBvsCJ+wnwFhEsiGyKQHmIHKJJkFk5A/fKsJpIxEKQ4=]}"));
    const struct config_auth_zone *zone = &config->auth_zones[0];
    assert_int_equal(zone->source.primary_count, 8);
    assert_server(&zone->source.servers[0], "192.0.2.1@53", false);
    assert_server(&zone->source.servers[1], "192.0.2.2@5353", false);
    assert_server(&zone->source.servers[2], "192.0.2.3@853", true);
    assert_string_equal(zone->source.servers[2].tls.auth_name, "ns.test");
    assert_server(&zone->source.servers[3], "192.0.2.4@853", true);
    assert_server(&zone->source.servers[4], "2001:db8::1@53", false);
    assert_server(&zone->source.servers[5], "192.0.2.5@853", true);
    assert_server(&zone->source.servers[6], "192.0.2.6@853", true);
    assert_server(&zone->source.servers[7], "192.0.2.7@853", true);
    assert_int_equal(zone->source.servers[7].tls.pins->count, 1);
    config_free(config);
}

/* The key may follow the zone in the file. */
static void test_a_primary_finds_its_key(void **state)
{
    (void)state;
    struct config *config =
        load_fine(ZONE_OF("{address: 192.0.2.1, tsig-key: k.TEST}, 192.0.2.2") KEYS);
    assert_ptr_equal(config->auth_zones[0].source.servers[0].key, &config->tsig_keys[0].key);
    assert_null(config->auth_zones[0].source.servers[1].key);
    assert_int_equal(config->tsig_keys[0].algorithm, CONFIG_HMAC_SHA512);
    config_free(config);
}

static void test_senders_of_notify_are_prefixes(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "auth-zones: [{name: a.test, primaries: [192.0.2.1], allow-notify: [192.0.2.0/24]}]\n");
    assert_int_equal(config->auth_zones[0].source.allow_notify.count, 1);
    config_free(config);
}

static void test_contradictions_name_their_remedy(void **state)
{
    (void)state;
    expect_errors("auth-zones: [{name: a.test}]\n",
                  "f:1:14: error: auth-zones[0]: has no records; write file: "
                  "/etc/nailup/corp.example.zone, or primaries: [192.0.2.1]\n");
    expect_errors("auth-zones: [{name: a.test, file: /z, primaries: [192.0.2.1]}]\n",
                  "f:1:14: error: auth-zones[0]: has a file and primaries; keep one of them\n");
    expect_errors(
        ZONE_OF("192.0.2.1, 192.0.2.1"),
        "f:1:52: error: auth-zones[0].primaries[1]: 192.0.2.1 is given twice; keep one of "
        "them\n");
    expect_errors(KEYS "auth-zones:\n- {name: a.test, primaries: [{address: 192.0.2.1, tsig-key: "
                       "l.test}]}\n",
                  "f:3:18: error: auth-zones[0].primaries: the key l.test is not in tsig-keys; add "
                  "it there or correct the name\n");
}

static void test_keys_are_named_once(void **state)
{
    (void)state;
    expect_errors("tsig-keys:\n- {name: k, secret-file: /a}\n- {name: K, secret-file: /b}\n",
                  "f:3:3: error: tsig-keys[1]: key k. is given twice; keep one of them\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_primaries_have_ports_and_tls),
        cmocka_unit_test(test_a_primary_finds_its_key),
        cmocka_unit_test(test_senders_of_notify_are_prefixes),
        cmocka_unit_test(test_contradictions_name_their_remedy),
        cmocka_unit_test(test_keys_are_named_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
