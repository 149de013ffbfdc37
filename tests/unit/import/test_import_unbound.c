/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "unit/import/import_text.h"

#include <stdio.h>

#include "base/check.h"
#include "config/options.h"
#include "import/unbound_words.h"

#define DIRECTORY "server: directory: /var/unbound\n"

/* ---- clients ---- */

static void test_interfaces_become_listeners_by_their_ports(void **state)
{
    (void)state;
    EXPECT("server:\n interface: 192.0.2.7\n interface: ::0@5300\n port: 5353\n"
           " do-udp: yes\n" ROOT,
           "listen:\n    - 192.0.2.7@5353\n    - \"::@5300\"\n");
    EXPECT("server: port: 5353\n" ROOT, "- 127.0.0.1@5353\n    - \"::1@5353\"\n");
    EXPECT("server: do-ip6: no\n" ROOT, "listen:\n    - 127.0.0.1@53\n", "forward-zones",
           "ipv6: no\n");
    struct config *config = imported("server: do-ip4: no\n do-ip6: yes\n" ROOT);
    assert_false(config->recursion_ipv4);
    assert_true(config->recursion_ipv6);
    config_free(config);
    EXPECT("server: interface-automatic: yes\n interface: 192.0.2.7\n" ROOT,
           "- 0.0.0.0@53\n    - \"::@53\"\n", "interface: 192.0.2.7\n");
}

static void test_an_address_that_cannot_be_served_is_reported(void **state)
{
    (void)state;
    EXPECT("server:\n interface: eth0\n interface: 192.0.2.7@0\n do-tcp: no\n"
           " interface: 192.0.2.7@853\n" ROOT,
           "# u.conf:2: interface: eth0\n#     Not imported: it is not an address",
           "# u.conf:3: interface: 192.0.2.7@0\n#     Port 0 cannot be served",
           "# u.conf:4: do-tcp: no\n", "# u.conf:5: interface: 192.0.2.7@853\n",
           "needs tls-certificate and tls-key");
    expect_missing("listen:\n");
    expect_missing("listen: []");
    expect_missing("listen-tls:\n");
    assert_non_null(strstr(said, "warning: has no interface that nailup can serve"));
}

static void test_a_file_with_tls_only_opens_no_port_in_plain_text(void **state)
{
    (void)state;
    struct config *config =
        imported("server:\n interface: 192.0.2.7@853\n interface: 2001:db8::7@853\n"
                 " tls-service-key: /etc/x/k.pem\n tls-service-pem: /etc/x/c.pem\n" ROOT);
    assert_int_equal(config->server.listen_count, 0);
    assert_int_equal(config->server.listen_tls_count, 2);
    config_free(config);
    assert_string_equal(said, "");
    config = imported("server:\n interface: 192.0.2.7@853\n interface: 192.0.2.7\n"
                      " tls-service-key: /etc/x/k.pem\n tls-service-pem: /etc/x/c.pem\n" ROOT);
    assert_int_equal(config->server.listen_count, 1);
    config_free(config);
    config = imported("server:\n port: 853\n"
                      " tls-service-key: /etc/x/k.pem\n tls-service-pem: /etc/x/c.pem\n" ROOT);
    assert_int_equal(config->server.listen_count, 0);
    assert_int_equal(config->server.listen_tls_count, 2);
    config_free(config);
}

static void test_tls_has_its_port_and_its_files(void **state)
{
    (void)state;
    EXPECT("server:\n interface: 192.0.2.7@8853\n tls-port: 8853\n"
           " tls-service-key: /etc/x/k.pem\n tls-service-pem: \"/etc/x/c.pem\"\n" ROOT,
           "listen-tls:\n    - 192.0.2.7@8853\n", "tls-certificate: /etc/x/c.pem\n",
           "tls-key: /etc/x/k.pem\n");
}

static void test_https_has_its_port_and_its_path(void **state)
{
    (void)state;
    EXPECT("server:\n interface: 192.0.2.7@443\n tls-service-key: /etc/x/k.pem\n"
           " tls-service-pem: /etc/x/c.pem\n" ROOT,
           "listen: []", "listen-https:\n    - 192.0.2.7@443\n");
    EXPECT("server:\n interface: 192.0.2.7@8443\n https-port: 8443\n http-endpoint: /resolve\n"
           " http-max-streams: 50\n http-notls-downstream: yes\n"
           " tls-service-key: /etc/x/k.pem\n tls-service-pem: /etc/x/c.pem\n" ROOT,
           "listen-https:\n    - 192.0.2.7@8443\n", "https-path: /resolve\n",
           "# u.conf:5: http-max-streams: 50\n",
           "# u.conf:6: http-notls-downstream: yes\n#     HTTP without TLS is not served");
    EXPECT("server:\n interface: 192.0.2.7@443\n https-port: 8443\n" ROOT, "listen:\n");
}

static void test_access_keeps_this_machine_in(void **state)
{
    (void)state;
    EXPECT("server:\n access-control: 10.0.0.0/8 allow\n access-control: 10.6.0.0/16 deny\n"
           " access-control: 10.7.0.0/16 refuse\n access-control: 10.8.0.0/16 allow_cookie\n" ROOT,
           "{prefix: 10.0.0.0/8, action: allow}", "{prefix: 10.6.0.0/16, action: drop}",
           "{prefix: 10.7.0.0/16, action: refuse}", "{prefix: 10.8.0.0/16, action: allow}",
           "{prefix: 127.0.0.0/8, action: allow}", "{prefix: \"::1\", action: allow}",
           "u.conf:5: access-control: 10.8.0.0/16 allow_cookie\n");
    EXPECT("server:\n access-control: 10.0.0.0/8 allow_snoop\n access-control: 10.6.0.0/16 "
           "allow_setrd\n" ROOT,
           "{prefix: 10.0.0.0/8, action: allow-snoop}", "{prefix: 10.6.0.0/16, action: allow}",
           "u.conf:3: access-control: 10.6.0.0/16 allow_setrd\n");
    EXPECT("server: access-control: 127.0.0.0/8 refuse\n" ROOT,
           "{prefix: 127.0.0.0/8, action: refuse}\n    - {prefix: \"::1\"");
}

static void test_numbers_of_threads_multiply(void **state)
{
    (void)state;
    struct config *config = imported("server: num-threads: 4 incoming-num-tcp: 200\n"
                                     "tcp-idle-timeout: 12000 ip-ratelimit: 77\n" ROOT);
    assert_int_equal(config->workers, 4);
    assert_int_equal(config->server.max_clients, 800);
    assert_int_equal(config->server.client_idle_timeout_us, 12000000);
    assert_int_equal(config->server.rate_limit_qps, 77);
    config_free(config);
}

static void test_versions_are_reported_when_they_are_texts_and_not_hidden(void **state)
{
    (void)state;
    EXPECT("server: version: \"a: b # c\" identity: me\n" ROOT, "version: \"a: b # c\"\n",
           "identity: me\n");
    EXPECT("server: nsid: ascii_ns7\n" ROOT, "nsid: ascii_ns7\n");
    struct config *config = imported("server: nsid: \"0a0B\"\n" ROOT);
    assert_string_equal(config->server.nsid, "0a0B");
    config_free(config);
    EXPECT("server: version: \"1\" hide-version: yes\n" ROOT, "u.conf:1: version: 1\n");
    expect_missing("  version:");
}

/* ---- cache ---- */

static void test_two_caches_become_one(void **state)
{
    (void)state;
    struct config *config = imported("server: msg-cache-size: 50m rrset-cache-size: 100m\n"
                                     "cache-min-ttl: 60 cache-max-ttl: 3600\n"
                                     "cache-max-negative-ttl: 30 prefetch: no\n" ROOT);
    assert_int_equal(config->cache.size_bytes, 150 << 20);
    assert_int_equal(config->cache.min_ttl_s, 60);
    assert_int_equal(config->cache.max_ttl_s, 3600);
    assert_int_equal(config->cache.max_negative_ttl_s, 30);
    assert_false(config->cache.prefetch);
    config_free(config);
    EXPECT("server: rrset-cache-size: 60KB msg-cache-size: 2097152\n" ROOT, "size: 2108KiB\n");
    EXPECT("server: rrset-cache-size: 60X\n" ROOT, "takes a size");
}

static void test_expired_answers_become_stale_ones(void **state)
{
    (void)state;
    EXPECT("server: serve-expired-ttl: 3600 serve-expired: yes\n" ROOT, "serve-stale: 3600s\n");
    EXPECT("server: serve-expired: yes serve-expired-ttl: 0\n" ROOT, "serve-stale: 259200s\n",
           "three days");
    EXPECT("server: serve-expired: no\n" ROOT, "serve-stale: 0s\n");
    EXPECT("server: serve-expired: yes serve-expired-client-timeout: 500\n" ROOT,
           "serve-stale: 86400s\n", "stale-answer-timeout: 500ms\n");
    EXPECT("server: serve-expired-ttl: 5\n" ROOT, "Unbound ignores it");
}

/* ---- upstreams ---- */

