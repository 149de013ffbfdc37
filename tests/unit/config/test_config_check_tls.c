/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The exact text of every error about TLS. test_config_check_files.c has the errors about files. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "unit/config/config_text.h"

/* Loads the text with a zone added, and expects this one error. */
static void expect_error(const char *text, const char *error)
{
    char whole[4096], line[2048];
    snprintf(whole, sizeof(whole), "%s\n%s", text, ZONE);
    snprintf(line, sizeof(line), "f:%s\n", error);
    expect_errors(whole, line);
}

static void expect_fine(const char *text)
{
    config_free(load_fine(text));
}

#define ADDRESS_TAKES "takes an address such as 192.0.2.53, 192.0.2.53@5353 or \"::1@53\", not "
#define NAME_TAKES "takes a host name such as dns.example.net, or \"\" for none, not "
#define PIN_TAKES "takes the SHA-256 of a public key as 44 characters of base64 that end in =, not "
#define PIN "fBvsCJ+wnwFhEsiGyKQHmIHKJJkFk5A/fKsJpIxEKQ4="
#define OTHER_PIN "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="

static void test_host_names(void **state)
{
    (void)state;
    expect_error(
        "upstream: {auth-name: 192.0.2.1}",
        "1:23: error: upstream.auth-name: " NAME_TAKES
        "\"192.0.2.1\"; leave it out: without a name the certificate must match the address");
    expect_error(
        "upstream: {auth-name: \"2001:db8::1\"}",
        "1:23: error: upstream.auth-name: " NAME_TAKES
        "\"2001:db8::1\"; leave it out: without a name the certificate must match the address");
    expect_error(
        "upstream: {auth-name: \"*.example.net\"}",
        "1:23: error: upstream.auth-name: " NAME_TAKES
        "\"*.example.net\"; write the name itself: a certificate for *.example.net covers it too");
    expect_error("upstream: {auth-name: a..example}",
                 "1:23: error: upstream.auth-name: " NAME_TAKES "\"a..example\"");
    expect_error("upstream: {auth-name: .example}", /* OpenSSL would accept any name below it */
                 "1:23: error: upstream.auth-name: " NAME_TAKES "\".example\"");
    expect_error("upstream: {auth-name: [a]}", "1:23: error: upstream.auth-name: takes a host "
                                               "name such as dns.example.net, or \"\" for none, "
                                               "not a list");
    expect_error("upstream: {auth-nam: a}",
                 "1:12: error: upstream.auth-nam: is unknown; did you mean auth-name?");
}

static void test_non_ascii_names_get_a_hint_at_their_ascii_form(void **state)
{
    (void)state;
    assert_null(load_text("upstream: {auth-name: d\303\274sseldorf.example}\n" ZONE));
    assert_non_null(strstr(errors_text, "; write it in ASCII, with xn-- labels\n"));
}

static void test_a_name_may_have_253_bytes(void **state)
{
    (void)state;
    char text[400], name[256];
    for (size_t i = 0; i < 254; i++)
        name[i] = i % 50 == 49 ? '.' : 'a';
    name[253] = '\0';
    snprintf(text, sizeof(text), "upstream: {auth-name: %s}\n" ZONE, name);
    expect_fine(text);
    name[253] = 'a';
    name[254] = '\0';
    snprintf(text, sizeof(text), "upstream: {auth-name: %s}\n" ZONE, name);
    assert_null(load_text(text));
}

