/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Dials over strict TLS: their states, their deadline, and every failure. No query leaves before
 * the peer has proved its identity. */

#include "unit/upstream/tls_fixture.h"

static struct conn *only_conn(struct tls_fixture *f)
{
    return LIST_ITEM(list_first(&f->upstream->pool.conns), struct conn, node);
}

static void test_tls_dial_goes_from_dialing_by_securing_to_ready(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    fake_server_set_latency(fake_peer_server(f.peer), 10 * MS);
    fixture_dial(&f, &options);
    assert_int_equal(only_conn(&f)->state, CONN_DIALING);
    fake_loop_advance(f.world.loop, 19 * MS);
    assert_int_equal(only_conn(&f)->state, CONN_DIALING);
    fake_loop_advance(f.world.loop, 2 * MS); /* a round trip */
    assert_int_equal(only_conn(&f)->state, CONN_SECURING);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    fake_loop_advance(f.world.loop, 20 * MS); /* one more round trip, for TLS 1.3 */
    assert_int_equal(only_conn(&f)->state, CONN_READY);
    assert_int_equal(f.world.stats.upstream_securing, 0);
    assert_int_equal(f.world.stats.upstream_dials_tls_ok, 1);
    assert_int_equal(f.world.stats.upstream_dials_tcp_ok, 0);
    fixture_close_strict(&f);
}

/* The query waits and leaves with the last flight of the handshake. */
static void test_tls_dial_a_query_waits_for_the_handshake(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    options.prewarm = false;
    fixture_open_server(&f, NULL);
    fake_server_set_latency(fake_peer_server(f.peer), 10 * MS);
    fixture_dial(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    assert_in_range(asker.took_us, 60 * MS, 61 * MS);
    assert_int_equal(f.world.stats.upstream_cold_queries, 1);
    assert_string_equal(conn_facts(&f, 0)->sni, "dns.test");
    assert_string_equal(conn_facts(&f, 0)->offered, "dot");
    fixture_close_strict(&f);
}

/* connect-timeout covers TCP and TLS together: TCP uses up 700 of its 1000 ms. */
static void test_tls_dial_has_one_deadline_for_tcp_and_tls(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    fake_server_set_accept_delay(fake_peer_server(f.peer), 700 * MS);
    f.server.manner.trouble = FAKE_TLS_STALL;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 999 * MS);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    fake_loop_advance(f.world.loop, 2 * MS);
    assert_int_equal(f.world.stats.upstream_securing, 0);
    assert_int_equal(f.world.stats.upstream_resting, 1);
    assert_int_equal(f.world.stats.upstream_dials_tls_timeout, 1);
    fixture_close_strict(&f);
}

/* The server may fall silent at any point of the handshake. */
static void test_tls_dial_stalled_ends_at_its_deadline_and_rests(void **state)
{
    (void)state;
    static const enum fake_tls_version versions[] = {FAKE_TLS_1_2, FAKE_TLS_1_3};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        for (size_t bytes = 0; bytes < 700; bytes += 97) {
            struct tls_fixture f;
            struct upstream_options options = strict();
            fixture_open_server(&f, NULL);
            f.server.only = versions[i];
            f.server.manner.trouble = FAKE_TLS_STALL;
            f.server.manner.after_bytes = bytes;
            fixture_speak(&f);
            fixture_dial(&f, &options);
            fake_loop_advance(f.world.loop, 999 * MS);
            assert_int_equal(f.world.stats.upstream_securing, 1);
            fake_loop_advance(f.world.loop, 2 * MS);
            assert_int_equal(f.world.stats.upstream_resting, 1);
            assert_int_equal(f.upstream->pool.last_error, ERR_TLS_SILENT);
            fixture_close_strict(&f);
        }
    }
}

/* A certificate may be too large for the path. */
static void test_tls_dial_after_a_stalled_one_announces_small_segments(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner.trouble = FAKE_TLS_STALL;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 20 * S);
    assert_true(peer_dials(f.peer) > 1);
    assert_int_equal(fake_conn_segment_bytes(peer_conn(f.peer, 0)), TCP_SEGMENT_BYTES);
    assert_int_equal(fake_conn_segment_bytes(peer_conn(f.peer, 1)), SEGMENT_SMALL_BYTES);
    fixture_close_strict(&f);
}

