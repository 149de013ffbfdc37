/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Early data (RFC 8446 section 2.3): queries that wait for a resumed dial leave with its first
 * flight. */

#include "unit/upstream/tls_fixture.h"

static unsigned early_queries;

static void note_early(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    early_queries += ask->early;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

/* The upstream is not nailed, so queries wait for dials. It is 10 ms away. */
static struct upstream_options early(void)
{
    struct upstream_options options = strict();
    options.nailed = false;
    options.fallback = UPSTREAM_FALLBACK_NONE;
    options.tls.early_data = true;
    return options;
}

static void early_open(struct tls_fixture *f, enum fake_tls_early how,
                       const struct upstream_options *options)
{
    early_queries = 0;
    fixture_open_server(f, note_early);
    fake_server_set_latency(fake_peer_server(f->peer), 10 * MS);
    f->server.early = how;
    fixture_speak(f);
    fixture_dial(f, options);
}

static void ask_one(struct tls_fixture *f, uint64_t took_us)
{
    struct asker asker;
    ask_and_wait(&asker, &f->world, "www.example", f->upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(asker.took_us, took_us);
}

/* Ends the newest connection, whose tickets then serve the next dial. */
static void end_newest(struct tls_fixture *f)
{
    fake_loop_advance(f->world.loop, S);
    fake_conn_close(peer_conn(f->peer, peer_dials(f->peer) - 1));
    fake_loop_advance(f->world.loop, S);
    assert_int_equal(f->world.stats.upstream_ready, 0);
}

static void test_tls_early_saves_a_round_trip(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS); /* TCP, TLS and the query take a round trip each */
    for (size_t i = 1; i < 10; i++) {
        end_newest(&f);
        ask_one(&f, 40 * MS);
        fake_loop_advance(f.world.loop, 50 * MS); /* the answer comes before the handshake ends */
        assert_true(conn_facts(&f, i)->resumed);
        assert_true(conn_facts(&f, i)->early_accepted);
        assert_true(conn_facts(&f, i)->early_bytes >= 128);
        assert_int_equal(early_queries, i);
        assert_int_equal(fake_conn_messages(peer_conn(f.peer, i)), 1);
    }
    assert_int_equal(f.world.stats.upstream_early_data, 9);
    assert_int_equal(f.world.stats.upstream_early_data_rejected, 0);
    fixture_close_strict(&f);
}

/* The connection continues like any other: it carries later queries. */
static void test_tls_early_is_followed_by_more(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker askers[3];
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    for (int i = 0; i < 3; i++) { /* before TCP, during TLS, and after it */
        ask(&askers[i], &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, 25 * MS);
    }
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(askers[0].took_us, 40 * MS);
    assert_int_equal(askers[1].took_us, 35 * MS); /* waits for 15 ms, then leaves */
    assert_int_equal(askers[2].took_us, 20 * MS);
    assert_int_equal(early_queries, 1);
    assert_int_equal(peer_dials(f.peer), 2);
    for (int i = 0; i < 20; i++)
        ask_one(&f, 20 * MS);
    assert_int_equal(fake_conn_messages(peer_conn(f.peer, 1)), 23);
    fixture_close_strict(&f);
}

/* The server rejects the early data. The query leaves again after the handshake, and gets one
 * answer. */
static void test_tls_early_rejected_is_sent_again(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_REJECT, &options);
    ask_one(&f, 60 * MS);
    for (size_t i = 1; i < 5; i++) {
        end_newest(&f);
        ask_one(&f, 60 * MS);
        assert_true(conn_facts(&f, i)->offered_early);
        assert_false(conn_facts(&f, i)->early_accepted);
        assert_int_equal(fake_conn_messages(peer_conn(f.peer, i)), 1);
    }
    assert_int_equal(early_queries, 0);
    assert_int_equal(fake_peer_queries(f.peer), 5);
    assert_int_equal(f.world.stats.upstream_early_data_rejected, 4);
    fixture_close_strict(&f);
}

