/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The host names of upstreams in virtual time. The bootstrap servers are scripted peers, and the
 * worker is a resolver on the same loop.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/private_file.h"
#include "base/rand.h"
#include "cache/cache.h"
#include "control/view.h"
#include "daemon/host_book.h"
#include "daemon/host_keeper.h"
#include "daemon/inquiry.h"
#include "resolve/resolver.h"
#include "support/fake_loop.h"
#include "support/fake_peer.h"
#include "unit/config/config_text.h"
#include "unit/daemon/host_message.h"
#include "unit/daemon/log_lines.h"
#include "upstream/upstreams.h"

#define S US_PER_S
#define BOOT                                                                                       \
    "upstream: {bootstrap: [192.0.2.200]}\n"                                                       \
    "forward-zones: [{name: ., upstreams: [dns.example@853], transport: tls}]\n"

static struct loop *loop;
static struct fake_peer *peer;
static struct config *config;
static struct control_view view;
static struct host_keeper *keeper;
static unsigned changes;

/* The server answers with these records for A and AAAA, or with an rcode, or not at all. */
static const struct host_record *a_records, *aaaa_records;
static unsigned peer_rcode;
static bool peer_is_silent;

static void answer_hosts(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    const struct host_record *records =
        host_query_type(ask->query) == RRTYPE_A ? a_records : aaaa_records;
    (void)owner;
    if (peer_is_silent)
        answer->how = FAKE_SILENT;
    answer->len = host_message(answer->data, ask->query, peer_rcode, records);
}

static const struct host_record one_a[] = {{"dns.example", RRTYPE_A, 300, "192.0.2.1"}, {0}};
static const struct host_record other_a[] = {{"dns.example", RRTYPE_A, 300, "192.0.2.2"}, {0}};
static const struct host_record one_aaaa[] = {{"dns.example", RRTYPE_AAAA, 300, "2001:db8::1"},
                                              {0}};

static void on_changed(void *context)
{
    assert_ptr_equal(context, &changes);
    changes++;
}

static void configure(const char *text)
{
    struct config *before = config;
    config = load_fine(text);
    host_keeper_configure(keeper, config, NULL);
    config_free(before);
}

static int begin(void **state)
{
    (void)state;
    rand_seed_for_tests(7);
    loop = loop_new();
    struct addr addr = addr_of("192.0.2.200@53");
    peer = fake_peer_new(fake_net_of(loop), &addr, answer_hosts, NULL);
    a_records = one_a;
    aaaa_records = NULL;
    peer_rcode = 0;
    peer_is_silent = false;
    changes = 0;
    config = NULL;
    view = (struct control_view){0};
    keeper = host_keeper_new(&(struct inquirer){loop, &view, on_changed, &changes});
    return 0;
}

static int end(void **state)
{
    (void)state;
    host_keeper_end(keeper);
    fake_loop_settle(loop);
    assert_int_equal(fake_net_open_sockets(fake_net_of(loop)), 0);
    loop_free(loop);
    host_keeper_free(keeper);
    config_free(config);
    return 0;
}

static void expect_addrs(const char *name, const char *expected)
{
    char all[1024] = "", text[ADDR_TEXT_MAX];
    const struct zone_host *host = zone_hosts_find(host_keeper_hosts(keeper), name);
    assert_non_null(host);
    for (size_t i = 0; i < host->addr_count; i++)
        sprintf(all + strlen(all), "%s%s", i ? " " : "", addr_format_ip(&host->addrs[i], text));
    assert_string_equal(all, expected);
}

static void test_nothing_is_asked_before_the_workers_run(void **state)
{
    (void)state;
    configure(BOOT);
    fake_loop_advance(loop, 10 * S);
    assert_int_equal(fake_peer_queries(peer), 0);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, S);
    assert_int_equal(fake_peer_queries(peer), 2);
    expect_addrs("dns.example", "192.0.2.1");
    assert_int_equal(changes, 1);
}

static void test_both_families_change_a_name_once(void **state)
{
    (void)state;
    aaaa_records = one_aaaa;
    configure(BOOT);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, S);
    expect_addrs("dns.example", "192.0.2.1 2001:db8::1");
    assert_int_equal(changes, 1);
}

static void test_a_name_is_asked_again_when_its_ttl_is_over(void **state)
{
    (void)state;
    configure(BOOT);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, 299 * S);
    assert_int_equal(fake_peer_queries(peer), 2);
    a_records = other_a;
    fake_loop_advance(loop, 2 * S);
    assert_int_equal(fake_peer_queries(peer), 4);
    expect_addrs("dns.example", "192.0.2.1 192.0.2.2");
    fake_loop_advance(loop, 600 * S);
    expect_addrs("dns.example", "192.0.2.2");
    assert_int_equal(changes, 3);
    fake_loop_advance(loop, 3000 * S);
    assert_int_equal(changes, 3); /* the same addresses again are not a change */
}