/* A slow server sends its part in pieces and single bytes, but in time. */
static void test_tls_dial_dribbled_comes_through(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner = (struct fake_tls_manner){
        .piece_bytes = 1, .gap_us = 100, .record_bytes = 5, .delay_us = 50 * MS};
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, S);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fixture_close_strict(&f);
}

/* ---- every way to fail ---- */

struct failure {
    const char *what;
    struct fake_tls_options server; /* certificate NULL: the usual one, unless self_signed is set */
    struct tls_cert_wish wish;      /* with has_wish: replaces the certificate of server */
    bool has_wish, self_signed, wants_pin;
    enum fake_dial dial;
    enum err error;
    enum stat counter;
};

static const struct failure failures[] = {
    {.what = "refused",
     .dial = FAKE_DIAL_REFUSE,
     .error = ERR_REFUSED,
     .counter = stat_upstream_dials_tls_refused},
    {.what = "unreachable",
     .dial = FAKE_DIAL_UNREACHABLE,
     .error = ERR_UNREACHABLE,
     .counter = stat_upstream_dials_tls_error},
    {.what = "garbage",
     .server.manner.trouble = FAKE_TLS_GARBAGE,
     .error = ERR_TLS_NOT_SPOKEN,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "plain",
     .server.manner.trouble = FAKE_TLS_PLAIN,
     .error = ERR_TLS_NOT_SPOKEN,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "alert",
     .server.manner.trouble = FAKE_TLS_REFUSE,
     .error = ERR_TLS_ALERT,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "FIN",
     .server.manner.trouble = FAKE_TLS_FIN,
     .error = ERR_TLS_CLOSED,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "FIN in mid-flight",
     .server.manner = {.trouble = FAKE_TLS_FIN, .after_bytes = 200},
     .error = ERR_TLS_CLOSED,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "RST",
     .server.manner.trouble = FAKE_TLS_RST,
     .error = ERR_TLS_CLOSED,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "RST in mid-flight",
     .server.manner = {.trouble = FAKE_TLS_RST, .after_bytes = 200},
     .error = ERR_TLS_CLOSED,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "ALPN h2",
     .server.alpn = FAKE_ALPN_OTHER,
     .error = ERR_TLS_ALPN,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "ALPN h2 on 1.2",
     .server = {.alpn = FAKE_ALPN_OTHER, .only = FAKE_TLS_1_2},
     .error = ERR_TLS_ALPN,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "ALPN refused",
     .server.alpn = FAKE_ALPN_REFUSE,
     .error = ERR_TLS_ALERT,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "TLS 1.1",
     .server.only = FAKE_TLS_1_1,
     .error = ERR_TLS_ALERT,
     .counter = stat_upstream_dials_tls_handshake},
    {.what = "expired",
     .has_wish = true,
     .wish = {.name = "dns.test", TLS_CERTS_EXPIRED},
     .error = ERR_TLS_EXPIRED,
     .counter = stat_upstream_dials_tls_identity},
    {.what = "not valid yet",
     .has_wish = true,
     .wish = {.name = "dns.test", TLS_CERTS_NOT_YET},
     .error = ERR_TLS_EXPIRED,
     .counter = stat_upstream_dials_tls_identity},
    {.what = "wrong name",
     .has_wish = true,
     .wish = {.name = "other.test"},
     .error = ERR_TLS_NAME,
     .counter = stat_upstream_dials_tls_identity},
    {.what = "wrong name on 1.2",
     .server.only = FAKE_TLS_1_2,
     .has_wish = true,
     .wish = {.name = "other.test"},
     .error = ERR_TLS_NAME,
     .counter = stat_upstream_dials_tls_identity},
    {.what = "self-signed",
     .self_signed = true,
     .has_wish = true,
     .wish = {.name = "dns.test"},
     .error = ERR_TLS_UNTRUSTED,
     .counter = stat_upstream_dials_tls_identity},
    {.what = "wrong pin",
     .wants_pin = true,
     .error = ERR_TLS_PIN,
     .counter = stat_upstream_dials_tls_identity},
};

