/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/check.h"
#include "tap/dnstap.h"
#include "unit/config/config_text.h"

/* Loads the text with a zone added, and expects this one error. */
static void expect_error(const char *text, const char *error)
{
    char whole[4096], line[2048];
    snprintf(whole, sizeof(whole), "%s\n%s", text, ZONE);
    snprintf(line, sizeof(line), "f:%s\n", error);
    expect_errors(whole, line);
}

static void test_unknown_keys(void **state)
{
    (void)state;
    expect_error("server: {lsiten: []}",
                 "1:10: error: server.lsiten: is unknown; did you mean listen?");
    expect_error("server: {max_clients: 1}",
                 "1:10: error: server.max_clients: is unknown; did you mean max-clients?");
    expect_error("upstreams: {}", "1:1: error: upstreams: is unknown; did you mean upstream?");
    expect_error("zebra: 1", "1:1: error: zebra: is unknown; nailup.yaml(5) lists all keys");
    expect_error("upstream: {tcp-keepalive: {idel: 1s}}",
                 "1:28: error: upstream.tcp-keepalive.idel: is unknown; did you mean idle?");
    expect_error("server.workers: 1",
                 "1:1: error: server.workers: is unknown; nailup.yaml(5) lists all keys");
    expect_error("\"forward-zones[]\": {name: .}",
                 "1:1: error: forward-zones[]: is unknown; did you mean forward-zones?");
    expect_error("tcp-upstream-keepalive: [{prefix: 10.0.0.1, conections: 2}]",
                 "1:45: error: tcp-upstream-keepalive[0].conections: is unknown; did you mean "
                 "connections?");
}

static void test_words_of_other_resolvers_lead_to_the_key(void **state)
{
    (void)state;
    expect_error("server: {port: 53}", "1:10: error: server.port: is unknown; the key here is "
                                       "server.listen, as in 127.0.0.1@5300");
    expect_error("server: {listen-on: []}",
                 "1:10: error: server.listen-on: is unknown; the key here is server.listen");
    expect_error("server: {num-threads: 2}",
                 "1:10: error: server.num-threads: is unknown; the key here is server.workers");
    expect_error("forwarders: [192.0.2.1]",
                 "1:1: error: forwarders: is unknown; the key here is forward-zones");
    /* The hint comes only where the word has that meaning. */
    expect_error("cache: {port: 53}", "1:9: error: cache.port: is unknown here; it belongs to the "
                                      "section recursion");
    assert_null(load_text("forward-zones: [{zone: ., servers: [192.0.2.1]}]\n"));
    assert_non_null(strstr(errors_text, "[0].zone: is unknown; the key here is name\n"));
    assert_non_null(strstr(errors_text, "[0].servers: is unknown; the key here is upstreams\n"));
}

static void test_on_is_never_taken_for_no(void **state)
{
    (void)state;
    expect_error("dnssec: {validate: \"on\"}",
                 "1:20: error: dnssec.validate: takes no, log or yes, "
                 "not \"on\"; did you mean yes?");
    expect_error("dnssec: {aggressive: \"off\"}",
                 "1:22: error: dnssec.aggressive: takes no, tops or "
                 "yes, not \"off\"; did you mean no?");
}

static void test_lines_that_do_not_align_are_named(void **state)
{
    (void)state;
    assert_null(load_text("server:\n  workers: 1\n   listen: []\n"));
    assert_non_null(strstr(errors_text, "f:3:10: error: file: is not YAML: two keys in one value; "
                                        "begin each key in a line of its own"));
    expect_errors("server:\n  workers: 1\n listen: []\n",
                  "f:3:2: error: file: is not YAML: this line does not align with line 1; keys of "
                  "one section begin in one column\n");
    assert_null(load_text("forward-zones:\n  - name: .\n    upstreams:\n    - 192.0.2.1\n"
                          "   - 192.0.2.2\n"));
    assert_non_null(strstr(errors_text, "f:5:4: error: file: is not YAML: this line does not align "
                                        "with the list of line 2"));
    assert_null(load_text("local-data: [\"a\n"));
    assert_non_null(strstr(errors_text, "the quote of line 1 has no end\n"));
    assert_null(load_text("server: {workers: 1\ncache: {size: 1MiB}\n"));
    assert_non_null(strstr(errors_text, "the { of line 1 has no end, or a comma is missing\n"));
    /* Another mistake in such a line gets no hint about alignment. */
    assert_null(load_text("local-data:\n  - \"a\" b\n"));
    assert_null(strstr(errors_text, "align"));
}

