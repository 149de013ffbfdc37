/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Tests streams in virtual time: slow answers, dead connections, a death in flight, and streams
 * that are dialling, stalled, refused or full. */

#include "unit/upstream/world.h"

#include "upstream/attempt.h"

/* The first label of the name selects the peer's behaviour. */
static void by_name(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    const uint8_t *label = ask->query.data + 13;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    switch (label[0] | 0x20) {
    case 's': /* slow */
        answer->delay_us = 900 * MS;
        break;
    case 'm': /* mid */
        answer->delay_us = 300 * MS;
        break;
    case 'l': /* lost */
        answer->how = FAKE_SILENT;
        break;
    case 'c': /* closes at the query, over TCP */
        answer->how = ask->transport == WORLD_STREAM ? FAKE_CLOSE : FAKE_ANSWER;
        answer->len = ask->transport == WORLD_STREAM ? 0 : answer->len;
        break;
    case 'r':
        answer->how = ask->transport == WORLD_STREAM ? FAKE_RESET : FAKE_ANSWER;
        break;
    }
}

struct fixture {
    struct world world;
    struct fake_peer *peer;
    struct upstream *upstream;
};

static void fixture_open(struct fixture *fixture, const struct upstream_options *options)
{
    fixture->upstream = world_open_server(&fixture->world, &fixture->peer, by_name, NULL, options);
    fake_loop_advance(fixture->world.loop, 100 * MS);
}

/* The connection carries fifty queries at once, and sends each only once. An answer takes 100
 * ms. */
static void test_stream_carries_fifty_at_once_in_one_write(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[50];
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    uint64_t writes = fake_net_counts(f.world.net).tcp_writes;
    for (int i = 0; i < 50; i++)
        ask(&askers[i], &f.world, "m.example", f.upstream);
    fake_loop_advance(f.world.loop, 400 * MS);
    for (int i = 0; i < 50; i++) {
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_true(askers[i].over_stream);
    }
    assert_int_equal(peer_dials(f.peer), 1);
    assert_int_equal(fake_peer_queries(f.peer), 50);
    assert_int_equal(fake_net_counts(f.world.net).tcp_writes, writes + 1);
    world_close(&f.world);
}

/* Nagle's algorithm at the server delays the second answer until we acknowledge the first one. */
static void test_stream_is_acknowledged_at_once_while_answers_are_due(void **state)
{
    (void)state;
    struct fixture f;
    struct asker fast, mid, other;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    ask_and_wait(&fast, &f.world, "fast.example", f.upstream);
    uint64_t before = fake_net_counts(f.world.net).tcp_acknowledgements;
    ask(&fast, &f.world, "fast.example", f.upstream);
    ask(&mid, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 350 * MS);
    assert_int_equal(mid.result, ASKER_ANSWERED);
    assert_int_equal(fake_net_counts(f.world.net).tcp_acknowledgements, before + 1);
    /* both answers come in one read, so no more are due */
    ask(&mid, &f.world, "mid.example", f.upstream);
    ask(&other, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 350 * MS);
    assert_int_equal(other.result, ASKER_ANSWERED);
    assert_int_equal(fake_net_counts(f.world.net).tcp_acknowledgements, before + 1);
    world_close(&f.world);
}

/* One slow query, ten middling ones and thirty fast ones follow fast answers. The connection
 * answers all of them. */
static void test_stream_a_slow_answer_delays_no_other_query(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker, slow, mid[10], fast[30];
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    for (int i = 0; i < 50; i++)
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    ask(&slow, &f.world, "slow.example", f.upstream);
    for (int i = 0; i < 10; i++)
        ask(&mid[i], &f.world, "mid.example", f.upstream);
    for (int i = 0; i < 30; i++)
        ask(&fast[i], &f.world, "fast.example", f.upstream);
    fake_loop_advance(f.world.loop, 2 * S);
    assert_int_equal(slow.result, ASKER_ANSWERED);
    for (int i = 0; i < 10; i++)
        assert_int_equal(mid[i].result, ASKER_ANSWERED);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(fast[i].result, ASKER_ANSWERED);
        assert_true(fast[i].took_us < 10 * MS);
    }
    assert_int_equal(peer_dials(f.peer), 1);
    assert_false(fake_conn_was_closed(peer_conn(f.peer, 0)));
    world_close(&f.world);
}

/* An answer after query-timeout still counts, and does not affect other queries. */
static void answer_after_three_seconds(void *owner, const struct fake_ask *ask,
                                       struct fake_answer *answer)
{
    by_name(owner, ask, answer);
    if ((ask->query.data[13] | 0x20) == 's')
        answer->delay_us = ask->transport == WORLD_STREAM ? 3 * S : 0;
}