static void test_the_keys_of_the_proposal_of_2016_are_imported(void **state)
{
    (void)state;
    EXPECT("server:\n tcp-upstream-keepalive: 10.1.1.1\n"
           " tcp-upstream-keepalive: 10.50.1.64/27\n"
           " tcp-upstream-keepalive-maxrequests: 5000\n" ROOT,
           "tcp-upstream-keepalive:\n  - 10.1.1.1\n  - 10.50.1.64/27\n",
           "tcp-upstream-keepalive-maxrequests: 5000\n", "Every line has a counterpart above.");
}

static void test_zones_have_their_servers_and_transport(void **state)
{
    (void)state;
    EXPECT("forward-zone:\n name: \"Corp.Example.\"\n forward-addr: 10.50.1.65\n"
           " forward-addr: 2001:db8::1@5300\n forward-tcp-upstream: yes\n forward-no-cache: yes\n"
           "forward-zone:\n name: .\n forward-tls-upstream: yes\n"
           " forward-addr: 9.9.9.9@853#dns.quad9.net\n",
           "  - name: corp.example\n    upstreams:\n      - 10.50.1.65\n"
           "      - \"2001:db8::1@5300\"\n    transport: tcp\n    cache: no\n",
           "  - name: .\n    upstreams:\n      - 9.9.9.9@853#dns.quad9.net\n    transport: tls\n");
    assert_string_equal(said, "");
}

static void test_a_transport_for_all_servers_has_no_fallback(void **state)
{
    (void)state;
    EXPECT("server: tcp-upstream: yes\n" ROOT, "upstream:\n  transport: tcp\n  fallback: none\n");
    EXPECT("server: tls-upstream: yes tls-cert-bundle: /etc/x.pem\nforward-zone: name: .\n"
           "forward-addr: 192.0.2.1#a.example\nforward-tls-upstream: no\n",
           "transport: tls\n  ca-bundle: /etc/x.pem\n", "192.0.2.1#a.example\n",
           "tls-upstream: yes applies to all zones");
}

static void test_names_of_servers_without_tls_are_left_out(void **state)
{
    (void)state;
    EXPECT("forward-zone: name: .\nforward-addr: 192.0.2.1#a.example\n", "- 192.0.2.1\n",
           "matters only over TLS");
}

static void test_a_zone_is_used_once(void **state)
{
    (void)state;
    EXPECT(ROOT "forward-zone: name: x.example forward-addr: 192.0.2.2\n"
                "forward-zone: name: X.example. forward-addr: 192.0.2.3\n",
           "- 192.0.2.2\n", "the first one is used");
    expect_missing("- 192.0.2.3");
    expect_missing("refuse");
}

static void test_names_never_move_to_a_larger_zone(void **state)
{
    (void)state;
    EXPECT(ROOT "stub-zone: name: in.example stub-host: ns.in.example\n", "forward-zones",
           "{name: in.example, action: refuse}", "which has no server with an address");
    expect_missing("stub-zones:");
    EXPECT(ROOT "forward-zone: name: in.example forward-host: ns.in.example\n",
           "{name: in.example, action: refuse}", "add one, or upstream.bootstrap");
    EXPECT(ROOT "auth-zone: name: in.example zonefile: z primary: ns.example\n",
           "{name: in.example, action: refuse}", "u.conf:4: primary: ns.example\n",
           "given by address");
    expect_missing("auth-zones:");
    EXPECT(ROOT "auth-zone: name: in.example zonefile: z url: http://a/ allow-notify: 10.0.0.1\n",
           "{name: in.example, action: refuse}", "allow-notify: 10.0.0.1\n");
    expect_missing("auth-zones:");
    EXPECT("server: do-ip6: no\n" ROOT "auth-zone: name: in.example primary: 2001:db8::1\n",
           "{name: in.example, action: refuse}", "do-ip4 or do-ip6 excludes it");
    expect_missing("auth-zones:");
    EXPECT("server: interface: 192.0.2.1\n" ROOT "forward-zone: name: in.example\n"
           "forward-addr: 192.0.2.1\n",
           "{name: in.example, action: refuse}", "queries would");
    EXPECT(ROOT "auth-zone: name: . fallback-enabled: yes\n", "u.conf:4: name: .\n");
    expect_missing("refuse");
}

static void test_servers_by_name_keep_their_names(void **state)
{
    (void)state;
    EXPECT(ROOT "stub-zone: name: in.example stub-host: NS.example@5353\n"
                " stub-host: ns2.example#x.example stub-addr: 192.0.2.9\n",
           "stub-zones:\n  - name: in.example\n    upstreams:\n      - NS.example@5353\n"
           "      - ns2.example\n      - 192.0.2.9\n",
           "The name after the # matters only over TLS");
    EXPECT("forward-zone: name: in.example forward-host: dns.example@853#x.example\n"
           " forward-host: dns2.example forward-host: dns3 forward-tls-upstream: yes\n",
           "- dns.example@853#x.example\n      - dns2.example\n      - dns3.\n    transport: tls\n",
           "Here it must match the host\n");
    EXPECT(ROOT "forward-zone: name: in.example forward-host: 192.0.2.300\n"
                " forward-host: a..b forward-addr: 192.0.2.7\n",
           "- 192.0.2.7\n", "forward-host: 192.0.2.300\n", "forward-host: a..b\n",
           "Not imported: it is not a host name");
    expect_missing("192.0.2.300\n      -");
}

static void test_a_zone_of_a_file_is_held(void **state)
{
    (void)state;
    EXPECT(ROOT "auth-zone: name: In.Example zonefile: \"/etc/in zone\"\n",
           "auth-zones:\n  - {name: in.example, file: \"/etc/in zone\", for: both, fallback: no, "
           "zonemd: ignore}\n");
    expect_missing("refuse");
    EXPECT(DIRECTORY ROOT "auth-zone:\n name: a.example\n zonefile: a\n for-upstream: no\n"
                          " fallback-enabled: yes\n zonemd-check: yes\n",
           "{name: a.example, file: /var/unbound/a, for: clients, fallback: yes, zonemd: check}");
    EXPECT(
        "auth-zone:\n name: .\n zonefile: zones/root\n for-downstream: no\n"
        " zonemd-check: yes\n zonemd-reject-absence: yes\n" DIRECTORY,
        "{name: ., file: /var/unbound/zones/root, for: upstream, fallback: no, zonemd: require}");
}

static void test_a_zone_of_primaries_is_held(void **state)
{
    (void)state;
    EXPECT(
        ROOT "auth-zone:\n name: In.Example\n primary: 192.0.2.9\n"
             " master: 192.0.2.8@5353#ns.example\n primary: 2001:db8::1\n primary: ns.example\n"
             " allow-notify: 192.0.2.0/24\n allow-notify: ns.example\n zonemd-check: yes\n",
        "auth-zones:\n  - {name: in.example, primaries: [192.0.2.9, 192.0.2.8@5353#ns.example, "
        "\"2001:db8::1\"], allow-notify: [192.0.2.0/24], for: both, fallback: no, zonemd: check}\n",
        "primary: ns.example\n", "given by address", "takes addresses and prefixes");
    expect_missing("refuse");
    EXPECT("auth-zone:\n name: .\n primary: 192.0.2.9\n url: http://a/\n zonefile: root\n"
           " for-downstream: no\n fallback-enabled: yes\n",
           "{name: ., primaries: [192.0.2.9], allow-notify: [], for: upstream, fallback: yes, ",
           "Set transfer-directory", "zones come by AXFR and IXFR");
}

static void test_a_zone_without_a_use_is_left_out(void **state)
{
    (void)state;
    EXPECT(ROOT "auth-zone:\n name: in.example\n zonefile: z\n allow-notify: 10.0.0.1\n"
                " for-downstream: no\n for-upstream: no\n",
           "neither clients nor upstream");
    expect_missing("auth-zones:");
    expect_missing("refuse");
}

/* The loader accepts at most 16 primaries. */
static void test_a_zone_keeps_sixteen_primaries(void **state)
{
    (void)state;
    char text[2000] = "auth-zone:\n name: in.example\n";
    for (unsigned i = 1; i <= 18; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), " primary: 192.0.2.%u\n", i);
    struct config *config = imported(text);
    assert_int_equal(config->auth_zones[0].source.primary_count, 16);
    assert_non_null(strstr(printed, "primary: 192.0.2.18\n"));
    assert_non_null(strstr(printed, "16 primaries at most"));
    config_free(config);
}

static void test_all_outgoing_addresses_are_imported(void **state)
{
    (void)state;
    struct config *config =
        imported("server: outgoing-interface: 192.0.2.7 outgoing-interface: 2001:db8:7::9/64\n"
                 "outgoing-interface: 192.0.2.8 outgoing-interface: 192.0.2.7\n" ROOT);
    assert_int_equal(config->outgoing.v4->count, 2);
    assert_int_equal(config->outgoing.v6->count, 1);
    assert_non_null(strstr(printed, "2001:db8:7::/64"));
    assert_string_equal(said, "");
    config_free(config);
    char text[4096] = "server:";
    for (unsigned i = 1; i <= SOURCES_MAX + 1; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text),
                 " outgoing-interface: 192.0.2.%u\n", i);
    strcat(text, ROOT);
    config = imported(text);
    assert_int_equal(config->outgoing.v4->count, SOURCES_MAX);
    assert_non_null(strstr(printed, "outgoing-interface: 192.0.2.65"));
    assert_non_null(strstr(printed, "server.outgoing takes 64 entries"));
    config_free(config);
    EXPECT("server: outgoing-interface: 0.0.0.0\n" ROOT, "outgoing-interface: 0.0.0.0",
           "without an address in server.outgoing, the system chooses");
}