static const struct tls_pins *other_pin(void)
{
    static struct {
        struct tls_pins pins;
        uint8_t room[TLS_PIN_BYTES];
    } one = {.pins.count = 1, .room = "nobody has a key with this hash"};
    return &one.pins;
}

struct failing {
    struct tls_fixture f;
    struct tls_cert *cert;
    struct upstream_options options;
};

static void failing_open(struct failing *failing, const struct failure *failure)
{
    *failing = (struct failing){.options = strict()};
    fixture_open_server(&failing->f, NULL);
    struct fake_tls_options server = failure->server, good = world_tls_server();
    server.certificate = good.certificate;
    server.key = good.key;
    if (failure->has_wish) {
        struct tls_cert_wish wish = failure->wish;
        wish.ca = failure->self_signed ? NULL : world_tls()->ca;
        failing->cert = tls_certs_make(&wish);
        server.certificate = failing->cert->certificate;
        server.key = failing->cert->key;
    }
    failing->f.server = server;
    fixture_speak(&failing->f);
    fake_server_set_dial(fake_peer_server(failing->f.peer), failure->dial);
    if (failure->wants_pin)
        failing->options.tls.pins = (struct tls_pins *)other_pin();
}

static void failing_close(struct failing *failing)
{
    fixture_close_strict(&failing->f);
    tls_certs_free_cert(failing->cert);
}

static void assert_error(const struct failure *failure, enum err error)
{
    if (error != failure->error)
        print_error("%s: %s\n", failure->what, err_str(error));
    assert_int_equal(error, failure->error);
}

/* The option fallback is udp in half of the runs. Strict TLS ignores it. */
static void test_tls_dial_failure_fails_waiting_queries_at_once_with_the_reason(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        struct failing failing;
        struct asker askers[3];
        failing_open(&failing, &failures[i]);
        failing.options.fallback = i % 2 ? UPSTREAM_FALLBACK_UDP : UPSTREAM_FALLBACK_NONE;
        fixture_dial(&failing.f, &failing.options);
        for (int j = 0; j < 3; j++)
            ask(&askers[j], &failing.f.world, "www.example", failing.f.upstream);
        fake_loop_advance(failing.f.world.loop, 20 * MS);
        for (int j = 0; j < 3; j++) {
            assert_int_equal(askers[j].result, ASKER_FAILED);
            assert_true(askers[j].took_us <= 8 * MS); /* four trips of 1 ms; six in TLS 1.2 */
            assert_true(askers[j].failure.any_network);
            assert_error(&failures[i], askers[j].failure.error);
        }
        assert_int_equal(peer_dials(failing.f.peer), 1);
        assert_int_equal(fake_peer_queries(failing.f.peer), 0);
        assert_int_equal(failing.f.world.stats.values[failures[i].counter], 1);
        assert_int_equal(failing.f.world.stats.upstream_resting, 1);
        failing_close(&failing);
    }
}

/* Each query fails at once, dials stay few, and the failure stays known. */
static void test_tls_dial_failure_causes_no_storm(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        struct failing failing;
        struct asker asker;
        failing_open(&failing, &failures[i]);
        fixture_dial(&failing.f, &failing.options);
        for (int j = 0; j < 100; j++) {
            ask_and_wait(&asker, &failing.f.world, "www.example", failing.f.upstream);
            assert_int_equal(asker.result, ASKER_FAILED);
            assert_true(asker.took_us <= 8 * MS);
            assert_error(&failures[i], asker.failure.error);
            fake_loop_advance(failing.f.world.loop, 10 * MS);
        }
        assert_true(peer_dials(failing.f.peer) <= 20); /* one per 100 ms */
        failing_close(&failing);
    }
}