static void test_stream_an_answer_after_query_timeout_counts(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker, slow;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, &options);
    fake_peer_set(f.peer, answer_after_three_seconds, NULL);
    ask(&slow, &f.world, "slow.example", f.upstream);
    for (int i = 0; i < 200; i++) {
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
        fake_loop_advance(f.world.loop, 20 * MS);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    assert_int_equal(slow.result, ASKER_ANSWERED);
    assert_int_equal(slow.took_us / S, 3);
    assert_int_equal(f.world.stats.upstream_forged, 0);
    assert_int_equal(peer_dials(f.peer), 1);
    world_close(&f.world);
}

/* Counts the queries that it leaves unanswered. */
static void count_lost(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    by_name(NULL, ask, answer);
    *(unsigned *)owner += answer->how == FAKE_SILENT;
}

/* The name is sent twice at most, and other queries are not affected. */
static void test_stream_names_without_answer_are_sent_twice_at_most(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker, lost[20];
    unsigned sent = 0;
    struct upstream_options options = world_no_fallback();
    options.max_connections = 1;
    fixture_open(&f, &options);
    fake_peer_set(f.peer, count_lost, &sent);
    for (int i = 0; i < 20; i++) {
        ask(&lost[i], &f.world, "lost.example", f.upstream);
        for (int k = 0; k < 3; k++) {
            fake_loop_advance(f.world.loop, S);
            ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_true(asker.took_us < 10 * MS);
        }
    }
    fake_loop_advance(f.world.loop, 10 * S);
    for (int i = 0; i < 20; i++)
        assert_int_equal(lost[i].result, ASKER_FAILED);
    assert_in_range(sent, 20, 2 * 20);
    world_close(&f.world);
}

/* One name never gets an answer: only that query fails, and no connection is lost. */
static void test_stream_one_lost_name_costs_no_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct asker lost, asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    ask(&lost, &f.world, "lost.example", f.upstream);
    for (int i = 0; i < 400; i++) {
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us < 50 * MS);
        fake_loop_advance(f.world.loop, 40 * MS);
    }
    assert_int_equal(lost.result, ASKER_FAILED);
    assert_true(lost.failure.any_network);
    assert_true(lost.took_us <= EXCHANGE_WALL_US + MS);
    assert_int_equal(peer_dials(f.peer), 1);
    assert_false(fake_conn_was_closed(peer_conn(f.peer, 0)));
    world_close(&f.world);
}

/* Without other traffic, the silence makes the connection suspect, but never dead. */
static void test_stream_one_lost_name_alone_costs_no_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct asker lost, asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    ask_and_wait(&lost, &f.world, "lost.example", f.upstream);
    assert_int_equal(lost.result, ASKER_FAILED);
    fake_loop_advance(f.world.loop, 30 * S);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fake_loop_advance(f.world.loop, 30 * S);
    assert_false(fake_conn_was_closed(peer_conn(f.peer, 0)));
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

/* ---- dead path or slow server ---- */

static void open_with_history(struct fixture *f, const struct upstream_options *options)
{
    struct asker asker;
    fixture_open(f, options);
    for (int i = 0; i < 10; i++)
        ask_and_wait(&asker, &f->world, "fast.example", f->upstream);
}

/* Without an acknowledgement, the query takes another way long before the server would count as
 * slow, even if the only other way is a fresh connection. */
static void test_stream_a_dead_path_is_left_soon(void **state)
{
    (void)state;
    struct upstream_options options[] = {world_nailed(), world_no_fallback()};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        struct asker asker;
        open_with_history(&f, &options[i]);
        fake_conn_go_dark(peer_conn(f.peer, 0));
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_in_range(asker.took_us, ACKS_SLACK_US, 80 * MS);
        assert_int_equal(f.world.stats.upstream_retries_silent, 1);
        world_close(&f.world);
    }
}

/* Acknowledged bytes of earlier queries say nothing about this query. */
static void test_stream_a_path_that_dies_between_two_queries_is_left_soon(void **state)
{
    (void)state;
    struct fixture f;
    struct asker mid, fast;
    struct upstream_options options = world_nailed();
    open_with_history(&f, &options);
    ask(&mid, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 20 * MS);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    ask_and_wait(&fast, &f.world, "fast.example", f.upstream);
    assert_int_equal(fast.result, ASKER_ANSWERED);
    assert_true(fast.took_us < 80 * MS);
    assert_int_equal(mid.result, ASKER_WAITING); /* acknowledged */
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(mid.result, ASKER_ANSWERED);
    assert_in_range(mid.took_us, HEALTH_HEDGE_MIN_US, 850 * MS);
    world_close(&f.world);
}

static void test_stream_a_slow_server_that_acknowledges_is_asked_once(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    open_with_history(&f, &options);
    for (int i = 0; i < 5; i++)
        ask_and_wait(&asker, &f.world, "mid.example", f.upstream);
    assert_int_equal(f.world.stats.upstream_retries_silent, 0);
    assert_int_equal(fake_peer_queries(f.peer), 15);
    world_close(&f.world);
}