static void test_a_missing_ip_version_of_outgoing_addresses_is_noted(void **state)
{
    (void)state;
    const char *v4 = "IPv4 queries leave from an address that the system chooses";
    const char *v6 = "IPv6 queries leave from an address that the system chooses";
    EXPECT("server: outgoing-interface: 192.0.2.7\n" ROOT, "outgoing-interface: 192.0.2.7", v6);
    EXPECT("server: outgoing-interface: 2001:db8::7\n" ROOT, "outgoing-interface: 2001:db8::7", v4);
    static const char *const without_note[] = {
        "server: do-ip6: no\noutgoing-interface: 192.0.2.7\n" ROOT,
        "server: outgoing-interface: 2001:db8::7\ndo-ip4: no\n" ROOT,
        "server: outgoing-interface: 192.0.2.7\noutgoing-interface: 2001:db8::7\n" ROOT,
        "server: verbosity: 1\n" ROOT,
    };
    for (unsigned i = 0; i < ARRAY_LEN(without_note); i++) {
        config_free(imported(without_note[i]));
        assert_null(strstr(printed, v4));
        assert_null(strstr(printed, v6));
    }
}

static void test_the_output_recurses_where_unbound_does(void **state)
{
    (void)state;
    struct config *config = imported("server: verbosity: 2\n");
    assert_true(config->route.recursion.enabled);
    assert_int_equal(config->zone_count + config->stub_count, 0);
    assert_string_equal(said, "");
    config_free(config);
    config = imported("forward-zone: name: x.example forward-addr: 192.0.2.1\n");
    assert_true(config->route.recursion.enabled);
    assert_string_equal(said, "");
    config_free(config);
}

static void test_a_root_that_loses_its_servers_is_not_resolved_by_recursion(void **state)
{
    (void)state;
    EXPECT("forward-zone: name: . forward-host: ns.example\n",
           "NO SERVER OF THE ROOT ZONE IS USABLE", "REPLACE THIS");
    assert_non_null(strstr(said, "u.conf:1:1: warning: has no usable server to forward to"));
    EXPECT("forward-zone: name: . forward-addr: 192.0.2.300\n"
           "forward-zone: name: x.example forward-addr: 192.0.2.1\n",
           "x.example", "REPLACE THIS");
    EXPECT("stub-zone: name: . stub-host: ns.example\n", "REPLACE THIS");
    expect_missing("stub-zones:");
}

static void test_stub_zones_keep_their_options(void **state)
{
    (void)state;
    EXPECT("stub-zone:\n name: in.example.\n stub-addr: 192.0.2.2\n stub-addr: 2001:db8::2@5300\n"
           " stub-first: yes\n stub-no-cache: yes\n stub-tcp-upstream: yes\n stub-prime: no\n",
           "stub-zones:\n  - name: in.example\n    upstreams:\n      - 192.0.2.2\n"
           "      - \"2001:db8::2@5300\"\n    transport: tcp\n    cache: no\n    first: yes\n",
           "u.conf:8: stub-prime: no\n");
    EXPECT("stub-zone: name: in.example stub-addr: 192.0.2.2#ns.example stub-tls-upstream: yes\n",
           "stub-zones:", "192.0.2.2#ns.example", "transport: tls\n");
    EXPECT("stub-zone: name: in.example stub-addr: 192.0.2.2\n"
           "forward-zone: name: in.example forward-addr: 192.0.2.3\n"
           "auth-zone: name: in.example zonefile: z url: http://a/\n",
           "forward-zones:", "- 192.0.2.3\n", "a forward-zone before a\n");
    expect_missing("stub-zones:");
    expect_missing("refuse");
    EXPECT(ROOT "forward-zone: name: x.example forward-addr: 192.0.2.3 forward-first: yes\n",
           "first: yes\n");
}

static void test_logs_of_queries_and_failures_are_imported(void **state)
{
    (void)state;
    struct config *config = imported("server: log-servfail: yes\n" ROOT);
    assert_true(config->log_failures);
    assert_false(config->log_queries);
    config_free(config);
    EXPECT("server: log-replies: yes\n" ROOT, "\n  queries: yes\n", "Every line has a counterpart");
    expect_missing("failures:");
    /* either option asks for the line that has both */
    EXPECT("server:\n log-queries: yes\n log-replies: no\n" ROOT, "\n  queries: yes\n",
           "Every line has a counterpart");
    EXPECT("server:\n log-queries: no\n log-replies: yes\n log-servfail: no\n" ROOT,
           "\n  queries: yes\n", "  failures: no\n", "Every line has a counterpart");
    EXPECT("server:\n log-replies: yes\n log-replies: no\n" ROOT, "Every line has a counterpart");
    expect_missing("queries:");
}

static void test_options_of_recursion_are_imported(void **state)
{
    (void)state;
    struct config *config = imported("server: qname-minimisation: no prefer-ip6: yes\n"
                                     "use-caps-for-id: no prefer-ip4: no\n"
                                     "do-not-query-address: 192.0.2.0/24\n");
    assert_false(config->route.recursion.qname_minimisation);
    assert_int_equal(config->route.recursion.prefer_ip, RECURSION_PREFER_IPV6);
    assert_int_equal(config->do_not_query.count, 3);
    config_free(config);
    EXPECT("server: prefer-ip4: yes\n", "prefer-ip: 4\n");
    EXPECT("server: do-not-query-localhost: no\n", "do-not-query: []\n");
    EXPECT("server: do-not-query-localhost: no do-not-query-address: 192.0.2.1\n",
           "do-not-query:\n    - 192.0.2.1\n");
    expect_missing("127.0.0.0/8");
    EXPECT("server: do-not-query-localhost: yes\n", "Every line has a counterpart");
    EXPECT("server: do-not-query-address: 192.0.2.300\n", "127.0.0.0/8", "Not imported");
    EXPECT("server: root-hints: hints.zone\n", "root-hints: ", "/hints.zone\n");
}

/* ---- local data ---- */

static void test_local_zones_have_their_actions(void **state)
{
    (void)state;
    EXPECT("server:\n local-zone: a.example static\n local-zone: \"b.example\" always_nodata\n"
           " local-zone: c.example deny\n local-zone: d.example always_null\n"
           " local-zone: e.example nodefault\n local-zone: f.example ipset\n" ROOT,
           "{name: a.example, action: nxdomain}", "{name: b.example, action: nodata}",
           "{name: c.example, action: drop}", "{name: d.example, action: redirect}",
           "{name: e.example, action: transparent}", "d.example A 0.0.0.0",
           "d.example AAAA ::", "f.example ipset\n");
}

static void test_types_without_records_are_asked_for(void **state)
{
    (void)state;
    EXPECT("server:\n local-zone: a.example typetransparent\n" ROOT,
           "{name: a.example, action: typetransparent}");
    expect_missing("u.conf:2");
    EXPECT("server:\n local-zone: a.example typetransparent\n local-data: \"x.b.a.example A "
           "192.0.2.1\"\nstub-zone:\n name: b.a.example\n stub-addr: 192.0.2.7\n" ROOT,
           "{name: a.example, action: typetransparent}",
           "{name: b.a.example, action: typetransparent}");
    expect_missing("answers first, so its servers");
    EXPECT("server:\n access-control-view: 192.0.2.0/24 v\n"
           "view:\n name: v\n local-zone: a.example typetransparent\n" ROOT,
           "local-zones: [{name: a.example, action: typetransparent}]");
}

static void test_records_keep_their_quotes(void **state)
{
    (void)state;
    struct config *config = imported("server: local-data: 'x.example TXT \"a \\\"b\\\" c\"'\n"
                                     "local-data-ptr: \"192.0.2.3 60 www.example\"\n"
                                     "local-data-ptr: \"2001:db8::f www.example\"\n" ROOT);
    assert_int_equal(config->record_count, 3);
    assert_string_equal(config->records[0].text, "x.example TXT \"a \\\"b\\\" c\"");
    assert_string_equal(config->records[1].text, "3.2.0.192.in-addr.arpa. 60 IN PTR www.example");
    assert_non_null(strstr(config->records[2].text, "f.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0."
                                                    "0.0.8.b.d.0.1.0.0.2.ip6.arpa.  IN PTR"));
    config_free(config);
}

static void test_private_addresses_can_be_asked_for(void **state)
{
    (void)state;
    EXPECT("server: unblock-lan-zones: yes\n" ROOT, "{name: 10.in-addr.arpa, action: transparent}",
           "{name: 31.172.in-addr.arpa, action: transparent}");
    EXPECT("server: unblock-lan-zones: yes\n" ROOT, "{name: 113.0.203.in-addr.arpa, action: tr",
           "{name: 64.100.in-addr.arpa, action: transparent}");
    EXPECT("server: unblock-lan-zones: no\n" ROOT, "forward-zones");
    expect_missing("transparent");
}