static void test_pins(void **state)
{
    (void)state;
    expect_error("upstream: {pin-sha256: [\"\"]}",
                 "1:25: error: upstream.pin-sha256[0]: " PIN_TAKES "\"\"");
    expect_error("upstream: {pin-sha256: [Zm9v]}",
                 "1:25: error: upstream.pin-sha256[0]: " PIN_TAKES "\"Zm9v\"");
    expect_error("upstream: {pin-sha256: [" PIN ", " PIN "]}",
                 "1:71: error: upstream.pin-sha256[1]: is given twice; keep one of them");
    expect_error("upstream: {pin-sha256: [" PIN ", \"sha256//" PIN "\"]}",
                 "1:71: error: upstream.pin-sha256[1]: is given twice; keep one of them");
    expect_error("upstream: {pin-sha256: [{a: b}]}",
                 "1:25: error: upstream.pin-sha256[0]: takes the SHA-256 of a public key as 44 "
                 "characters of base64 that end in =, not a mapping");
    expect_error("upstream: {pin-sha256: " PIN "}",
                 "1:24: error: upstream.pin-sha256: takes a list of pins in base64 such as "
                 "[" PIN "], not \"" PIN "\"; write it between [ and ]");
    expect_error("tcp-upstream-keepalive: [{prefix: 10.0.0.1, pin-sha256: [x]}]",
                 "1:58: error: tcp-upstream-keepalive[0].pin-sha256[0]: " PIN_TAKES "\"x\"");
}

static void test_pins_in_other_alphabets_get_a_hint(void **state)
{
    (void)state;
    assert_null(
        load_text("upstream: {pin-sha256: "
                  "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]}\n" ZONE));
    assert_non_null(strstr(errors_text, "; this is hexadecimal: write base64, and the hash of the "
                                        "public key, not of the certificate\n"));
    assert_null(
        load_text("upstream: {pin-sha256: [fBvsCJ-wnwFhEsiGyKQHmIHKJJkFk5A_fKsJpIxEKQ4=]}\n" ZONE));
    assert_non_null(strstr(errors_text, "; its characters are A to Z, a to z, 0 to 9, + and /\n"));
}

static void test_too_many_pins_are_refused(void **state)
{
    (void)state;
    char text[2048] = "upstream: {pin-sha256: [";
    for (int i = 0; i < TLS_PINS_MAX; i++) {
        char pin[64];
        snprintf(pin, sizeof(pin), "%cAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=, ", 'A' + i);
        strcat(text, pin);
    }
    size_t len = strlen(text);
    strcpy(text + len, "]}\n" ZONE);
    expect_fine(text);
    strcpy(text + len, PIN "]}\n" ZONE);
    expect_errors(text, "f:1:24: error: upstream.pin-sha256: has 17 pins; takes 0 to 16\n");
}

#define TLS_ZONE(upstreams) "forward-zones: [{name: ., upstreams: [" upstreams "], transport: tls}]"

static void test_names_behind_addresses(void **state)
{
    (void)state;
    expect_errors(TLS_ZONE("192.0.2.1#192.0.2.2"),
                  "f:1:39: error: forward-zones[0].upstreams[0]: has the address 192.0.2.2 after "
                  "the #; leave it out: without a name the certificate must match the address\n");
    expect_errors(TLS_ZONE("192.0.2.1#a..b"),
                  "f:1:39: error: forward-zones[0].upstreams[0]: " ADDRESS_TAKES
                  "\"192.0.2.1#a..b\"; the text after the # is not a host name\n");
    expect_errors(TLS_ZONE("192.0.2.1@853#"),
                  "f:1:39: error: forward-zones[0].upstreams[0]: " ADDRESS_TAKES
                  "\"192.0.2.1@853#\"; the text after the # is not a host name\n");
    expect_errors(TLS_ZONE("192.0.2.1:853#dns.example.net"),
                  "f:1:39: error: forward-zones[0].upstreams[0]: " ADDRESS_TAKES
                  "\"192.0.2.1:853#dns.example.net\"; write the port after an @\n");
    expect_errors(TLS_ZONE("router"),
                  "f:1:39: error: forward-zones[0].upstreams[0]: " ADDRESS_TAKES
                  "\"router\"; a host name has a dot, as in dns.example.net or router.\n");
    expect_error("server: {listen: [192.0.2.1#a.example]}",
                 "1:19: error: server.listen[0]: has a name (#a.example), which only upstreams may "
                 "have; leave it out");
    expect_error("server: {outgoing: [192.0.2.1#a.example]}",
                 "1:21: error: server.outgoing[0]: has a name (#a.example), which only upstreams "
                 "may have; leave it out");
}

