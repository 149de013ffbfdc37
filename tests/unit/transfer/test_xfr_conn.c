/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Visits to a scripted primary in virtual time. */
#include "unit/transfer/xfr_primary.h"

#include "support/fake_tls.h"
#include "tls/tls_contexts.h"
#include "transfer/xfr_conn.h"
#include "unit/upstream/world_tls.h"
#include "zone/zone_builder.h"
#include "zone/zone_data.h"

enum { ZONE_BYTES = 1 << 20 };

struct world {
    struct loop *loop;
    struct fake_net *net;
    struct tls_contexts *contexts;
    struct play_primary play;
    struct xfr_primary primary;
    struct zone_data *held;
    size_t max_bytes;
    struct xfr_conn *conn;
    unsigned ends;
    struct xfr_end end;
    char why[XFR_WHY_MAX];
};

static void world_begin(struct world *world)
{
    memset(world, 0, sizeof(*world));
    world->loop = loop_new();
    world->net = fake_net_of(world->loop);
    world->contexts = tls_contexts_new();
    world->primary.addr = fake_addr("192.0.2.53@53");
    play_primary_begin(&world->play, world->loop, "192.0.2.53@53");
    world->max_bytes = ZONE_BYTES;
}

static void world_end(struct world *world)
{
    xfr_conn_close(&world->conn);
    assert_int_equal(fake_net_open_sockets(world->net), 0);
    assert_true(fake_loop_run_until_idle(world->loop, US_PER_S * 100000)); /* no timer is left */
    zone_data_unref(world->end.version);
    zone_data_unref(world->held);
    tls_contexts_free(world->contexts);
    loop_free(world->loop);
}

/* Holds a version with the SOA record and with records such as "a1", which xfr_play.h explains. */
static void world_hold(struct world *world, uint32_t serial, const char *records)
{
    char text[128];
    uint8_t bytes[PLAY_MESSAGE_MAX], rdata[512], owner[NAME_WIRE_MAX];
    struct zone_builder *builder = zone_builder_new(NAME("example.com"), ZONE_BYTES);
    snprintf(text, sizeof(text), "S%u %s", serial, records);
    struct message message = sample_parse(span_of(bytes, play_message(bytes, 0, text)));
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);) {
        struct span bare = message_rdata(&message, &rr);
        if (rr.type == RRTYPE_SOA) {
            memcpy(rdata, "\7example\3com\0\7example\3com", 26);
            memcpy(rdata + 26, bare.data + bare.len - 20, 20);
            bare = span_of(rdata, 46);
        }
        assert_int_equal(
            zone_builder_add(builder, message_owner(&message, &rr, owner), rr.type, rr.ttl, bare),
            ERR_OK);
    }
    assert_int_equal(zone_builder_finish(&builder, &world->held), ERR_OK);
}

static void on_end(void *owner, const struct xfr_end *end)
{
    struct world *world = owner;
    world->ends++;
    world->end = *end;
    snprintf(world->why, sizeof(world->why), "%s", end->why ? end->why : "");
    xfr_conn_close(&world->conn);
}

static void visit(struct world *world)
{
    world->play.is_signed = world->primary.key != NULL;
    struct xfr_task task = {.zone = NAME("example.com"),
                            .primary = &world->primary,
                            .held = world->held,
                            .max_bytes = world->max_bytes};
    assert_int_equal(
        xfr_conn_open(&world->conn, world->loop, world->contexts, &task, on_end, world), ERR_OK);
    assert_int_equal(world->ends, 0);
    fake_loop_advance(world->loop, 2 * XFR_CONN_WHOLE_US);
    assert_int_equal(world->ends, 1);
}

static bool version_has(const struct world *world, const char *name)
{
    struct zone_rrset rrset;
    return zone_data_find(world->end.version, NAME(name), RRTYPE_A, &rrset);
}

static void expect_failure(struct world *world, const char *part)
{
    visit(world);
    if (world->end.outcome != XFR_OUTCOME_FAILED || !strstr(world->why, part))
        fail_msg("%s: not %s", world->why, part);
    world_end(world);
}

/* ---- whole zones ---- */

