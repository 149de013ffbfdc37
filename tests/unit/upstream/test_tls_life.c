/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Events of a ready TLS connection: alerts, every kind of end with and without queries in flight,
 * new keys, late tickets, RFC 7828, silence. */

#include "support/fake_opt.h"
#include "unit/upstream/tls_fixture.h"

/* Names that begin with m get an answer after 300 ms on the first connection. All other answers
 * come at once. */
static void first_is_slow(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if ((ask->query.data[13] | 0x20) == 'm' && ask->conn == 0)
        answer->delay_us = 300 * MS;
}

enum ending { ALERT, NOTIFY, NOTIFY_FIN, FIN, RST, BROKEN_RECORD, ENDINGS };

static void end_conn(struct tls_fixture *f, size_t number, enum ending ending)
{
    struct fake_conn *conn = peer_conn(f->peer, number);
    switch (ending) {
    case ALERT:
        fake_conn_tls_alert(conn);
        break;
    case NOTIFY:
        fake_conn_tls_notify(conn);
        break;
    case NOTIFY_FIN:
    case FIN:
        fake_conn_close(conn);
        break;
    case RST:
        fake_conn_reset(conn);
        break;
    default:
        fake_conn_tls_send_raw(
            conn, span_of("\x17\x03\x03\x00\x20 thirty-two bytes that are no record", 37));
        break;
    }
}

static void open_for(struct tls_fixture *f, enum ending ending, enum fake_tls_version only)
{
    struct upstream_options options = strict();
    fixture_open_server(f, first_is_slow);
    f->server.only = only;
    if (ending == FIN)
        f->server.manner.ending = FAKE_TLS_END_ABRUPT;
    fixture_speak(f);
    fixture_dial(f, &options);
    fake_loop_advance(f->world.loop, 100 * MS);
    assert_int_equal(f->world.stats.upstream_ready, 1);
}

static uint64_t counted(const struct tls_fixture *f, enum ending ending, bool busy)
{
    const struct stats *stats = &f->world.stats;
    if (ending == ALERT || ending == BROKEN_RECORD)
        return stats->upstream_closes_tls;
    if (ending == RST && busy)
        return stats->upstream_closes_reset;
    return busy ? stats->upstream_closes_peer_busy : stats->upstream_closes_peer_idle;
}

/* All queries in flight leave again at once, each once, and none fails. */
static void test_tls_life_ended_with_queries_in_flight_asks_them_again(void **state)
{
    (void)state;
    for (int run = 0; run < 2 * ENDINGS; run++) {
        struct tls_fixture f;
        struct asker askers[30], before;
        enum ending ending = (enum ending)(run / 2);
        open_for(&f, ending, run % 2 ? FAKE_TLS_1_2 : FAKE_TLS_1_3);
        ask_and_wait(&before, &f.world, "www.example", f.upstream);
        for (int i = 0; i < 30; i++)
            ask(&askers[i], &f.world, "mid.example", f.upstream);
        fake_loop_advance(f.world.loop, 50 * MS);
        end_conn(&f, 0, ending);
        fake_loop_advance(f.world.loop, 30 * MS);
        for (int i = 0; i < 30; i++) {
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
            assert_true(askers[i].took_us <= 65 * MS);
        }
        assert_int_equal(fake_peer_queries(f.peer), 61);
        assert_int_equal(peer_dials(f.peer), 2);
        assert_int_equal(counted(&f, ending, true), 1);
        assert_true(conn_facts(&f, 1)->resumed);
        fixture_close_strict(&f);
    }
}

/* An idle connection ends. The pool dials a new one at once, without a penalty. */
static void test_tls_life_ended_when_idle_is_dialled_again(void **state)
{
    (void)state;
    for (int run = 0; run < 2 * ENDINGS; run++) {
        struct tls_fixture f;
        struct asker asker;
        enum ending ending = (enum ending)(run / 2);
        open_for(&f, ending, run % 2 ? FAKE_TLS_1_2 : FAKE_TLS_1_3);
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, S);
        end_conn(&f, 0, ending);
        fake_loop_advance(f.world.loop, 20 * MS);
        assert_int_equal(counted(&f, ending, false), 1);
        assert_int_equal(f.upstream->pool.backoff.failures, 0);
        assert_int_equal(peer_dials(f.peer), 2);
        assert_false(fake_conn_is_held(peer_conn(f.peer, 0)));
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us <= 3 * MS);
        fixture_close_strict(&f);
    }
}