static void test_a_name_without_tls_is_refused(void **state)
{
    (void)state;
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1, 192.0.2.2#dns.example.net]}]",
                  "f:1:50: error: forward-zones[0].upstreams[1]: names a server for TLS "
                  "(#dns.example.net), but is asked over udp; write transport: tls in the zone, or "
                  "leave the name out\n");
    expect_errors("tcp-upstream-keepalive: [192.0.2.0/24]\n"
                  "forward-zones:\n"
                  "  - name: .\n"
                  "    upstreams:\n"
                  "      - 192.0.2.2@853#dns.example.net\n",
                  "f:5:9: error: forward-zones[0].upstreams[0]: names a server for TLS "
                  "(#dns.example.net), but is asked over tcp; write transport: tls in the zone, or "
                  "leave the name out\n");
    expect_fine("tcp-upstream-keepalive: [{prefix: 192.0.2.0/24, transport: tls}]\n"
                "forward-zones: [{name: ., upstreams: [192.0.2.2#dns.example.net]}]\n");
    expect_fine("upstream: {transport: tls}\n"
                "forward-zones: [{name: ., upstreams: [192.0.2.2#dns.example.net]}]\n");
}

static void test_one_server_given_with_and_without_its_port(void **state)
{
    (void)state;
    expect_errors(TLS_ZONE("192.0.2.1, 192.0.2.1@853#a.example"),
                  "f:1:50: error: forward-zones[0].upstreams[1]: 192.0.2.1@853 is given twice; "
                  "keep one of them\n");
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1, 192.0.2.1@53]}]",
                  "f:1:50: error: forward-zones[0].upstreams[1]: 192.0.2.1@53 is given twice; keep "
                  "one of them\n");
    expect_errors(TLS_ZONE("192.0.2.1#a.example, 192.0.2.1#b.example"),
                  "f:1:60: error: forward-zones[0].upstreams[1]: 192.0.2.1#b.example is given "
                  "twice; keep one of them\n");
    expect_fine(TLS_ZONE("192.0.2.1, 192.0.2.1@53"));
}

static void test_keys_of_tls_in_a_zone_without_tls(void **state)
{
    (void)state;
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1], auth-name: a.example}]",
                  "f:1:51: error: forward-zones[0].auth-name: is about TLS, but no upstream of "
                  "this zone uses it; write transport: tls, or leave it out\n");
    expect_errors(
        "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tcp, pin-sha256: [" PIN "]}]",
        "f:1:67: error: forward-zones[0].pin-sha256: is about TLS, but no upstream of this zone "
        "uses it; write transport: tls, or leave it out\n");
    expect_fine("tcp-upstream-keepalive: [{prefix: 192.0.2.1, transport: tls}]\n"
                "forward-zones: [{name: ., upstreams: [192.0.2.1, 198.51.100.1], auth-name: a}]\n");
    expect_fine("upstream: {auth-name: a.example, pin-sha256: [" PIN "]}\n"
                "tcp-upstream-keepalive: [{prefix: 10.0.0.1, auth-name: b.example}]\n" ZONE);
}

#define PLAIN                                                                                      \
    "udp is plain text, which transport: tls with profile: strict never sends; leave it out, or "  \
    "write profile: opportunistic"

static void test_fallback_to_plain_text_beside_strict_tls(void **state)
{
    (void)state;
    expect_error("upstream: {transport: tls, fallback: udp}",
                 "1:28: error: upstream.fallback: " PLAIN);
    expect_error("tcp-upstream-keepalive: [10.0.0.1, {prefix: 10.0.0.2, transport: tls, fallback: "
                 "udp}]",
                 "1:71: error: tcp-upstream-keepalive[1].fallback: " PLAIN);
    expect_errors("upstream: {profile: opportunistic}\nforward-zones:\n"
                  "  - {name: a, upstreams: [10.0.0.1], transport: tls, fallback: udp}\n"
                  "  - {name: b, upstreams: [10.0.0.1], transport: tls, fallback: udp, profile: "
                  "strict}\n",
                  "f:4:54: error: forward-zones[1].fallback: " PLAIN "\n");
    expect_fine("upstream: {transport: tls, fallback: udp, profile: opportunistic}\n" ZONE);
    expect_fine("upstream: {fallback: udp}\n" TLS_ZONE("192.0.2.1"));
}