static void test_a_private_zone_of_the_file_stays_as_it_is(void **state)
{
    (void)state;
    EXPECT("server: unblock-lan-zones: yes\n local-zone: 168.192.in-addr.arpa. static\n" ROOT,
           "{name: 168.192.in-addr.arpa., action: nxdomain}",
           "{name: 10.in-addr.arpa, action: transparent}");
    expect_missing("168.192.in-addr.arpa, action: transparent");
    expect_missing("given twice");
}

static void test_a_star_is_a_plain_label_in_unbound(void **state)
{
    (void)state;
    EXPECT("server:\n local-data: \"*.example.com A 192.0.2.1\"\n"
           " local-zone: *.example.org always_nxdomain\n local-data: \"x.test A 192.0.2.2\"\n" ROOT,
           "x.test A 192.0.2.2", "u.conf:2: local-data: *.example.com A 192.0.2.1",
           "u.conf:3: local-zone: *.example.org always_nxdomain", "* is a plain label");
    expect_missing("- \"*.example.com");
    expect_missing("name: \"*.example.org");
}

static void test_a_local_zone_stays_above_zones_with_servers(void **state)
{
    (void)state;
    EXPECT("server:\n local-zone: example.com refuse\n"
           "stub-zone:\n name: corp.example.com\n stub-addr: 192.0.2.7\n" ROOT,
           "{name: corp.example.com, action: refuse}", "answers first, so its servers");
    EXPECT("server:\n local-zone: example.com refuse\n local-zone: corp.example.com nodefault\n"
           "stub-zone:\n name: corp.example.com\n stub-addr: 192.0.2.7\n" ROOT,
           "{name: corp.example.com, action: transparent}");
    expect_missing("corp.example.com, action: refuse");
    EXPECT("server:\n local-zone: example.com transparent\n"
           "stub-zone:\n name: corp.example.com\n stub-addr: 192.0.2.7\n" ROOT,
           "{name: example.com, action: transparent}");
    expect_missing("name: corp.example.com, action");
}

static void test_a_walled_garden_has_no_holes(void **state)
{
    (void)state;
    EXPECT("server:\n access-control-view: 192.0.2.0/24 walled\n"
           "view:\n name: walled\n local-zone: . redirect\n local-data: \". 60 IN A 192.0.2.9\"\n"
           "auth-zone:\n name: corp.example\n primary: 192.0.2.7\n" ROOT,
           "name: walled", "{name: ., action: redirect}", "{name: corp.example, action: redirect}",
           "\". 60 IN A 192.0.2.9\"", "\"corp.example 60 IN A 192.0.2.9\"");
}

static void test_a_repeated_local_zone_keeps_its_tags(void **state)
{
    (void)state;
    EXPECT("server:\n define-tag: \"t\"\n access-control-tag: 192.0.2.0/24 t\n"
           " local-zone: example.com refuse\n local-zone-tag: example.com t\n"
           "stub-zone:\n name: corp.example.com\n stub-addr: 192.0.2.7\n" ROOT,
           "name: tags-t", "{name: corp.example.com, action: refuse}");
    expect_missing("- {name: corp.example.com");
}

static void test_a_lost_local_zone_gets_a_warning(void **state)
{
    (void)state;
    EXPECT("server: local-zone: example.com block_a\n" ROOT, "the actions are refuse, nxdomain");
    assert_string_equal(said,
                        "u.conf:1:1: warning: local-zone: example.com block_a is not "
                        "imported, which weakens security: the actions are refuse, "
                        "nxdomain, nodata, redirect, drop, transparent and typetransparent.\n");
}

static void test_dnstap_writes_the_kinds_that_are_on(void **state)
{
    (void)state;
    struct config *config =
        imported("dnstap:\n dnstap-enable: yes\n dnstap-socket-path: \"tap.sock\"\n"
                 " dnstap-send-identity: yes\n dnstap-identity: ns1\n dnstap-version: 9\n"
                 " dnstap-log-client-query-messages: yes\n"
                 " dnstap-log-client-response-messages: yes\n"
                 " dnstap-log-client-response-messages: no\n"
                 " dnstap-log-resolver-response-messages: yes\n"
                 "server: directory: /var/tap\n" ROOT);
    assert_string_equal(config->dnstap.socket, "/var/tap/tap.sock");
    assert_string_equal(config->dnstap.identity, "ns1");
    assert_string_equal(config->dnstap.version, "");
    assert_int_equal(config->dnstap.messages, DNSTAP_CLIENT_QUERIES | DNSTAP_RESOLVER_RESPONSES);
    config_free(config);
}

static void test_dnstap_sends_no_text_that_only_unbound_knows(void **state)
{
    (void)state;
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-socket-path: /run/tap\n"
           " dnstap-send-identity: yes\n dnstap-identity: \"\"\n dnstap-version: \"\"\n"
           " dnstap-log-client-query-messages: yes\n" ROOT,
           "# u.conf:4: dnstap-send-identity: yes\n"
           "#     Write the text into dnstap.identity: Unbound has a built-in one");
    expect_missing("identity: \"\"");
    expect_missing("dnstap-version");
}

static void test_dnstap_that_is_off_writes_nothing(void **state)
{
    (void)state;
    EXPECT("dnstap:\n dnstap-socket-path: /run/tap\n"
           " dnstap-log-client-query-messages: yes\n" ROOT,
           "# u.conf:2: dnstap-socket-path: /run/tap\n"
           "# u.conf:3: dnstap-log-client-query-messages: yes\n"
           "#     Not imported: dnstap-enable is not yes");
    expect_missing("dnstap:\n  ");
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-socket-path: /run/tap\n" ROOT,
           "no kind of messages is on");
    expect_missing("dnstap:\n  ");
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1@6000\n"
           " dnstap-send-version: yes\n dnstap-log-client-query-messages: yes\n" ROOT,
           "Write the socket of a reader on this host into dnstap.socket",
           "dnstap to a local socket", "Write the text into dnstap.version");
}

/* dt_io_thread_apply_cfg() of Unbound 1.26 ignores the socket with TCP. */
static void test_dnstap_over_tcp_has_no_socket(void **state)
{
    (void)state;
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1@6000\n"
           " dnstap-socket-path: /run/tap\n dnstap-log-client-query-messages: yes\n" ROOT,
           "# u.conf:3: dnstap-ip: 192.0.2.1@6000\n#     Not imported: nailup sends dnstap to a "
           "local socket",
           "# u.conf:4: dnstap-socket-path: /run/tap\n"
           "#     Not imported: Unbound ignores it because of dnstap-ip.");
    expect_missing("socket: /run/tap\n  ");
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-ip: 192.0.2.1\n dnstap-ip: \"\"\n"
           " dnstap-socket-path: /run/tap\n dnstap-log-client-query-messages: yes\n" ROOT,
           "dnstap:\n  socket: /run/tap\n", "Replaced by a later line.");
    expect_missing("u.conf:4: dnstap-ip");
    EXPECT("dnstap:\n dnstap-enable: yes\n dnstap-log-client-query-messages: yes\n" ROOT,
           "Write the socket of the reader into dnstap.socket; Unbound has one of its own.");
}

static void test_dns64_needs_its_module(void **state)
{
    (void)state;
    char text[PREFIX_TEXT_MAX];
    struct config *config =
        imported("server:\n module-config: \"dns64 validator iterator\"\n"
                 " dns64-prefix: 2001:db8:64::/96\n dns64-ignore-aaaa: corp.example\n" ROOT);
    assert_string_equal(prefix_format(&config->dns64_prefix, text), "2001:db8:64::/96");
    assert_int_equal(config->dns64_ignored.count, 1);
    assert_int_equal(config->route.validation.mode, VALIDATE_YES);
    config_free(config);
    config = imported("server:\n module-config: \"dns64 iterator\"\n dns64-synthall: yes\n" ROOT);
    assert_string_equal(prefix_format(&config->dns64_prefix, text), "64:ff9b::/96");
    assert_int_equal(config->dns64_ignored.count, 1);
    assert_int_equal(config->dns64_ignored.list[0][0], 0); /* the root covers every name */
    config_free(config);
    config = imported("server:\n dns64-prefix: 64:ff9b::/96\n" ROOT);
    assert_int_equal(config->dns64_prefix.length, 0);
    config_free(config);
    EXPECT("server: dns64-prefix: 64:ff9b::/96\n", "# u.conf:1: dns64-prefix: 64:ff9b::/96",
           "module-config has no dns64");
}

static void test_private_addresses_are_refused_from_outside(void **state)
{
    (void)state;
    struct config *config =
        imported("server:\n private-address: 10.0.0.0/8\n private-address: fd00::/8\n"
                 " private-domain: \"corp.example\"\n" ROOT);
    assert_int_equal(config->private_addresses.count, 2);
    assert_int_equal(config->private_domains.count, 1);
    config_free(config);
}