static void test_silence_and_refusals_keep_the_addresses_and_are_bounded(void **state)
{
    (void)state;
    configure(BOOT);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, S);
    peer_is_silent = true;
    fake_loop_advance(loop, 3600 * S);
    expect_addrs("dns.example", "192.0.2.1");
    assert_int_equal(changes, 1);
    assert_true(fake_peer_queries(peer) < 2000);
    peer_is_silent = false;
    peer_rcode = 5;
    fake_loop_advance(loop, 600 * S);
    expect_addrs("dns.example", "192.0.2.1");
    peer_rcode = 0;
    a_records = other_a;
    fake_loop_advance(loop, 61 * S);
    expect_addrs("dns.example", "192.0.2.1 192.0.2.2");
}

static void test_a_change_of_the_network_retries_at_once(void **state)
{
    (void)state;
    peer_rcode = 2;
    configure(BOOT);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, 600 * S);
    expect_addrs("dns.example", "");
    peer_rcode = 0;
    host_keeper_network_changed(keeper);
    fake_loop_advance(loop, S);
    expect_addrs("dns.example", "192.0.2.1");
}

static void test_another_configuration_keeps_the_addresses_of_its_names(void **state)
{
    (void)state;
    configure(BOOT);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, S);
    configure("upstream: {bootstrap: [192.0.2.200]}\n"
              "forward-zones: [{name: ., upstreams: [dns2.example, dns.example]}]\n");
    expect_addrs("dns.example", "192.0.2.1");
    expect_addrs("dns2.example", "");
    assert_int_equal(host_keeper_hosts(keeper)->count, 2);
    configure("forward-zones: [{name: ., upstreams: [192.0.2.1]}]\n");
    assert_int_equal(host_keeper_hosts(keeper)->count, 0);
    fake_loop_advance(loop, S);
    size_t asked = fake_peer_queries(peer);
    fake_loop_advance(loop, 4000 * S);
    assert_int_equal(fake_peer_queries(peer), asked);
}

/* The configuration changes while the answer is on its way. */
static void test_a_late_answer_for_a_former_configuration_changes_nothing(void **state)
{
    (void)state;
    configure(BOOT);
    host_keeper_begin(keeper);
    configure("upstream: {bootstrap: [192.0.2.201]}\n"
              "forward-zones: [{name: ., upstreams: [dns.example@853]}]\n");
    fake_loop_advance(loop, 60 * S);
    expect_addrs("dns.example", "");
    assert_int_equal(changes, 0);
}

static void test_many_names_are_asked_for_a_few_at_a_time(void **state)
{
    char text[4096] = "upstream: {bootstrap: [192.0.2.200]}\nforward-zones:\n"
                      "  - {name: ., upstreams: [";
    (void)state;
    for (int i = 0; i < CONFIG_HOSTS_MAX; i++)
        sprintf(text + strlen(text), "d%d.example, ", i);
    strcpy(text + strlen(text) - 2, "]}\n");
    peer_is_silent = true;
    configure(text);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, US_PER_MS);
    assert_int_equal(fake_peer_queries(peer), HOST_BOTH * HOST_ROUNDS_MAX);
    peer_is_silent = false;
    fake_loop_advance(loop, 120 * S);
    assert_true(fake_peer_queries(peer) >= HOST_BOTH * CONFIG_HOSTS_MAX);
}

/* ---- the file ---- */

static char directory[64], path[128];

static int begin_file(void **state)
{
    strcpy(directory, "/tmp/nailup-test-XXXXXX");
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof(path), "%s/hosts", directory);
    log_lines_begin();
    return begin(state);
}

static int end_file(void **state)
{
    end(state);
    log_lines_end();
    unlink(path);
    return rmdir(directory);
}

static void write_file(const char *text)
{
    assert_int_equal(private_file_replace(path, span_of(text, strlen(text))), ERR_OK);
}

static void expect_file(const char *expected)
{
    char text[1024] = "";
    FILE *in = fopen(path, "r");
    assert_int_equal(in != NULL, expected != NULL);
    if (!in)
        return;
    text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
    fclose(in);
    assert_string_equal(text, expected);
}