static void test_half_of_a_client_certificate(void **state)
{
    (void)state;
    expect_error("upstream: {client-certificate: /a}",
                 "1:12: error: upstream.client-certificate: needs client-key; give both or none");
    expect_error("upstream: {client-key: /a}",
                 "1:12: error: upstream.client-key: needs client-certificate; give both or none");
    expect_error("upstream: {client-certificate: /a, client-key: /b}\n"
                 "tcp-upstream-keepalive: [{prefix: 10.0.0.1, client-key: \"\"}]",
                 "2:45: error: tcp-upstream-keepalive[0].client-key: is empty, but "
                 "client-certificate is not; give both or none");
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, "
                  "client-certificate: /a}]",
                  "f:1:67: error: forward-zones[0].client-certificate: needs client-key; give both "
                  "or none\n");
    expect_fine("upstream: {client-certificate: /a, client-key: /b}\n"
                "tcp-upstream-keepalive: [{prefix: 10.0.0.1, client-certificate: /c}]\n" ZONE);
}

#define ENTRY_PAIR                                                                                 \
    "tcp-upstream-keepalive: [{prefix: 192.0.2.0/24, client-certificate: /a, client-key: /b}]\n"
#define HALVED(key)                                                                                \
    "f:2:67: error: forward-zones[0]." key ": with the entry of tcp-upstream-keepalive for "       \
    "192.0.2.1@853 only one of client-certificate and client-key is left; give both here\n"

static void test_half_of_a_client_certificate_that_an_entry_leaves(void **state)
{
    (void)state;
    expect_errors(ENTRY_PAIR "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, "
                             "client-certificate: \"\"}]",
                  HALVED("client-certificate"));
    expect_errors(ENTRY_PAIR "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, "
                             "client-key: \"\"}]",
                  HALVED("client-key"));
    expect_fine(ENTRY_PAIR "forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, "
                           "client-key: \"\", client-certificate: \"\"}]");
    expect_fine(ENTRY_PAIR "forward-zones: [{name: ., upstreams: [198.51.100.1], transport: tls, "
                           "client-key: \"\"}]");
}

static void test_listeners_may_be_tls_only(void **state)
{
    (void)state;
    struct config *config = load_fine("server: {listen: [], listen-tls: [127.0.0.1], "
                                      "tls-certificate: /a, tls-key: /b}\n" ZONE);
    assert_int_equal(config->server.listen_count, 0);
    assert_int_equal(config->server.listen_tls_count, 1);
    config_free(config);
    expect_error("server: {listen: [], listen-tls: []}",
                 "1:10: error: server.listen: has no address, and neither has listen-tls or "
                 "listen-https: no client could send queries; add one");
    config = load_fine("server: {listen: [], listen-https: [127.0.0.1], "
                       "tls-certificate: /a, tls-key: /b}\n" ZONE);
    assert_int_equal(config->server.listen_https_count, 1);
    config_free(config);
    expect_error("server: {listen: [], listen-tls: [x]}",
                 "1:35: error: server.listen-tls[0]: " ADDRESS_TAKES
                 "\"x\"; names are not looked up");
}

static void test_listeners_over_tls(void **state)
{
    (void)state;
    expect_error("server: {listen-tls: [127.0.0.1]}",
                 "1:10: error: server.listen-tls: needs tls-certificate and tls-key");
    expect_error("server: {listen-tls: [127.0.0.1], tls-key: /k}",
                 "1:10: error: server.listen-tls: needs tls-certificate");
    expect_error("server: {listen-tls: [127.0.0.1], tls-certificate: /c}",
                 "1:10: error: server.listen-tls: needs tls-key");
    expect_error(
        "server: {listen: [127.0.0.1@853], listen-tls: [127.0.0.1], tls-certificate: /c, tls-key: "
        "/k}",
        "1:35: error: server.listen-tls: 127.0.0.1@853 is in server.listen too; one of them "
        "needs another port");
    expect_error(
        "server: {listen-tls: [127.0.0.1, 127.0.0.1@853], tls-certificate: /c, "
        "tls-key: /k}",
        "1:34: error: server.listen-tls[1]: 127.0.0.1@853 is given twice; keep one of them");
    expect_fine("server: {tls-certificate: /c, tls-key: /k}\n" ZONE);
    expect_fine("server: {tls-certificate: /c}\n" ZONE);
}