static void test_a_key_in_the_wrong_section_names_the_right_one(void **state)
{
    (void)state;
    expect_error(
        "server: {serve-stale: 1d}",
        "1:10: error: server.serve-stale: is unknown here; it belongs to the section cache");
    expect_error("server: {block-aliases: no}",
                 "1:10: error: server.block-aliases: is unknown here; it belongs to the top of the "
                 "file, outside of all sections, or an item of views");
    expect_error("cache: {idle: 1s}", "1:9: error: cache.idle: is unknown here; it belongs to the "
                                      "section upstream.tcp-keepalive");
    expect_error("cache: {tcp-keepalive: {idle: 1s}}",
                 "1:9: error: cache.tcp-keepalive: is unknown here; it belongs to the section "
                 "upstream");
    expect_error("server: {trust-ad: no}", "1:10: error: server.trust-ad: is unknown here; it "
                                           "belongs to an item of forward-zones");
    expect_error("server: {socket: x}", "1:10: error: server.socket: is unknown here; it belongs "
                                        "to the section control or the section dnstap");
    expect_error("cache: {max-tll: 1s}",
                 "1:9: error: cache.max-tll: is unknown; did you mean max-ttl?");
}

static void test_mistakes_that_addresses_invite_are_explained(void **state)
{
    (void)state;
    expect_errors("server: {listen: [::1@53]}\n",
                  "f:1:19: error: file: is not YAML: an IPv6 address that begins or ends with : "
                  "needs quotes, as in \"::1\"\n");
    expect_errors("server:\n  access:\n    - {prefix: ::1, action: allow}\n",
                  "f:3:16: error: file: is not YAML: an IPv6 address that begins or ends with : "
                  "needs quotes, as in \"::1\"\n");
    expect_errors("server:\n\tworkers: 1\n",
                  "f:2:1: error: file: is not YAML: a line is indented with a tab; use spaces\n");
    expect_errors("server:\n  workers: 1\n\tmax-clients: 1\n",
                  "f:3:1: error: file: is not YAML: a line is indented with a tab; use spaces\n");
    assert_null(load_text("forward-zones:\n- {name: ., upstreams: [192.0.2.1 #ns.example]}\n"));
    assert_non_null(strstr(errors_text, "a # after a space begins a comment"));
    /* The hints come only with these mistakes. */
    assert_null(load_text("server: {listen: [\n"));
    assert_null(strstr(errors_text, "IPv6"));
    assert_null(strstr(errors_text, "tab"));
}

static void expect_warnings(const char *text, const char *warnings)
{
    struct config *config = load_fine(text);
    struct span span = buf_span(&config->warnings);
    assert_int_equal(span.len, strlen(warnings));
    if (span.len)
        assert_memory_equal(span.data, warnings, span.len);
    config_free(config);
}

static void test_a_name_that_is_a_comment_gets_a_warning(void **state)
{
    (void)state;
    expect_warnings("forward-zones:\n  - name: \"ü.example\"\n    upstreams:\n"
                    "      - 192.0.2.1 #dns.Example\n      - 192.0.2.2 # a remark\n"
                    "      - 192.0.2.3 #remark of two\n      - \"2001:db8::1\"\n",
                    "f:4:9: warning: forward-zones[0].upstreams[0]: #dns.example is a comment, "
                    "because a space precedes it; for the name of the server write "
                    "192.0.2.1#dns.example\n");
    expect_warnings("server:\n  workers: 1 #x\n" ZONE, "");
    expect_warnings(ZONE "#dns.example", "");
}

static void test_wrong_types(void **state)
{
    (void)state;
    expect_error("server: 1", "1:9: error: server: takes a mapping of keys to values, not \"1\"");
    expect_error("server: listen:5", "1:9: error: server: takes a mapping of keys to values, not "
                                     "\"listen:5\"; is a space missing after a colon?");
    expect_error("cache: [size]",
                 "1:8: error: cache: takes a mapping of keys to values, not a list");
    expect_error("server: {workers: [1]}",
                 "1:19: error: server.workers: takes a whole number, not a list");
    expect_error("server: {workers: }",
                 "1:19: error: server.workers: has no value; takes a whole number");
    expect_error("server: {listen: 127.0.0.1}",
                 "1:18: error: server.listen: takes a list of addresses such as [127.0.0.1@53, "
                 "\"::1@53\"], not \"127.0.0.1\"; write it between [ and ]");
    expect_error("server: {listen: [{}]}",
                 "1:19: error: server.listen[0]: takes an address such as 192.0.2.53, "
                 "192.0.2.53@5353 or \"::1@53\", not a mapping");
    expect_error("server: {access: [10.0.0.0/8]}",
                 "1:19: error: server.access[0]: takes a mapping such as {prefix: 10.0.0.0/8, "
                 "action: allow}, not \"10.0.0.0/8\"");
    expect_error("control: {socket: {a: b}}",
                 "1:19: error: control.socket: takes a path, or \"\" for none, not a mapping");
}