/* ---- answers that get their readers later ---- */

/* Starts a query for an answer that has no reader until the list has an item, and waits until the
 * query counts as slow. */
static void ask_unread(struct asker *asker, struct fixture *f, struct list *readers)
{
    struct exchange_question question = {.recursion_desired = true, .wanted_by = readers};
    list_init(readers);
    *asker = (struct asker){.world = &f->world, .asked_at = loop_now(f->world.loop)};
    assert_int_equal(name_parse(&question.question.name, asker->wire, "lost.example", 12), ERR_OK);
    question.question.type = RRTYPE_A;
    question.question.cls = RRCLASS_IN;
    exchange_init(&asker->exchange, f->world.upstreams, &asker_handler, asker);
    exchange_start(&asker->exchange, &question, &f->upstream, 1);
    fake_loop_advance(f->world.loop, 1200 * MS);
    const struct attempt *attempt =
        LIST_ITEM(list_first(&asker->exchange.attempts), struct attempt, node);
    assert_int_equal(attempt->state, ATTEMPT_SLOW);
}

static void add_reader(struct asker *asker, struct list *readers, struct list *reader)
{
    list_append(readers, reader);
    exchange_nudge(&asker->exchange);
    fake_loop_advance(asker->world->loop, 100 * MS);
}

static void test_stream_a_reader_sends_no_copy_to_a_new_server_that_is_slow(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct list readers, reader;
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, &options);
    ask_unread(&asker, &f, &readers);
    add_reader(&asker, &readers, &reader);
    assert_int_equal(fake_peer_queries(f.peer), 1);
    exchange_stop(&asker.exchange);
    world_close(&f.world);
}

/* A copy of the query leaves with the first reader. The next reader must not rule the server out
 * for the exchange, because a third query has no way left. */
static void test_stream_only_the_first_reader_sends_a_copy(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct list readers, first, second;
    struct upstream_options options = world_no_fallback();
    open_with_history(&f, &options);
    ask_unread(&asker, &f, &readers);
    assert_int_equal(fake_peer_queries(f.peer), 11);
    add_reader(&asker, &readers, &first);
    assert_int_equal(fake_peer_queries(f.peer), 12);
    fake_loop_advance(f.world.loop, 1000 * MS);
    unsigned shut = (unsigned)asker.exchange.shut;
    add_reader(&asker, &readers, &second);
    assert_int_equal(fake_peer_queries(f.peer), 12);
    assert_int_equal(asker.exchange.shut, shut);
    exchange_stop(&asker.exchange);
    world_close(&f.world);
}

/* The server acknowledges queries only with its answers. Queries are sent twice until the upstream
 * learns that, and once more each time it forgets it. */
static void test_stream_late_acknowledgements_are_learned_and_forgotten(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.stall_timeout_us = 5 * S;
    open_with_history(&f, &options);
    fake_conn_delay_acks(peer_conn(f.peer, 0), 350 * MS);
    for (int day = 0; day < 2; day++) {
        uint64_t before = f.world.stats.upstream_retries_silent;
        for (int i = 0; i < 20; i++) {
            for (int k = 0; k < 30; k++) /* answer times are small again */
                ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
            ask_and_wait(&asker, &f.world, "mid.example", f.upstream);
            fake_loop_advance(f.world.loop, S); /* the late answer comes, too */
        }
        assert_in_range(f.world.stats.upstream_retries_silent - before, 1, 3);
        fake_loop_advance(f.world.loop, ACKS_FORGET_US);
    }
    assert_int_equal(peer_dials(f.peer), 1);
    world_close(&f.world);
}

