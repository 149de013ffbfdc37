/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The zone keeper with its real thread. A function takes the place of the workers and accepts each
 * publication at once, so that the linker needs no part of daemon/worker.c.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utime.h>

#include "base/units.h"
#include "cache/cache.h"
#include "config/config.h"
#include "control/view.h"
#include "daemon/worker.h"
#include "daemon/zone_from_file.h"
#include "daemon/zone_keeper.h"
#include "dns/build.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "resolve/route_options.h"
#include "rpz/rpz_policy.h"
#include "transfer/xfr_gate.h"
#include "validate/anchors.h"
#include "zone/zone_data.h"
#include "zone/zone_set.h"

#define SOA "@ 60 SOA . . %u 2 3 4 5\n@ 60 NS .\n"
#define NO_ZONES "recursion: {}\n"
#define RPZ "rpz: [{name: policy.test, file: %s/policy}]\n"
#define HELD "auth-zones: [{name: held.test, file: %s/held}]\n"

static char folder[] = "/tmp/nailup-keeper-XXXXXX";
static struct loop *loop;
static struct cache *cache;
static struct zone_keeper *keeper;
static struct control_view view;

/* The zones and the policy that the workers have. */
static struct zone_set *zones;
static struct rpz_policy *policy;
static unsigned publications;

static void take(struct zone_set *next_zones, struct rpz_policy *next_policy)
{
    if (next_zones)
        zone_set_ref(next_zones);
    if (next_policy)
        rpz_policy_ref(next_policy);
    zone_set_unref(zones);
    rpz_policy_unref(policy);
    zones = next_zones;
    policy = next_policy;
}

void workers_set_zones(struct workers *workers, struct zone_set *next_zones,
                       struct rpz_policy *next_policy, void (*on_taken)(void *context),
                       void *context)
{
    assert_ptr_equal(workers, &publications);
    take(next_zones, next_policy);
    publications++;
    loop_stop(loop);
    on_taken(context);
}

static void write_zone(const char *name, unsigned serial, const char *records)
{
    char path[64];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, SOA "%s", serial, records);
    fclose(file);
}

static void write_large_zone(const char *name, unsigned records)
{
    enum { ROW = 32 };
    char *text = malloc((size_t)records * ROW + 1);
    size_t len = 0;
    assert_non_null(text);
    for (unsigned i = 0; i < records; i++)
        len += (size_t)snprintf(text + len, ROW + 1, "n%u A 192.0.2.1\n", i);
    write_zone(name, 2, text);
    free(text);
}

/* Gives the keeper a configuration with these lines. Each %s is replaced by the folder. */
static void configure(const char *lines)
{
    char text[512], shown[CONFIG_ERRORS_BYTES + 1] = "";
    struct config *config;
    struct buf errors;
    int len = snprintf(text, sizeof(text), lines, folder, folder);
    buf_init(&errors, CONFIG_ERRORS_BYTES);
    enum err err = config_parse_with_files("f", text, (size_t)len, &config, &errors);
    struct span span = buf_span(&errors);
    if (span.len)
        memcpy(shown, span.data, span.len);
    buf_deinit(&errors);
    assert_string_equal(shown, "");
    assert_int_equal(err, ERR_OK);
    assert_int_equal(zone_keeper_configure(keeper, config), ERR_OK);
    config_free(config);
}

/* Starts the keeper with this configuration. */
static void start(const char *lines)
{
    struct zone_set *first_zones;
    struct rpz_policy *first_policy;
    configure(lines);
    zone_keeper_await(keeper, &first_zones, &first_policy);
    take(first_zones, first_policy);
    zone_keeper_begin(keeper, (struct workers *)(void *)&publications, &view);
}

static void run_until(bool (*is_done)(void))
{
    while (!is_done())
        loop_run(loop);
}

static bool has_policy(void)
{
    return policy != NULL;
}

static bool has_no_policy(void)
{
    return policy == NULL;
}

/* Returns the serial of the zone held here; 0: it has no version. */
static uint32_t serial_held(void)
{
    static const uint8_t wire[] = "\4held\4test";
    const struct zone_held *held =
        zones ? zone_set_find_exact(zones, (struct name){wire, sizeof(wire)}) : NULL;
    return held && held->data ? zone_data_soa(held->data)->serial : 0;
}