static void test_words_that_are_not_of_the_kind(void **state)
{
    (void)state;
    expect_error(
        "server: {minimal-responses: YES}",
        "1:29: error: server.minimal-responses: takes yes or no, not \"YES\"; did you mean "
        "yes?");
    expect_error("server: {workers: 853abc}",
                 "1:19: error: server.workers: takes a whole number, not \"853abc\"");
    expect_error(
        "upstream: {query-timeout: 2}",
        "1:27: error: upstream.query-timeout: takes a duration such as 250ms, 10s, 5m, 1h or "
        "1d, not \"2\"; the unit is missing");
    expect_error(
        "upstream: {max-age: nevre}",
        "1:21: error: upstream.max-age: takes never or a duration such as 250ms, 10s, 5m, 1h "
        "or 1d, not \"nevre\"; did you mean never?");
    expect_error(
        "cache: {min-ttl: 1500ms}",
        "1:18: error: cache.min-ttl: takes a duration in whole seconds such as 10s, 5m, 1h or "
        "1d, not \"1500ms\"");
    expect_error(
        "cache: {size: 10MB}",
        "1:15: error: cache.size: takes a size such as 64KiB, 256MiB or 2GiB, not \"10MB\"; "
        "the units are B, KiB, MiB and GiB");
    expect_error(
        "upstream: {fallback: upd}",
        "1:22: error: upstream.fallback: takes udp or none, not \"upd\"; did you mean udp?");
    expect_error("log: {level: warn}", "1:14: error: log.level: takes error, warning, notice, info "
                                       "or debug, not \"warn\"; did you mean warning?");
    expect_error("control: {socket: \"a\\tb\"}",
                 "1:19: error: control.socket: takes a path, or \"\" for none, not \"a?b\"");
}

static void test_values_out_of_range(void **state)
{
    (void)state;
    expect_error("server: {workers: 1025}",
                 "1:19: error: server.workers: 1025 is out of range; takes 0 to 1024 threads");
    expect_error("server: {max-udp-size: 511}",
                 "1:24: error: server.max-udp-size: 511 is out of range; takes 512 to 4096 bytes");
    expect_error("upstream: {max-requests: 0}",
                 "1:26: error: upstream.max-requests: 0 is out of range; takes 1 to 65535 queries");
    expect_error(
        "tcp-upstream-keepalive-maxrequests: 65536",
        "1:37: error: tcp-upstream-keepalive-maxrequests: 65536 is out of range; takes 1 to "
        "65535 queries");
    expect_error("upstream: {max-age: 0s}",
                 "1:21: error: upstream.max-age: 0s is out of range; takes never or 1s to 30d");
    expect_error("cache: {size: 1023KiB}",
                 "1:15: error: cache.size: 1023KiB is out of range; takes 1MiB to 1024GiB");
    expect_error("server: {listen: []}", "1:10: error: server.listen: has no address, and neither "
                                         "has listen-tls or listen-https: no client could send "
                                         "queries; add one");
    char many[2048] = "server: {outgoing: [10.0.0.1";
    for (unsigned i = 2; i <= 65; i++)
        snprintf(many + strlen(many), sizeof(many) - strlen(many), ", 10.0.0.%u", i);
    strcat(many, "]}");
    expect_error(many, "1:20: error: server.outgoing: has 65 entries; takes 0 to 64");
}

