/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The cost of TLS and its views: the bound on handshakes, padding, one write per batch. */

#include "unit/upstream/tls_fixture.h"

/* ---- max-handshakes ---- */

static struct upstream_options one_each(uint32_t max_handshakes)
{
    struct upstream_options options = strict();
    options.fallback = UPSTREAM_FALLBACK_NONE;
    options.max_requests = 1;
    options.max_connections = 100;
    options.max_handshakes = max_handshakes;
    return options;
}

/* Each query needs a handshake. An exact number is dialled at once, then an exact number per
 * second. Waiting queries are served in turn. */
static void test_tls_care_handshakes_are_bounded_exactly(void **state)
{
    (void)state;
    enum { A_SECOND = 10, COUNT = 40 };
    struct tls_fixture f;
    struct asker askers[COUNT];
    struct upstream_options options = one_each(A_SECOND);
    options.nailed = false;
    fixture_open_server(&f, NULL);
    fixture_dial(&f, &options);
    for (int i = 0; i < COUNT; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_settle(f.world.loop);
    assert_int_equal(peer_dials(f.peer), A_SECOND);
    fake_loop_advance(f.world.loop, MS); /* timers fire with the next whole millisecond */
    for (size_t tenth = 1; tenth <= 20; tenth++) {
        fake_loop_advance(f.world.loop, 99 * MS);
        assert_int_equal(peer_dials(f.peer), A_SECOND + tenth - 1);
        fake_loop_advance(f.world.loop, MS);
        assert_int_equal(peer_dials(f.peer), A_SECOND + tenth);
    }
    fake_loop_advance(f.world.loop, 2 * S);
    size_t failed = 0, answered = 0;
    for (int i = 0; i < COUNT; i++) {
        failed += askers[i].result == ASKER_FAILED;
        answered += askers[i].result == ASKER_ANSWERED;
    }
    assert_int_equal(answered, COUNT);
    assert_int_equal(failed, 0);
    fixture_close_strict(&f);
}

/* The bound delays the dial of the only connection. A query waits for it, and the delay is not a
 * failure. */
static void test_tls_care_a_paced_dial_is_no_failure(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = one_each(1);
    options.max_requests = 2;
    fixture_open(&f, NULL, &options);
    fake_conn_close(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 10 * MS);
    assert_int_equal(f.world.stats.upstream_resting, 1);
    struct conn *conn = LIST_ITEM(list_first(&f.upstream->pool.conns), struct conn, node);
    assert_true(conn->is_paced);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 850 * MS, S);
    assert_int_equal(f.upstream->pool.backoff.failures, 0);
    fixture_close_strict(&f);
}