static void test_listeners_over_https(void **state)
{
    (void)state;
    expect_error("server: {listen-https: [127.0.0.1]}",
                 "1:10: error: server.listen-https: needs tls-certificate and tls-key");
    expect_error("server: {listen: [127.0.0.1@443], listen-https: [127.0.0.1], tls-certificate: "
                 "/c, tls-key: /k}",
                 "1:35: error: server.listen-https: 127.0.0.1@443 is in server.listen too; one of "
                 "them needs another port");
    expect_error("server: {listen-tls: [127.0.0.1@443], listen-https: [127.0.0.1], "
                 "tls-certificate: /c, tls-key: /k}",
                 "1:39: error: server.listen-https: 127.0.0.1@443 is in server.listen-tls too; one "
                 "of them needs another port");
    expect_errors(
        "server: {listen-https: [127.0.0.1@8853], tls-certificate: /c, tls-key: /k}\n" TLS_ZONE(
            "127.0.0.1@8853"),
        "f:2:17: error: forward-zones[0]: 127.0.0.1@8853 is an address of "
        "server.listen-https: queries would loop\n");
    expect_error("server: {https-path: dns-query}",
                 "1:22: error: server.https-path: takes a path of at most 255 letters, digits and "
                 "-._~/ that begins with a slash, such as /dns-query, not \"dns-query\"");
}

static void test_loops_over_tls_are_refused(void **state)
{
    (void)state;
    static const char server[] =
        "server: {listen-tls: [127.0.0.1@8853], tls-certificate: /c, tls-key: /k}\n";
    char text[512];
    snprintf(text, sizeof(text), "%s%s", server, TLS_ZONE("127.0.0.1@8853"));
    expect_errors(text, "f:2:17: error: forward-zones[0]: 127.0.0.1@8853 is an address of "
                        "server.listen-tls: queries would loop\n");
    expect_errors("server: {listen: [127.0.0.1@5300]}\n"
                  "forward-zones: [{name: ., upstreams: [127.0.0.1], transport: tls, profile: "
                  "opportunistic, fallback-port: 5300}]",
                  "f:2:17: error: forward-zones[0]: 127.0.0.1@5300 is an address of server.listen: "
                  "queries would loop\n");
    expect_fine("server: {listen: [127.0.0.1@53]}\n" TLS_ZONE("127.0.0.1"));
}

static void test_trust_takes_strict_tls(void **state)
{
    (void)state;
    expect_fine("forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, trust-ad: "
                "yes}]");
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1], transport: tls, profile: "
                  "opportunistic, trust-ad: yes}]",
                  "f:1:17: error: forward-zones[0]: trust-ad: yes needs upstreams over TLS with "
                  "profile: strict, or on the loopback interface, and 192.0.2.1@853 is neither: "
                  "its answers could be changed in transit\n");
}

static void test_one_file_for_two_kinds_of_secrets(void **state)
{
    (void)state;
    expect_error("upstream: {session-file: /x/s}\nlog: {tls-keys: /x/s}",
                 "2:7: error: log.tls-keys: is the file of upstream.session-file; name another");
    expect_error("cache: {snapshot: /x/s}\nupstream: {session-file: /x/s}",
                 "1:9: error: cache.snapshot: is the file of upstream.session-file; name another");
    expect_error("cache: {snapshot: /x/s}\nlog: {tls-keys: /x/s}",
                 "2:7: error: log.tls-keys: is the file of cache.snapshot; name another");
    expect_error("tcp-upstream-keepalive: [{prefix: 10.0.0.1, session-file: /x/s}]",
                 "1:45: error: tcp-upstream-keepalive[0].session-file: applies to the whole "
                 "process; move it to the section upstream");
}

