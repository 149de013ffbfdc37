/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit/config/config_text.h"

static void test_defaults_are_those_of_the_manual(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    assert_int_equal(config->workers, 0);
    assert_int_equal(config->server.listen_count, 2);
    struct addr v4 = addr_of("127.0.0.1"), v6 = addr_of("::1");
    assert_true(addr_equal(&config->server.listen[0], &v4));
    assert_true(addr_equal(&config->server.listen[1], &v6));
    assert_int_equal(config->server.max_udp_size, 1232);
    assert_int_equal(config->server.client_idle_timeout_us, 30000000);
    assert_int_equal(config->server.max_clients, 10000);
    assert_int_equal(config->server.max_clients_per_address, 100);
    assert_int_equal(config->server.max_waiting, 10000);
    assert_true(config->route.minimal_responses);
    assert_int_equal(config->cache.size_bytes, 128 * 1024 * 1024);
    assert_int_equal(config->cache.min_ttl_s, 0);
    assert_int_equal(config->cache.max_ttl_s, 86400);
    assert_int_equal(config->cache.max_negative_ttl_s, 900);
    assert_int_equal(config->cache.failure_ttl_s, 5);
    assert_int_equal(config->max_nailed, 1000);
    assert_string_equal(config->control_socket, "/run/nailup/control.sock");
    assert_int_equal(config->log_level, LOG_INFO);
    assert_int_equal(config->log_format, LOG_TEXT);
    config_free(config);
}

static void test_records_of_queries_are_read(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    assert_false(config->log_queries);
    assert_string_equal(config->dnstap.socket, "");
    assert_string_equal(config->dnstap.file, "");
    assert_int_equal(config->dnstap.messages, 63);
    config_free(config);
    config = load_fine("log: {queries: yes}\n"
                       "dnstap: {identity: ns7, version: \"1 2\", messages: [resolver-response, "
                       "client-response]}\n" ZONE);
    assert_true(config->log_queries);
    assert_string_equal(config->dnstap.identity, "ns7");
    assert_string_equal(config->dnstap.version, "1 2");
    assert_int_equal(config->dnstap.messages, DNSTAP_CLIENT_RESPONSES | DNSTAP_RESOLVER_RESPONSES);
    config_free(config);
}

static int access_of(const struct config *config, const char *client)
{
    struct addr addr = addr_of(client);
    return prefix_set_find(config->server.access, &addr);
}

static void test_only_loopback_may_ask_by_default(void **state)
{
    (void)state;
    struct config *config = load_fine(ZONE);
    assert_int_equal(access_of(config, "127.3.2.1"), SERVER_ALLOW);
    assert_int_equal(access_of(config, "::1"), SERVER_ALLOW);
    assert_int_equal(access_of(config, "10.0.0.1"), -1);
    assert_int_equal(access_of(config, "::2"), -1);
    config_free(config);
}