static void test_zones_of_addresses(void **state)
{
    (void)state;
    expect_error("server: {listen: [\"fe80::1\"]}",
                 "1:19: error: server.listen[0]: fe80::1 exists on every link; add the interface, "
                 "as in fe80::1%eth0");
    expect_error("server: {listen: [\"fe80::1%nosuch0\"]}",
                 "1:19: error: server.listen[0]: takes an address such as 192.0.2.53, "
                 "192.0.2.53@5353 or \"::1@53\", not \"fe80::1%nosuch0\"; this machine has no such "
                 "interface now: take one that `ip link` lists");
#define TAKES_PREFIX                                                                               \
    "takes an address or a prefix such as 10.1.1.1, 10.50.1.64/27 or \"2001:db8::/32\", without "  \
    "a "                                                                                           \
    "port, not "
    expect_error("tcp-upstream-keepalive: [\"fe80::1%nosuch0\"]",
                 "1:26: error: tcp-upstream-keepalive[0]: " TAKES_PREFIX
                 "\"fe80::1%nosuch0\"; this machine has no such interface now: take one that "
                 "`ip link` lists");
    expect_error("server: {access: [{prefix: \"fe80::/10%lo\", action: allow}]}",
                 "1:28: error: server.access[0].prefix: " TAKES_PREFIX
                 "\"fe80::/10%lo\"; only a single address has an interface after a %");
    expect_error("server: {access: [{prefix: \"2001:db8::1%lo\", action: allow}]}",
                 "1:28: error: server.access[0].prefix: " TAKES_PREFIX
                 "\"2001:db8::1%lo\"; only link-local addresses have an interface after a %");
    expect_error(
        "metrics: {listen: \"fe80::1\"}",
        "1:19: error: metrics.listen: takes an address such as 127.0.0.1@9953 or \"::1@9953\", or "
        "\"\" for none, not \"fe80::1\"; add the interface, as in fe80::1%eth0");
}

#define TAKES_ADDRESS "takes an address such as 192.0.2.53, 192.0.2.53@5353 or \"::1@53\", not "

static void test_addresses(void **state)
{
    (void)state;
    expect_error("server: {listen: [127.0.0.1:53]}", "1:19: error: server.listen[0]: " TAKES_ADDRESS
                                                     "\"127.0.0.1:53\"; write the port after an @");
    expect_error("server: {listen: [\"[::1]:53\"]}",
                 "1:19: error: server.listen[0]: " TAKES_ADDRESS
                 "\"[::1]:53\"; write it without brackets, and the port after an @");
    expect_error("server: {listen: [localhost]}", "1:19: error: server.listen[0]: " TAKES_ADDRESS
                                                  "\"localhost\"; names are not looked up");
    expect_error("server: {listen: [10.0.0.0/8]}", "1:19: error: server.listen[0]: " TAKES_ADDRESS
                                                   "\"10.0.0.0/8\"; a prefix is not allowed here");
    expect_error("server: {listen: [127.0.0.1@0]}",
                 "1:19: error: server.listen[0]: has port 0; write 1 to 65535");
    expect_error("server: {listen: [224.0.0.1]}",
                 "1:19: error: server.listen[0]: 224.0.0.1 is not an address of a single machine");
    expect_error("server: {listen: [127.0.0.1, 127.0.0.1@53]}",
                 "1:30: error: server.listen[1]: 127.0.0.1@53 is given twice; keep one of them");
    expect_error("server: {outgoing: [10.0.0.1@53]}",
                 "1:21: error: server.outgoing[0]: 10.0.0.1@53 has a port; leave it out, because "
                 "each query uses a new port");
    expect_error("server: {outgoing: [10.0.0.1, \"::2\", 10.0.0.1]}",
                 "1:38: error: server.outgoing[2]: 10.0.0.1 is given twice; keep one of them");
    expect_error("server: {outgoing: [\"2001:db8::5/64\"]}",
                 "1:21: error: server.outgoing[0]: 2001:db8::5/64 has bits after its prefix; write "
                 "2001:db8::/64 for all addresses of the prefix, or leave /64 out for this one "
                 "address");
    expect_error("server: {outgoing: [10.0.0.0/33]}",
                 "1:21: error: server.outgoing[0]: takes an address such as 192.0.2.7, or a prefix "
                 "such as 2001:db8::/64, not \"10.0.0.0/33\"");
    static const char *const unusable[] = {"224.0.0.0/8", "128.0.0.0/1", "240.0.0.0/24", "::/0",
                                           "ff02::/16",   "8000::/1",    "fc00::/6"};
    static const char *const link_local[] = {"fe80::/64", "fe80::/10", "fe00::/8", "fe80::1/128"};
    char yaml[128], message[256];
    for (unsigned i = 0; i < ARRAY_LEN(unusable); i++) {
        snprintf(yaml, sizeof(yaml), "server: {outgoing: [\"%s\"]}", unusable[i]);
        snprintf(message, sizeof(message),
                 "1:21: error: server.outgoing[0]: %s has addresses that no machine can have; "
                 "write the prefix that your routers send here, such as 2001:db8::/64",
                 unusable[i]);
        expect_error(yaml, message);
    }
    for (unsigned i = 0; i < ARRAY_LEN(link_local); i++) {
        snprintf(yaml, sizeof(yaml), "server: {outgoing: [\"%s\"]}", link_local[i]);
        snprintf(message, sizeof(message),
                 "1:21: error: server.outgoing[0]: %s has link-local addresses, which need an "
                 "interface; write single addresses, as in fe80::1%%eth0",
                 link_local[i]);
        expect_error(yaml, message);
    }
    expect_error("server: {outgoing: [\"::\"]}",
                 "1:21: error: server.outgoing[0]: :: is not an address of this machine; without "
                 "one the system chooses");
}

