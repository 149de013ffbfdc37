/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Servers that answer one query per connection, and servers that only seem to. */

#include "unit/upstream/world.h"

enum habit {
    HABIT_GOOD,
    HABIT_CLOSES,      /* answers the first query after 50 ms and closes */
    HABIT_STALLS,      /* answers only the first query */
    HABIT_RESETS,      /* answers the first query after 50 ms and resets */
    HABIT_GOOD_ON_ONE, /* the first connection works, later ones close */
};

struct script {
    enum habit habit;
};

static void close_later(void *copy)
{
    struct fake_conn *conn = *(struct fake_conn **)copy;
    fake_conn_close(conn);
}

static void reset_later(void *copy)
{
    struct fake_conn *conn = *(struct fake_conn **)copy;
    fake_conn_reset(conn);
}

static void after_first(const struct fake_ask *ask, struct fake_answer *answer,
                        void (*end)(void *copy))
{
    struct fake_net *net = fake_conn_net(ask->stream);
    answer->delay_us = 50 * MS;
    if (ask->index > 0)
        answer->how = FAKE_SILENT;
    else
        fake_net_after(net, 51 * MS, end, &ask->stream, sizeof(ask->stream));
}

static void by_habit(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    const struct script *script = owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (!ask->stream)
        return;
    switch (script->habit) {
    case HABIT_GOOD:
        break;
    case HABIT_GOOD_ON_ONE:
        if (ask->conn == 0)
            break;
        after_first(ask, answer, close_later);
        break;
    case HABIT_CLOSES:
        after_first(ask, answer, close_later);
        break;
    case HABIT_RESETS:
        after_first(ask, answer, reset_later);
        break;
    case HABIT_STALLS:
        if (ask->index > 0)
            answer->how = FAKE_SILENT;
        break;
    }
}

struct fixture {
    struct world world;
    struct script script;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void fixture_open(struct fixture *f, enum habit habit,
                         const struct upstream_options *options)
{
    f->script = (struct script){.habit = habit};
    f->upstream = world_open_server(&f->world, &f->peer, by_habit, &f->script, options);
    fake_loop_advance(f->world.loop, 100 * MS);
}

static struct upstream_view view_of(const struct fixture *f)
{
    struct upstream_view view;
    upstreams_view(f->upstream, loop_now(f->world.loop), &view);
    return view;
}

static struct asker askers[20000];

/* Sends this many queries, one every gap_us. Then waits until all have ended. */
static void ask_steadily(struct fixture *f, size_t count, uint64_t gap_us)
{
    for (size_t i = 0; i < count; i++) {
        ask(&askers[i], &f->world, "www.example", f->upstream);
        fake_loop_advance(f->world.loop, gap_us);
    }
    fake_loop_advance(f->world.loop, 6 * S);
}

static size_t answered(size_t count)
{
    size_t sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += askers[i].result == ASKER_ANSWERED;
    return sum;
}

static void test_one_answer_and_a_clean_close_is_concluded_and_shown(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    fixture_open(&f, HABIT_CLOSES, &options);
    assert_int_equal(view_of(&f).single_use_proofs, 0);
    ask_steadily(&f, 100, 10 * MS);
    assert_int_equal(answered(100), 100);

    struct upstream_view view = view_of(&f);
    assert_string_equal(view.health, "one query per connection");
    assert_int_equal(view.single_use_proofs, SINGLE_USE_STRIKES);
    assert_in_range(view.single_use_proved_us, 5 * S, 8 * S);
    assert_in_range(view.single_use_retest_us, 590 * S, 596 * S);
    size_t first = peer_dials(f.peer);
    ask_steadily(&f, 20, S);
    for (size_t i = first; i < peer_dials(f.peer); i++)
        assert_in_range(fake_conn_messages(peer_conn(f.peer, i)), 0, 1);
    world_close(&f.world);
}

/* The verdict ages. One connection then carries several queries, and their answers refute it. */
static void test_one_answer_is_retested_by_one_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, HABIT_CLOSES, &options);
    ask_steadily(&f, 100, 10 * MS);
    assert_true(f.upstream->pool.single.is_known);

    fake_loop_advance(f.world.loop, 601 * S); /* the server has not changed */
    size_t before = peer_dials(f.peer), many = 0;
    ask_steadily(&f, 200, 10 * MS);
    for (size_t i = before; i < peer_dials(f.peer); i++)
        many += fake_conn_messages(peer_conn(f.peer, i)) > 1;
    assert_in_range(many, 0, 1);
    assert_true(f.upstream->pool.single.is_known);

    f.script.habit = HABIT_GOOD;
    fake_loop_advance(f.world.loop, 601 * S);
    ask_steadily(&f, 200, 10 * MS);
    assert_false(f.upstream->pool.single.is_known);
    assert_string_equal(view_of(&f).health, "good");
    before = peer_dials(f.peer);
    ask_steadily(&f, 200, 10 * MS);
    assert_int_equal(answered(200), 200);
    assert_in_range(peer_dials(f.peer) - before, 0, 1);
    world_close(&f.world);
}

/* NSD and dnsdist were once taken for such servers. A stall or a reset proves nothing. */
static void test_one_answer_is_not_concluded_from_stalls_and_resets(void **state)
{
    (void)state;
    static const enum habit habits[] = {HABIT_STALLS, HABIT_RESETS};
    for (size_t i = 0; i < 2; i++) {
        struct fixture f;
        struct upstream_options options = world_nailed();
        fixture_open(&f, habits[i], &options);
        for (int round = 0; round < 20; round++) {
            ask_steadily(&f, 20, 5 * MS);
            assert_int_equal(answered(20), 20);
        }
        assert_false(f.upstream->pool.single.is_known);
        assert_int_equal(f.upstream->pool.single.strikes, 0);
        world_close(&f.world);
    }
}

/* The server has answered two queries on one connection, so later closes have another reason. */
static void test_one_answer_is_never_concluded_after_two_answers(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_nailed();
    fixture_open(&f, HABIT_GOOD_ON_ONE, &options);
    ask_steadily(&f, 10, 10 * MS);
    fake_conn_close(peer_conn(f.peer, 0));
    for (int round = 0; round < 20; round++)
        ask_steadily(&f, 20, 5 * MS);
    assert_false(f.upstream->pool.single.is_known);
    world_close(&f.world);
}

/* A worker once dialled such a server 1,598 times. A rate now bounds the dials. */
static void test_one_answer_dials_have_a_bound(void **state)
{
    (void)state;
    struct fixture f;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, HABIT_CLOSES, &options);
    ask_steadily(&f, 100, 10 * MS);
    assert_true(f.upstream->pool.single.is_known);
    size_t before = peer_dials(f.peer);
    /* ten seconds of queries, and six until all have ended */
    ask_steadily(&f, 10000 / WORLD_COST, MS);
    size_t seconds = 10 / WORLD_COST + 6;
    assert_in_range(peer_dials(f.peer) - before, 10 / WORLD_COST * SINGLE_USE_DIALS_PER_S,
                    (seconds + 1) * SINGLE_USE_DIALS_PER_S);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_answer_and_a_clean_close_is_concluded_and_shown),
        cmocka_unit_test(test_one_answer_is_retested_by_one_connection),
        cmocka_unit_test(test_one_answer_is_not_concluded_from_stalls_and_resets),
        cmocka_unit_test(test_one_answer_is_never_concluded_after_two_answers),
        cmocka_unit_test(test_one_answer_dials_have_a_bound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