static bool has_second_serial(void)
{
    return serial_held() == 2;
}

static int begin(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

static int begin_test(void **state)
{
    (void)state;
    loop = loop_new();
    cache = cache_new(&(struct cache_options){.size_bytes = 1 << 20});
    keeper = zone_keeper_new(loop, cache, XFR_GATE_VISITS_MAX);
    view = (struct control_view){0};
    publications = 0;
    return !loop || !cache || !keeper;
}

static int end_test(void **state)
{
    (void)state;
    zone_keeper_end(keeper);
    take(NULL, NULL);
    zone_keeper_join(keeper);
    loop_free(loop);
    zone_keeper_free(keeper);
    cache_free(cache);
    return 0;
}

static int end(void **state)
{
    static const char *const names[] = {"policy", "held"};
    char path[64];
    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        (void)unlink(path);
    }
    return rmdir(folder);
}

/* ---- response policy ---- */

static void match_once(void)
{
    static const uint8_t wire[] = "\3bad\4test";
    struct addr client = {.in.sin_family = AF_INET};
    struct question question = {.name = {wire, sizeof(wire)}, .type = RRTYPE_A, .cls = RRCLASS_IN};
    struct rpz_query query = {.client = &client, .question = &question};
    struct rpz_decision decision;
    assert_int_equal(rpz_policy_ask(policy, &query, &decision), RPZ_DECIDED);
}

static uint64_t hits(void)
{
    return rpz_policy_zone_hits(rpz_policy_at(policy, 0), RPZ_NXDOMAIN);
}

static unsigned publications_before;

static bool has_new_publication(void)
{
    return publications > publications_before;
}

static void test_counters_of_a_policy_zone_go_on_over_a_reload(void **state)
{
    (void)state;
    write_zone("policy", 1, "bad.test CNAME .\n");
    start(RPZ);
    match_once();
    assert_int_equal(hits(), 1);
    publications_before = publications;
    configure(RPZ);
    run_until(has_new_publication);
    match_once();
    assert_int_equal(hits(), 2);
}

/* A policy without zones must be freed, because the rules of a feed may take gigabytes. */
static void test_nothing_remains_of_a_policy_without_zones(void **state)
{
    (void)state;
    write_zone("policy", 1, "bad.test CNAME .\n");
    start(RPZ);
    match_once();
    configure(NO_ZONES);
    run_until(has_no_policy);
    configure(RPZ);
    run_until(has_policy);
    assert_int_equal(hits(), 0);
}

static void test_the_view_shows_what_the_workers_have(void **state)
{
    (void)state;
    write_zone("policy", 1, "bad.test CNAME .\n");
    write_zone("held", 1, "a A 192.0.2.1\n");
    start(RPZ HELD);
    assert_ptr_equal(view.policy.rules, policy);
    assert_int_equal(view.policy.zones[0].state, CONTROL_ZONE_SERVED);
    assert_int_equal(view.held_count, 1);
    assert_int_equal(view.held[0].serial, 1);
    configure(NO_ZONES);
    run_until(has_no_policy);
    assert_null(view.policy.rules);
}

/* ---- zones held here ---- */

static void test_a_new_version_is_published(void **state)
{
    (void)state;
    write_zone("held", 1, "a A 192.0.2.1\n");
    start(HELD);
    assert_int_equal(serial_held(), 1);
    write_zone("held", 2, "a A 192.0.2.1\nb A 192.0.2.2\n");
    configure(HELD);
    run_until(has_second_serial);
    assert_int_equal(view.held[0].state, CONTROL_ZONE_SERVED);
}

static void on_settled(void *context)
{
    (void)context;
    loop_stop(loop);
}

/* Runs until the zones of the last configuration are in force. */
static void settle(void)
{
    while (!zone_keeper_settle(keeper, on_settled, NULL))
        loop_run(loop);
}