static void test_words_and_bounds(void **state)
{
    (void)state;
    expect_error("upstream: {profile: strickt}",
                 "1:21: error: upstream.profile: takes strict or opportunistic, not \"strickt\"; "
                 "did you mean strict?");
    expect_error("upstream: {max-handshakes: 0}",
                 "1:28: error: upstream.max-handshakes: 0 is out of range; takes 1 to 100000 "
                 "handshakes a second");
    expect_error("upstream: {fallback-port: 0}",
                 "1:27: error: upstream.fallback-port: 0 is out of range; takes 1 to 65535");
    expect_error("upstream: {tls-ciphers: [a]}",
                 "1:25: error: upstream.tls-ciphers: takes words separated by colons, or "
                 "\"\" for none, not a list");
}

static void test_texts_have_a_bound(void **state)
{
    (void)state;
    char text[2048], words[1100];
    memset(words, 'A', sizeof(words));
    words[1024] = '\0';
    snprintf(text, sizeof(text), "upstream: {tls-ciphers: %s}\n" ZONE, words);
    expect_fine(text);
    words[1024] = 'A';
    words[1025] = '\0';
    snprintf(text, sizeof(text), "upstream: {tls-ciphers: %s}\n" ZONE, words);
    assert_null(load_text(text));
    assert_non_null(strstr(errors_text, "; it is too long\n"));
}

/* Errors that are found late name the item by its place in the file, even if other items are wrong
 * too. */
static void test_late_errors_count_items_as_the_file_does(void **state)
{
    (void)state;
    expect_errors(
        "forward-zones:\n"
        "  - {name: a..b, upstreams: [192.0.2.1]}\n"
        "  - {name: c, upstreams: [192.0.2.1], auth-name: a}\n",
        "f:2:12: error: forward-zones[0].name: takes a domain name such as corp.example, or a "
        "single dot for everything, not \"a..b\"\nf:3:39: error: forward-zones[1].auth-name: is "
        "about TLS, but no upstream of this zone uses it; write transport: tls, or leave it out\n");
}

/* Each error searches for its place in the file, and the total must not be quadratic. */
static void test_an_error_in_each_of_many_zones(void **state)
{
    (void)state;
    enum { ZONES = 15000 };
    char *text = malloc(ZONES * 64 + 128);
    size_t len = (size_t)sprintf(text, "forward-zones:\n");
    for (size_t i = 0; i < ZONES; i++)
        len += (size_t)sprintf(text + len, "- {name: z%zu, upstreams: [192.0.2.1#a.example]}\n", i);
    assert_null(load_text(text));
    assert_non_null(strstr(errors_text, "14900 more errors are not shown\n"));
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_host_names),
        cmocka_unit_test(test_non_ascii_names_get_a_hint_at_their_ascii_form),
        cmocka_unit_test(test_a_name_may_have_253_bytes),
        cmocka_unit_test(test_pins),
        cmocka_unit_test(test_pins_in_other_alphabets_get_a_hint),
        cmocka_unit_test(test_too_many_pins_are_refused),
        cmocka_unit_test(test_names_behind_addresses),
        cmocka_unit_test(test_a_name_without_tls_is_refused),
        cmocka_unit_test(test_one_server_given_with_and_without_its_port),
        cmocka_unit_test(test_keys_of_tls_in_a_zone_without_tls),
        cmocka_unit_test(test_fallback_to_plain_text_beside_strict_tls),
        cmocka_unit_test(test_half_of_a_client_certificate),
        cmocka_unit_test(test_half_of_a_client_certificate_that_an_entry_leaves),
        cmocka_unit_test(test_listeners_may_be_tls_only),
        cmocka_unit_test(test_listeners_over_tls),
        cmocka_unit_test(test_listeners_over_https),
        cmocka_unit_test(test_loops_over_tls_are_refused),
        cmocka_unit_test(test_trust_takes_strict_tls),
        cmocka_unit_test(test_one_file_for_two_kinds_of_secrets),
        cmocka_unit_test(test_words_and_bounds),
        cmocka_unit_test(test_texts_have_a_bound),
        cmocka_unit_test(test_late_errors_count_items_as_the_file_does),
        cmocka_unit_test(test_an_error_in_each_of_many_zones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