/* Writes a file with one address of dns.example, confirmed age_s ago. */
static void write_aged(int64_t age_s)
{
    char text[128];
    snprintf(text, sizeof(text), "nailup hosts 1\ndns.example %lld 192.0.2.9\nend\n",
             (long long)(loop_wall_s(loop) - age_s));
    write_file(text);
}

/* Plays a start: the file is read before the configuration takes effect. */
static void start_with_file(void)
{
    char text[512];
    snprintf(text, sizeof(text),
             "upstream: {bootstrap: [192.0.2.200], host-file: %s}\n"
             "forward-zones: [{name: ., upstreams: [dns.example@853], transport: tls}]\n",
             path);
    config = load_fine(text);
    host_keeper_recall(keeper, config);
    host_keeper_configure(keeper, config, NULL);
}

static void test_saved_addresses_count_at_once_and_are_refreshed(void **state)
{
    (void)state;
    write_aged(3600);
    start_with_file();
    expect_addrs("dns.example", "192.0.2.9");
    assert_int_equal(changes, 0);
    assert_int_equal(view.hosts.unknown, 0);
    host_keeper_begin(keeper);
    fake_loop_advance(loop, S);
    expect_addrs("dns.example", "192.0.2.9 192.0.2.1");
    assert_int_equal(changes, 1);
}

static void test_saved_addresses_stay_while_no_server_answers(void **state)
{
    (void)state;
    write_aged(HOST_SAVED_AGE_MAX_S);
    peer_is_silent = true;
    start_with_file();
    host_keeper_begin(keeper);
    fake_loop_advance(loop, 7200 * S);
    expect_addrs("dns.example", "192.0.2.9");
    assert_int_equal(changes, 0);
}

static void test_addresses_that_are_too_old_are_not_used(void **state)
{
    (void)state;
    write_aged(HOST_SAVED_AGE_MAX_S + 1);
    start_with_file();
    expect_addrs("dns.example", "");
    assert_non_null(strstr(log_lines, "its saved addresses are not used: they are 7 days old"));
}

/* A machine without a battery-backed clock starts in the past. */
static void test_a_time_in_the_future_counts(void **state)
{
    (void)state;
    write_aged(-1000000000);
    start_with_file();
    expect_addrs("dns.example", "192.0.2.9");
}

static void test_a_change_is_saved_a_moment_later_and_its_time_each_hour(void **state)
{
    char expected[128];
    (void)state;
    int64_t began_s = loop_wall_s(loop);
    start_with_file();
    host_keeper_begin(keeper);
    fake_loop_advance(loop, HOST_SAVE_SOON_S * S / 2);
    expect_file(NULL);
    fake_loop_advance(loop, HOST_SAVE_SOON_S * S);
    snprintf(expected, sizeof(expected), "nailup hosts 1\ndns.example %lld 192.0.2.1\nend\n",
             (long long)began_s);
    expect_file(expected);
    fake_loop_advance(loop, (HOST_SAVE_S - 60) * S);
    expect_file(expected);
    fake_loop_advance(loop, 600 * S);
    snprintf(expected, sizeof(expected), "nailup hosts 1\ndns.example %lld 192.0.2.1\nend\n",
             (long long)began_s + HOST_SAVE_S);
    expect_file(expected);
}

static void test_the_end_saves_what_is_not_in_the_file(void **state)
{
    char expected[128];
    (void)state;
    snprintf(expected, sizeof(expected), "nailup hosts 1\ndns.example %lld 192.0.2.1\nend\n",
             (long long)loop_wall_s(loop));
    start_with_file();
    host_keeper_begin(keeper);
    fake_loop_advance(loop, HOST_SAVE_SOON_S * S / 2);
    expect_file(NULL);
    host_keeper_end(keeper);
    expect_file(expected);
}

static void test_a_damaged_file_is_ignored_and_replaced(void **state)
{
    (void)state;
    write_file("nailup hosts 1\ndns.example 1 192.0.2.9\n");
    start_with_file();
    expect_addrs("dns.example", "");
    assert_non_null(strstr(log_lines, "is not used, so the names of upstreams have no address "
                                      "until they are resolved: it is damaged"));
    host_keeper_begin(keeper);
    fake_loop_advance(loop, 10 * S);
    log_lines[0] = '\0';
    host_keeper_end(keeper);
    host_keeper_free(keeper);
    config_free(config);
    keeper = host_keeper_new(&(struct inquirer){loop, &view, on_changed, &changes});
    start_with_file();
    expect_addrs("dns.example", "192.0.2.1");
}

/* ---- without bootstrap servers ---- */

struct fixture {
    struct loop *loop;
    struct stats stats;
    struct nail_quota quota;
    struct cache *cache;
    struct control_worker worker;
    struct control_worker *list[1];
};

