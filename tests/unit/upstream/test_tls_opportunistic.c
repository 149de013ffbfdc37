/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Opportunistic TLS (RFC 8310 section 5): queries use TLS if it is available, with any peer, else
 * plain text at the sibling. No answer waits for a dial. */

#include "unit/upstream/tls_fixture.h"

struct siblings {
    struct tls_fixture f;
    struct fake_peer *plain;
};

static void siblings_open(struct siblings *s, fake_peer_fn plain_fn)
{
    fixture_open_server(&s->f, NULL);
    s->plain = world_peer(&s->f.world, PLAIN_AT, plain_fn, NULL);
}

static void siblings_dial(struct siblings *s, const struct upstream_options *options)
{
    fixture_dial(&s->f, options);
    assert_non_null(s->f.upstream->plain);
}

/* Faults of a server's TLS. */
struct wrong {
    enum fake_dial dial;
    enum fake_tls_trouble trouble;
    enum fake_tls_alpn alpn;
};

static const struct wrong wrongs[] = {
    {.dial = FAKE_DIAL_REFUSE},   {.dial = FAKE_DIAL_BLACKHOLE}, {.dial = FAKE_DIAL_UNREACHABLE},
    {.dial = FAKE_DIAL_FAIL_NOW}, {.trouble = FAKE_TLS_STALL},   {.trouble = FAKE_TLS_GARBAGE},
    {.trouble = FAKE_TLS_PLAIN},  {.trouble = FAKE_TLS_REFUSE},  {.trouble = FAKE_TLS_FIN},
    {.trouble = FAKE_TLS_RST},    {.alpn = FAKE_ALPN_OTHER},     {.alpn = FAKE_ALPN_REFUSE},
};

static void go_wrong(struct siblings *s, const struct wrong *wrong)
{
    s->f.server.manner.trouble = wrong->trouble;
    s->f.server.alpn = wrong->alpn;
    fixture_speak(&s->f);
    fake_server_set_dial(fake_peer_server(s->f.peer), wrong->dial);
}

static void heal(struct siblings *s)
{
    s->f.server = world_tls_server();
    fixture_speak(&s->f);
    fake_server_set_dial(fake_peer_server(s->f.peer), FAKE_DIAL_ACCEPT);
}

/* Queries use UDP from the first one on, for as long as the fault lasts. Then they use TLS
 * again. */
static void test_tls_opportunistic_without_tls_goes_by_udp_at_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrongs); i++) {
        struct siblings s;
        struct asker asker;
        struct upstream_options options = opportunistic();
        siblings_open(&s, NULL);
        go_wrong(&s, &wrongs[i]);
        siblings_dial(&s, &options);
        for (int j = 0; j < 50; j++) {
            ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_false(asker.over_stream);
            assert_ptr_equal(asker.from, s.f.upstream->plain);
            assert_int_equal(asker.took_us, 2 * MS); /* the round trip */
            fake_loop_advance(s.f.world.loop, 37 * MS);
        }
        assert_int_equal(fake_peer_udp_queries(s.plain), 50);
        assert_int_equal(s.f.upstream->fallbacks, 50);
        heal(&s);
        fake_loop_advance(s.f.world.loop, 10 * S);
        ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
        assert_true(asker.over_stream);
        assert_ptr_equal(asker.from, s.f.upstream);
        assert_int_equal(fake_peer_tls_queries(s.f.peer), 1);
        world_close(&s.f.world);
    }
}

/* With `fallback: none`, queries use plain text over TCP instead of UDP, and the connection is kept
 * for the next query. */
static void test_tls_opportunistic_without_tls_and_udp_goes_by_tcp(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(wrongs); i++) {
        struct siblings s;
        struct asker asker;
        struct upstream_options options = opportunistic();
        options.fallback = UPSTREAM_FALLBACK_NONE;
        siblings_open(&s, NULL);
        go_wrong(&s, &wrongs[i]);
        siblings_dial(&s, &options);
        for (int j = 0; j < 50; j++) {
            ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_true(asker.over_stream);
            assert_ptr_equal(asker.from, s.f.upstream->plain);
            assert_int_equal(asker.took_us, j ? 2 * MS : 4 * MS);
            fake_loop_advance(s.f.world.loop, 37 * MS);
        }
        assert_int_equal(fake_peer_tcp_queries(s.plain), 50);
        assert_int_equal(
            s.f.world.stats.upstream_cold_queries, /* the queries that waited for TCP count, too */
            s.f.world.stats.upstream_fallbacks_dialing);
        assert_int_equal(peer_dials(s.plain), 1);
        assert_int_equal(fake_net_counts(s.f.world.net).udp_queries, 0);
        heal(&s);
        fake_loop_advance(s.f.world.loop, 10 * S);
        ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
        assert_ptr_equal(asker.from, s.f.upstream);
        world_close(&s.f.world);
    }
}