static void test_access_entries(void **state)
{
    (void)state;
    expect_error(
        "server: {access: [{prefix: 10.0.0.0/8, action: alow}]}",
        "1:48: error: server.access[0].action: takes allow, allow-snoop, refuse or drop, not "
        "\"alow\"; did you mean allow?");
    expect_error("server: {access: [{prefix: 10.0.0.0/8}]}",
                 "1:19: error: server.access[0]: has no action; write {prefix: 10.0.0.0/8, action: "
                 "allow}");
    expect_error("server: {access: [{prefix: 0.0.0.0/0, action: allow, what: 1}]}",
                 "1:54: error: server.access[0].what: is unknown; the keys are prefix and action");
    expect_error(
        "server: {access: [{prefix: 10.0.0.0/33, action: allow}]}",
        "1:28: error: server.access[0].prefix: takes an address or a prefix such as 10.1.1.1, "
        "10.50.1.64/27 or \"2001:db8::/32\", without a port, not \"10.0.0.0/33\"");
    expect_error("server: {access: [{prefix: 10.0.0.0/8, action: allow}, {prefix: 10.1.1.1/8, "
                 "action: drop}]}",
                 "1:56: error: server.access[1]: 10.1.1.1/8 is given twice; keep one of them");
}

static void test_entries_of_the_keepalive_list(void **state)
{
    (void)state;
    expect_error("tcp-upstream-keepalive: [10.1.1.1@53]",
                 "1:26: error: tcp-upstream-keepalive[0]: takes an address or a prefix such as "
                 "10.1.1.1, 10.50.1.64/27 or \"2001:db8::/32\", without a port, not "
                 "\"10.1.1.1@53\"; a prefix matches any port");
    expect_error(
        "tcp-upstream-keepalive: [10.1.1.1, {prefix: 10.1.1.1/32}]",
        "1:36: error: tcp-upstream-keepalive[1]: 10.1.1.1 is given twice; keep one of them");
    expect_error(
        "tcp-upstream-keepalive: [{connections: 2}]",
        "1:26: error: tcp-upstream-keepalive[0]: has no prefix; takes an address or a prefix "
        "such as 10.1.1.1, 10.50.1.64/27 or \"2001:db8::/32\", without a port");
    expect_error("tcp-upstream-keepalive: [{prefix: 10.0.0.1, max-nailed: 2}]",
                 "1:45: error: tcp-upstream-keepalive[0].max-nailed: applies to the whole process; "
                 "move it to the section upstream");
    expect_error(
        "tcp-upstream-keepalive: [{prefix: 10.0.0.1, connections: 5}]",
        "1:26: error: tcp-upstream-keepalive[0]: connections 5 is above max-connections 4; "
        "lower the one or raise the other");
}