/* Our side closes with close_notify, then FIN. */
static void test_tls_life_we_close_with_close_notify(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open(&f, NULL, &options);
    upstreams_recycle(f.world.upstreams, NULL);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    assert_true(conn_facts(&f, 0)->got_close_notify);
    assert_int_equal(conn_facts(&f, 0)->got_alert, -1);
    fixture_close_strict(&f);
}

/* In TLS 1.3 our side is ready before the server sees that we have no certificate. */
static void test_tls_life_refused_after_the_handshake_fails_with_the_alert(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.only = FAKE_TLS_1_3;
    f.server.need_certificate = true;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(asker.failure.error, ERR_TLS_ALERT);
    assert_true(asker.took_us <= 500 * MS);
    assert_int_equal(fake_peer_queries(f.peer), 0);
    assert_true(f.world.stats.upstream_closes_tls >= 1);
    fixture_close_strict(&f);
}

/* Such a refusal counts as a failure of the dial. So dials get rarer, although each becomes
 * ready. */
static void test_tls_life_refused_after_the_handshake_causes_no_storm(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = strict();
    fixture_open_server(&f, NULL);
    f.server.only = FAKE_TLS_1_3;
    f.server.need_certificate = true;
    fixture_speak(&f);
    fixture_dial(&f, &options);
    fake_loop_advance(f.world.loop, 60 * S);
    assert_in_range(peer_dials(f.peer), 5, 60);
    size_t dials = peer_dials(f.peer);
    fake_loop_advance(f.world.loop, 60 * S);
    /* a rest is at most four seconds, and two on average */
    assert_true(peer_dials(f.peer) - dials <= 45);
    f.server.need_certificate = false;
    fixture_speak(&f);
    fake_loop_advance(f.world.loop, 10 * S);
    struct asker asker;
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fixture_close_strict(&f);
}

/* The peer sends new keys and further tickets, and the connection continues. */
static void test_tls_life_records_without_data_change_nothing(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker, mid;
    open_for(&f, FIN, FAKE_TLS_1_3);
    for (int i = 0; i < 20; i++) {
        ask(&mid, &f.world, "mid.example", f.upstream);
        fake_conn_tls_update_keys(peer_conn(f.peer, 0));
        fake_conn_tls_give_ticket(peer_conn(f.peer, 0));
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(f.world.loop, 400 * MS);
        assert_int_equal(mid.result, ASKER_ANSWERED);
    }
    assert_int_equal(peer_dials(f.peer), 1);
    fixture_close_strict(&f);
}

/* The peer asks for renegotiation in TLS 1.2, and our side refuses with an alert. The peer ends the
 * connection, and queries in flight leave again. */
static void test_tls_life_renegotiation_is_refused_and_costs_no_answer(void **state)
{
    (void)state;
    enum { NO_RENEGOTIATION = 100 };
    struct tls_fixture f;
    struct asker mid;
    open_for(&f, FIN, FAKE_TLS_1_2);
    ask(&mid, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 50 * MS);
    fake_conn_tls_renegotiate(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 300 * MS);
    assert_int_equal(mid.result, ASKER_ANSWERED);
    assert_int_equal(conn_facts(&f, 0)->got_alert, NO_RENEGOTIATION);
    fixture_close_strict(&f);
}

/* The peer sends nothing but new keys. Only messages show that it works. */
static void never_again(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (ask->conn == 0)
        answer->how = FAKE_SILENT;
}