/* An answer after a retransmission says nothing about the peer. */
static void test_stream_a_lost_segment_teaches_nothing(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    open_with_history(&f, &options);
    fake_conn_delay_acks(peer_conn(f.peer, 0), 350 * MS);
    ask(&asker, &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 100 * MS);
    assert_int_equal(f.world.stats.upstream_retries_silent, 1);
    fake_conn_retransmit(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(f.upstream->pool.acks.slack_us, 0);
    world_close(&f.world);
}

/* Plays a path that drops packets above 600 bytes. An answer to "b..." is larger, and nothing
 * behind it on its stream arrives. Answers over UDP are truncated. */
static void behind_a_narrow_path(void *owner, const struct fake_ask *ask,
                                 struct fake_answer *answer)
{
    bool *is_stuck = owner;
    bool is_large = (ask->query.data[13] | 0x20) == 'b';
    by_name(NULL, ask, answer);
    if (!ask->stream) {
        answer->data[2] |= is_large ? 0x02 : 0;
        return;
    }
    is_stuck[ask->conn] |= is_large && fake_conn_segment_bytes(ask->stream) > 600 - 40;
    if (is_stuck[ask->conn])
        answer->how = FAKE_SILENT;
}

static void test_stream_a_stall_is_followed_by_a_dial_with_small_segments(void **state)
{
    (void)state;
    struct upstream_options options[] = {world_nailed(), world_no_fallback()};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        struct asker asker;
        bool is_stuck[64] = {0};
        open_with_history(&f, &options[i]);
        fake_peer_set(f.peer, behind_a_narrow_path, is_stuck);
        assert_int_equal(fake_conn_segment_bytes(peer_conn(f.peer, 0)), TCP_SEGMENT_BYTES);
        for (int k = 0; k < 30; k++) {
            ask_and_wait(&asker, &f.world, k % 3 ? "fast.example" : "big.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            assert_true(asker.took_us < (k == 0 ? 600 * MS : 50 * MS));
        }
        size_t last = peer_dials(f.peer) - 1;
        assert_in_range(last, 1, 3); /* including those of a sibling */
        assert_int_equal(fake_conn_segment_bytes(peer_conn(f.peer, last)), SEGMENT_SMALL_BYTES);
        world_close(&f.world);
    }
}

/* The stream falls silent after other answers came. The time then counts from the last byte, and
 * not from the query. */
static void silent_from_the_second(void *owner, const struct fake_ask *ask,
                                   struct fake_answer *answer)
{
    by_name(owner, ask, answer);
    if (ask->transport == WORLD_STREAM && ask->index > 0)
        answer->how = FAKE_SILENT;
}

static void test_stream_silent_after_other_answers_is_left_in_time(void **state)
{
    (void)state;
    struct fixture f;
    struct asker mid, fast;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    fake_peer_set(f.peer, silent_from_the_second, NULL);
    ask(&mid, &f.world, "mid.example", f.upstream);
    ask(&fast, &f.world, "fast.example", f.upstream);
    fake_loop_advance(f.world.loop, 2 * S);
    assert_int_equal(mid.result, ASKER_ANSWERED);
    assert_int_equal(fast.result, ASKER_ANSWERED);
    assert_in_range(fast.took_us, 1150 * MS, 1250 * MS); /* 300 ms, then three answer times */
    world_close(&f.world);
}

/* Two connections fall silent. They need replacement, but dials are refused. UDP follows in the
 * end, and the query does not alternate between the two. */
static void test_stream_two_silent_connections_lead_to_udp(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    options.connections = 2;
    fixture_open(&f, &options);
    for (int i = 0; i < 10; i++)
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    fake_server_set_dial(fake_peer_server(f.peer), FAKE_DIAL_REFUSE);
    assert_int_equal(upstreams_recycle(f.world.upstreams, NULL), 2);
    for (size_t i = 0; i < 2; i++)
        fake_conn_go_dark(peer_conn(f.peer, i));
    for (int i = 0; i < 20; i++) {
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_false(asker.over_stream);
        assert_true(asker.took_us < (i == 0 ? 850 * MS : 50 * MS));
    }
    world_close(&f.world);
}

/* The peer closes the connection when it gets the query. The query leaves again at once. */
static void test_stream_closed_upon_the_query_is_asked_again_at_once(void **state)
{
    (void)state;
    const char *names[] = {"close.example", "reset.example"};
    for (int i = 0; i < 2; i++) {
        struct fixture f;
        struct asker asker;
        struct upstream_options options = world_nailed();
        fixture_open(&f, &options);
        ask_and_wait(&asker, &f.world, names[i], f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us < 20 * MS);
        world_close(&f.world);
    }
}

/* All queries in flight on a dying connection leave again, each once. */
static void test_stream_queries_in_flight_at_its_end_are_all_answered(void **state)
{
    (void)state;
    for (int fin = 0; fin < 2; fin++) {
        struct fixture f;
        static struct asker askers[200];
        struct upstream_options options = world_nailed();
        fixture_open(&f, &options);
        for (int i = 0; i < 200; i++)
            ask(&askers[i], &f.world, "mid.example", f.upstream);
        fake_loop_advance(f.world.loop, 50 * MS);
        if (fin)
            fake_conn_close(peer_conn(f.peer, 0));
        else
            fake_conn_reset(peer_conn(f.peer, 0));
        fake_loop_advance(f.world.loop, 500 * MS);
        for (int i = 0; i < 200; i++)
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
        assert_int_equal(fake_peer_queries(f.peer), 400);
        world_close(&f.world);
    }
}

/* A connection went dark. Its query gets an answer elsewhere within 400 ms, later queries get
 * theirs at once, and the pool replaces the connection. */
static void test_stream_that_went_dark_is_noticed_and_replaced(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    for (int i = 0; i < 10; i++)
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    fake_conn_go_dark(peer_conn(f.peer, 0));
    for (int i = 0; i < 1000; i++) {
        ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us <= 410 * MS);
        if (i > 0)
            assert_true(asker.took_us <= 50 * MS);
        fake_loop_advance(f.world.loop, 10 * MS);
    }
    assert_true(peer_dials(f.peer) >= 2);
    assert_false(fake_conn_is_held(peer_conn(f.peer, 0)));
    assert_true(asker.over_stream);
    world_close(&f.world);
}

