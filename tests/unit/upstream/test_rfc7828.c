/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* RFC 7828 with upstreams: nailup asks on streams and obeys the answer, also a zero. */

#include "dns/edns.h"
#include "support/fake_opt.h"
#include "unit/upstream/world.h"
#include "upstream/pool_plan.h"

struct script {
    uint16_t timeout_100ms;
    unsigned asked; /* counts queries with the empty option */
};

static void answer_with_timeout(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    struct script *script = owner;
    struct message query;
    struct edns_keepalive keepalive;

    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (edns_find_keepalive(&query.edns, &keepalive) != EDNS_FOUND)
        return;
    assert_int_equal(ask->transport, WORLD_STREAM);
    assert_false(keepalive.has_timeout);
    script->asked++;
    fake_opt_keepalive(answer, script->timeout_100ms);
}

struct fixture {
    struct world world;
    struct script script;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void fixture_open(struct fixture *f, uint16_t timeout_100ms,
                         const struct upstream_options *options)
{
    f->script = (struct script){.timeout_100ms = timeout_100ms};
    f->upstream = world_open_server(&f->world, &f->peer, answer_with_timeout, &f->script, options);
    fake_loop_advance(f->world.loop, 100 * MS);
}

static void test_rfc7828_is_asked_once_on_each_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.max_requests = 10;
    fixture_open(&f, 600, &options);
    for (int i = 0; i < 35; i++)
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(f.script.asked, 4);
    world_close(&f.world);
}

/* The pool holds a connection until a little before the limit that the peer announces. */
static void test_rfc7828_timeout_bounds_idling(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 50, &options); /* the limit is 5 s */
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 3700 * MS);
    assert_int_equal(peer_stream_queries(f.peer), 1);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(peer_stream_queries(f.peer), 2);
    fake_loop_advance(f.world.loop, 3600 * S);
    assert_int_equal(peer_dials(f.peer), 1);
    assert_in_range(peer_stream_queries(f.peer), 3600 * 4 / 15, 3600 * 4 / 15 + 3);
    world_close(&f.world);
}

/* Without holding, our side closes the connection, and the next query dials. */
static void test_rfc7828_timeout_closes_connections_that_are_not_held(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.hold = false;
    fixture_open(&f, 50, &options); /* the limit is 5 s */
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 4 * S);
    assert_false(fake_conn_was_closed(peer_conn(f.peer, 0)));
    fake_loop_advance(f.world.loop, S);
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    fake_loop_advance(f.world.loop, 100 * S);
    assert_int_equal(peer_dials(f.peer), 1);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(f.peer), 2);
    world_close(&f.world);
}

/* A zero ends the connection that brought it, and the pool dials the next one at once. */
static void test_rfc7828_zero_drains_that_connection_only(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 0, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_true(asker.over_stream);
    f.script.timeout_100ms = 600;
    fake_loop_advance(f.world.loop, 10 * MS);
    assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
    assert_int_equal(f.world.stats.upstream_closes_keepalive_zero, 1);
    for (int i = 0; i < 100; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_true(asker.over_stream);
        fake_loop_advance(f.world.loop, S);
    }
    assert_int_equal(peer_dials(f.peer), 2);
    world_close(&f.world);
}

/* The first of two queries gets a zero. The other answer takes long. */
static void answer_one_slowly(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    answer_with_timeout(owner, ask, answer);
    if (ask->index > 0)
        answer->delay_us = S;
}

/* A draining connection takes no queries, so its successor must not wait for its last answer. */
static void test_rfc7828_zero_dials_a_successor_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker first, slow;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 0, &options);
    fake_peer_set(f.peer, answer_one_slowly, &f.script);
    ask(&first, &f.world, "www.example", f.upstream);
    ask(&slow, &f.world, "slow.example", f.upstream);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(first.result, ASKER_ANSWERED);
    assert_int_equal(slow.result, ASKER_WAITING);
    assert_int_equal(f.world.stats.upstream_draining, 1);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(slow.result, ASKER_ANSWERED);
    world_close(&f.world);
}

static struct conn *first_ready(const struct fixture *f)
{
    LIST_EACH(node, &f->upstream->pool.conns)
    {
        struct conn *conn = LIST_ITEM(node, struct conn, node);
        if (conn->state == CONN_READY)
            return conn;
    }
    return NULL;
}

/* A server with long-lived connections stops, announces that on each of them, and is back after a
 * while. Its connections return within the back-off of a refused dial. */