/* In Unbound a mapped prefix matches AAAA records only, and no server or client over IPv4. */
static void test_mapped_prefixes_never_become_prefixes_of_ipv4(void **state)
{
    (void)state;
    struct addr v4 = {.in = {.sin_family = AF_INET}};
    struct config *config = imported("server:\n private-address: ::ffff:0:0/96\n" ROOT);
    const struct prefix *prefix = &config->private_addresses.list[0];
    assert_int_equal(addr_family(&prefix->addr), AF_INET6);
    assert_int_equal(prefix->length, 96);
    assert_int_equal(prefix_set_find(config->private_addresses.set, &v4), -1);
    config_free(config);
    config = imported("server:\n access-control: ::ffff:0:0/96 allow\n"
                      " access-control: 10.0.0.0/8 allow\n" ROOT);
    assert_int_equal(config->access_count, 3);
    assert_int_equal(prefix_set_find(config->server.access, &v4), -1);
    config_free(config);
    EXPECT("server: do-not-query-address: ::ffff:0:0/96\n",
           "# u.conf:1: do-not-query-address: ::", "IPv4-mapped");
    expect_missing("0.0.0.0/0");
}

/* ---- DNSSEC ---- */

#define DIGEST "683D2D0ACB8C9B712A1948B27F741219298D0A450D612C483AF444A4C0FB2B16"
#define ANCHOR " trust-anchor: \"example. DS 7 13 2 " DIGEST "\"\n"

static enum validate_mode imported_mode(const char *text)
{
    struct config *config = imported(text);
    enum validate_mode mode = config->route.validation.mode;
    config_free(config);
    return mode;
}

static void test_trust_anchors_are_taken_and_turn_validation_on(void **state)
{
    (void)state;
    struct config *config =
        imported("server:\n" ANCHOR " auto-trust-anchor-file: \"/var/lib/unbound/root.key\"\n"
                 " domain-insecure: \"corp.example\"\n domain-insecure: test.example.\n" ROOT);
    assert_int_equal(config->route.validation.mode, VALIDATE_YES);
    assert_int_equal(config->trust_anchor_count, 1);
    assert_string_equal(config->trust_anchor_file, "/var/lib/unbound/root.key");
    assert_int_equal(config->negative_anchors.count, 2);
    config_free(config);
    EXPECT("server: auto-trust-anchor-file: \"/var/lib/unbound/root.key\"\n" ROOT,
           "dnssec:\n  validate: yes\n  trust-anchor-file: /var/lib/unbound/root.key\n",
           "# u.conf:1: auto-trust-anchor-file: /var/lib/unbound/root.key\n"
           "#     nailupd keeps this file up to date too");
}

static void test_the_validator_module_decides_whether_anything_is_validated(void **state)
{
    (void)state;
    assert_int_equal(imported_mode("server: module-config: \"iterator\"\n" ANCHOR ROOT),
                     VALIDATE_NO);
    assert_int_equal(imported_mode("server: module-config: \"\"\n" ANCHOR ROOT), VALIDATE_NO);
    assert_int_equal(imported_mode("server: module-config: \"validators iterator\"\n" ROOT),
                     VALIDATE_NO);
    assert_int_equal(
        imported_mode("server: module-config: \"cachedb\tvalidator iterator\"\n" ANCHOR ROOT),
        VALIDATE_YES);
    EXPECT(
        "server: module-config: \"validator iterator\"\n" ROOT, "dnssec:\n  validate: yes\n",
        "# u.conf:1: module-config: validator iterator\n#     Unbound validates nothing without");
    EXPECT("server: module-config: \"iterator\"\n" ROOT, "dnssec:\n  validate: no\n");
}

static void test_aggressive_use_is_imported(void **state)
{
    (void)state;
    EXPECT("server: aggressive-nsec: yes\n" ROOT, "dnssec:\n  aggressive: yes\n");
    EXPECT("server: aggressive-nsec: no\n" ROOT, "dnssec:\n  aggressive: no\n");
}

static void test_permissive_mode_becomes_the_mode_log(void **state)
{
    (void)state;
    assert_int_equal(imported_mode("server: val-permissive-mode: yes\n" ANCHOR ROOT), VALIDATE_LOG);
    assert_int_equal(imported_mode("server: val-permissive-mode: no\n" ANCHOR ROOT), VALIDATE_YES);
    assert_int_equal(imported_mode("server: val-permissive-mode: yes\n"
                                   " module-config: \"iterator\"\n" ROOT),
                     VALIDATE_NO);
}

static void test_anchors_that_cannot_be_used_are_reported(void **state)
{
    (void)state;
    EXPECT("server:\n trust-anchor: \"example. DS 7 13 2 AB\"\n"
           " trust-anchor-file: /etc/a.key\n trust-anchor-file: /etc/b.key\n"
           " trusted-keys-file: /etc/bind.keys\n domain-insecure: a\n domain-insecure: a.\n" ROOT,
           "trust-anchor-file: /etc/a.key\n",
           "# u.conf:2: trust-anchor: example. DS 7 13 2 AB\n#     Not imported: ",
           "may not be a trust anchor",
           "# u.conf:4: trust-anchor-file: /etc/b.key\n#     Not imported: nailup takes one file",
           "# u.conf:5: trusted-keys-file: /etc/bind.keys\n", "# u.conf:7: domain-insecure: a.\n",
           "is given twice");
}

/* ---- options that are not imported ---- */

static void test_a_line_without_a_counterpart_is_noted_with_place_and_reason(void **state)
{
    (void)state;
    EXPECT(
        "server:\n harden-glue: yes\n harden-dnssec-stripped: yes\n"
        " harden-algo-downgrade: no\n outgoing-num-tcp: 10\n" ROOT,
        "# u.conf:2: harden-glue: yes\n#     Not needed:",
        "# u.conf:3: harden-dnssec-stripped: yes\n#     With dnssec.validate: yes,",
        "# u.conf:4: harden-algo-downgrade: no\n#     One valid signature",
        "# u.conf:5: outgoing-num-tcp: 10\n#     The nearest option is upstream.max-connections");
}

static void test_a_refused_item_becomes_a_comment_with_the_error_of_the_loader(void **state)
{
    (void)state;
    EXPECT("server:\n num-threads: 5000\n cache-max-ttl: 99999999999\n"
           " local-data: \"no record\"\n interface: 192.0.2.7\n interface: 192.0.2.7@53\n" ROOT,
           "# u.conf:2: num-threads: 5000\n#     Not imported: server.workers: 5000 is out of",
           "# u.conf:3: cache-max-ttl: 99999999999\n", "out of range",
           "# u.conf:4: local-data: no record\n", "cannot be used as a record",
           "# u.conf:6: interface: 192.0.2.7@53\n", "is given twice");
}

static void test_the_last_of_several_values_counts(void **state)
{
    (void)state;
    EXPECT("server: num-threads: 1\n num-threads: 3\n num-threads: 3\n" ROOT, "workers: 3\n",
           "# u.conf:1: num-threads: 1\n#     Replaced by another value in line 2 of u.conf.");
}

static void test_unknown_words_are_reported_up_to_the_end_of_their_line(void **state)
{
    (void)state;
    EXPECT("server:\n what-is-this: a \"b c\" d e f # g\n forward-addr: 192.0.2.1\n" ROOT,
           "# u.conf:2: what-is-this: a b c d\n#     Unknown option",
           "# u.conf:3: forward-addr:", "it is an option of forward-zone:");
    EXPECT("view:\n name: v\n local-zone: x refuse\n" ROOT, "# u.conf:2: name: v\n",
           "Not imported, because its view is not.");
}

static void test_text_that_is_not_a_conf_is_refused_with_its_place(void **state)
{
    (void)state;
    expect_refused("server:\n  verbosity\n",
                   "u.conf:2:3: error: this is not an option: no colon follows it\n");
    expect_refused("server: port: \"53\n",
                   "u.conf:1:15: error: the quote is not closed on its line\n");
    expect_refused("server:\n access-control: 10.0.0.0/8",
                   "u.conf:2:2: error: access-control takes 2 values, but has 1\n");
}

static void test_foreign_text_stays_within_its_quotes_and_comments(void **state)
{
    (void)state;
    EXPECT("server:\n identity: \"x\\\", access: [{prefix: 0.0.0.0/0\"\n version: 'a\tb'\n"
           " harden-glue: \"a\rb\"\n" ROOT,
           "identity: \"x\\\\\\\", access: [", "version: a?b", "harden-glue: a?b\n");
    struct config *config = imported("server: identity: '\"}'\n" ROOT);
    assert_string_equal(config->server.identity, "\"}");
    assert_int_equal(config->access_count, 2);
    config_free(config);
}

static void test_secrets_are_not_shown(void **state)
{
    (void)state;
    EXPECT("server: cookie-secret: 000102030405060708090a0b0c0d0e0f\n"
           "cachedb:\n redis-server-password: tiger\n secret-seed: \"lion\"\n" ROOT,
           "cookie-secret: (not shown)\n", "redis-server-password: (not shown)\n",
           "secret-seed: (not shown)\n");
    expect_missing("0001");
    expect_missing("tiger");
    expect_missing("lion");
}

/* ---- bounds ---- */