static void test_the_longest_access_prefix_decides(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {access: [{prefix: 10.0.0.0/8, action: allow},"
                  " {prefix: 10.1.0.0/16, action: drop}, {action: refuse, prefix: 10.1.1.1},"
                  " {prefix: 10.1.1.2, action: allow-snoop}]}\n" ZONE);
    assert_int_equal(access_of(config, "10.1.1.2"), SERVER_SNOOP);
    assert_int_equal(access_of(config, "10.2.0.1"), SERVER_ALLOW);
    assert_int_equal(access_of(config, "10.1.0.1"), SERVER_DROP);
    assert_int_equal(access_of(config, "10.1.1.1"), SERVER_REFUSE);
    assert_int_equal(access_of(config, "127.0.0.1"), -1);
    config_free(config);
}

static void test_values_of_every_section_arrive(void **state)
{
    (void)state;
    struct config *config = load_fine(
        "server:\n  workers: 3\n  listen: [\"::@5300\"]\n  max-udp-size: 4096\n"
        "  minimal-responses: no\n  client-idle-timeout: 250ms\n  max-clients: 7\n"
        "  max-clients-per-address: 6\n  max-waiting: 5\n  max-waiting-per-client: 4\n"
        "  client-prefix-v4: 24\n  client-prefix-v6: 48\n  cookies: no\n"
        "  rate-limit: {queries-per-second: 11, slip: 3, clients: 12}\n"
        "cache: {size: 2MiB, min-ttl: 1s, max-ttl: 2m, max-negative-ttl: 3h, failure-ttl: 4s}\n"
        "upstream: {max-nailed: 17}\n"
        "control: {socket: /tmp/s}\nlog: {level: debug, format: json}\n" ZONE);
    assert_int_equal(config->workers, 3);
    assert_int_equal(config->server.listen_count, 1);
    assert_int_equal(addr_port(&config->server.listen[0]), 5300);
    assert_int_equal(config->server.max_udp_size, 4096);
    assert_false(config->route.minimal_responses);
    assert_int_equal(config->server.client_idle_timeout_us, 250000);
    assert_int_equal(config->server.max_clients, 7);
    assert_int_equal(config->server.max_clients_per_address, 6);
    assert_int_equal(config->server.max_waiting, 5);
    assert_int_equal(config->server.max_waiting_per_client, 4);
    assert_int_equal(config->server.client_prefix_v4, 24);
    assert_int_equal(config->server.client_prefix_v6, 48);
    assert_int_equal(config->server.rate_limit_qps, 11);
    assert_int_equal(config->server.rate_limit_slip, 3);
    assert_int_equal(config->server.rate_limit_clients, 12);
    assert_false(config->server.cookies);
    assert_int_equal(config->cache.size_bytes, 2 * 1024 * 1024);
    assert_int_equal(config->cache.min_ttl_s, 1);
    assert_int_equal(config->cache.max_ttl_s, 120);
    assert_int_equal(config->cache.max_negative_ttl_s, 10800);
    assert_int_equal(config->cache.failure_ttl_s, 4);
    assert_int_equal(config->max_nailed, 17);
    assert_string_equal(config->control_socket, "/tmp/s");
    assert_int_equal(config->log_level, LOG_DEBUG);
    assert_int_equal(config->log_format, LOG_JSON);
    config_free(config);
}

static void test_zones_arrive_in_lower_case_with_their_upstreams(void **state)
{
    (void)state;
    struct config *config =
        load_fine("forward-zones:\n"
                  "  - name: .\n    upstreams: [192.0.2.53, \"2001:db8::53@5353\"]\n"
                  "  - name: Corp.Example\n    upstreams: [127.0.0.1@5301]\n    trust-ad: yes\n    "
                  "cache: no\n");
    const struct route_options *route = &config->route;
    assert_int_equal(route->zone_count, 2);
    assert_int_equal(route->zones[0].name_len, 1);
    assert_int_equal(route->zones[0].upstream_count, 2);
    assert_int_equal(addr_port(&route->zones[0].upstreams[0].addr), 53);
    assert_int_equal(addr_port(&route->zones[0].upstreams[1].addr), 5353);
    assert_true(route->zones[0].cache);
    assert_false(route->zones[0].trust_ad);
    assert_int_equal(route->zones[1].name_len, 14);
    assert_memory_equal(route->zones[1].wire, "\4corp\7example", 14);
    assert_false(route->zones[1].cache);
    assert_true(route->zones[1].trust_ad);
    config_free(config);
}

static void test_the_proposal_of_2016_loads_word_for_word(void **state)
{
    (void)state;
    struct config *config = load_fine("tcp-upstream-keepalive:\n  - 10.1.1.1\n  - 10.50.1.64/27\n"
                                      "tcp-upstream-keepalive-maxrequests: 10000\n" ZONE);
    assert_int_equal(config->entry_count, 2);
    assert_int_equal(config->entries[0].prefix.length, 32);
    assert_int_equal(config->entries[1].prefix.length, 27);
    assert_int_equal(config->keepalive_max_requests, 10000);
    config_free(config);
    config = load_fine("tcp-upstream-keepalive: 10.50.1.64/27\n" ZONE);
    assert_int_equal(config->entry_count, 1);
    config_free(config);
}

static void test_empty_sections_have_their_defaults(void **state)
{
    (void)state;
    config_free(load_fine("server:\ncache:\nupstream:\n  tcp-keepalive:\ntcp-upstream-keepalive:\n"
                          "recursion:\ncontrol:\nlog:\n" ZONE));
}

static void test_keys_of_tls_may_be_empty(void **state)
{
    (void)state;
    config_free(load_fine(
        "server: {listen-tls: [], tls-certificate: \"\", tls-key: \"\", tls-ciphers: \"\", "
        "tls-groups: \"\"}\n"
        "upstream: {auth-name: \"\", pin-sha256: [], ca-bundle: \"\", client-certificate: \"\", "
        "client-key: \"\", tls-ciphers: \"\", tls-groups: \"\", session-file: \"\"}\n"
        "log: {tls-keys: \"\"}\n" ZONE));
}

static void test_listeners_over_tls_arrive(void **state)
{
    (void)state;
    struct config *config =
        load_fine("server: {listen-tls: [192.0.2.7, \"::@8853\"], tls-certificate: /c, tls-key: "
                  "/k, tls-ciphers: a, tls-groups: b}\n" ZONE);
    char out[ADDR_TEXT_MAX];
    assert_int_equal(config->server.listen_tls_count, 2);
    assert_string_equal(addr_format(&config->server.listen_tls[0], out), "192.0.2.7@853");
    assert_string_equal(addr_format(&config->server.listen_tls[1], out), "::@8853");
    assert_string_equal(config->server.tls_certificate, "/c");
    assert_string_equal(config->server.tls_key, "/k");
    assert_string_equal(config->server.tls_ciphers, "a");
    assert_string_equal(config->server.tls_groups, "b");
    assert_int_equal(config->server.listen_count, 2);
    config_free(config);
}

/* ---- many entries ---- */

static char *many_entries(size_t count)
{
    char *text = malloc(count * 64 + 128);
    size_t len = (size_t)sprintf(text, "%stcp-upstream-keepalive:\n", ZONE);
    for (size_t i = 0; i < count; i++)
        len += (size_t)sprintf(text + len,
                               i % 2 ? "  - 10.%zu.%zu.0/24\n"
                                     : "  - {prefix: 10.%zu.%zu.0/24, connections: 3}\n",
                               i / 256, i % 256);
    return text;
}

static void test_ten_thousand_entries_load(void **state)
{
    (void)state;
    char *text = many_entries(10000);
    struct config *config = load_fine(text);
    struct route_upstream target;
    struct addr inside = addr_of("10.39.14.9"), outside = addr_of("10.39.16.9");
    assert_int_equal(config->entry_count, 10000);
    assert_true(policy_choose(&config->policy, &inside, &target));
    assert_true(target.options.nailed);
    assert_int_equal(target.options.connections, 3);
    assert_true(policy_choose(&config->policy, &outside, &target));
    assert_false(target.options.nailed);
    config_free(config);
    free(text);
}

static void test_thousands_of_zones_load(void **state)
{
    (void)state;
    enum { ZONES = 50000 }; /* the most zones that forward-zones may have */
    char *text = malloc(ZONES * 64 + 128);
    size_t len = (size_t)sprintf(text, "forward-zones:\n");
    for (size_t i = 0; i < ZONES; i++)
        len += (size_t)sprintf(text + len, "  - {name: z%zu.example, upstreams: [192.0.2.1]}\n", i);
    struct config *config = load_fine(text);
    assert_int_equal(config->route.zone_count, ZONES);
    config_free(config);
    free(text);
}

/* ---- files ---- */

static void test_a_file_loads(void **state)
{
    (void)state;
    char path[] = "/tmp/nailup-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, ZONE, strlen(ZONE)), strlen(ZONE));
    close(fd);
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_load(path, &config, &errors), ERR_OK);
    assert_int_equal(config->zone_count, 1);
    config_free(config);
    buf_deinit(&errors);
    unlink(path);
}