/* The server is found again after its operator has repaired it. */
static void test_tls_dial_finds_a_repaired_server_again(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(failures); i++) {
        struct failing failing;
        struct asker asker;
        failing_open(&failing, &failures[i]);
        if (failures[i].wants_pin) {
            failing_close(&failing);
            continue; /* the fault is on our side */
        }
        fixture_dial(&failing.f, &failing.options);
        fake_loop_advance(failing.f.world.loop, 10 * S);
        failing.f.server = world_tls_server();
        fixture_speak(&failing.f);
        fake_server_set_dial(fake_peer_server(failing.f.peer), FAKE_DIAL_ACCEPT);
        fake_loop_advance(failing.f.world.loop, 40 * S);
        ask_and_wait(&asker, &failing.f.world, "www.example", failing.f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us <= 3 * MS);
        assert_int_equal(failing.f.upstream->pool.last_error, ERR_OK);
        failing_close(&failing);
    }
}

/* Another server of the group answers, and the client sees no failure. */
static void test_tls_dial_failure_leads_to_another_server(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream *group[2];
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner.trouble = FAKE_TLS_REFUSE;
    struct fake_peer *good = world_peer(&f.world, "10.1.1.2@853", NULL, NULL);
    fake_peer_speak_tls(good, &f.server);
    struct fake_tls_options fine = world_tls_server();
    fake_peer_speak_tls(good, &fine);
    fixture_speak(&f);
    fixture_dial(&f, &options);
    group[0] = f.upstream;
    group[1] = world_upstream(&f.world, "10.1.1.2@853", &options);
    for (int i = 0; i < 20; i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, 50 * MS);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.from == group[1]);
        assert_true(asker.took_us <= 10 * MS);
    }
    fixture_close_strict(&f);
}

/* Two servers fail. The exchange reports the failure of TLS, whichever server it asked first. */
static void test_tls_dial_failure_of_tls_is_the_reported_one(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream *group[2];
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner.trouble = FAKE_TLS_REFUSE;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    group[0] = f.upstream;
    group[1] = world_upstream(&f.world, "10.1.1.2@853", &options); /* refused */
    for (int i = 0; i < 20; i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, 50 * MS);
        assert_int_equal(asker.result, ASKER_FAILED);
        assert_int_equal(asker.failure.error, ERR_TLS_ALERT);
    }
    fixture_close_strict(&f);
}

/* The server is silent in the handshake. The query fails within its wall time, with that reason. */
static void test_tls_dial_stalled_ends_the_query_in_time(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.manner.trouble = FAKE_TLS_STALL;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us <= EXCHANGE_WALL_US + MS);
    assert_int_equal(asker.failure.error, ERR_TLS_SILENT);
    fixture_close_strict(&f);
}

/* Without the files of its authorities, the upstream does not dial, and no query leaves in plain
 * text. */
static void test_tls_dial_without_its_authorities_says_so(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    char missing[] = "/nonexistent/ca.pem";
    options.tls.ca_bundle = missing;
    fixture_open_server(&f, NULL);
    fixture_dial(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us <= MS);
    assert_int_equal(asker.failure.error, ERR_TLS_FAILED);
    assert_int_equal(peer_dials(f.peer), 0);
    fixture_close_strict(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_dial_goes_from_dialing_by_securing_to_ready),
        cmocka_unit_test(test_tls_dial_a_query_waits_for_the_handshake),
        cmocka_unit_test(test_tls_dial_has_one_deadline_for_tcp_and_tls),
        cmocka_unit_test(test_tls_dial_stalled_ends_at_its_deadline_and_rests),
        cmocka_unit_test(test_tls_dial_after_a_stalled_one_announces_small_segments),
        cmocka_unit_test(test_tls_dial_dribbled_comes_through),
        cmocka_unit_test(test_tls_dial_failure_fails_waiting_queries_at_once_with_the_reason),
        cmocka_unit_test(test_tls_dial_failure_causes_no_storm),
        cmocka_unit_test(test_tls_dial_finds_a_repaired_server_again),
        cmocka_unit_test(test_tls_dial_failure_leads_to_another_server),
        cmocka_unit_test(test_tls_dial_failure_of_tls_is_the_reported_one),
        cmocka_unit_test(test_tls_dial_stalled_ends_the_query_in_time),
        cmocka_unit_test(test_tls_dial_without_its_authorities_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