static void test_zones(void **state)
{
    (void)state;
    expect_errors(
        "forward-zones: [{name: .}]",
        "f:1:17: error: forward-zones[0]: has no upstreams; takes a list of addresses and "
        "host names such as [192.0.2.53, \"2001:db8::53@5353\", dns.example.net]\n");
    expect_errors("forward-zones: [{upstreams: [192.0.2.1]}]",
                  "f:1:17: error: forward-zones[0]: has no name; takes a domain name such as "
                  "corp.example, or a single dot for everything\n");
    expect_errors(
        "forward-zones: [{name: a..b, upstreams: [192.0.2.1]}]",
        "f:1:24: error: forward-zones[0].name: takes a domain name such as corp.example, or "
        "a single dot for everything, not \"a..b\"\n");
    expect_errors("forward-zones: [{name: ., upstreams: []}]",
                  "f:1:38: error: forward-zones[0].upstreams: has 0 addresses; takes 1 to 64\n");
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1, 192.0.2.1]}]",
                  "f:1:50: error: forward-zones[0].upstreams[1]: 192.0.2.1 is given twice; keep "
                  "one of them\n");
    expect_errors("forward-zones: [{name: ., upstreams: [0.0.0.0]}]",
                  "f:1:39: error: forward-zones[0].upstreams[0]: 0.0.0.0 is not an address of a "
                  "single server\n");
    expect_errors("forward-zones:\n  - {name: a.example, upstreams: [192.0.2.1]}\n"
                  "  - {name: A.Example., upstreams: [192.0.2.2]}\n",
                  "f:3:5: error: forward-zones[1]: zone a.example. is given twice; write all of "
                  "its upstreams into one of them\n");
    expect_errors(
        "forward-zones: [{name: ., upstreams: [192.0.2.1], max-connections: 1, connections: 2}]",
        "f:1:17: error: forward-zones[0]: connections 2 is above max-connections 1; lower "
        "the one or raise the other\n");
}

static void test_a_configuration_needs_a_server_or_recursion(void **state)
{
    (void)state;
    static const char text[] =
        "f:1:13: error: recursion.enabled: is no, and no zone has servers, so nothing could be "
        "answered; write yes, or add the servers to ask, for example forward-zones: [{name: ., "
        "upstreams: [192.0.2.53]}]\n";
    expect_errors("recursion: {enabled: no}", text);
    expect_errors("recursion: {enabled: no}\nforward-zones: []\n", text);
    expect_errors("recursion: {enabled: no}\nforward-zones:\nstub-zones: []\n", text);
    expect_errors(
        "recursion: {ipv4: no, ipv6: no}",
        "f:1:23: error: recursion.ipv6: and recursion.ipv4 are no, so recursion could ask "
        "no server; write one yes, or recursion.enabled: no\n");
}

static void test_contradictions(void **state)
{
    (void)state;
    expect_error("cache: {min-ttl: 1h, max-ttl: 1m}",
                 "1:9: error: cache.min-ttl: min-ttl 3600s is above max-ttl 60s; lower the one or "
                 "raise the other");
    expect_error(
        "upstream: {connections: 5}",
        "1:12: error: upstream.connections: connections 5 is above max-connections 4; lower "
        "the one or raise the other");
    expect_error(
        "upstream: {max-connections: 2, connections: 3}",
        "1:32: error: upstream.connections: connections 3 is above max-connections 2; lower "
        "the one or raise the other");
    expect_errors(
        "server: {listen: [0.0.0.0@5300]}\nforward-zones: [{name: ., upstreams: [127.0.0.1@5300]}]",
        "f:2:17: error: forward-zones[0]: 127.0.0.1@5300 is an address of server.listen: "
        "queries would loop\n");
    expect_errors("forward-zones: [{name: ., upstreams: [192.0.2.1], trust-ad: yes}]",
                  "f:1:17: error: forward-zones[0]: trust-ad: yes needs upstreams over TLS with "
                  "profile: strict, or on the loopback interface, and 192.0.2.1@53 is neither: its "
                  "answers could be changed in transit\n");
}

static void test_a_socket_path_must_fit_the_system(void **state)
{
    (void)state;
    char text[512], path[CONFIG_SOCKET_MAX + 2];
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[CONFIG_SOCKET_MAX] = '\0';
    snprintf(text, sizeof(text), "control: {socket: %s}\n" ZONE, path);
    config_free(load_fine(text));
    path[CONFIG_SOCKET_MAX] = 'a';
    path[CONFIG_SOCKET_MAX + 1] = '\0';
    snprintf(text, sizeof(text), "control: {socket: %s}\n" ZONE, path);
    expect_errors(
        text,
        "f:1:11: error: control.socket: has 108 bytes; the system accepts paths of at most 107\n");
}

static void test_dnstap_has_a_socket_or_a_file(void **state)
{
    (void)state;
    if (!dnstap_is_built_in())
        skip(); /* without dnstap there is one error more */
    expect_errors(
        "dnstap: {socket: /a, file: /b}\n" ZONE,
        "f:1:22: error: dnstap.file: cannot be combined with dnstap.socket; keep one of them\n");
    char text[512], path[CONFIG_SOCKET_MAX + 2];
    memset(path, 'a', sizeof(path));
    path[0] = '/';
    path[CONFIG_SOCKET_MAX + 1] = '\0';
    snprintf(text, sizeof(text), "dnstap: {socket: %s}\n" ZONE, path);
    expect_errors(text, "f:1:10: error: dnstap.socket: is too long; the system accepts paths of at "
                        "most 107 bytes\n");
}