static void expect_load_error(const char *path, const char *line)
{
    struct config *config;
    struct buf errors;
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    assert_int_equal(config_load(path, &config, &errors), ERR_INVALID);
    assert_null(config);
    assert_int_equal(buf_len(&errors), strlen(line));
    assert_memory_equal(buf_span(&errors).data, line, strlen(line));
    buf_deinit(&errors);
}

static void test_a_file_that_cannot_be_read_is_an_error(void **state)
{
    (void)state;
    expect_load_error("/nonexistent/nailup.yaml",
                      "/nonexistent/nailup.yaml:1:1: error: file: cannot be read: No such file or "
                      "directory\n");
}

static void test_only_a_regular_file_is_read(void **state)
{
    (void)state;
    char folder[] = "/tmp/nailup-load-XXXXXX", path[64], line[160];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/pipe", folder);
    snprintf(line, sizeof(line), "%s:1:1: error: file: is not a regular file\n", path);
    assert_int_equal(mkfifo(path, 0600), 0);
    alarm(60); /* a blocked open() ends the test */
    expect_load_error(path, line);
    alarm(0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(rmdir(folder), 0);
    expect_load_error("/", "/:1:1: error: file: is not a regular file\n");
    expect_load_error("/dev/zero", "/dev/zero:1:1: error: file: is not a regular file\n");
}

static void test_a_file_of_the_largest_size_loads(void **state)
{
    (void)state;
    char *text = malloc(CONFIG_FILE_MAX + 1);
    memset(text, '\n', CONFIG_FILE_MAX + 1);
    memcpy(text, ZONE, strlen(ZONE));
    config_free(load_bytes(text, CONFIG_FILE_MAX));
    assert_string_equal(errors_text, "");
    assert_null(load_bytes(text, CONFIG_FILE_MAX + 1));
    assert_string_equal(errors_text,
                        "f:1:1: error: file: is larger than 33554432 bytes; shorten it\n");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_records_of_queries_are_read),
        cmocka_unit_test(test_defaults_are_those_of_the_manual),
        cmocka_unit_test(test_only_loopback_may_ask_by_default),
        cmocka_unit_test(test_the_longest_access_prefix_decides),
        cmocka_unit_test(test_values_of_every_section_arrive),
        cmocka_unit_test(test_zones_arrive_in_lower_case_with_their_upstreams),
        cmocka_unit_test(test_the_proposal_of_2016_loads_word_for_word),
        cmocka_unit_test(test_empty_sections_have_their_defaults),
        cmocka_unit_test(test_keys_of_tls_may_be_empty),
        cmocka_unit_test(test_listeners_over_tls_arrive),
        cmocka_unit_test(test_ten_thousand_entries_load),
        cmocka_unit_test(test_thousands_of_zones_load),
        cmocka_unit_test(test_a_file_loads),
        cmocka_unit_test(test_a_file_that_cannot_be_read_is_an_error),
        cmocka_unit_test(test_only_a_regular_file_is_read),
        cmocka_unit_test(test_a_file_of_the_largest_size_loads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