static void open_worker(struct fixture *fixture, const char *text)
{
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};
    config = load_fine(text);
    memset(fixture, 0, sizeof(*fixture));
    fixture->loop = loop;
    fixture->cache = cache_new(&options);
    cache_thread_begin();
    fixture->worker.loop = fixture->loop;
    fixture->worker.stats = &fixture->stats;
    fixture->worker.upstreams = upstreams_new(fixture->loop, &fixture->stats, &fixture->quota);
    fixture->worker.resolver =
        resolver_new(fixture->loop, fixture->cache, fixture->worker.upstreams, &config->route, 100,
                     &fixture->stats);
    fixture->list[0] = &fixture->worker;
    view.workers = fixture->list;
    view.worker_count = 1;
    host_keeper_configure(keeper, config, NULL);
    host_keeper_begin(keeper);
}

static void close_worker(struct fixture *fixture)
{
    resolver_free(fixture->worker.resolver);
    upstreams_free(fixture->worker.upstreams);
    fake_loop_settle(loop);
    cache_free(fixture->cache);
    cache_thread_end();
}

#define OWN                                                                                        \
    "dnssec: {validate: no}\n"                                                                     \
    "forward-zones: [{name: ., upstreams: [192.0.2.200]}]\n"                                       \
    "stub-zones: [{name: corp.test, upstreams: [dns.example]}]\n"

static void test_without_bootstrap_the_own_zones_resolve_a_name(void **state)
{
    struct fixture fixture;
    (void)state;
    aaaa_records = one_aaaa;
    open_worker(&fixture, OWN);
    fake_loop_advance(loop, S);
    expect_addrs("dns.example", "192.0.2.1 2001:db8::1");
    assert_int_equal(changes, 1);
    a_records = other_a;
    fake_loop_advance(loop, 301 * S);
    expect_addrs("dns.example", "192.0.2.1 2001:db8::1 192.0.2.2");
    close_worker(&fixture);
}

static void test_a_worker_without_an_answer_is_a_failure(void **state)
{
    struct fixture fixture;
    (void)state;
    peer_rcode = 2;
    open_worker(&fixture, OWN);
    fake_loop_advance(loop, 30 * S);
    expect_addrs("dns.example", "");
    assert_int_equal(changes, 0);
    peer_rcode = 0;
    fake_loop_advance(loop, 60 * S);
    expect_addrs("dns.example", "192.0.2.1");
    close_worker(&fixture);
}

/* The result of an inquiry comes after the configuration has changed, and then after the end. */
static void test_an_inquiry_of_a_former_configuration_changes_nothing(void **state)
{
    struct fixture fixture;
    (void)state;
    peer_is_silent = true;
    open_worker(&fixture, OWN);
    fake_loop_advance(loop, S);
    configure(BOOT);
    peer_is_silent = false;
    fake_loop_advance(loop, S);
    expect_addrs("dns.example", "192.0.2.1"); /* the bootstrap server's answer counts */
    assert_int_equal(changes, 1);
    host_keeper_end(keeper);
    fake_loop_advance(loop, 30 * S);
    assert_int_equal(changes, 1);
    close_worker(&fixture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
        TEST(test_nothing_is_asked_before_the_workers_run),
        TEST(test_both_families_change_a_name_once),
        TEST(test_a_name_is_asked_again_when_its_ttl_is_over),
        TEST(test_silence_and_refusals_keep_the_addresses_and_are_bounded),
        TEST(test_a_change_of_the_network_retries_at_once),
        TEST(test_another_configuration_keeps_the_addresses_of_its_names),
        TEST(test_a_late_answer_for_a_former_configuration_changes_nothing),
        TEST(test_many_names_are_asked_for_a_few_at_a_time),
#define FILE_TEST(name) cmocka_unit_test_setup_teardown(name, begin_file, end_file)
        FILE_TEST(test_saved_addresses_count_at_once_and_are_refreshed),
        FILE_TEST(test_saved_addresses_stay_while_no_server_answers),
        FILE_TEST(test_addresses_that_are_too_old_are_not_used),
        FILE_TEST(test_a_time_in_the_future_counts),
        FILE_TEST(test_a_change_is_saved_a_moment_later_and_its_time_each_hour),
        FILE_TEST(test_the_end_saves_what_is_not_in_the_file),
        FILE_TEST(test_a_damaged_file_is_ignored_and_replaced),
        TEST(test_without_bootstrap_the_own_zones_resolve_a_name),
        TEST(test_a_worker_without_an_answer_is_a_failure),
        TEST(test_an_inquiry_of_a_former_configuration_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