static void test_tls_opportunistic_asks_plain_text_at_its_port(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = opportunistic();
    options.fallback_port = 5353;
    fixture_open_server(&f, NULL);
    struct fake_peer *plain = world_peer(&f.world, "10.1.1.1@5353", NULL, NULL);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    fixture_dial(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(fake_peer_udp_queries(plain), 1);
    world_close(&f.world);
}

/* Only TLS is nailed. The sibling keeps nothing open and takes no place of the quota. */
static void test_tls_opportunistic_nails_no_plain_text(void **state)
{
    (void)state;
    struct siblings s;
    struct upstream_options options = opportunistic();
    siblings_open(&s, NULL);
    siblings_dial(&s, &options);
    fake_loop_advance(s.f.world.loop, S);
    assert_int_equal(peer_dials(s.f.peer), 1);
    assert_int_equal(peer_dials(s.plain), 0);
    assert_int_equal(s.f.world.quota.used, 1);
    world_close(&s.f.world);
}

static void test_tls_opportunistic_strict_has_no_sibling(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open(&f, NULL, &options);
    assert_null(f.upstream->plain);
    fixture_close_strict(&f);
}

/* ---- the peer's identity ---- */

/* Counts the connections over TLS by whether the peer has proved its identity. */
static void see_authenticated(void *context, const struct conn_view *view)
{
    unsigned *counts = context;
    if (view->tls[0])
        counts[view->authenticated]++;
}

/* Encryption with an unproved peer is better than none: the certificate may be self-signed,
 * expired, for another name, or with another key than the pinned one. */
static void check_accepted(const struct tls_cert_wish *wish, struct tls_pins *pins, bool proves)
{
    struct siblings s;
    struct asker asker;
    unsigned counts[2] = {0};
    struct upstream_options options = opportunistic();
    struct tls_cert *cert = tls_certs_make(wish);
    options.tls.pins = pins;
    siblings_open(&s, NULL);
    s.f.server.certificate = cert->certificate;
    s.f.server.key = cert->key;
    fixture_speak(&s.f);
    siblings_dial(&s, &options);
    fake_loop_advance(s.f.world.loop, 100 * MS);
    /* one handshake is full, the others resume: a resumption proves no more than the full
     * handshake */
    for (int i = 0; i < 3; i++) {
        ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_ptr_equal(asker.from, s.f.upstream);
        counts[0] = counts[1] = 0;
        upstreams_each_conn(s.f.world.upstreams, see_authenticated, counts);
        assert_int_equal(counts[proves], 1);
        assert_int_equal(counts[!proves], 0);
        fake_conn_close(peer_conn(s.f.peer, peer_dials(s.f.peer) - 1));
        fake_loop_advance(s.f.world.loop, 50 * MS);
    }
    assert_int_equal(s.f.world.stats.upstream_unauthenticated, proves ? 0 : peer_dials(s.f.peer));
    /* A ticket ends with the certificate under which it was issued. */
    assert_int_equal(conn_facts(&s.f, 1)->resumed, wish->until_s >= 0);
    assert_int_equal(fake_peer_queries(s.plain), 0);
    world_close(&s.f.world);
    tls_certs_free_cert(cert);
}

static void test_tls_opportunistic_accepts_any_identity_and_shows_it(void **state)
{
    (void)state;
    const struct tls_certs *ca = world_tls()->ca;
    struct {
        struct tls_pins pins;
        uint8_t room[TLS_PIN_BYTES];
    } pin = {.pins.count = 1};
    check_accepted(&(struct tls_cert_wish){.ca = ca, .name = "dns.test"}, NULL, true);
    check_accepted(&(struct tls_cert_wish){.name = "dns.test"}, NULL, false);
    check_accepted(&(struct tls_cert_wish){.ca = ca, .name = "other.test"}, NULL, false);
    check_accepted(&(struct tls_cert_wish){.ca = ca, .name = "dns.test", TLS_CERTS_EXPIRED}, NULL,
                   false);
    check_accepted(&(struct tls_cert_wish){.ca = ca, .name = "dns.test"}, &pin.pins, false);
}

/* ---- truncated over UDP ---- */

static void truncate_udp(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    if (ask->transport == FAKE_UDP)
        fake_answer_truncated(answer, ask->query);
    else
        fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

/* The query goes over TLS once TLS is ready. */
static void test_tls_opportunistic_truncated_goes_by_tls_when_ready(void **state)
{
    (void)state;
    struct siblings s;
    struct asker asker;
    struct upstream_options options = opportunistic();
    siblings_open(&s, truncate_udp);
    fake_server_set_latency(fake_peer_server(s.plain), 20 * MS);
    siblings_dial(&s, &options);
    ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_ptr_equal(asker.from, s.f.upstream);
    assert_int_equal(asker.took_us, 42 * MS);
    assert_int_equal(fake_peer_udp_queries(s.plain), 1);
    assert_int_equal(fake_peer_tcp_queries(s.plain), 0);
    world_close(&s.f.world);
}

static void test_tls_opportunistic_truncated_goes_by_tcp_when_not(void **state)
{
    (void)state;
    struct siblings s;
    struct asker asker;
    struct upstream_options options = opportunistic();
    siblings_open(&s, truncate_udp);
    go_wrong(&s, &(struct wrong){.trouble = FAKE_TLS_STALL});
    siblings_dial(&s, &options);
    ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_ptr_equal(asker.from, s.f.upstream->plain);
    assert_true(asker.over_stream);
    assert_int_equal(asker.took_us, 6 * MS);
    world_close(&s.f.world);
}

/* ---- only TLS ---- */

/* The port for plain text is closed. The query waits for TLS, which is ready a moment later. */
static void test_tls_opportunistic_with_plain_text_refused_waits_for_tls(void **state)
{
    (void)state;
    for (int fallback = 0; fallback < 2; fallback++) {
        struct tls_fixture f;
        struct asker askers[3];
        struct upstream_options options = opportunistic();
        options.fallback = fallback ? UPSTREAM_FALLBACK_UDP : UPSTREAM_FALLBACK_NONE;
        fixture_open_server(&f, NULL);
        fake_server_set_accept_delay(fake_peer_server(f.peer), 50 * MS);
        fixture_dial(&f, &options);
        for (int i = 0; i < 3; i++) { /* some queries find the sibling resting */
            ask(&askers[i], &f.world, "www.example", f.upstream);
            fake_loop_advance(f.world.loop, 10 * MS);
        }
        fake_loop_advance(f.world.loop, 40 * MS);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
            assert_ptr_equal(askers[i].from, f.upstream);
        }
        world_close(&f.world);
    }
}

/* The server refuses UDP. No other plain text is tried. */
static void test_tls_opportunistic_with_udp_refused_dials_no_plain_tcp(void **state)
{
    (void)state;
    struct siblings s;
    struct asker asker;
    struct upstream_options options = opportunistic();
    siblings_open(&s, NULL);
    fake_server_set_udp(fake_peer_server(s.plain), FAKE_UDP_REFUSE);
    fake_server_set_accept_delay(fake_peer_server(s.f.peer), 50 * MS);
    siblings_dial(&s, &options);
    ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_ptr_equal(asker.from, s.f.upstream);
    assert_int_equal(peer_dials(s.plain), 0);
    world_close(&s.f.world);
}

/* Both servers refuse, so the query fails at once. */
static void test_tls_opportunistic_with_all_refused_fails_at_once(void **state)
{
    (void)state;
    for (int fallback = 0; fallback < 2; fallback++) {
        struct tls_fixture f;
        struct asker asker;
        struct upstream_options options = opportunistic();
        options.fallback = fallback ? UPSTREAM_FALLBACK_UDP : UPSTREAM_FALLBACK_NONE;
        fixture_open_server(&f, NULL);
        f.server.manner.trouble = FAKE_TLS_REFUSE;
        fixture_speak(&f);
        fixture_dial(&f, &options);
        for (int i = 0; i < 30; i++) {
            ask_and_wait(&asker, &f.world, "www.example", f.upstream);
            assert_int_equal(asker.result, ASKER_FAILED);
            assert_true(asker.took_us <= 15 * MS);
            assert_true(asker.failure.any_network);
            assert_int_equal(asker.failure.error, ERR_TLS_ALERT);
            fake_loop_advance(f.world.loop, 20 * MS);
        }
        world_close(&f.world);
    }
}

/* The port for plain text swallows everything. The query uses TLS once it is ready, after 400 ms at
 * most. */
static void test_tls_opportunistic_with_plain_text_swallowed_goes_on_by_tls(void **state)
{
    (void)state;
    struct siblings s;
    struct asker asker;
    struct upstream_options options = opportunistic();
    siblings_open(&s, NULL);
    fake_server_set_udp(fake_peer_server(s.plain), FAKE_UDP_DROP);
    siblings_dial(&s, &options);
    ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_ptr_equal(asker.from, s.f.upstream);
    assert_true(asker.took_us <= 410 * MS);
    world_close(&s.f.world);
}

/* ---- TLS that worked and fails ---- */

static void mid_over_tls(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = 300 * MS;
}

/* A connection dies. Its queries leave in plain text at once, because TLS is not available. */
static void test_tls_opportunistic_dead_in_flight_goes_on_in_plain_text(void **state)
{
    (void)state;
    struct siblings s;
    struct asker askers[20];
    struct upstream_options options = opportunistic();
    siblings_open(&s, NULL);
    fake_peer_set(s.f.peer, mid_over_tls, NULL);
    siblings_dial(&s, &options);
    fake_loop_advance(s.f.world.loop, 100 * MS);
    for (int i = 0; i < 20; i++)
        ask(&askers[i], &s.f.world, "www.example", s.f.upstream);
    fake_loop_advance(s.f.world.loop, 50 * MS);
    fake_conn_tls_alert(peer_conn(s.f.peer, 0));
    fake_loop_advance(s.f.world.loop, 10 * MS);
    for (int i = 0; i < 20; i++) {
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_int_equal(askers[i].took_us, 53 * MS);
        assert_ptr_equal(askers[i].from, s.f.upstream->plain);
    }
    world_close(&s.f.world);
}

/* The connection falls silent. The query leaves again in plain text after 400 ms, and later queries
 * do so at once. */
static void test_tls_opportunistic_gone_dark_goes_on_in_plain_text(void **state)
{
    (void)state;
    struct siblings s;
    struct asker asker;
    struct upstream_options options = opportunistic();
    siblings_open(&s, NULL);
    siblings_dial(&s, &options);
    fake_loop_advance(s.f.world.loop, 100 * MS);
    ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
    assert_ptr_equal(asker.from, s.f.upstream);
    fake_conn_go_dark(peer_conn(s.f.peer, 0));
    for (int i = 0; i < 300; i++) {
        ask_and_wait(&asker, &s.f.world, "www.example", s.f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us <= (i ? 10 * MS : 410 * MS));
        fake_loop_advance(s.f.world.loop, 50 * MS);
    }
    assert_ptr_equal(asker.from, s.f.upstream);
    assert_true(peer_dials(s.f.peer) >= 2);
    world_close(&s.f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_opportunistic_without_tls_goes_by_udp_at_once),
        cmocka_unit_test(test_tls_opportunistic_without_tls_and_udp_goes_by_tcp),
        cmocka_unit_test(test_tls_opportunistic_asks_plain_text_at_its_port),
        cmocka_unit_test(test_tls_opportunistic_nails_no_plain_text),
        cmocka_unit_test(test_tls_opportunistic_strict_has_no_sibling),
        cmocka_unit_test(test_tls_opportunistic_accepts_any_identity_and_shows_it),
        cmocka_unit_test(test_tls_opportunistic_truncated_goes_by_tls_when_ready),
        cmocka_unit_test(test_tls_opportunistic_truncated_goes_by_tcp_when_not),
        cmocka_unit_test(test_tls_opportunistic_with_plain_text_refused_waits_for_tls),
        cmocka_unit_test(test_tls_opportunistic_with_udp_refused_dials_no_plain_tcp),
        cmocka_unit_test(test_tls_opportunistic_with_all_refused_fails_at_once),
        cmocka_unit_test(test_tls_opportunistic_with_plain_text_swallowed_goes_on_by_tls),
        cmocka_unit_test(test_tls_opportunistic_dead_in_flight_goes_on_in_plain_text),
        cmocka_unit_test(test_tls_opportunistic_gone_dark_goes_on_in_plain_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