static void test_rfc7828_a_restart_does_not_end_nailing(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.connections = 3;
    fixture_open(&f, 600, &options);
    for (int restart = 0; restart < 5; restart++) {
        for (int i = 0; i < 30; i++) {
            ask_and_wait(&asker, &f.world, "www.example", f.upstream);
            assert_true(asker.over_stream);
            fake_loop_advance(f.world.loop, S);
        }
        size_t dials = peer_dials(f.peer);
        fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
        for (struct conn *conn; (conn = first_ready(&f));)
            pool_heard_keepalive(&f.upstream->pool, conn, 0);
        fake_loop_advance(f.world.loop, 3 * S);
        fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_ACCEPT);
        fake_loop_advance(f.world.loop, BACKOFF_CAP_US + S);
        assert_int_equal(f.world.stats.upstream_ready, 3);
        assert_true(peer_dials(f.peer) > dials);
    }
    world_close(&f.world);
}

/* Every fresh connection brings a zero. The pauses grow to minutes, and UDP takes the queries. */
static void test_rfc7828_zero_on_fresh_connections_pauses_nailing(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 0, &options);
    for (int i = 0; i < 3600; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(f.world.loop, S - 10 * MS);
    }
    /* two dials, then one each after 10, 20, 40, 80 and 160 s, and then one every five minutes */
    assert_in_range(peer_dials(f.peer), 15, 2 + 5 + 3600 / 300 + 1);

    f.script.timeout_100ms = 600; /* a connection that stays open ends the pauses */
    fake_loop_advance(f.world.loop, KEEPALIVE_PAUSE_MAX_US + S);
    for (int i = 0; i < 20; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_true(asker.over_stream);
        fake_loop_advance(f.world.loop, S);
    }
    size_t dials = peer_dials(f.peer);
    f.script.timeout_100ms = 0;
    fake_conn_close(peer_conn(f.peer, dials - 1));
    fake_loop_advance(f.world.loop, S);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(f.world.stats.upstream_ready, 1); /* the first zero after that */
    world_close(&f.world);
}

/* Zeros without a fallback: connections are dialled for queries, but none is kept. */
static void test_rfc7828_zero_without_fallback_still_answers(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, 0, &options);
    for (int i = 0; i < 20; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        fake_loop_advance(f.world.loop, S);
        assert_int_equal(f.world.stats.upstream_ready, i + 1 < KEEPALIVE_ZEROS);
    }
    assert_in_range(peer_dials(f.peer), 20, 21);
    world_close(&f.world);
}

/* The pause ends even if no query comes. */
static void test_rfc7828_nailing_returns_after_the_pause(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, 0, &options);
    for (int i = 0; i < KEEPALIVE_ZEROS; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, S);
    }
    assert_int_equal(f.world.stats.upstream_ready, 0);
    fake_loop_advance(f.world.loop, KEEPALIVE_PAUSE_US);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    world_close(&f.world);
}

/* A zero counts even on the only answer that the connection carries. Over TLS a ready connection
 * continues, because every alternative is worse. */
static void test_rfc7828_zero_counts_on_a_last_answer(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.max_requests = 1;
    fixture_open(&f, 0, &options);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_true(asker.over_stream);
    for (int i = 0; i < 5 && f.upstream->pool.keepalive.left_alone_until_at == 0; i++)
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    size_t dials = peer_dials(f.peer);
    for (int i = 0; i < 90; i++) {
        ask_and_wait(&asker, &f.world, "www.example", f.upstream);
        assert_true(!asker.over_stream || (WORLD_STREAM == FAKE_TLS && i < PLAN_SPARES_MAX));
        fake_loop_advance(f.world.loop, 100 * MS);
    }
    assert_int_equal(peer_dials(f.peer), dials);
    assert_int_equal(f.world.quota.used, 0);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rfc7828_is_asked_once_on_each_connection),
        cmocka_unit_test(test_rfc7828_timeout_bounds_idling),
        cmocka_unit_test(test_rfc7828_timeout_closes_connections_that_are_not_held),
        cmocka_unit_test(test_rfc7828_zero_drains_that_connection_only),
        cmocka_unit_test(test_rfc7828_zero_dials_a_successor_at_once),
        cmocka_unit_test(test_rfc7828_a_restart_does_not_end_nailing),
        cmocka_unit_test(test_rfc7828_zero_on_fresh_connections_pauses_nailing),
        cmocka_unit_test(test_rfc7828_zero_without_fallback_still_answers),
        cmocka_unit_test(test_rfc7828_nailing_returns_after_the_pause),
        cmocka_unit_test(test_rfc7828_zero_counts_on_a_last_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
