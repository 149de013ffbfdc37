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

static void expect_same_upstreams(const struct route_zone *a, const struct route_zone *b)
{
    assert_int_equal(a->upstream_count, b->upstream_count);
    for (size_t i = 0; i < a->upstream_count; i++) {
        assert_true(addr_equal(&a->upstreams[i].addr, &b->upstreams[i].addr));
        expect_same_options(&a->upstreams[i].options, &b->upstreams[i].options);
    }
}

/* Prints the configuration, loads the output and prints it again: both prints must be equal.
 * Returns the text; the caller frees it. */
static char *expect_round_trip(const char *text)
{
    struct config *config = load_fine(text);
    char *printed = print_text(config);
    struct config *again = load_fine(printed);
    char *printed_again = print_text(again);
    assert_string_equal(printed, printed_again);
    assert_int_equal(config->route.zone_count, again->route.zone_count);
    for (size_t i = 0; i < config->route.zone_count; i++)
        expect_same_upstreams(&config->route.zones[i], &again->route.zones[i]);
    free(printed_again);
    config_free(config);
    config_free(again);
    return printed;
}

static void test_defaults_print_and_load_back(void **state)
{
    (void)state;
    free(expect_round_trip(ZONE));
}

static const char everything[] =
    "server:\n"
    "  workers: 2\n"
    "  listen: [0.0.0.0@5300, \"fe80::1%lo@5300\"]\n"
    "  access:\n"
    "    - {prefix: 10.0.0.0/8, action: drop}\n"
    "    - {prefix: \"2001:db8::/32\", action: refuse}\n"
    "  max-udp-size: 4096\n"
    "  minimal-responses: no\n"
    "  outgoing: [192.0.2.7, \"2001:db8::7\"]\n"
    "  client-idle-timeout: 1500ms\n"
    "  rate-limit: {queries-per-second: 100, slip: 0}\n"
    "  cookie-secret-file: /etc/nailup/cookies\n"
    "cache: {size: 1048577B, min-ttl: 1s, max-ttl: 30d}\n"
    "tcp-upstream-keepalive:\n"
    "  - 10.1.1.1\n"
    "  - \"2001:db8:1::/48\"\n"
    "  - {prefix: 192.0.2.0/24, transport: tcp, connections: 2, max-age: 90s, tcp-keepalive: "
    "{idle: "
    "never, count: 9}, fallback: none, prewarm: no}\n"
    "tcp-upstream-keepalive-maxrequests: 77\n"
    "upstream: {transport: tcp, max-age: 1h, tcp-keepalive: {interval: 2s}, fallback: udp}\n"
    "forward-zones:\n"
    "  - {name: ., upstreams: [192.0.2.53, \"2001:db8::53@5353\"], transport: tcp}\n"
    "  - {name: 'a\\.b.\\000\"', upstreams: [127.0.0.1@99], trust-ad: yes, cache: no, "
    "tcp-keepalive: "
    "{idle: 3s}, query-timeout: 250ms}\n"
    "recursion: {case-randomisation: no, cookies: no}\n"
    "control: {socket: \"\"}\n"
    "log: {level: debug, format: json}\n";

static void test_every_key_prints_and_loads_back(void **state)
{
    (void)state;
    char *printed = expect_round_trip(everything);
    assert_non_null(strstr(printed, "  listen: [0.0.0.0@5300, \"fe80::1%lo@5300\"]\n"));
    assert_non_null(strstr(printed, "    - {prefix: \"2001:db8::/32\", action: refuse}\n"));
    assert_non_null(strstr(printed, "  outgoing: [192.0.2.7, \"2001:db8::7\"]\n"));
    assert_non_null(strstr(printed, "  - {prefix: 192.0.2.0/24, transport: tcp, connections: 2, "
                                    "max-age: 90s, tcp-keepalive: {idle: never, count: 9}, "
                                    "fallback: none, prewarm: no}\n"));
    assert_non_null(strstr(printed, "tcp-upstream-keepalive-maxrequests: 77\n"));
    free(printed);
}

#define PIN_A "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8="
#define PIN_B "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static const char tls[] =
    "server: {listen-tls: [192.0.2.7, \"2001:db8::7@8853\"], tls-certificate: '/c\"\\',\n"
    "  listen-https: [192.0.2.7, \"2001:db8::7@8443\"], https-path: /q,\n"
    "  tls-key: /k, tls-ciphers: 'A:B', tls-groups: C}\n"
    "tcp-upstream-keepalive:\n"
    "  - {prefix: 192.0.2.0/24, auth-name: B.example., pin-sha256: [], transport: tls}\n"
    "upstream: {transport: tls, profile: opportunistic, fallback-port: 54, tcp-fast-open: yes,\n"
    "  pin-sha256: [\"sha256//" PIN_A "\", " PIN_B "], ca-bundle: /ca, client-certificate: /cc,\n"
    "  client-key: /ck, tls-ciphers: 'D:E', tls-groups: 'F:G', early-data: yes,\n"
    "  auth-name: a.example, max-handshakes: 7, session-file: /s}\n"
    "forward-zones:\n"
    "  - {name: a, upstreams: [192.0.2.53, \"2001:db8::53#Dns.Example.\"], pin-sha256: [" PIN_B
    "],\n"
    "    profile: strict}\n"
    "  - {name: b, upstreams: [192.0.2.53@53#x], auth-name: \"\", max-handshakes: 9}\n"
    "  - {name: c, upstreams: [192.0.2.53], transport: udp}\n"
    "log: {tls-keys: /l}\n";