static char *repeated(const char *format, unsigned count)
{
    char *text = malloc((size_t)count * 64 + 256), *at = text;
    assert_non_null(text);
    at += sprintf(at, "server:\n");
    for (unsigned i = 0; i < count; i++)
        at += sprintf(at, format, i);
    sprintf(at, ROOT);
    return text;
}

static void test_a_list_of_names_too_long_is_cut_and_reported(void **state)
{
    (void)state;
    char *text = repeated("local-zone: name-%u.example refuse\n", 20000);
    strcat(text, "auth-zone: name: inside.example primary: ns.example\n");
    config_free(imported(text));
    assert_non_null(strstr(printed, "{name: inside.example, action: refuse}"));
    assert_non_null(strstr(printed, "further lines of local data are LEFT OUT"));
    assert_non_null(strstr(said, "warning: has more local-zone and local-data than fit"));
    assert_non_null(strstr(printed, "{name: name-0.example, action: refuse}"));
    free(text);
}

static void test_a_list_of_clients_too_long_is_refused_as_a_whole(void **state)
{
    (void)state;
    char *text = repeated("access-control: 2001:db8:%x::/48 refuse\n", 20000);
    expect_refused(text, "u.conf:1:1: error: has more than an import of 1 MiB can hold, or too "
                         "many values that nailup does not accept; shorten it\n");
    free(text);
}

static void test_comments_have_a_bound(void **state)
{
    (void)state;
    char *text = repeated("harden-glue: %u\n", 20000);
    config_free(imported(text));
    assert_non_null(strstr(printed, "further lines without a counterpart are not shown."));
    free(text);
}

static void test_a_repeated_value_is_kept_once(void **state)
{
    (void)state;
    char *text = repeated("num-threads: %u\n", 100);
    EXPECT(text, "workers: 99\n");
    free(text);
}

/* ---- the table ---- */