/* The file's stamp does not show every reason for a refusal: owner, memory, a wrong clock. */
static void test_a_refused_file_is_read_again_though_its_stamp_stays(void **state)
{
    (void)state;
    static const struct utimbuf long_ago = {.actime = 1000, .modtime = 1000};
    struct zone_file_stamp before, after;
    char path[64];
    snprintf(path, sizeof(path), "%s/held", folder);
    write_zone("held", 1, "a A nonsense1\n");
    assert_int_equal(utime(path, &long_ago), 0);
    assert_true(zone_from_file_stamp(path, &before));
    start(HELD);
    settle();
    assert_int_equal(view.held[0].state, CONTROL_ZONE_FAILED);
    write_zone("held", 1, "a A 192.0.2.1\n");
    assert_int_equal(utime(path, &long_ago), 0);
    assert_true(zone_from_file_stamp(path, &after) && zone_from_file_is_same(&before, &after));
    configure(HELD);
    settle();
    assert_int_equal(view.held[0].state, CONTROL_ZONE_SERVED);
}

static bool is_kept(void)
{
    return view.held_count == 1 && view.held[0].state == CONTROL_ZONE_KEPT;
}

static void test_a_broken_file_leaves_the_version_before(void **state)
{
    (void)state;
    write_zone("held", 1, "a A 192.0.2.1\n");
    start(HELD);
    write_zone("held", 2, "a A 192.0.2.1\nb A nonsense\n");
    configure(HELD);
    run_until(is_kept);
    assert_int_equal(serial_held(), 1);
    assert_non_null(strstr(view.held[0].why, "/held:4"));
}

/* ---- many zones from a primary ---- */

enum { MEMBERS = 500 };

/* A primary that has one version of any zone. */
static int primary_socket;

static void put_apex(struct build *build, struct name zone, uint16_t type)
{
    static const uint8_t soa[22] = {[5] = 1, [8] = 14, [12] = 14, [16] = 14, [20] = 14};
    build_rr_begin(build, zone, type, RRCLASS_IN, 60);
    build_bytes(build, soa, type == RRTYPE_SOA ? sizeof(soa) : 1);
    build_rr_end(build);
}

static size_t write_answer(uint8_t out[512], struct span query)
{
    struct message message;
    struct build build;
    if (message_parse(&message, query) != MESSAGE_OK)
        return 0;
    build_init(&build, out, 512);
    build_header(&build, message.id, HEADER_QR | HEADER_AA);
    build_question(&build, &message.question);
    build_section(&build, SECTION_ANSWER);
    put_apex(&build, message.question.name, RRTYPE_SOA);
    if (message.question.type == RRTYPE_AXFR) {
        put_apex(&build, message.question.name, RRTYPE_NS);
        put_apex(&build, message.question.name, RRTYPE_SOA);
    }
    return build_finish(&build);
}

/* Answers the queries of one connection. */
static void answer_visit(int visit)
{
    uint8_t query[512], answer[2 + 512], len[2];
    while (recv(visit, len, 2, MSG_WAITALL) == 2 && get_u16(len) <= sizeof(query) &&
           recv(visit, query, get_u16(len), MSG_WAITALL) == get_u16(len)) {
        size_t size = write_answer(answer + 2, span_of(query, get_u16(len)));
        put_u16(answer, (uint16_t)size);
        if (send(visit, answer, 2 + size, MSG_NOSIGNAL) < 0)
            break;
    }
    close(visit);
}

static void *serve_zones(void *unused)
{
    (void)unused;
    for (int visit; (visit = accept(primary_socket, NULL, NULL)) >= 0;)
        answer_visit(visit);
    return NULL;
}

static unsigned begin_primary(pthread_t *thread)
{
    struct sockaddr_in addr = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(addr);
    primary_socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(primary_socket, (struct sockaddr *)&addr, len), 0);
    assert_int_equal(listen(primary_socket, 64), 0);
    assert_int_equal(getsockname(primary_socket, (struct sockaddr *)&addr, &len), 0);
    assert_int_equal(pthread_create(thread, NULL, serve_zones, NULL), 0);
    return ntohs(addr.sin_port);
}

static void end_primary(pthread_t thread)
{
    shutdown(primary_socket, SHUT_RDWR);
    assert_int_equal(pthread_join(thread, NULL), 0);
    close(primary_socket);
}

static bool has_all_members(void)
{
    size_t served = 0;
    for (size_t i = 0; i < view.held_count; i++)
        served += view.held[i].state == CONTROL_ZONE_SERVED;
    return served == 1 + MEMBERS;
}