static void test_every_key_of_tls_prints_and_loads_back(void **state)
{
    (void)state;
    char *printed = expect_round_trip(tls);
    static const char *const lines[] = {
        "  listen-tls: [192.0.2.7@853, \"2001:db8::7@8853\"]\n",
        "  listen-https: [192.0.2.7@443, \"2001:db8::7@8443\"]\n",
        "  https-path: \"/q\"\n",
        "  tls-certificate: \"/c\\\"\\\\\"\n",
        "  pin-sha256: [" PIN_A ", " PIN_B "]\n",
        "  - {prefix: 192.0.2.0/24, transport: tls, auth-name: \"b.example\", pin-sha256: []}\n",
        "  - {name: a., upstreams: [192.0.2.53@853, \"2001:db8::53@853#dns.example\"], first: no, "
        "trust-ad: no, cache: yes, validate: yes, aggressive: yes, profile: strict, pin-sha256: "
        "[" PIN_B "]}\n",
        "upstreams: [192.0.2.53@53#x], ",
        "  - {name: c., upstreams: [192.0.2.53@53], ",
        "  session-file: \"/s\"\n",
        "  tls-keys: \"/l\"\n",
    };
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
        if (!strstr(printed, lines[i]))
            fail_msg("%s is not in\n%s", lines[i], printed);
    free(printed);
}

/* A strict profile that does not mention fallback must not load back as a contradiction. */
static void test_strict_tls_prints_and_loads_back(void **state)
{
    (void)state;
    free(expect_round_trip(
        "forward-zones: [{name: ., transport: tls, upstreams: [192.0.2.1, {address: "
        "\"2001:db8::1@8853#a.example\", pin-sha256: "
        "[fBvsCJ+wnwFhEsiGyKQHmIHKJJkFk5A/fKsJpIxEKQ4=]}, {address: 192.0.2.2}]}]\n"));
    free(expect_round_trip("upstream: {transport: tls}\n" ZONE));
    free(expect_round_trip("upstream: {fallback: udp}\n"
                           "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tls}]\n"));
}

/* The longest values, in which each character needs an escape. */
static void test_the_longest_texts_print_and_load_back(void **state)
{
    (void)state;
    char text[4096], quotes[1025];
    memset(quotes, '"', sizeof(quotes) - 1);
    quotes[sizeof(quotes) - 1] = '\0';
    snprintf(text, sizeof(text), "upstream: {tls-ciphers: '%s'}\n" ZONE, quotes);
    free(expect_round_trip(text));
}

static void test_rows_that_leave_a_choice_print_as_comments(void **state)
{
    (void)state;
    char *printed =
        expect_round_trip("upstream: {max-requests: 5}\ntcp-upstream-keepalive: [10.0.0.1]\n"
                          "forward-zones: [{name: ., upstreams: [10.0.0.1], transport: tcp}]\n");
    assert_non_null(strstr(printed, "\n# tcp-upstream-keepalive-maxrequests: 10000\n"));
    assert_non_null(strstr(printed, "\n  # fallback: udp\n"));
    free(printed);
}

static void test_print_ends_with_an_error_when_there_is_no_room(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    struct buf out;
    buf_init(&out, 100);
    assert_int_equal(config_print(config, &out), ERR_LIMIT);
    buf_deinit(&out);
    config_free(config);
}

/* The print of a file full of the shortest zones stays within the promised bound. */
static void test_print_of_the_largest_file_fits_its_bound(void **state)
{
    (void)state;
    static const char entry[] = "1.1.%zu.%zu,";
    char *text = malloc(CONFIG_FILE_MAX);
    size_t len = (size_t)sprintf(text, "%stcp-upstream-keepalive: [", ZONE);
    for (size_t i = 0; i < 60000; i++)
        len += (size_t)sprintf(text + len, entry, i / 256, i % 256);
    strcpy(text + len, "]\n");
    char *printed = expect_round_trip(text);
    assert_true(strlen(printed) < 4 * (len + 2) + 2048);
    free(printed);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_defaults_print_and_load_back),
        cmocka_unit_test(test_every_key_prints_and_loads_back),
        cmocka_unit_test(test_every_key_of_tls_prints_and_loads_back),
        cmocka_unit_test(test_strict_tls_prints_and_loads_back),
        cmocka_unit_test(test_the_longest_texts_print_and_load_back),
        cmocka_unit_test(test_rows_that_leave_a_choice_print_as_comments),
        cmocka_unit_test(test_print_ends_with_an_error_when_there_is_no_room),
        cmocka_unit_test(test_print_of_the_largest_file_fits_its_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