static void test_a_zone_comes_whole_without_a_version(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1|b2 ~1|S5"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    assert_true(world.end.is_whole);
    assert_int_equal(world.end.records, 5);
    assert_int_equal(world.end.out_of_zone, 1);
    assert_int_equal(zone_data_soa(world.end.version)->serial, 5);
    assert_int_equal(zone_data_records(world.end.version), 3);
    assert_true(version_has(&world, "b.example.com"));
    assert_int_equal(fake_server_dials(fake_peer_server(world.play.peer)), 1);
    world_end(&world);
}

static void test_a_current_version_costs_one_query(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world_hold(&world, 5, "a1");
    world.play.script = (struct play_script){.soa = "S5"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_CURRENT);
    assert_int_equal(world.play.queries[1] + world.play.queries[2], 0);
    world_end(&world);
}

static void test_an_older_primary_has_failed(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world_hold(&world, 5, "a1");
    world.play.script = (struct play_script){.soa = "S4"};
    expect_failure(&world, "the older serial 4");
}

static void test_a_whole_zone_that_is_not_newer_has_failed(void **state)
{
    (void)state;
    static const char *const zones[] = {"S4 b2 S4", "S5 b2 S5"};
    for (size_t i = 0; i < sizeof(zones) / sizeof(*zones); i++) {
        struct world world;
        world_begin(&world);
        world_hold(&world, 5, "a1");
        world.play.script = (struct play_script){
            .soa = "S6", .ixfr_rcode = RCODE_NOTIMP, .ixfr = "", .axfr = zones[i]};
        expect_failure(&world, "not newer than ours");
    }
}

/* ---- changes ---- */

static void test_changes_apply_to_the_held_version(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world_hold(&world, 4, "a1 c3");
    world.play.script = (struct play_script){.soa = "S5", .ixfr = "S5 S4 a1|S5 b2 S5"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    assert_false(world.end.is_whole);
    assert_int_equal(zone_data_soa(world.end.version)->serial, 5);
    assert_false(version_has(&world, "a.example.com"));
    assert_true(version_has(&world, "b.example.com"));
    assert_true(version_has(&world, "c.example.com"));
    assert_int_equal(zone_data_soa(world.held)->serial, 4);
    world_end(&world);
}

static void test_a_whole_zone_may_answer_for_changes(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world_hold(&world, 4, "a1");
    world.play.script = (struct play_script){.soa = "S5", .ixfr = "S5 b2|S5"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    assert_true(world.end.is_whole);
    assert_false(version_has(&world, "a.example.com"));
    world_end(&world);
}

static void test_changes_that_fail_become_a_whole_zone(void **state)
{
    (void)state;
    static const struct {
        const char *ixfr;
        unsigned rcode;
    } rows[] = {
        {"", RCODE_NOTIMP},
        {"", RCODE_REFUSED},
        {"S5 S3 a1 S5 S5", 0},    /* changes from another version */
        {"S5 S4 z9 S5 b2 S5", 0}, /* removes a record that is not there */
        {"S5 S4 a1 S5 b2 S5 S5", 0},
        {"a1", 0},
        {"", 0},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct world world;
        world_begin(&world);
        world_hold(&world, 4, "a1");
        world.play.script = (struct play_script){
            .soa = "S5", .ixfr = rows[i].ixfr, .ixfr_rcode = rows[i].rcode, .axfr = "S5 b2 S5"};
        visit(&world);
        assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
        assert_int_equal(world.play.queries[1], 1);
        assert_int_equal(world.play.queries[2], 1);
        assert_true(world.end.is_whole);
        world_end(&world);
    }
}

/* ---- failures ---- */

static void test_changes_that_leave_nothing_become_a_whole_zone(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world_hold(&world, 5, "a1");
    world.play.script =
        (struct play_script){.soa = "S6", .ixfr = "S6 S5 a1 S6 S6", .axfr = "S6 b1 S6"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    assert_true(world.end.is_whole);
    assert_true(version_has(&world, "b.example.com"));
    world_end(&world);
    world_begin(&world);
    world_hold(&world, 5, "a1");
    world.play.script =
        (struct play_script){.soa = "S6", .ixfr = "S6 S5 a1 S6 S6", .axfr = "S6 S6"};
    expect_failure(&world, "the zone has no record but SOA");
}

static void test_a_refusal_names_its_rcode(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "", .soa_rcode = RCODE_REFUSED};
    expect_failure(&world, "SOA query with REFUSED");
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "", .axfr_rcode = RCODE_NOTAUTH};
    expect_failure(&world, "the transfer with NOTAUTH");
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .no_authority = true};
    expect_failure(&world, "not authoritative");
}