/* A peer reads but stops answering. The pool closes its connection, whatever new queries do. */
static void silent_on_the_first(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    by_name(owner, ask, answer);
    if (ask->transport == WORLD_STREAM && ask->conn == 0 && ask->index >= 10)
        answer->how = FAKE_SILENT;
}

static void test_stream_that_never_answers_again_is_closed(void **state)
{
    (void)state;
    for (int fallback = 0; fallback < 2; fallback++) {
        struct fixture f;
        struct asker asker;
        struct upstream_options options = fallback ? world_nailed() : world_no_fallback();
        fixture_open(&f, &options);
        fake_peer_set(f.peer, silent_on_the_first, NULL);
        for (int i = 0; i < 1500; i++) {
            ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            fake_loop_advance(f.world.loop, 10 * MS);
        }
        assert_true(asker.over_stream);
        assert_true(fake_conn_was_closed(peer_conn(f.peer, 0)));
        assert_int_equal(f.world.stats.upstream_closes_stalled, 1);
        world_close(&f.world);
    }
}

/* The server refuses connections. UDP answers without delay, and the pool finds the server again in
 * the background. */
static void test_stream_that_is_refused_leads_to_udp_and_comes_back(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_REFUSE);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    for (int i = 0; i < 300; i++) {
        ask_and_wait(&asker, &world, "fast.example", upstream);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_false(asker.over_stream);
        assert_true(asker.took_us < 10 * MS);
        fake_loop_advance(world.loop, 100 * MS);
    }
    assert_true(peer_dials(peer) <= 35);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 5 * S);
    ask_and_wait(&asker, &world, "fast.example", upstream);
    assert_true(asker.over_stream);
    world_close(&world);
}

/* The path swallows dials. Queries use UDP while connect-timeout runs. */
static void test_stream_that_dials_leads_to_udp(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &world, "fast.example", upstream);
    assert_false(asker.over_stream);
    assert_true(asker.took_us < 10 * MS);
    assert_int_equal(world.stats.upstream_cold_queries, 1);
    assert_int_equal(world.stats.upstream_fallbacks_dialing, 1);
    fake_loop_advance(world.loop, 3 * S);
    assert_true(world_timeouts(&world) >= 1);
    world_close(&world);
}

/* Without a fallback, a refused connection fails the query at once instead of after seconds. */
static void test_stream_that_is_refused_fails_at_once_without_fallback(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_REFUSE);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    for (int i = 0; i < 100; i++) {
        ask_and_wait(&asker, &world, "fast.example", upstream);
        assert_int_equal(asker.result, ASKER_FAILED);
        assert_true(asker.took_us < 20 * MS);
        assert_true(asker.failure.any_network);
        fake_loop_advance(world.loop, 10 * MS);
    }
    assert_int_equal(fake_peer_udp_queries(peer), 0);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 200 * MS);
    ask_and_wait(&asker, &world, "fast.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&world);
}

/* A thousand queries come at once, and each takes 300 ms. A connection carries at most a hundred,
 * and UDP is not allowed. The pool dials more connections, further queries wait, and none fails. */