/* Each upstream has its own bound, so a busy upstream takes nothing from another. */
static void test_tls_care_handshakes_are_bounded_for_each_upstream(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker askers[20], other;
    struct upstream_options options = one_each(5);
    options.nailed = false;
    fixture_open_server(&f, NULL);
    struct fake_peer *second = world_peer(&f.world, "10.1.1.2@853", NULL, NULL);
    fake_peer_speak_tls(second, &f.server);
    fixture_dial(&f, &options);
    struct upstream *idle = world_upstream(&f.world, "10.1.1.2@853", &options);
    for (int i = 0; i < 20; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    ask(&other, &f.world, "www.example", idle);
    fake_loop_advance(f.world.loop, 10 * MS);
    assert_int_equal(peer_dials(f.peer), 5);
    assert_int_equal(other.result, ASKER_ANSWERED);
    fake_loop_advance(f.world.loop, 4 * S);
    fixture_close_strict(&f);
}

/* A peer ends each connection at once, under load. The dials stay within the bound. */
static void test_tls_care_handshakes_are_bounded_against_a_closing_peer(void **state)
{
    (void)state;
    struct tls_fixture f;
    static struct asker askers[500];
    struct upstream_options options = strict();
    options.max_handshakes = 4;
    fixture_open_server(&f, NULL);
    fixture_dial(&f, &options);
    for (int i = 0; i < 5000; i++) {
        if (i % 10 == 0)
            ask(&askers[i / 10], &f.world, "www.example", f.upstream);
        if (i % 25 == 0)
            fake_server_close_all(fake_peer_server(f.peer));
        fake_loop_advance(f.world.loop, MS);
    }
    assert_true(peer_dials(f.peer) <= 4 + 4 * 5);
    fake_loop_advance(f.world.loop, 5 * S);
    for (int i = 0; i < 500; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    fixture_close_strict(&f);
}

/* Dials over TCP have no such bound. */
static void test_tls_care_dials_over_tcp_are_not_bounded(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[20];
    struct upstream_options options = world_no_fallback();
    options.max_requests = 1;
    options.max_connections = 100;
    options.max_handshakes = 1;
    world_open(&world);
    world_peer(&world, PLAIN_AT, NULL, NULL);
    struct upstream *upstream = world_upstream(&world, PLAIN_AT, &options);
    for (int i = 0; i < 20; i++)
        ask(&askers[i], &world, "www.example", upstream);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&world);
}

/* ---- padding (RFC 8467 section 4.1) ---- */

static unsigned padded, unpadded;

static void look_at_padding(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct message query;
    struct span value;
    (void)owner;
    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    assert_true(query.edns.present);
    bool has = edns_find(&query.edns, EDNS_PADDING, &value) == EDNS_FOUND;
    assert_int_equal(has, ask->transport == FAKE_TLS);
    if (has)
        assert_int_equal(ask->query.len % EDNS_PADDING_QUERY, 0);
    padded += has;
    unpadded += !has;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

static void ask_names_of_all_lengths(struct world *world, struct upstream *upstream)
{
    char name[128];
    struct asker asker;
    for (int len = 1; len < 120; len++) {
        memset(name, 'a', sizeof(name));
        for (int i = 1; i < len / 20 + 1; i++)
            name[20 * i] = '.';
        name[len] = '\0';
        if (name[len - 1] == '.')
            continue;
        ask_and_wait(&asker, world, name, upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
}

static void test_tls_care_every_query_is_padded(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    padded = unpadded = 0;
    fixture_open(&f, look_at_padding, &options);
    ask_names_of_all_lengths(&f.world, f.upstream);
    assert_true(padded > 100);
    assert_int_equal(unpadded, 0);
    fixture_close_strict(&f);
}

/* The same holds for the sibling of an opportunistic upstream. */
static void test_tls_care_plain_text_is_not_padded(void **state)
{
    (void)state;
    static const enum upstream_fallback fallbacks[] = {UPSTREAM_FALLBACK_UDP,
                                                       UPSTREAM_FALLBACK_NONE};
    for (size_t i = 0; i < ARRAY_LEN(fallbacks); i++) {
        struct world world;
        struct upstream_options tcp = world_nailed(), tls = opportunistic();
        tcp.fallback = tls.fallback = fallbacks[i];
        padded = unpadded = 0;
        world_open(&world);
        world_peer(&world, PLAIN_AT, look_at_padding, NULL);
        ask_names_of_all_lengths(&world, world_upstream(&world, PLAIN_AT, &tcp));
        ask_names_of_all_lengths(&world, world_upstream(&world, TLS_AT, &tls)); /* refused */
        assert_true(unpadded > 200);
        assert_int_equal(padded, 0);
        world_close(&world);
    }
}

/* ---- reads and writes ---- */

static void test_tls_care_a_batch_is_one_write_and_one_read(void **state)
{
    (void)state;
    enum { BATCH = 100 };
    struct tls_fixture f;
    struct asker askers[BATCH];
    struct upstream_options options = strict();
    fixture_open(&f, NULL, &options);
    struct fake_conn *conn = peer_conn(f.peer, 0);
    for (int round = 0; round < 5; round++) {
        uint64_t writes = fake_conn_writes(conn), reads = fake_conn_reads(conn);
        for (int i = 0; i < BATCH; i++)
            ask(&askers[i], &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, 20 * MS);
        for (int i = 0; i < BATCH; i++)
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_int_equal(fake_conn_writes(conn), writes + 1);
        assert_int_equal(fake_conn_reads(conn), reads + 1);
    }
    assert_int_equal(fake_conn_most_writes_a_turn(conn), 1);
    fixture_close_strict(&f);
}

/* Queries that waited for the handshake leave with its last flight. */
static void test_tls_care_waiting_queries_leave_with_the_handshake(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker askers[20];
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.only = FAKE_TLS_1_3;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    for (int i = 0; i < 20; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 20 * MS);
    for (int i = 0; i < 20; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(fake_conn_writes(peer_conn(f.peer, 0)), 2); /* one for the ClientHello */
    fixture_close_strict(&f);
}

/* ---- views ---- */

struct seen {
    unsigned conns, upstreams;
    struct conn_view conn;
    struct upstream_view upstream;
};

static void see_conn(void *context, const struct conn_view *view)
{
    struct seen *seen = context;
    seen->conns++;
    seen->conn = *view;
}

static void see_upstream(void *context, const struct upstream_view *view)
{
    struct seen *seen = context;
    seen->upstreams++;
    seen->upstream = *view;
}

static struct seen look(struct tls_fixture *f)
{
    struct seen seen = {0};
    upstreams_each_conn(f->world.upstreams, see_conn, &seen);
    upstreams_each(f->world.upstreams, see_upstream, &seen);
    return seen;
}

static void test_tls_care_connections_show_how_they_are_secured(void **state)
{
    (void)state;
    static const enum fake_tls_version versions[] = {FAKE_TLS_1_2, FAKE_TLS_1_3};
    for (size_t i = 0; i < ARRAY_LEN(versions); i++) {
        struct tls_fixture f;
        struct upstream_options options = strict();
        fixture_open_server(&f, NULL);
        f.server.only = versions[i];
        fixture_speak(&f);
        fixture_dial(&f, &options);
        fake_loop_advance(f.world.loop, 3 * MS); /* the handshake still runs */
        struct seen seen = look(&f);
        assert_string_equal(seen.conn.state, "securing");
        assert_string_equal(seen.conn.tls, "");
        assert_string_equal(seen.conn.session, "");
        assert_false(seen.conn.authenticated);
        assert_int_equal(seen.upstream.dialing, 1);
        fake_loop_advance(f.world.loop, 100 * MS);
        seen = look(&f);
        assert_int_equal(seen.conns, 1);
        assert_string_equal(seen.conn.transport, "tls");
        assert_string_equal(seen.conn.tls, i ? "TLSv1.3" : "TLSv1.2");
        assert_true(strlen(seen.conn.cipher) > 10);
        assert_string_equal(seen.conn.session, "full");
        assert_true(seen.conn.authenticated);
        upstreams_recycle(f.world.upstreams, NULL);
        fake_loop_advance(f.world.loop, 100 * MS);
        seen = look(&f);
        assert_string_equal(seen.conn.session, "resumed");
        assert_true(seen.conn.authenticated);
        assert_string_equal(seen.conn.last_close, "recycled by the operator");
        assert_string_equal(seen.upstream.transport, "tls");
        assert_string_equal(seen.upstream.error, "");
        fixture_close_strict(&f);
    }
}

/* The failure is shown until a connection succeeds. */
static void test_tls_care_upstreams_show_their_last_failure(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    static char other[] = "other.test";
    options.tls.auth_name = other;
    fixture_open_server(&f, NULL);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 10 * MS);
    struct seen seen = look(&f);
    assert_string_equal(seen.upstream.error, err_str(ERR_TLS_NAME));
    assert_string_equal(seen.upstream.health, "resting");
    assert_int_equal(seen.upstream.dial_failures, 1);
    assert_string_equal(seen.conn.state, "resting");
    assert_string_equal(seen.conn.last_close, "the server did not prove its identity");
    struct tls_cert *cert =
        tls_certs_make(&(struct tls_cert_wish){.ca = world_tls()->ca, .name = other});
    f.server.certificate = cert->certificate;
    f.server.key = cert->key;
    fixture_speak(&f);
    fake_loop_advance(f.world.loop, 10 * S);
    seen = look(&f);
    assert_string_equal(seen.upstream.error, "");
    assert_string_equal(seen.upstream.health, "good");
    fixture_close_strict(&f);
    tls_certs_free_cert(cert);
}

/* A connection over TCP shows no facts of TLS. */
static void test_tls_care_plain_connections_show_none(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = world_nailed();
    world_open(&f.world);
    world_peer(&f.world, PLAIN_AT, NULL, NULL);
    world_upstream(&f.world, PLAIN_AT, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    struct seen seen = look(&f);
    assert_string_equal(seen.conn.transport, "tcp");
    assert_string_equal(seen.conn.tls, "");
    assert_string_equal(seen.conn.cipher, "");
    assert_string_equal(seen.conn.session, "");
    assert_false(seen.conn.authenticated);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_care_handshakes_are_bounded_exactly),
        cmocka_unit_test(test_tls_care_a_paced_dial_is_no_failure),
        cmocka_unit_test(test_tls_care_handshakes_are_bounded_for_each_upstream),
        cmocka_unit_test(test_tls_care_handshakes_are_bounded_against_a_closing_peer),
        cmocka_unit_test(test_tls_care_dials_over_tcp_are_not_bounded),
        cmocka_unit_test(test_tls_care_every_query_is_padded),
        cmocka_unit_test(test_tls_care_plain_text_is_not_padded),
        cmocka_unit_test(test_tls_care_a_batch_is_one_write_and_one_read),
        cmocka_unit_test(test_tls_care_waiting_queries_leave_with_the_handshake),
        cmocka_unit_test(test_tls_care_connections_show_how_they_are_secured),
        cmocka_unit_test(test_tls_care_upstreams_show_their_last_failure),
        cmocka_unit_test(test_tls_care_plain_connections_show_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