static void test_rows_that_copy_name_rows_of_options(void **state)
{
    (void)state;
#define WORD(clause, name, args, map, path, note)                                                  \
    if (*(path) && !options_find(path))                                                            \
        fail_msg("%s: there is no %s in options.def", name, path);                                 \
    assert_true(*(note) || (UNBOUND_MAP_##map != UNBOUND_MAP_none &&                               \
                            UNBOUND_MAP_##map != UNBOUND_MAP_weaker));                             \
    assert_true((args) >= 1 && (args) <= 3);
#include "import/unbound_words.def"
}

/* Values of every kind. Each row is tried with each value. */
static const char *const trials[] = {
    "yes",           "no",        "7",        "192.0.2.7",
    "2001:db8::/32", "x.example", "/x/y.pem", "'validator iterator'",
    "50m",           "\"\"",
};

static bool is_statement_accounted(const char *clause, const char *name, unsigned args,
                                   const char *value)
{
    char text[512];
    snprintf(text, sizeof(text), "%s:\n%s %s: %s%s%s\n", clause,
             strcmp(clause, "server") == 0 || strcmp(name, "name") == 0 ? "" : " name: z.example\n",
             name, value, args > 1 ? " allow" : "", args > 2 ? " x" : "");
    if (import_bytes(text, strlen(text)) != ERR_OK)
        fail_msg("%s: %s", text, said);
    return strstr(printed, "nothing here corresponds") == NULL;
}

static void test_no_option_is_lost_silently(void **state)
{
    (void)state;
    static const char *const clause_names[] = {
#define CLAUSE(id, name) name,
#include "import/unbound_words.def"
    };
    enum {
#define CLAUSE(id, name) CLAUSE_##id,
#include "import/unbound_words.def"
    };
    for (size_t i = 0; i < sizeof(trials) / sizeof(*trials); i++) {
#define WORD(clause, name, args, map, path, note)                                                  \
    if (!is_statement_accounted(clause_names[CLAUSE_##clause], name, args, trials[i]))             \
        fail_msg("%s: %s is lost: %s", name, trials[i], printed);
#include "import/unbound_words.def"
    }
}

static void test_a_policy_zone_with_a_file_is_imported(void **state)
{
    (void)state;
    EXPECT("rpz:\n name: Feed.example\n zonefile: /var/feed.zone\n rpz-log: yes\n"
           " rpz-log-name: \"a feed\"\n rpz-action-override: cname\n"
           " rpz-cname-override: *.garden.example\n" ROOT,
           "  - {name: Feed.example, file: /var/feed.zone, log: yes, log-name: \"a feed\", "
           "action-override: cname, cname-override: \"*.garden.example\"}\n");
    EXPECT("rpz:\n name: a\n zonefile: feed\n" DIRECTORY ROOT,
           "  - {name: a, file: /var/unbound/feed}\n");
    EXPECT("rpz:\n name: a\n zonefile: /f\n tags: x\n" ROOT, "{name: a, file: /f, default: no}",
           "so no client has the zone");
    assert_string_equal(said, "");
}

static void test_records_that_their_zone_hides_are_left_out(void **state)
{
    (void)state;
    EXPECT("server:\n local-zone: ads.example always_nxdomain\n"
           " local-data: \"x.Ads.example A 192.0.2.1\"\n"
           " local-zone: fine.ads.example static\n local-data: \"fine.ads.example A 192.0.2.2\"\n"
           " local-zone: null.example always_null\n local-data: \"x.null.example A 192.0.2.3\"\n"
           "view:\n name: v\n local-zone: kids.example always_refuse\n"
           " local-data: \"a.kids.example A 192.0.2.4\"\n local-data: \"b.example A 192.0.2.5\"\n"
           "server:\n access-control-view: 10.0.0.0/8 v\n" ROOT,
           "- \"fine.ads.example A 192.0.2.2\"", "- \"x.null.example A 192.0.2.3\"",
           "local-data: [\"b.example A 192.0.2.5\"]", "# u.conf:3: local-data",
           "# u.conf:11: local-data", "the action of its local-zone answers before it");
    expect_missing("- \"x.Ads");
    expect_missing("[\"a.kids");
}

static void test_rules_come_before_local_data(void **state)
{
    (void)state;
    EXPECT("server:\n local-data: \"a.example A 192.0.2.1\"\n"
           "rpz:\n name: lost\nrpz:\n name: a\n zonefile: /f\nrpz:\n name: b\n zonefile: /g\n" ROOT,
           "# u.conf:5: rpz:", "where local data must win");
    expect_missing("# u.conf:8: rpz:");
    EXPECT("view:\n name: v\n local-zone: a.example static\nrpz:\n name: a\n zonefile: /f\n" ROOT,
           "# u.conf:4: rpz:", "where local data must win");
    config_free(imported("rpz:\n name: a\n zonefile: /f\n" ROOT));
    expect_missing("must win, give");
}

static void test_views_have_their_clients_and_local_data(void **state)
{
    (void)state;
    EXPECT(
        "server:\n access-control: 10.0.0.0/8 allow\n access-control-view: 10.9.0.0/16 lab\n"
        " access-control-view: 10.9.9.0/24 kids\n access-control-view: 2001:db8::/32 lab\n"
        " local-zone: ads.example static\n"
        "view:\n name: \"lab\"\n local-zone: \"lab.example\" redirect\n"
        " local-data: \"lab.example A 192.0.2.1\"\n local-data-ptr: \"192.0.2.1 lab.example\"\n"
        " view-first: yes\n"
        "view:\n name: kids\n local-zone: games.example always_null\n" ROOT,
        "views:\n  - {name: lab, clients: [10.9.0.0/16, \"2001:db8::/32\"], local-zones: [{name: "
        "lab.example, action: redirect}], local-data: [\"lab.example A 192.0.2.1\", "
        "\"1.2.0.192.in-addr.arpa.  IN PTR lab.example\"]}\n"
        "  - {name: kids, clients: [10.9.9.0/24], local-zones: [{name: games.example, action: "
        "redirect}], local-data: [\"games.example A 0.0.0.0\", \"games.example AAAA ::\"], "
        "inherit-local: no}\n");
    assert_string_equal(said, "");
}

/* In Unbound, the data of all clients answers for a name without records in such a zone, except
 * with nodefault. */
static void test_transparent_zones_of_a_view_that_asks_for_all_get_a_note(void **state)
{
    static const char text[] =
        "server:\n access-control-view: 10.9.0.0/16 lab\n%s"
        "view:\n name: lab\n view-first: %s\n local-zone: a.example %s\n" ROOT;
    static const char note[] = "the local data of all clients answers here";
    static const struct {
        const char *server, *first, *type;
        bool has_note;
    } cases[] = {
        {" local-zone: example refuse\n", "yes", "transparent", true},
        {" local-zone: example refuse\n", "yes", "typetransparent", true},
        {" local-zone: example refuse\n", "yes", "always_transparent", true},
        {" local-zone: example refuse\n", "yes", "nodefault", false},
        {" local-zone: example refuse\n", "yes", "static", false},
        {" local-zone: example refuse\n", "no", "transparent", false},
        {"", "yes", "transparent", false},
    };
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char file[1024];
        snprintf(file, sizeof(file), text, cases[i].server, cases[i].first, cases[i].type);
        EXPECT(file, "{name: a.example, action: ");
        if (cases[i].has_note)
            EXPECT(file, "local-zone: a.example", note);
        else
            expect_missing(note);
    }
}

/* Lines of the clause "server" after a view apply to all clients. A view without local data uses
 * that of all clients, whatever view-first says. */
static void test_a_view_ends_with_its_clause(void **state)
{
    (void)state;
    struct config *config =
        imported("view:\n name: lab\nserver:\n access-control-view: 10.9.0.0/16 lab\n"
                 " local-zone: ads.example static\n" ROOT);
    assert_int_equal(config->view_set.view_count, 1);
    assert_int_equal(config->local_zone_count, 1);
    expect_missing("inherit-local");
    config_free(config);
}

static void test_a_view_without_clients_is_for_none(void **state)
{
    (void)state;
    EXPECT(
        "view:\n name: lab\n local-zone: lab.example refuse\n" ROOT,
        "# u.conf:1: view:\n#     Not imported: no access-control-view gives this view clients.");
    expect_missing("views:");
    EXPECT("view:\n local-zone: lab.example refuse\n" ROOT, "the view has no name");
    expect_missing("views:");
    config_free(imported("server: access-control-view: 10.0.0.0/8 lab\n" ROOT));
    expect_missing("views:");
    assert_non_null(strstr(said, "warning: access-control-view: 10.0.0.0/8 lab is not imported"));
    assert_non_null(strstr(said, "no view has this name"));
}

static void test_the_last_view_of_a_prefix_counts(void **state)
{
    (void)state;
    EXPECT("server:\n access-control-view: 10.0.0.0/8 a\n access-control-view: 10.0.0.0/8 b\n"
           "view:\n name: a\nview:\n name: b\n" ROOT,
           "views:\n  - {name: b, clients: [10.0.0.0/8]}\n", "# u.conf:2: access-control-view",
           "a later line gives this prefix another view");
    expect_missing("{name: a");
}

static void test_each_set_of_tags_becomes_a_view(void **state)
{
    (void)state;
    EXPECT("server:\n define-tag: \"kids work\"\n access-control-tag: 10.1.0.0/16 \"kids\"\n"
           " access-control-tag: 10.2.0.0/16 \"work kids\"\n"
           " access-control-tag: 10.3.0.0/16 \"kids\"\n"
           " local-zone: games.example refuse\n local-zone: all.example static\n"
           " local-zone: sub.games.example transparent\n"
           " local-data: \"x.Games.example A 192.0.2.1\"\n"
           " local-data: \"x.sub.games.example A 192.0.2.2\"\n"
           " local-zone-tag: GAMES.example \"kids\"\n local-zone-tag: jobs.example \"work\"\n"
           " local-zone: jobs.example static\n" ROOT,
           "local-zones:\n  - {name: all.example, action: nxdomain}\n"
           "  - {name: sub.games.example, action: transparent}\n\n",
           "local-data:\n  - \"x.sub.games.example A 192.0.2.2\"\n\n",
           "views:\n"
           "  - {name: tags-kids, clients: [10.1.0.0/16, 10.3.0.0/16], local-zones: "
           "[{name: games.example, action: refuse}], local-data: "
           "[\"x.Games.example A 192.0.2.1\"]}\n",
           "  - {name: tags-kids-work, clients: [10.2.0.0/16], local-zones: "
           "[{name: games.example, action: refuse}, {name: jobs.example, action: nxdomain}], ",
           "# Every line has a counterpart above.");
    assert_string_equal(said, "");
}

static void test_tags_choose_response_policy_zones(void **state)
{
    (void)state;
    EXPECT("server:\n access-control-tag: 10.1.0.0/16 \"a\"\n"
           " access-control-tag: 10.2.0.0/16 \"b\"\n"
           "rpz:\n name: all\n primary: 192.0.2.1\nrpz:\n name: some\n primary: 192.0.2.1\n"
           " tags: \"a\"\nrpz:\n name: none\n primary: 192.0.2.1\n tags: \"c\"\n" ROOT,
           "{name: some, ", "default: no}",
           "{name: tags-a, clients: [10.1.0.0/16], rpz-zones: [all, some]}\n",
           "{name: tags-b, clients: [10.2.0.0/16]}\n",
           "No access-control-tag has one of these tags");
}

static void test_tags_that_cannot_be_kept_are_reported(void **state)
{
    (void)state;
    EXPECT("server:\n access-control-tag: 10.1.0.0/16 \"a\"\n"
           " access-control-tag: 10.1.0.0/16 \"b\"\n"
           " access-control-tag: 10.2.0.0/16 \"a\"\n access-control-view: 10.2.0.0/16 lab\n"
           " access-control-tag: 10.3.0.0/16 \"\"\n local-zone: z.example static\n"
           " local-zone-tag: z.example \"a\"\nview:\n name: lab\n" ROOT,
           "{name: tags-b, clients: [10.1.0.0/16]}", "# u.conf:2: access-control-tag",
           "a later line gives this prefix other tags", "# u.conf:4: access-control-tag",
           "a client has one view", "# u.conf:6: access-control-tag", "it has no tags",
           "# u.conf:8: local-zone-tag", "so no client has the zone");
    expect_missing("z.example, action");
    assert_non_null(strstr(said, "warning: access-control-tag: 10.2.0.0/16"));
}

static void test_tags_are_bounded(void **state)
{
    (void)state;
    char text[4096] = "server:\n";
    for (int i = 0; i < 34; i++)
        sprintf(text + strlen(text), " access-control-tag: 10.%d.0.0/16 \"t/%d\"\n", i, i);
    strcat(text, ROOT);
    EXPECT(text, "{name: tags-t_31, clients: [10.31.0.0/16]}", "# u.conf:34: access-control-tag",
           "# u.conf:35: access-control-tag", "more than 32 tags");
    expect_missing("tags-t_32");
    assert_non_null(strstr(said, "more than 32 tags"));
}

static void test_options_that_no_view_can_express_are_reported(void **state)
{
    (void)state;
    EXPECT("server:\n interface-tag: 192.0.2.1 kids\n interface-view: 192.0.2.1 lab\n"
           " access-control-tag-action: 10.0.0.0/8 kids refuse\n"
           " local-zone-override: games.example 10.0.0.0/8 refuse\n"
           "view:\n name: lab\n response-ip: 192.0.2.0/24 deny\n view-last: yes\n" ROOT,
           "# u.conf:2: interface-tag", "# u.conf:3: interface-view", "into its key listen",
           "# u.conf:4: access-control-tag-action", "# u.conf:5: local-zone-override",
           "A zone has one action", "# u.conf:8: response-ip",
           "# u.conf:9: view-last: yes\n#     Not imported: an item of views has no such key.");
    assert_non_null(strstr(said, "warning: interface-tag: 192.0.2.1 kids is not imported"));
    assert_non_null(strstr(said, "warning: local-zone-override: games.example"));
    assert_non_null(strstr(said, "warning: interface-view: 192.0.2.1 lab is not imported"));
    assert_non_null(strstr(said, "warning: response-ip: 192.0.2.0/24 deny is not imported"));
}

static void test_a_view_that_the_loader_refuses_is_reported(void **state)
{
    (void)state;
    EXPECT("server:\n access-control-view: 10.0.0.0/8 \"a b\"\nview:\n name: \"a b\"\n" ROOT,
           "# u.conf:3: view:");
    expect_missing("views:");
    assert_non_null(strstr(said, "u.conf:3:1: warning: view: is not imported"));
    EXPECT("server:\n access-control-view: 10.0.0.0/99 a\nview:\n name: a\n" ROOT,
           "# u.conf:3: view:");
    expect_missing("views:");
}

static void test_a_policy_zone_keeps_its_primaries(void **state)
{
    (void)state;
    EXPECT("rpz:\n name: a\n primary: 192.0.2.1\n master: 192.0.2.2@853#ns.a\n zonefile: /copy\n"
           " allow-notify: 192.0.2.0/24\n allow-notify: nonsense\n primary: ns.a\n" ROOT,
           "  - {name: a, primaries: [192.0.2.1, 192.0.2.2@853#ns.a], allow-notify: "
           "[192.0.2.0/24]}\n");
    assert_non_null(strstr(printed, "zonefile is not read"));
    assert_non_null(strstr(printed, "primaries are given by address"));
    assert_non_null(strstr(printed, "allow-notify takes addresses and prefixes"));
    assert_string_equal(said, "");
    /* A primary or a url makes the file a copy, which would become outdated. */
    config_free(imported("rpz:\n name: a\n zonefile: /copy\n primary: ns.a\n" ROOT));
    assert_non_null(strstr(said, "warning: rpz: is not imported"));
    config_free(imported("rpz:\n name: a\n zonefile: /copy\n url: https://a/b\n" ROOT));
    assert_non_null(strstr(said, "warning: rpz: is not imported"));
    assert_non_null(strstr(printed, "zones come by AXFR and IXFR"));
}

static void test_a_lost_protection_gets_a_warning(void **state)
{
    (void)state;
    EXPECT("server:\n response-ip: 192.0.2.0/24 deny\n" ROOT, "# u.conf:2: response-ip");
    assert_string_equal(
        said, "u.conf:2:1: warning: response-ip: 192.0.2.0/24 deny is not imported, which "
              "weakens security. Write a response policy zone with a rule for the address, such "
              "as 32.7.2.0.192.rpz-ip, and name it in rpz.\n");
    config_free(imported("server: harden-algo-downgrade: yes\n" ROOT));
    assert_non_null(strstr(said, "warning: harden-algo-downgrade: yes is not imported"));
    config_free(imported("rpz:\n name: x.example\n rpz-log: yes\n" ROOT));
    assert_non_null(strstr(said, "u.conf:1:1: warning: rpz: is not imported"));
    assert_non_null(strstr(said, "rpz needs a name, and primaries by address or a file"));
    config_free(imported("server: access-control: 10.0.0.0/8 allow_cookie\n" ROOT));
    assert_non_null(strstr(said, "Clients without a cookie may ask too"));
    config_free(imported("server: access-control: 10.0.0.0/99 refuse\n" ROOT));
    assert_non_null(strstr(said, "warning: access-control: 10.0.0.0/99 refuse is not imported"));
    config_free(imported("server: private-address: 10.0.0.0/99\n" ROOT));
    assert_non_null(strstr(said, "warning: private-address: 10.0.0.0/99 is not imported"));
    config_free(imported("server: access-control-tag-action: 10.0.0.0/8 a refuse\n" ROOT));
    assert_non_null(strstr(said, "warning: access-control-tag-action: 10.0.0.0/8 a refuse is not"));
    config_free(imported("server: interface-tag-action: 10.0.0.1 a refuse\n" ROOT));
    assert_non_null(strstr(said, "warning: interface-tag-action: 10.0.0.1 a refuse is not"));
    /* Nothing is lost if the option was off, or if it protects nothing. */
    config_free(imported("server: harden-algo-downgrade: no proxy-protocol-port: 0\n"
                         " so-rcvbuf: 4m harden-glue: yes tls-protocols: \"\"\n" ROOT));
    assert_string_equal(said, "");
}

static void test_the_lines_of_a_lost_zone_are_all_reported(void **state)
{
    (void)state;
    EXPECT("stub-zone:\n name: a.example\n stub-host: ns.a.example\n stub-tls-upstream: yes\n"
           " stub-no-cache: yes\n" ROOT,
           "# u.conf:4: stub-tls-upstream: yes\n", "# u.conf:5: stub-no-cache: yes\n");
    EXPECT("forward-zone:\n name: a.example\n forward-addr: 192.0.2.1\n"
           "stub-zone:\n name: a.example\n stub-addr: 192.0.2.2\n stub-tcp-upstream: yes\n"
           " stub-first: yes\n",
           "# u.conf:5: name", "# u.conf:6: stub-addr", "# u.conf:7: stub-tcp-upstream: yes\n",
           "# u.conf:8: stub-first: yes\n", "because its zone is not");
    EXPECT("server: do-ip6: no\n", "# u.conf:1: do-ip6: no\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_interfaces_become_listeners_by_their_ports),
        cmocka_unit_test(test_an_address_that_cannot_be_served_is_reported),
        cmocka_unit_test(test_a_file_with_tls_only_opens_no_port_in_plain_text),
        cmocka_unit_test(test_tls_has_its_port_and_its_files),
        cmocka_unit_test(test_https_has_its_port_and_its_path),
        cmocka_unit_test(test_access_keeps_this_machine_in),
        cmocka_unit_test(test_numbers_of_threads_multiply),
        cmocka_unit_test(test_versions_are_reported_when_they_are_texts_and_not_hidden),
        cmocka_unit_test(test_two_caches_become_one),
        cmocka_unit_test(test_expired_answers_become_stale_ones),
        cmocka_unit_test(test_the_keys_of_the_proposal_of_2016_are_imported),
        cmocka_unit_test(test_zones_have_their_servers_and_transport),
        cmocka_unit_test(test_a_transport_for_all_servers_has_no_fallback),
        cmocka_unit_test(test_names_of_servers_without_tls_are_left_out),
        cmocka_unit_test(test_a_zone_is_used_once),
        cmocka_unit_test(test_names_never_move_to_a_larger_zone),
        cmocka_unit_test(test_servers_by_name_keep_their_names),
        cmocka_unit_test(test_a_zone_of_a_file_is_held),
        cmocka_unit_test(test_a_zone_of_primaries_is_held),
        cmocka_unit_test(test_a_zone_without_a_use_is_left_out),
        cmocka_unit_test(test_a_zone_keeps_sixteen_primaries),
        cmocka_unit_test(test_all_outgoing_addresses_are_imported),
        cmocka_unit_test(test_a_missing_ip_version_of_outgoing_addresses_is_noted),
        cmocka_unit_test(test_the_output_recurses_where_unbound_does),
        cmocka_unit_test(test_a_root_that_loses_its_servers_is_not_resolved_by_recursion),
        cmocka_unit_test(test_stub_zones_keep_their_options),
        cmocka_unit_test(test_logs_of_queries_and_failures_are_imported),
        cmocka_unit_test(test_options_of_recursion_are_imported),
        cmocka_unit_test(test_local_zones_have_their_actions),
        cmocka_unit_test(test_types_without_records_are_asked_for),
        cmocka_unit_test(test_records_keep_their_quotes),
        cmocka_unit_test(test_private_addresses_can_be_asked_for),
        cmocka_unit_test(test_a_private_zone_of_the_file_stays_as_it_is),
        cmocka_unit_test(test_a_star_is_a_plain_label_in_unbound),
        cmocka_unit_test(test_a_local_zone_stays_above_zones_with_servers),
        cmocka_unit_test(test_a_walled_garden_has_no_holes),
        cmocka_unit_test(test_a_repeated_local_zone_keeps_its_tags),
        cmocka_unit_test(test_a_lost_local_zone_gets_a_warning),
        cmocka_unit_test(test_dnstap_writes_the_kinds_that_are_on),
        cmocka_unit_test(test_dnstap_sends_no_text_that_only_unbound_knows),
        cmocka_unit_test(test_dnstap_that_is_off_writes_nothing),
        cmocka_unit_test(test_dnstap_over_tcp_has_no_socket),
        cmocka_unit_test(test_dns64_needs_its_module),
        cmocka_unit_test(test_private_addresses_are_refused_from_outside),
        cmocka_unit_test(test_mapped_prefixes_never_become_prefixes_of_ipv4),
        cmocka_unit_test(test_trust_anchors_are_taken_and_turn_validation_on),
        cmocka_unit_test(test_the_validator_module_decides_whether_anything_is_validated),
        cmocka_unit_test(test_aggressive_use_is_imported),
        cmocka_unit_test(test_permissive_mode_becomes_the_mode_log),
        cmocka_unit_test(test_anchors_that_cannot_be_used_are_reported),
        cmocka_unit_test(test_a_line_without_a_counterpart_is_noted_with_place_and_reason),
        cmocka_unit_test(test_a_refused_item_becomes_a_comment_with_the_error_of_the_loader),
        cmocka_unit_test(test_the_last_of_several_values_counts),
        cmocka_unit_test(test_unknown_words_are_reported_up_to_the_end_of_their_line),
        cmocka_unit_test(test_text_that_is_not_a_conf_is_refused_with_its_place),
        cmocka_unit_test(test_foreign_text_stays_within_its_quotes_and_comments),
        cmocka_unit_test(test_secrets_are_not_shown),
        cmocka_unit_test(test_a_list_of_names_too_long_is_cut_and_reported),
        cmocka_unit_test(test_a_list_of_clients_too_long_is_refused_as_a_whole),
        cmocka_unit_test(test_comments_have_a_bound),
        cmocka_unit_test(test_a_repeated_value_is_kept_once),
        cmocka_unit_test(test_rows_that_copy_name_rows_of_options),
        cmocka_unit_test(test_no_option_is_lost_silently),
        cmocka_unit_test(test_a_policy_zone_with_a_file_is_imported),
        cmocka_unit_test(test_records_that_their_zone_hides_are_left_out),
        cmocka_unit_test(test_rules_come_before_local_data),
        cmocka_unit_test(test_views_have_their_clients_and_local_data),
        cmocka_unit_test(test_transparent_zones_of_a_view_that_asks_for_all_get_a_note),
        cmocka_unit_test(test_a_view_ends_with_its_clause),
        cmocka_unit_test(test_a_view_without_clients_is_for_none),
        cmocka_unit_test(test_the_last_view_of_a_prefix_counts),
        cmocka_unit_test(test_each_set_of_tags_becomes_a_view),
        cmocka_unit_test(test_tags_choose_response_policy_zones),
        cmocka_unit_test(test_tags_that_cannot_be_kept_are_reported),
        cmocka_unit_test(test_tags_are_bounded),
        cmocka_unit_test(test_options_that_no_view_can_express_are_reported),
        cmocka_unit_test(test_a_view_that_the_loader_refuses_is_reported),
        cmocka_unit_test(test_a_policy_zone_keeps_its_primaries),
        cmocka_unit_test(test_a_lost_protection_gets_a_warning),
        cmocka_unit_test(test_the_lines_of_a_lost_zone_are_all_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