static void test_messages_of_dnstap(void **state)
{
    (void)state;
    expect_error("dnstap: {messages: [client-query, client-replies]}",
                 "1:35: error: dnstap.messages[1]: takes client-query, client-response, "
                 "forwarder-query, forwarder-response, resolver-query or resolver-response, not "
                 "\"client-replies\"; did you mean client-response?");
    expect_error("dnstap: {messages: [client-query, client-query]}",
                 "1:35: error: dnstap.messages[1]: is given twice; keep one of them");
    expect_error("dnstap: {messages: []}",
                 "1:20: error: dnstap.messages: has 0 kinds; takes 1 to 6");
    expect_error("log: {queries: maybe}",
                 "1:16: error: log.queries: takes yes or no, not \"maybe\"");
}

static void test_invalid_addresses_for_metrics_are_refused(void **state)
{
    (void)state;
    static const char takes[] =
        "1:19: error: metrics.listen: takes an address such as 127.0.0.1@9953 or "
        "\"::1@9953\", or \"\" for none, not ";
    static const char *const wrong[][2] = {
        {"{listen: 127.0.0.1:9953}", "\"127.0.0.1:9953\"; write the port after an @"},
        {"{listen: \"[::1]:9953\"}",
         "\"[::1]:9953\"; write it without brackets, and the port after an @"},
        {"{listen: 127.0.0.1@0}", "\"127.0.0.1@0\""},
        {"{listen: 127.0.0.1@65536}", "\"127.0.0.1@65536\""},
        {"{listen: 224.0.0.1}", "\"224.0.0.1\""},
        {"{listen: localhost}", "\"localhost\""},
        {"{listen: [127.0.0.1]}", "a list"},
    };
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        char text[128], error[256];
        snprintf(text, sizeof(text), "metrics: %s", wrong[i][0]);
        snprintf(error, sizeof(error), "%s%s", takes, wrong[i][1]);
        expect_error(text, error);
    }
}

static void test_metrics_cannot_share_an_address_with_clients(void **state)
{
    (void)state;
    expect_errors("server: {listen: [127.0.0.2@53, 0.0.0.0@9953]}\n"
                  "metrics: {listen: 127.0.0.1}\n" ZONE,
                  "f:2:11: error: metrics.listen: conflicts with 0.0.0.0@9953 of server.listen; "
                  "choose another port\n");
    expect_errors("server: {listen: [127.0.0.1@53]}\nmetrics: {listen: 127.0.0.1@53}\n" ZONE,
                  "f:2:11: error: metrics.listen: conflicts with 127.0.0.1@53 of server.listen; "
                  "choose another port\n");
}

static void test_all_errors_come_at_once_in_the_files_order(void **state)
{
    (void)state;
    expect_errors(
        "server:\n"
        "  workers: many\n"
        "  lsiten: []\n"
        "cache: {size: 1, size: 2MiB}\n"
        "forward-zones:\n"
        "  - {name: ., upstreams: [x], transport: tsl}\n"
        "log: {level: loud}\n",
        "f:2:12: error: server.workers: takes a whole number, not \"many\"\n"
        "f:3:3: error: server.lsiten: is unknown; did you mean listen?\n"
        "f:4:15: error: cache.size: takes a size such as 64KiB, 256MiB or 2GiB, not \"1\"; "
        "the unit is missing\n"
        "f:4:18: error: cache.size: is given twice, first in line 4; keep one of them\n"
        "f:6:27: error: forward-zones[0].upstreams[0]: " TAKES_ADDRESS
        "\"x\"; a host name has a dot, as in dns.example.net or router.\n"
        "f:6:42: error: forward-zones[0].transport: takes udp, tcp or tls, not "
        "\"tsl\"; did you mean tls?\n"
        "f:7:14: error: log.level: takes error, warning, notice, info or debug, not "
        "\"loud\"\n");
}

static void test_broken_syntax_is_reported_with_earlier_errors(void **state)
{
    (void)state;
    expect_errors(
        "server: {workers: x}\ncache: [\n",
        "f:1:19: error: server.workers: takes a whole number, not \"x\"\n"
        "f:2:8: error: cache: takes a mapping of keys to values, not a list\n"
        "f:3:1: error: file: is not YAML: did not find expected node content, while parsing "
        "a flow node of line 3\n");
}