/* The server has forgotten the ticket. The query follows a full handshake. */
static void test_tls_early_with_a_forgotten_ticket_is_sent_again(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    f.server.forget_tickets = true;
    fixture_speak(&f);
    ask_one(&f, 60 * MS);
    assert_false(conn_facts(&f, 1)->resumed);
    assert_int_equal(fake_conn_messages(peer_conn(f.peer, 1)), 1);
    fixture_close_strict(&f);
}

/* The server that has forgotten the ticket has another identity. It cannot read the early data, and
 * gets no query after the handshake. */
static void test_tls_early_data_is_useless_to_another_server(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker asker;
    struct upstream_options options = early();
    struct tls_cert *other =
        tls_certs_make(&(struct tls_cert_wish){.ca = world_tls()->ca, .name = "other.test"});
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    f.server.forget_tickets = true;
    f.server.certificate = other->certificate;
    f.server.key = other->key;
    fixture_speak(&f);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(asker.failure.error, ERR_TLS_NAME);
    assert_int_equal(fake_peer_queries(f.peer), 1);
    fixture_close_strict(&f);
    tls_certs_free_cert(other);
}

static void test_tls_early_is_off_by_default(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    assert_false(upstream_options_default.tls.early_data);
    options.tls.early_data = upstream_options_default.tls.early_data;
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    ask_one(&f, 60 * MS);
    assert_true(conn_facts(&f, 1)->resumed);
    assert_false(conn_facts(&f, 1)->offered_early);
    assert_int_equal(f.world.stats.upstream_early_data_rejected, 0);
    fixture_close_strict(&f);
}

static void test_tls_early_needs_resumption_and_a_ticket_that_allows_it(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_NONE, &options);
    ask_one(&f, 60 * MS);
    assert_false(conn_facts(&f, 0)->offered_early);
    end_newest(&f);
    ask_one(&f, 60 * MS);
    assert_true(conn_facts(&f, 1)->resumed);
    assert_false(conn_facts(&f, 1)->offered_early);
    fixture_close_strict(&f);
}

static void test_tls_early_does_not_exist_with_tls_1_2(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    f.server.only = FAKE_TLS_1_2;
    fixture_speak(&f);
    ask_one(&f, 80 * MS); /* TLS takes two round trips */
    end_newest(&f);
    ask_one(&f, 60 * MS);
    assert_true(conn_facts(&f, 1)->resumed);
    assert_false(conn_facts(&f, 1)->offered_early);
    fixture_close_strict(&f);
}

/* More queries wait than the ticket allows. The others follow after the handshake. All are
 * answered, and each is sent once. */
static void test_tls_early_is_no_more_than_the_ticket_allows(void **state)
{
    (void)state;
    enum { TICKET_ALLOWS = 16384, COUNT = 250 };
    struct tls_fixture f;
    static struct asker askers[COUNT];
    struct upstream_options options = early();
    options.max_in_flight = 1000;
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    for (int i = 0; i < COUNT; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 200 * MS);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_true(askers[i].took_us <= 60 * MS);
    }
    assert_in_range(conn_facts(&f, 1)->early_bytes, TICKET_ALLOWS / 2, TICKET_ALLOWS);
    assert_in_range(early_queries, 50, COUNT - 50);
    assert_int_equal(fake_peer_queries(f.peer), COUNT + 1);
    assert_int_equal(peer_dials(f.peer), 2);
    fixture_close_strict(&f);
}

/* The limits of a connection hold for early queries, too. A connection that may carry one query
 * sends none early, because it could not drain. */
static void test_tls_early_keeps_max_requests(void **state)
{
    (void)state;
    static const uint32_t limits[] = {1, 2, 5};
    for (size_t i = 0; i < ARRAY_LEN(limits); i++) {
        struct tls_fixture f;
        struct asker askers[20];
        struct upstream_options options = early();
        options.max_requests = limits[i];
        early_open(&f, FAKE_EARLY_ACCEPT, &options);
        for (int round = 0; round < 5; round++) {
            for (int j = 0; j < 20; j++)
                ask(&askers[j], &f.world, "www.example", f.upstream);
            fake_loop_advance(f.world.loop, 3 * S);
            for (int j = 0; j < 20; j++)
                assert_int_equal(askers[j].result, ASKER_ANSWERED);
            fake_loop_advance(f.world.loop, 61 * S); /* the idle connections close */
        }
        for (size_t j = 0; j < peer_dials(f.peer); j++)
            assert_true(fake_conn_messages(peer_conn(f.peer, j)) <= limits[i]);
        assert_int_equal(fake_peer_queries(f.peer), 100);
        assert_int_equal(early_queries > 0, limits[i] > 1);
        fixture_close_strict(&f);
    }
}