static void test_stream_that_is_full_leads_to_more_connections_and_queries_wait(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[1000];
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 100;
    fixture_open(&f, &options);
    for (int i = 0; i < 1000; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 2 * S);
    for (int i = 0; i < 1000; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(fake_peer_udp_queries(f.peer), 0);
    assert_true(peer_dials(f.peer) <= 4 + 1);
    for (size_t i = 0; i < peer_dials(f.peer); i++)
        assert_false(fake_conn_was_closed(peer_conn(f.peer, i)));
    world_close(&f.world);
}

static void test_stream_that_is_full_leads_to_udp(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[400];
    struct upstream_options options = world_nailed();
    options.max_in_flight = 50;
    options.max_connections = 1;
    fixture_open(&f, &options);
    for (int i = 0; i < 400; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < 400; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(peer_stream_queries(f.peer), 50);
    assert_int_equal(fake_peer_udp_queries(f.peer), 350);
    assert_int_equal(f.world.stats.upstream_fallbacks_full, 350);
    world_close(&f.world);
}

/* Connections fill to three quarters before the pool dials another one. That one is ready before
 * the first reaches its limit. */
static void test_stream_opens_another_before_the_limit(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[100];
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 100;
    fixture_open(&f, &options);
    for (int i = 0; i < 74; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_settle(f.world.loop);
    assert_int_equal(peer_dials(f.peer), 1);
    for (int i = 74; i < 80; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_settle(f.world.loop);
    assert_int_equal(peer_dials(f.peer), 2);
    fake_loop_advance(f.world.loop, S);
    assert_int_equal(fake_conn_messages(peer_conn(f.peer, 0)), 80);
    world_close(&f.world);
}

/* The least loaded of several kept connections takes the query. */
static void test_stream_kept_connections_share_the_load(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[40];
    struct upstream_options options = world_nailed();
    options.connections = 4;
    fixture_open(&f, &options);
    assert_int_equal(peer_dials(f.peer), 4);
    for (int i = 0; i < 40; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(fake_conn_messages(peer_conn(f.peer, i)), 10);
    world_close(&f.world);
}

/* The peer closes an idle connection. This is not a failure, and the pool dials again at once (see
 * test_nails.c). */
static void test_stream_idle_close_is_no_failure(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    fake_conn_close(peer_conn(f.peer, 0));
    fake_loop_advance(f.world.loop, 50 * MS);
    assert_int_equal(peer_dials(f.peer), 2);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_true(asker.over_stream);
    assert_int_equal(f.world.stats.upstream_closes_peer_idle, 1);
    assert_int_equal(f.upstream->pool.backoff.failures, 0);
    world_close(&f.world);
}

/* A peer that closes each connection at once gets the same back-off as one that refuses. */
static void test_stream_instant_closes_in_a_row_lead_to_a_rest(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    size_t closed = 0;
    for (int i = 0; i < 6000; i++) { /* ten minutes */
        fake_loop_advance(f.world.loop, 100 * MS);
        for (; closed < peer_dials(f.peer); closed++)
            fake_conn_close(peer_conn(f.peer, closed));
    }
    assert_in_range(peer_dials(f.peer), 10, 600);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream); /* a query dials at once */
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fake_loop_advance(f.world.loop, 20 * MS);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

/* Kept connections stay for ever. The others close after idle-timeout. */
static void test_stream_kept_connections_stay_and_others_leave(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[100];
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 20;
    fixture_open(&f, &options);
    for (int i = 0; i < 60; i++)
        ask(&askers[i], &f.world, "mid.example", f.upstream);
    fake_loop_advance(f.world.loop, 5 * S);
    assert_true(f.world.stats.upstream_ready > 1);
    fake_loop_advance(f.world.loop, 130 * S);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    fake_loop_advance(f.world.loop, 36000 * S);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    world_close(&f.world);
}

/* An upstream without nailing is dialled for a query. The connection is reused, and closes when it
 * is idle. */
static void test_stream_on_demand_is_reused_and_closed(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    options.nailed = false;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, by_name, NULL, &options);
    fake_loop_advance(world.loop, S);
    assert_int_equal(peer_dials(peer), 0);
    for (int i = 0; i < 20; i++) {
        ask_and_wait(&asker, &world, "fast.example", upstream);
        assert_true(asker.over_stream);
        fake_loop_advance(world.loop, S);
    }
    assert_int_equal(peer_dials(peer), 1);
    fake_loop_advance(world.loop, 61 * S);
    assert_true(fake_conn_was_closed(peer_conn(peer, 0)));
    assert_int_equal(peer_dials(peer), 1);
    world_close(&world);
}

/* The thirty upstreams of a /27 are nailed, and each gets three queries at once. */
static void test_stream_thirty_upstreams_at_once(void **state)
{
    (void)state;
    struct world world;
    struct upstream *upstreams[30];
    struct fake_peer *peers[30];
    static struct asker askers[90];
    struct upstream_options options = world_nailed();
    char addr[32];
    world_open(&world);
    for (int i = 0; i < 30; i++) {
        snprintf(addr, sizeof(addr), "10.50.1.%d@53", 65 + i);
        peers[i] = world_peer(&world, addr, by_name, NULL);
        upstreams[i] = world_upstream(&world, addr, &options);
    }
    fake_loop_advance(world.loop, 100 * MS);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 90; i++)
            ask(&askers[i], &world, "mid.example", upstreams[i % 30]);
        fake_loop_advance(world.loop, S);
        for (int i = 0; i < 90; i++) {
            assert_int_equal(askers[i].result, ASKER_ANSWERED);
            assert_true(askers[i].over_stream);
        }
    }
    for (int i = 0; i < 30; i++)
        assert_int_equal(peer_dials(peers[i]), 1);
    world_close(&world);
}

/* No more connections than max-nailed are kept. The other upstreams use UDP. */
static void test_stream_nailed_connections_are_bounded(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    struct upstream *last = NULL;
    char addr[32];
    world_open(&world);
    world.quota.max = 5;
    for (int i = 0; i < 20; i++) {
        snprintf(addr, sizeof(addr), "10.50.1.%d@53", 1 + i);
        world_peer(&world, addr, by_name, NULL);
        last = world_upstream(&world, addr, &options);
    }
    fake_loop_advance(world.loop, S);
    assert_int_equal(world.stats.upstream_ready, 5);
    assert_int_equal(world.quota.used, 5);
    ask_and_wait(&asker, &world, "fast.example", last);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fake_loop_advance(world.loop, 30 * S);
    assert_int_equal(world.quota.used, 5);
    world_close(&world);
}

/* Beyond the quota, connections are dialled for queries that may not use UDP, and close when they
 * are idle. */
static void test_stream_beyond_the_quota_is_not_kept(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    world_open(&f.world);
    f.world.quota.max = 0;
    f.peer = world_peer(&f.world, "10.1.1.1@53", by_name, NULL);
    f.upstream = world_upstream(&f.world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    fake_loop_advance(f.world.loop, 70 * S);
    assert_int_equal(f.world.stats.upstream_ready, 0);
    f.world.quota.max = 1; /* the upstream finds the free place within seconds */
    fake_loop_advance(f.world.loop, 20 * S);
    assert_int_equal(f.world.stats.upstream_ready, 1);
    world_close(&f.world);
}

/* A start with a thousand nailed addresses makes no burst of a thousand handshakes. */
static void test_stream_dials_are_paced(void **state)
{
    (void)state;
    enum { COUNT = 1000 / WORLD_COST };
    struct world world;
    struct upstream_options options = world_nailed();
    char addr[32];
    world_open(&world);
    for (int i = 0; i < COUNT; i++) {
        snprintf(addr, sizeof(addr), "10.51.%d.%d@53", i / 250, 1 + i % 250);
        world_peer(&world, addr, by_name, NULL);
        world_upstream(&world, addr, &options);
    }
    assert_int_equal(world.stats.upstream_dialing, DIALER_MAX);
    assert_int_equal(world.stats.upstream_parked, COUNT - DIALER_MAX);
    fake_loop_advance(world.loop, S);
    assert_int_equal(world.stats.upstream_ready, COUNT);
    world_close(&world);
}

/* Plays a server that answers the first query of a connection and ignores the others (#470). */
static void only_the_first(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    by_name(owner, ask, answer);
    if (ask->transport == WORLD_STREAM && ask->index > 0)
        answer->how = FAKE_SILENT;
}

/* Silence does not prove that a server answers one query per connection (see test_one_answer.c),
 * because the connection may be stuck. No query is lost. */
static void test_stream_servers_that_ignore_further_queries_fail_no_query(void **state)
{
    (void)state;
    for (int fallback = 0; fallback < 2; fallback++) {
        struct fixture f;
        struct asker asker;
        struct upstream_options options = fallback ? world_nailed() : world_no_fallback();
        fixture_open(&f, &options);
        fake_peer_set(f.peer, only_the_first, NULL);
        for (int i = 0; i < 3000 / WORLD_COST; i++) {
            ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
            assert_int_equal(asker.result, ASKER_ANSWERED);
            fake_loop_advance(f.world.loop, WORLD_COST * 5 * MS);
        }
        assert_false(f.upstream->pool.single.is_known);
        world_close(&f.world);
    }
}

/* A peer that sends unexpected messages loses its connection. */
static void test_stream_garbage_ends_the_connection(void **state)
{
    (void)state;
    struct fixture f;
    struct asker asker;
    struct upstream_options options = world_nailed();
    uint8_t stray[12] = {0};
    fixture_open(&f, &options);
    for (int i = 0; i <= CONN_STRAYS_MAX; i++)
        fake_conn_send_message(peer_conn(f.peer, 0), span_of(stray, sizeof(stray)));
    fake_loop_advance(f.world.loop, 50 * MS);
    assert_int_equal(f.world.stats.upstream_closes_garbage, 1);
    fake_conn_send_message(peer_conn(f.peer, 0), span_of(stray, 3));
    fake_loop_advance(f.world.loop, 2 * S);
    ask_and_wait(&asker, &f.world, "fast.example", f.upstream);
    assert_true(asker.over_stream);
    world_close(&f.world);
}

/* Answers come in any order, and each comes in pieces of one byte. */
static void in_pieces(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->piece_bytes = 1;
    answer->delay_us = (uint64_t)(50 - ask->index % 50) * MS;
}

static void test_stream_answers_come_in_pieces_and_out_of_order(void **state)
{
    (void)state;
    struct fixture f;
    struct asker askers[50];
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, &options);
    fake_peer_set(f.peer, in_pieces, NULL);
    for (int i = 0; i < 50; i++)
        ask(&askers[i], &f.world, "fast.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < 50; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    assert_int_equal(fake_peer_queries(f.peer), 50);
    world_close(&f.world);
}

/* The kernel takes a few bytes per write, and the queries leave piece by piece. */
static void test_stream_partial_writes_lose_nothing(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[200];
    struct upstream_options options = world_no_fallback();
    fixture_open(&f, &options);
    fake_conn_set_write_max(peer_conn(f.peer, 0), 7);
    for (int i = 0; i < 100; i++)
        ask(&askers[i], &f.world, "fast.example", f.upstream);
    fake_loop_advance(f.world.loop, S);
    for (int i = 0; i < 100; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&f.world);
}

/* No file is free for the dial. The query uses UDP or fails at once, and the pool dials again
 * later. */
static void test_stream_without_files_is_found_again(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    world_peer(&world, "10.1.1.1@53", by_name, NULL);
    fake_net_fail_opens(world.net, 2, ERR_NO_FILES);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &world, "fast.example", upstream);
    fake_loop_advance(world.loop, 10 * S);
    ask_and_wait(&asker, &world, "fast.example", upstream);
    assert_true(asker.over_stream);
    world_close(&world);
}

/* The worker ends while queries are in flight, and leaves nothing open. */
static void test_stream_shutdown_in_flight_leaves_nothing(void **state)
{
    (void)state;
    struct fixture f;
    static struct asker askers[100];
    struct upstream_options options = world_nailed();
    fixture_open(&f, &options);
    for (int i = 0; i < 100; i++)
        ask(&askers[i], &f.world, "lost.example", f.upstream);
    fake_loop_advance(f.world.loop, 450 * MS);
    for (int i = 0; i < 100; i++)
        exchange_stop(&askers[i].exchange);
    world_close(&f.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_stream_carries_fifty_at_once_in_one_write),
        cmocka_unit_test(test_stream_is_acknowledged_at_once_while_answers_are_due),
        cmocka_unit_test(test_stream_a_slow_answer_delays_no_other_query),
        cmocka_unit_test(test_stream_an_answer_after_query_timeout_counts),
        cmocka_unit_test(test_stream_names_without_answer_are_sent_twice_at_most),
        cmocka_unit_test(test_stream_one_lost_name_costs_no_connection),
        cmocka_unit_test(test_stream_one_lost_name_alone_costs_no_connection),
        cmocka_unit_test(test_stream_a_dead_path_is_left_soon),
        cmocka_unit_test(test_stream_a_path_that_dies_between_two_queries_is_left_soon),
        cmocka_unit_test(test_stream_a_slow_server_that_acknowledges_is_asked_once),
        cmocka_unit_test(test_stream_a_reader_sends_no_copy_to_a_new_server_that_is_slow),
        cmocka_unit_test(test_stream_only_the_first_reader_sends_a_copy),
        cmocka_unit_test(test_stream_late_acknowledgements_are_learned_and_forgotten),
        cmocka_unit_test(test_stream_a_lost_segment_teaches_nothing),
        cmocka_unit_test(test_stream_a_stall_is_followed_by_a_dial_with_small_segments),
        cmocka_unit_test(test_stream_silent_after_other_answers_is_left_in_time),
        cmocka_unit_test(test_stream_two_silent_connections_lead_to_udp),
        cmocka_unit_test(test_stream_closed_upon_the_query_is_asked_again_at_once),
        cmocka_unit_test(test_stream_queries_in_flight_at_its_end_are_all_answered),
        cmocka_unit_test(test_stream_that_went_dark_is_noticed_and_replaced),
        cmocka_unit_test(test_stream_that_never_answers_again_is_closed),
        cmocka_unit_test(test_stream_that_is_refused_leads_to_udp_and_comes_back),
        cmocka_unit_test(test_stream_that_dials_leads_to_udp),
        cmocka_unit_test(test_stream_that_is_refused_fails_at_once_without_fallback),
        cmocka_unit_test(test_stream_that_is_full_leads_to_more_connections_and_queries_wait),
        cmocka_unit_test(test_stream_that_is_full_leads_to_udp),
        cmocka_unit_test(test_stream_opens_another_before_the_limit),
        cmocka_unit_test(test_stream_kept_connections_share_the_load),
        cmocka_unit_test(test_stream_idle_close_is_no_failure),
        cmocka_unit_test(test_stream_instant_closes_in_a_row_lead_to_a_rest),
        cmocka_unit_test(test_stream_kept_connections_stay_and_others_leave),
        cmocka_unit_test(test_stream_on_demand_is_reused_and_closed),
        cmocka_unit_test(test_stream_thirty_upstreams_at_once),
        cmocka_unit_test(test_stream_nailed_connections_are_bounded),
        cmocka_unit_test(test_stream_beyond_the_quota_is_not_kept),
        cmocka_unit_test(test_stream_dials_are_paced),
        cmocka_unit_test(test_stream_servers_that_ignore_further_queries_fail_no_query),
        cmocka_unit_test(test_stream_garbage_ends_the_connection),
        cmocka_unit_test(test_stream_answers_come_in_pieces_and_out_of_order),
        cmocka_unit_test(test_stream_partial_writes_lose_nothing),
        cmocka_unit_test(test_stream_without_files_is_found_again),
        cmocka_unit_test(test_stream_shutdown_in_flight_leaves_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