static void test_keys_after_broken_syntax_are_not_reported_as_missing(void **state)
{
    (void)state;
    static const char not_yaml[] = "error: file: is not YAML: did not find expected node content, "
                                   "while parsing a flow node of line 1\n";
    char line[256];
    snprintf(line, sizeof(line), "f:1:17: %s", not_yaml);
    expect_errors("forward-zones: [", "f:2:1: error: file: is not YAML: did not find expected node "
                                      "content, while parsing a flow node of line 2\n");
    snprintf(line, sizeof(line), "f:1:28: %s", not_yaml);
    expect_errors("server: {access: [{prefix: ], action: allow}]}", line);
}

static void test_a_document_must_be_a_mapping(void **state)
{
    (void)state;
    struct config *config = load_text("- a\n");
    assert_null(config);
    assert_non_null(
        strstr(errors_text, "f:1:1: error: file: takes a mapping of keys to values, not a list\n"));
}

static void test_more_than_a_hundred_errors_are_counted(void **state)
{
    (void)state;
    char *text = malloc(200 * 8 + sizeof(ZONE));
    size_t len = 0;
    for (int i = 0; i < 150; i++)
        len += (size_t)sprintf(text + len, "k%03d: 1\n", i);
    strcpy(text + len, ZONE);
    assert_null(load_text(text));
    size_t lines = 0;
    for (const char *at = errors_text; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, CONFIG_ERRORS_MAX + 1);
    assert_non_null(strstr(errors_text, "f:1:1: error: file: 50 more errors are not shown\n"));
    free(text);
}

static void test_hostile_text_in_errors_is_made_printable_and_cut(void **state)
{
    (void)state;
    expect_error("log: {level: \"a\\e[31m\\n\"}",
                 "1:14: error: log.level: takes error, warning, notice, info or debug, not "
                 "\"a?[31m?\"");
    expect_error(
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa: 1",
        "1:1: error: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...: is unknown; "
        "nailup.yaml(5) lists all keys");
}

static void test_aliases_give_one_error_each(void **state)
{
    (void)state;
    expect_error("server: &x {workers: 1}\ncache: *x",
                 "1:9: error: file: anchors (&name) are not supported; leave it out\n"
                 "f:2:8: error: file: aliases (*name) are not supported; write out the value");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unknown_keys),
        cmocka_unit_test(test_dnstap_has_a_socket_or_a_file),
        cmocka_unit_test(test_messages_of_dnstap),
        cmocka_unit_test(test_words_of_other_resolvers_lead_to_the_key),
        cmocka_unit_test(test_on_is_never_taken_for_no),
        cmocka_unit_test(test_lines_that_do_not_align_are_named),
        cmocka_unit_test(test_a_key_in_the_wrong_section_names_the_right_one),
        cmocka_unit_test(test_mistakes_that_addresses_invite_are_explained),
        cmocka_unit_test(test_a_name_that_is_a_comment_gets_a_warning),
        cmocka_unit_test(test_wrong_types),
        cmocka_unit_test(test_words_that_are_not_of_the_kind),
        cmocka_unit_test(test_values_out_of_range),
        cmocka_unit_test(test_zones_of_addresses),
        cmocka_unit_test(test_addresses),
        cmocka_unit_test(test_access_entries),
        cmocka_unit_test(test_entries_of_the_keepalive_list),
        cmocka_unit_test(test_zones),
        cmocka_unit_test(test_a_configuration_needs_a_server_or_recursion),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_a_socket_path_must_fit_the_system),
        cmocka_unit_test(test_invalid_addresses_for_metrics_are_refused),
        cmocka_unit_test(test_metrics_cannot_share_an_address_with_clients),
        cmocka_unit_test(test_all_errors_come_at_once_in_the_files_order),
        cmocka_unit_test(test_broken_syntax_is_reported_with_earlier_errors),
        cmocka_unit_test(test_keys_after_broken_syntax_are_not_reported_as_missing),
        cmocka_unit_test(test_a_document_must_be_a_mapping),
        cmocka_unit_test(test_more_than_a_hundred_errors_are_counted),
        cmocka_unit_test(test_hostile_text_in_errors_is_made_printable_and_cut),
        cmocka_unit_test(test_aliases_give_one_error_each),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