static void test_a_server_that_leaves_has_failed(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1|b2", .closes = true};
    world_hold(&world, 4, "a1");
    expect_failure(&world, "closed the connection");
    world_begin(&world);
    fake_server_set_dial(fake_peer_server(world.play.peer), FAKE_DIAL_REFUSE);
    expect_failure(&world, "connection refused");
    world_begin(&world);
    fake_net_fail_opens(world.net, 1, ERR_NO_FILES);
    expect_failure(&world, "too many open files");
}

static void test_silence_has_deadlines(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    fake_server_set_dial(fake_peer_server(world.play.peer), FAKE_DIAL_BLACKHOLE);
    expect_failure(&world, "did not open within 10 s");
    world_begin(&world);
    expect_failure(&world, "silent for 30 s");
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1"};
    expect_failure(&world, "silent for 30 s");
}

static void test_a_slow_transfer_has_a_deadline(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1", .drips = true};
    expect_failure(&world, "longer than 7200 s");
}

static void test_a_zone_has_a_bound(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.max_bytes = 200;
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1 b1 c1 d1 e1 f1 g1 h1 S5"};
    expect_failure(&world, "a limit was reached");
}

static void test_records_that_make_no_zone(void **state)
{
    (void)state;
    struct world world;
    world_begin(&world);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "a1 S5"};
    expect_failure(&world, "does not begin with the zone's SOA record");
}

static void test_a_visit_may_be_given_up_at_any_time(void **state)
{
    (void)state;
    for (uint64_t after_us = 0; after_us < 10000; after_us += 500) {
        struct world world;
        world_begin(&world);
        world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1|b2"};
        struct xfr_task task = {
            .zone = NAME("example.com"), .primary = &world.primary, .max_bytes = world.max_bytes};
        assert_int_equal(
            xfr_conn_open(&world.conn, world.loop, world.contexts, &task, on_end, &world), ERR_OK);
        fake_loop_advance(world.loop, after_us);
        xfr_conn_close(&world.conn);
        fake_loop_advance(world.loop, US_PER_S);
        assert_int_equal(world.ends, 0);
        world_end(&world);
    }
}

/* ---- signatures ---- */

static void key_make(struct tsig_key *key, const char *secret)
{
    assert_int_equal(tsig_key_make(key, NAME("k"), "hmac-sha256", span_of(secret, strlen(secret))),
                     ERR_OK);
}

static void test_a_signed_transfer(void **state)
{
    (void)state;
    struct world world;
    struct tsig_key key;
    key_make(&key, "secret");
    world_begin(&world);
    world.primary.key = &key;
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1 S5", .key = &key};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    world_end(&world);
}

static void test_a_wrong_or_missing_signature_fails(void **state)
{
    (void)state;
    struct world world;
    struct tsig_key key, other;
    key_make(&key, "secret");
    key_make(&other, "another");
    world_begin(&world);
    world.primary.key = &key;
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1 S5", .key = &other};
    expect_failure(&world, "BADSIG");
    world_begin(&world);
    world.primary.key = &key;
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1 S5"};
    expect_failure(&world, "lacks its TSIG signature");
    world_begin(&world);
    world.primary.key = &key;
    world.play.script = (struct play_script){.soa = "", .soa_rcode = RCODE_REFUSED};
    expect_failure(&world, "(REFUSED)");
}