static void test_tls_life_silent_behind_tls_is_noticed(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    fixture_open(&f, never_again, &options);
    for (int i = 0; i < 200; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us <= (i ? 10 * MS : 2510 * MS));
        if (!fake_conn_was_closed(peer_conn(f.peer, 0)))
            fake_conn_tls_update_keys(peer_conn(f.peer, 0));
        fake_loop_advance(f.world.loop, 100 * MS);
    }
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    fixture_close_strict(&f);
}

/* The peer half-closes with close_notify. Queries in flight do not wait, because no answer can
 * come. */
static void test_tls_life_nothing_counts_after_a_close_notify(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    fixture_open(&f, first_is_slow, &options);
    ask(&asker, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 10 * MS);
    fake_conn_tls_notify(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 20 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    fixture_close_strict(&f);
}

/* ---- RFC 7828 ---- */

static void idle_for_two_seconds(void *owner, const struct fake_ask *ask,
                                 struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    fake_opt_keepalive(answer, 20);
}

static void test_tls_life_obeys_the_idle_limit_of_the_peer(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = strict();
    options.hold = false;
    fixture_open(&f, idle_for_two_seconds, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 1500 * MS);
    assert_false(fake_conn_was_closed(peer_conn(f.peer, 0)));
    fake_loop_advance(f.world.loop, 500 * MS);
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    assert_true(conn_facts(&f, 0)->got_close_notify);
    assert_int_equal(f.upstream->pool.backoff.failures, 0);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(f.peer), 2);
    fixture_close_strict(&f);
}

/* ---- exact recycling ---- */

/* One query follows the other, a round trip each, and dials keep pace. */
static void test_tls_life_recycling_is_exact_and_never_cold(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1, 2, 100};
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct tls_fixture f;
        struct asker asker;
        struct upstream_options options = strict();
        options.max_requests = limits[i];
        options.max_handshakes = 1000;
        fixture_open(&f, NULL, &options);
        unsigned count = 250;
        for (unsigned j = 0; j < count; j++) {
            ask_and_wait(&asker, &f.world, "www.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_int_equal(asker.took_us, 2 * MS);
        }
        assert_int_equal(f.world.stats.upstream_cold_queries, 0);
        for (size_t j = 0; j < count / limits[i]; j++)
            assert_int_equal(fake_conn_messages(peer_conn(f.peer, j)), limits[i]);
        fixture_close_strict(&f);
    }
}

/* A connection ends because of its age or a command. Its successor is ready before. */
static void test_tls_life_makes_before_it_breaks(void **state)
{
    (void)state;
    for (int by_age = 0; by_age < 2; by_age++) {
        struct tls_fixture f;
        struct upstream_options options = strict();
        options.max_age_us = by_age ? 10 * S : 0;
        fixture_open(&f, NULL, &options);
        if (!by_age)
            upstreams_recycle(f.world.upstreams, NULL);
        for (int ms = 0; ms < 11500; ms++) {
            fake_loop_advance(f.world.loop, MS);
            assert_true(f.world.stats.upstream_ready >= 1);
        }
        assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
        assert_true(conn_facts(&f, 1)->resumed);
        assert_int_equal(peer_dials(f.peer), 2);
        fixture_close_strict(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_life_ended_with_queries_in_flight_asks_them_again),
        cmocka_unit_test(test_tls_life_ended_when_idle_is_dialled_again),
        cmocka_unit_test(test_tls_life_we_close_with_close_notify),
        cmocka_unit_test(test_tls_life_refused_after_the_handshake_fails_with_the_alert),
        cmocka_unit_test(test_tls_life_refused_after_the_handshake_causes_no_storm),
        cmocka_unit_test(test_tls_life_records_without_data_change_nothing),
        cmocka_unit_test(test_tls_life_renegotiation_is_refused_and_costs_no_answer),
        cmocka_unit_test(test_tls_life_silent_behind_tls_is_noticed),
        cmocka_unit_test(test_tls_life_nothing_counts_after_a_close_notify),
        cmocka_unit_test(test_tls_life_obeys_the_idle_limit_of_the_peer),
        cmocka_unit_test(test_tls_life_recycling_is_exact_and_never_cold),
        cmocka_unit_test(test_tls_life_makes_before_it_breaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