static void write_catalog(void)
{
    enum { ROW = 48 };
    char *text = malloc((size_t)MEMBERS * ROW + ROW);
    assert_non_null(text);
    size_t len = (size_t)sprintf(text, "version TXT 2\n");
    for (unsigned i = 0; i < MEMBERS; i++)
        len += (size_t)snprintf(text + len, ROW, "n%u.zones PTR m%u.test.\n", i, i);
    write_zone("held", 1, text);
    free(text);
}

/* Each publication costs a new set for all workers and a search of the cache, so versions that come
 * together share one. */
static void test_versions_that_come_together_are_published_together(void **state)
{
    (void)state;
    char lines[256];
    pthread_t thread;
    write_catalog();
    snprintf(lines, sizeof(lines),
             "auth-zones: [{name: held.test, file: %%s/held, primaries: [127.0.0.1@%u], catalog: "
             "yes}]\n",
             begin_primary(&thread));
    uint64_t begun_at = loop_clock(loop);
    start(lines);
    run_until(has_all_members);
    /* in units of half a second */
    uint64_t halves = (loop_clock(loop) - begun_at) / (500 * US_PER_MS);
    assert_in_range(publications, 1, 5 + halves);
    end_primary(thread);
}

static bool is_served(void)
{
    return view.held_count == 1 && view.held[0].state == CONTROL_ZONE_SERVED;
}

/* One set of anchors judges a version, even if the next set arrives meanwhile. */
static void test_trust_anchors_may_change_while_a_version_is_judged(void **state)
{
    (void)state;
    enum { RELOADS = 200, CHANGES = 500 };
    static const uint8_t zone[] = "\4held\4test", ds[36] = {0, 1, 13, 2};
    struct anchors *anchors[2] = {anchors_new(), anchors_new()};
    char lines[128];
    pthread_t thread;
    struct name name = {zone, sizeof(zone)};
    assert_int_equal(anchors_add(anchors[1], name, RRTYPE_DS, span_of(ds, sizeof(ds))), ERR_OK);
    snprintf(lines, sizeof(lines), "auth-zones: [{name: held.test, primaries: [127.0.0.1@%u]}]\n",
             begin_primary(&thread));
    start(lines);
    run_until(is_served);
    for (unsigned i = 0; i < RELOADS; i++) {
        configure(lines);
        for (unsigned k = 0; k < CHANGES; k++) {
            struct route_options options = {
                .validation = {.mode = VALIDATE_YES, .anchors = anchors[k % 2]}};
            zone_keeper_trust(keeper, &options);
        }
    }
    end_primary(thread);
    anchors_free(anchors[0]);
    anchors_free(anchors[1]);
}

/* While the thread reads a large zone, a configuration with other trust anchors comes, and then the
 * end. */
static void test_an_end_with_a_configuration_on_its_way_frees_everything_once(void **state)
{
    (void)state;
    static const struct route_options route = {0};
    write_zone("held", 1, "a A 192.0.2.1\n");
    zone_keeper_trust(keeper, &route);
    start(HELD);
    settle();
    write_large_zone("held", 50000);
    publications_before = publications;
    configure(HELD);
    run_until(has_new_publication); /* the publication precedes the reading of the zone */
    usleep(10000);
    zone_keeper_trust(keeper, &route);
    configure(HELD);
}

static void test_a_daemon_without_zones_has_no_thread(void **state)
{
    (void)state;
    start(NO_ZONES);
    assert_null(zones);
    assert_null(policy);
    assert_int_equal(view.held_count, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin_test, end_test)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_counters_of_a_policy_zone_go_on_over_a_reload),
        TEST(test_nothing_remains_of_a_policy_without_zones),
        TEST(test_the_view_shows_what_the_workers_have),
        TEST(test_a_new_version_is_published),
        TEST(test_a_refused_file_is_read_again_though_its_stamp_stays),
        TEST(test_a_broken_file_leaves_the_version_before),
        TEST(test_versions_that_come_together_are_published_together),
        TEST(test_trust_anchors_may_change_while_a_version_is_judged),
        TEST(test_an_end_with_a_configuration_on_its_way_frees_everything_once),
        TEST(test_a_daemon_without_zones_has_no_thread),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
