/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* An upstream with streams restarts, and queries wait until it is back. */

#include "unit/upstream/world.h"

struct fixture {
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void answer_all(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

static void fixture_open(struct fixture *f)
{
    struct upstream_options options = world_no_fallback();
    f->upstream = world_open_server(&f->world, &f->peer, answer_all, NULL, &options);
    fake_loop_advance(f->world.loop, 100 * MS);
}

static void answer_once(struct fixture *f)
{
    struct asker asker;
    ask_and_wait(&asker, &f->world, "first.example", f->upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
}

/* Closes the server's connections and refuses new ones. */
static void stop_server(struct fixture *f)
{
    fake_server_set_dial(fake_peer_server(f->peer), FAKE_DIAL_REFUSE);
    fake_conn_reset(peer_conn(f->peer, peer_dials(f->peer) - 1));
    fake_loop_advance(f->world.loop, 10 * MS);
}

static void start_server(struct fixture *f)
{
    fake_server_set_dial(fake_peer_server(f->peer), FAKE_DIAL_ACCEPT);
}

static void test_patience_queries_wait_for_a_restart(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static struct asker askers[COUNT];
    struct fixture f;
    fixture_open(&f);
    answer_once(&f);
    stop_server(&f);
    for (int i = 0; i < COUNT; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    start_server(&f);
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

/* Dials are frequent enough to find the server soon, whatever the back-off is. */
static void test_patience_dials_often_but_at_a_bounded_rate(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    answer_once(&f);
    stop_server(&f);
    size_t before = peer_dials(f.peer);
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 1500 * MS);
    assert_in_range(peer_dials(f.peer) - before, 20, 1500 * MS / POOL_RETURN_US + 1);
    start_server(&f);
    fake_loop_advance(f.world.loop, 60 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}

static void test_patience_ends(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    answer_once(&f);
    stop_server(&f);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(asker.took_us / (10 * MS), EXCHANGE_PATIENCE_US / (10 * MS));
    assert_true(asker.failure.any_network);
    world_close(&f.world);
}

/* This server never answered, so it is not expected to come back. */
static void test_patience_is_not_for_servers_that_never_answered(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    stop_server(&f);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us < 300 * MS);
    world_close(&f.world);
}

static void test_patience_ends_a_minute_after_the_last_answer(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    answer_once(&f);
    stop_server(&f);
    fake_loop_advance(f.world.loop, UPSTREAM_EXPECTED_US);
    ask_and_wait(&asker, &f.world, "www.example", f.upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.took_us < 300 * MS);
    world_close(&f.world);
}

/* The server accepts connections before it can answer, as a proxy does while its backend restarts.
 */
static void end_at_once(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->how = FAKE_CLOSE;
    answer->len = 0;
}

static void test_patience_outlasts_connections_that_end_at_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[20];
    fixture_open(&f);
    answer_once(&f);
    fake_peer_set(f.peer, end_at_once, NULL);
    fake_conn_reset(peer_conn(f.peer, peer_dials(f.peer) - 1));
    for (int i = 0; i < 20; i++)
        ask(&askers[i], &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 1200 * MS);
    fake_peer_set(f.peer, answer_all, NULL);
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < 20; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

#ifndef WORLD_TLS
/* The link is down: not even UDP works, but the link may be up again in a moment. */
static void test_patience_holds_while_no_way_is_left(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&f.world);
    f.peer = world_peer(&f.world, "10.1.1.1@53", answer_all, NULL);
    f.upstream = world_upstream(&f.world, "10.1.1.1@53", &options);
    fake_loop_advance(f.world.loop, 100 * MS);
    answer_once(&f);
    struct fake_server *server = fake_peer_server(f.peer);
    fake_server_set_dial(server, FAKE_DIAL_FAIL_NOW);
    fake_server_set_udp(server, FAKE_UDP_FAIL_NOW);
    fake_conn_reset(peer_conn(f.peer, 0));
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(asker.result, ASKER_WAITING);
    fake_server_set_udp(server, FAKE_UDP_DELIVER);
    start_server(&f);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}
#endif

/* The kernel would send the lost SYN again after a second. */
static void test_patience_dials_again_after_a_lost_syn(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    answer_once(&f);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    fake_conn_reset(peer_conn(f.peer, peer_dials(f.peer) - 1));
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 400 * MS);
    start_server(&f);
    fake_loop_advance(f.world.loop, 400 * MS);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&f.world);
}

static void ignore_turn(struct dial_turn *turn)
{
    (void)turn;
}

static void on_conn(struct pool_waiter *waiter, struct conn *conn)
{
    (void)conn;
    waiter->on_conn = NULL;
}

static void on_no_conn(struct pool_waiter *waiter, enum conn_end why)
{
    (void)waiter;
    (void)why;
}

/* Dead servers occupy all places for dials after failures, and the new dial queues behind them. */
static void test_patience_is_not_delayed_by_dials_to_dead_servers(void **state)
{
    (void)state;
    enum { COUNT = DIALER_AGAIN_MAX + 10 };
    static struct dial_turn turns[COUNT];
    struct fixture f;
    struct pool_waiter waiter = {.on_conn = on_conn, .on_no_conn = on_no_conn};
    fixture_open(&f);
    struct dialer *dialer = &upstreams_env(f.world.upstreams)->dialer;
    answer_once(&f);
    stop_server(&f);
    for (int i = 0; i < COUNT; i++) {
        dial_turn_init(&turns[i], ignore_turn);
        dialer_ask(dialer, &turns[i], true);
    }
    fake_loop_advance(f.world.loop, BACKOFF_CAP_US);
    assert_int_equal(f.world.stats.upstream_parked, 1);
    start_server(&f);
    list_init(&waiter.node);
    assert_true(pool_wait_patiently(&f.upstream->pool, &waiter));
    fake_loop_advance(f.world.loop, 10 * MS);
    assert_null(waiter.on_conn);
    for (int i = COUNT - 1; i >= 0; i--)
        dialer_leave(dialer, &turns[i]);
    world_close(&f.world);
}

/* The path is dark for two seconds, and a firewall on it has forgotten the connection. The
 * connection is silent but not proved dead, and dials continue. */
static void test_patience_dials_on_beside_a_silent_connection(void **state)
{
    (void)state;
    enum { COUNT = 30, DARK = 20 };
    static struct asker askers[COUNT];
    struct fixture f;
    fixture_open(&f);
    answer_once(&f);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    for (int i = 0; i < COUNT; i++) {
        if (i == DARK)
            start_server(&f);
        ask(&askers[i], &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, 100 * MS);
    }
    for (int i = DARK; i < COUNT; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

static void answer_or_close(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    struct message query;
    assert_int_equal(message_parse(&query, ask->query), MESSAGE_OK);
    if (query.question.name.wire[0] == strlen("poison"))
        answer->how = FAKE_CLOSE;
    else
        fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

/* The server ends the connection for one question and answers all others. That question costs no
 * more connections than it may send queries. */
static void test_patience_is_not_for_a_question_that_ends_connections(void **state)
{
    (void)state;
    enum { COUNT = 2000 };
    static struct asker askers[COUNT];
    struct fixture f;
    struct asker poison;
    fixture_open(&f);
    answer_once(&f);
    fake_peer_set(f.peer, answer_or_close, NULL);
    size_t before = peer_dials(f.peer);
    ask(&poison, &f.world, "poison.example", f.upstream);
    for (int i = 0; i < COUNT; i++) {
        ask(&askers[i], &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, MS);
    }
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(poison.result, ASKER_FAILED);
    assert_in_range(peer_dials(f.peer) - before, 1, 2 * EXCHANGE_ATTEMPTS_MAX);
    world_close(&f.world);
}

/* All packets are lost, and the connection does not notice. It is replaced as soon as packets pass
 * again. */
static void test_patience_dials_beside_a_connection_that_is_dead(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[10];
    fixture_open(&f);
    answer_once(&f);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_BLACKHOLE);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    for (int i = 0; i < 10; i++) {
        ask(&askers[i], &f.world, "www.example", f.upstream);
        fake_loop_advance(f.world.loop, 50 * MS);
    }
    fake_loop_advance(f.world.loop, 800 * MS);
    start_server(&f);
    fake_loop_advance(f.world.loop, 400 * MS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

/* The other server gets the query at once. */
static void test_patience_is_not_needed_if_another_server_answers(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    struct upstream_options options = f.upstream->options;
    world_peer(&f.world, "10.1.1.2@53", answer_all, NULL);
    struct upstream *other = world_upstream(&f.world, "10.1.1.2@53", &options);
    answer_once(&f);
    stop_server(&f);
    struct upstream *group[] = {f.upstream, other};
    for (int i = 0; i < 20; i++) {
        ask_group(&asker, &f.world, "www.example", group, 2);
        fake_loop_advance(f.world.loop, 50 * MS);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    world_close(&f.world);
}

/* Queries that wait must not delay the stop of the daemon or of the zone. */
static void test_patience_ends_with_the_upstream(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    fixture_open(&f);
    answer_once(&f);
    stop_server(&f);
    ask(&asker, &f.world, "www.example", f.upstream);
    fake_loop_advance(f.world.loop, 100 * MS);
    exchange_stop(&asker.exchange);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_patience_queries_wait_for_a_restart),
        cmocka_unit_test(test_patience_dials_often_but_at_a_bounded_rate),
        cmocka_unit_test(test_patience_ends),
        cmocka_unit_test(test_patience_is_not_for_servers_that_never_answered),
        cmocka_unit_test(test_patience_ends_a_minute_after_the_last_answer),
        cmocka_unit_test(test_patience_outlasts_connections_that_end_at_once),
#ifndef WORLD_TLS
        cmocka_unit_test(test_patience_holds_while_no_way_is_left),
#endif
        cmocka_unit_test(test_patience_dials_again_after_a_lost_syn),
        cmocka_unit_test(test_patience_dials_on_beside_a_silent_connection),
        cmocka_unit_test(test_patience_is_not_delayed_by_dials_to_dead_servers),
        cmocka_unit_test(test_patience_is_not_for_a_question_that_ends_connections),
        cmocka_unit_test(test_patience_dials_beside_a_connection_that_is_dead),
        cmocka_unit_test(test_patience_is_not_needed_if_another_server_answers),
        cmocka_unit_test(test_patience_ends_with_the_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