/* An attacker appends unsigned messages to a transfer. */
static void test_an_unsigned_end_fails(void **state)
{
    (void)state;
    struct world world;
    struct tsig_key key;
    key_make(&key, "secret");
    world_begin(&world);
    world.primary.key = &key;
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1", .key = &key};
    world.play.is_signed = true;
    struct xfr_task task = {
        .zone = NAME("example.com"), .primary = &world.primary, .max_bytes = world.max_bytes};
    assert_int_equal(xfr_conn_open(&world.conn, world.loop, world.contexts, &task, on_end, &world),
                     ERR_OK);
    fake_loop_advance(world.loop, US_PER_S);
    assert_int_equal(world.ends, 0);
    uint8_t bytes[PLAY_MESSAGE_MAX];
    struct fake_conn *stream = fake_server_conn(fake_peer_server(world.play.peer), 0);
    size_t len = play_message(bytes, 0, "S5");
    header_set_id(bytes, world.play.last_id);
    fake_conn_send_message(stream, span_of(bytes, len));
    fake_loop_advance(world.loop, US_PER_S);
    assert_int_equal(world.ends, 1);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_FAILED);
    assert_non_null(strstr(world.why, "lacks its TSIG signature"));
    world_end(&world);
}

/* ---- TLS ---- */

static void expect_tls(struct world *world, char *name)
{
    world->primary.has_tls = true;
    world->primary.tls = (struct tls_peer_options){
        .profile = TLS_STRICT, .auth_name = name, .ca_bundle = world_tls()->ca_path};
}

static void test_a_transfer_over_tls(void **state)
{
    (void)state;
    struct world world;
    char name[] = "dns.test";
    world_begin(&world);
    expect_tls(&world, name);
    struct fake_tls_options server = world_tls_server();
    fake_peer_speak_tls(world.play.peer, &server);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1|S5"};
    visit(&world);
    assert_int_equal(world.end.outcome, XFR_OUTCOME_VERSION);
    struct fake_conn *stream = fake_server_conn(fake_peer_server(world.play.peer), 0);
    assert_string_equal(fake_conn_tls_facts(stream)->offered, "dot");
    world_end(&world);
}

static void test_a_server_of_another_name_gets_no_query(void **state)
{
    (void)state;
    struct world world;
    char name[] = "other.test";
    world_begin(&world);
    expect_tls(&world, name);
    struct fake_tls_options server = world_tls_server();
    fake_peer_speak_tls(world.play.peer, &server);
    world.play.script = (struct play_script){.soa = "S5", .axfr = "S5 a1|S5"};
    expect_failure(&world, "for another name");
    assert_int_equal(world.play.queries[0], 0);
    world_begin(&world);
    expect_tls(&world, name); /* the server speaks no TLS */
    expect_failure(&world, "");
    assert_int_equal(world.play.queries[0], 0);
}

static void test_a_missing_authority_has_a_reason(void **state)
{
    (void)state;
    struct world world;
    char name[] = "dns.test", missing[] = "/nonexistent/ca.pem";
    world_begin(&world);
    expect_tls(&world, name);
    world.primary.tls.ca_bundle = missing;
    expect_failure(&world, "/nonexistent/ca.pem");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_zone_comes_whole_without_a_version),
        cmocka_unit_test(test_a_current_version_costs_one_query),
        cmocka_unit_test(test_an_older_primary_has_failed),
        cmocka_unit_test(test_a_whole_zone_that_is_not_newer_has_failed),
        cmocka_unit_test(test_changes_apply_to_the_held_version),
        cmocka_unit_test(test_a_whole_zone_may_answer_for_changes),
        cmocka_unit_test(test_changes_that_fail_become_a_whole_zone),
        cmocka_unit_test(test_changes_that_leave_nothing_become_a_whole_zone),
        cmocka_unit_test(test_a_refusal_names_its_rcode),
        cmocka_unit_test(test_a_server_that_leaves_has_failed),
        cmocka_unit_test(test_silence_has_deadlines),
        cmocka_unit_test(test_a_slow_transfer_has_a_deadline),
        cmocka_unit_test(test_a_zone_has_a_bound),
        cmocka_unit_test(test_records_that_make_no_zone),
        cmocka_unit_test(test_a_visit_may_be_given_up_at_any_time),
        cmocka_unit_test(test_a_signed_transfer),
        cmocka_unit_test(test_a_wrong_or_missing_signature_fails),
        cmocka_unit_test(test_an_unsigned_end_fails),
        cmocka_unit_test(test_a_transfer_over_tls),
        cmocka_unit_test(test_a_server_of_another_name_gets_no_query),
        cmocka_unit_test(test_a_missing_authority_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