/* The connection breaks with early queries in flight: the next connection carries them. */
static void test_tls_early_broken_off_is_asked_again(void **state)
{
    (void)state;
    for (int rst = 0; rst < 2; rst++) {
        struct tls_fixture f;
        struct asker asker;
        struct upstream_options options = early();
        early_open(&f, FAKE_EARLY_ACCEPT, &options);
        ask_one(&f, 60 * MS);
        end_newest(&f);
        ask(&asker, &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, 25 * MS); /* the query is in flight */
        assert_int_equal(f.world.stats.upstream_in_flight, 1);
        if (rst)
            fake_conn_reset(peer_conn(f.peer, 1));
        else
            fake_conn_fail(peer_conn(f.peer, 1), ERR_UNREACHABLE);
        fake_loop_advance(f.world.loop, 15 * MS);
        assert_int_equal(f.world.stats.upstream_in_flight, 0);
        fake_loop_advance(f.world.loop, S);
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fixture_close_strict(&f);
    }
}

/* The handshake stalls behind early queries. They leave again after its deadline and get one answer
 * each, although each was sent twice. */
static void test_tls_early_stalled_is_asked_again_after_the_deadline(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct asker askers[5];
    struct upstream_options options = early();
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    ask_one(&f, 60 * MS);
    end_newest(&f);
    f.server.manner.trouble = FAKE_TLS_STALL;
    fixture_speak(&f);
    for (int i = 0; i < 5; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 500 * MS);
    assert_int_equal(f.world.stats.upstream_securing, 1);
    assert_true(f.world.stats.upstream_in_flight >= 5);
    f.server.manner.trouble = FAKE_TLS_FINE;
    fixture_speak(&f);
    fake_loop_advance(f.world.loop, 2 * S);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_in_range(askers[i].took_us, S, 1700 * MS);
    }
    assert_int_equal(f.world.stats.upstream_in_flight, 0);
    fixture_close_strict(&f);
}

/* No query waits, so a dial in advance sends nothing early. */
static void test_tls_early_carries_only_waiting_queries(void **state)
{
    (void)state;
    struct tls_fixture f;
    struct upstream_options options = early();
    options.nailed = true;
    early_open(&f, FAKE_EARLY_ACCEPT, &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    upstreams_recycle(f.world.upstreams, NULL);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_true(conn_facts(&f, 1)->resumed);
    assert_false(conn_facts(&f, 1)->offered_early);
    ask_one(&f, 20 * MS);
    fixture_close_strict(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tls_early_saves_a_round_trip),
        cmocka_unit_test(test_tls_early_is_followed_by_more),
        cmocka_unit_test(test_tls_early_rejected_is_sent_again),
        cmocka_unit_test(test_tls_early_with_a_forgotten_ticket_is_sent_again),
        cmocka_unit_test(test_tls_early_data_is_useless_to_another_server),
        cmocka_unit_test(test_tls_early_is_off_by_default),
        cmocka_unit_test(test_tls_early_needs_resumption_and_a_ticket_that_allows_it),
        cmocka_unit_test(test_tls_early_does_not_exist_with_tls_1_2),
        cmocka_unit_test(test_tls_early_is_no_more_than_the_ticket_allows),
        cmocka_unit_test(test_tls_early_keeps_max_requests),
        cmocka_unit_test(test_tls_early_broken_off_is_asked_again),
        cmocka_unit_test(test_tls_early_stalled_is_asked_again_after_the_deadline),
        cmocka_unit_test(test_tls_early_carries_only_waiting_queries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
