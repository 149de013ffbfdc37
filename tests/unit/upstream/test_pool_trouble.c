/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Pools in trouble: dials fail at once, peers close what they accept, queries wait for room,
 * connections are due for replacement, or idle limits are short. */

#include "unit/upstream/world.h"

#include "unit/upstream/source_list.h"

#include "base/log.h"
#include "upstream/attempt.h"
#include "upstream/trouble_news.h"

/* A waiter's own call dials, and must not call the waiter back. Without nailing, only this waiter
 * makes the pool dial, and its memory is freed at once. */
static void test_pool_an_instant_failure_frees_no_waiter_too_early(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_FAIL_NOW);
    options.prewarm = false;
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    /* so that the upstream is not nailed */
    upstream->pool.keepalive.left_alone_until_at = UINT64_MAX;
    upstreams_env(world.upstreams)->free_attempt_count = ATTEMPTS_FREE_MAX;
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(upstream->pool.waiting_count, 0);
    world_close(&world);
}

/* The network fails before thousands of addresses are dialled. The line of dials must not recurse.
 */
static void test_pool_survives_thousands_of_instant_failures(void **state)
{
    (void)state;
    struct world world;
    char text[32];
    struct upstream_options options = world_nailed();
    world_open(&world);
    world.quota.max = 100000;
    fake_net_set_file_limit(world.net, 64);
    for (int i = 0; i < 5000; i++) {
        snprintf(text, sizeof(text), "10.%d.%d.%d@53", 1 + i / 65536, i / 256 % 256, i % 256);
        world_blackhole(&world, text);
        world_upstream(&world, text, &options);
    }
    fake_loop_advance(world.loop, 900 * MS);
    fake_net_fail_opens(world.net, 1000000, ERR_UNREACHABLE);
    fake_loop_advance(world.loop, 5 * S);
    world_close(&world);
}

/* A query that is given up makes room for a waiter, although no answer comes. */
static void test_pool_a_given_up_query_makes_room_for_waiters(void **state)
{
    (void)state;
    struct world world;
    struct asker lost, waits;
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 1;
    options.max_connections = 1;
    world_open(&world);
    world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&lost, &world, "lost.example", upstream);
    ask(&waits, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 10 * MS);
    exchange_stop(&lost.exchange);
    fake_loop_advance(world.loop, 10 * MS);
    assert_int_equal(waits.result, ASKER_ANSWERED);
    world_close(&world);
}

/* A message that does not answer the question makes room, too. */
static void lie_about_type(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    answer_by_name(owner, ask, answer);
    if ((ask->query.data[13] | 0x20) == 'b')
        answer->data[2] &= 0x7f; /* QR=0 */
}

static void test_pool_garbage_makes_room_for_waiters(void **state)
{
    (void)state;
    struct world world;
    struct asker bad, waits;
    struct upstream_options options = world_no_fallback();
    options.max_in_flight = 1;
    options.max_connections = 1;
    world_open(&world);
    world_peer(&world, "10.1.1.1@53", lie_about_type, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask(&bad, &world, "bad.example", upstream);
    ask(&waits, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 20 * MS);
    assert_int_equal(bad.result, ASKER_FAILED);
    assert_int_equal(waits.result, ASKER_ANSWERED);
    world_close(&world);
}

/* A late answer ends the doubt, and the waiters use the connection. */
static void test_pool_a_late_answer_serves_the_waiters(void **state)
{
    (void)state;
    struct world world;
    struct asker late, waits;
    struct upstream_options options = world_no_fallback();
    options.stall_timeout_us = S;
    options.query_timeout_us = 5 * S;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    fake_loop_advance(world.loop, 100 * MS);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    ask(&late, &world, "very-late.example", upstream);
    fake_loop_advance(world.loop, 1500 * MS);
    exchange_stop(&late.exchange);
    fake_loop_advance(world.loop, 900 * MS);
    ask(&waits, &world, "www.example", upstream);
    fake_loop_advance(world.loop, 150 * MS);
    assert_int_equal(waits.result, ASKER_ANSWERED);
    world_close(&world);
}

/* The peer accepts each connection and closes it at once. Dials stay rare under any load. */
static void test_pool_a_peer_that_closes_accepted_connections_is_dialled_rarely(void **state)
{
    (void)state;
    struct world world;
    static struct asker askers[500];
    struct upstream_options options = world_nailed();
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    for (int i = 0; i < 10000; i++) {
        if (i % 20 == 0)
            ask(&askers[i / 20], &world, "www.example", upstream);
        fake_server_close_all(fake_peer_server(peer));
        fake_loop_advance(world.loop, MS);
    }
    assert_true(peer_dials(peer) < 150); /* in ten seconds of load */
    for (int i = 0; i < 500; i++)
        assert_int_equal(askers[i].result, ASKER_ANSWERED);
    world_close(&world);
}

/* With a long limit (RFC 7828), a nailed connection is held beyond idle-timeout. */
static void test_pool_idle_timeout_is_not_for_kept_connections(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    fake_loop_advance(world.loop, 100 * MS);
    struct conn *conn = LIST_ITEM(list_first(&upstream->pool.conns), struct conn, node);
    pool_heard_keepalive(&upstream->pool, conn, 2000);
    fake_loop_advance(world.loop, 1000 * S);
    assert_int_equal(peer_dials(peer), 1);
    /* each hold query comes 5 s before the limit of 200 s */
    assert_int_equal(world.stats.upstream_holds, 5);
    world_close(&world);
}

/* Recycling covers connections beyond the kept ones, too. They take no queries once a fresh
 * connection does. */
static void test_pool_recycled_connections_beyond_the_kept_ones_leave(void **state)
{
    (void)state;
    struct world world;
    struct asker askers[16], asker;
    struct upstream_options options = world_nailed();
    options.max_in_flight = 4;
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 16; i++) {
        ask(&askers[i], &world, "slow.example", upstream);
        fake_loop_advance(world.loop, 10 * MS);
    }
    fake_loop_advance(world.loop, 2 * S);
    size_t before = peer_dials(peer);
    assert_true(before >= 3);
    assert_true(upstreams_recycle(world.upstreams, NULL) >= 3);
    fake_loop_advance(world.loop, 100 * MS);
    for (int i = 0; i < 100; i++) {
        ask_and_wait(&asker, &world, "www.example", upstream);
        fake_loop_advance(world.loop, S);
    }
    for (size_t i = 0; i < before; i++)
        assert_true(fake_conn_was_closed(peer_conn(peer, i)));
    world_close(&world);
}

/* Truncates answers over UDP to names with w, so that such a query needs a stream. */
static void truncate_udp(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    answer_by_name(owner, ask, answer);
    if (ask->transport == FAKE_UDP && (ask->query.data[13] | 0x20) == 'w')
        fake_answer_truncated(answer, ask->query);
}

static void test_pool_in_doubt_dials_for_queries_that_need_a_stream(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, truncate_udp, NULL, &options);
    fake_loop_advance(world.loop, 100 * MS);
    ask_and_wait(&asker, &world, "first.example", upstream);
    fake_conn_go_dark(peer_conn(peer, 0));
    ask_and_wait(&asker, &world, "first.example", upstream); /* UDP answers after 400 ms */
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.took_us < 100 * MS);
    world_close(&world);
}

static unsigned warnings, notices;
static char last_line[512];

static void count_lines(enum log_level level, const char *line)
{
    warnings += level == LOG_WARNING;
    notices += level == LOG_NOTICE;
    snprintf(last_line, sizeof(last_line), "%s", line);
}

static void test_pool_a_dead_upstream_is_logged_at_once_each_minute_and_at_its_return(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    struct fake_server *server = fake_peer_server(peer);
    warnings = notices = 0;
    log_set_sink(count_lines);
    world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 5 * S);
    assert_int_equal(warnings + notices, 0);
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    fake_server_close_all(server);
    fake_loop_advance(world.loop, 30 * S);
    assert_int_equal(warnings, 1);
    assert_null(strstr(last_line, "more"));
    size_t dials = peer_dials(peer);
    fake_loop_advance(world.loop, 45 * S);
    assert_int_equal(warnings, 2);
    assert_non_null(strstr(last_line, "; failures since the last line: "));
    fake_loop_advance(world.loop, 3600 * S);
    assert_in_range(warnings, 55, 62);
    assert_true(peer_dials(peer) > dials + 900); /* the trouble continues */
    assert_int_equal(notices, 0);
    unsigned before = warnings;
    fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 10 * S);
    assert_int_equal(notices, 1);
    fake_loop_advance(world.loop, 300 * S);
    assert_int_equal(notices, 1);
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    fake_server_close_all(server);
    for (int i = 0; warnings == before && i < 55; i++)
        fake_loop_advance(world.loop, S);
    assert_int_equal(warnings, before + 1); /* the first failure after success */
    log_set_sink(NULL);
    world_close(&world);
}

/* Opens a world in which two workers have the same upstreams and share a memory of logged failures.
 * The caller frees other->upstreams. */
static void open_two_workers(struct world *world, struct world *other, struct trouble_news *news)
{
    world_open(world);
    trouble_news_init(news);
    *other = *world;
    other->upstreams = upstreams_new(world->loop, &world->stats, &world->quota);
    upstreams_use_news(world->upstreams, news);
    upstreams_use_news(other->upstreams, news);
}

/* Two workers dial at different times, for an hour. */
static void test_pool_a_dead_upstream_is_logged_once_for_all_workers(void **state)
{
    (void)state;
    struct world world, other;
    struct trouble_news news;
    struct upstream_options options = world_nailed();
    open_two_workers(&world, &other, &news);
    struct fake_server *server =
        fake_peer_server(world_peer(&world, "10.1.1.1@53", answer_by_name, NULL));
    world_upstream(&world, "10.1.1.1@53", &options);
    world_upstream(&other, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 5 * S);
    warnings = notices = 0;
    log_set_sink(count_lines);
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    fake_server_close_all(server);
    fake_loop_advance(world.loop, 30 * S);
    assert_int_equal(warnings, 1);
    fake_loop_advance(world.loop, 3600 * S);
    assert_in_range(warnings, 55, 62);
    fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
    for (int i = 0; notices == 0 && i < 60000; i++)
        fake_loop_advance(world.loop, MS);
    assert_int_equal(world.stats.upstream_ready, 2); /* the connections of both workers */
    fake_loop_advance(world.loop, 60 * S);
    assert_int_equal(notices, 1);
    log_set_sink(NULL);
    upstreams_free(other.upstreams);
    world_close(&world);
}

/* One of two workers drops its upstream in a reload while the upstream is in trouble. */
static void test_pool_a_worker_that_gives_up_its_upstream_holds_back_no_return(void **state)
{
    (void)state;
    struct world world, other;
    struct trouble_news news;
    struct upstream_options options = world_nailed();
    open_two_workers(&world, &other, &news);
    struct fake_server *server =
        fake_peer_server(world_peer(&world, "10.1.1.1@53", answer_by_name, NULL));
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    warnings = notices = 0;
    log_set_sink(count_lines);
    world_upstream(&world, "10.1.1.1@53", &options);
    world_upstream(&other, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 30 * S);
    assert_int_equal(warnings, 1);
    upstreams_free(other.upstreams);
    assert_int_equal(notices, 0);
    fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 60 * S);
    assert_int_equal(notices, 1);
    log_set_sink(NULL);
    world_close(&world);
}

/* Several identities have one address, and their dials fail in different ways. */
static void test_pool_each_identity_of_a_server_has_its_lines(void **state)
{
    (void)state;
    struct world world;
    struct trouble_news news;
    struct upstream_options options = world_nailed(), from = options;
    world_open(&world);
    trouble_news_init(&news);
    upstreams_use_news(world.upstreams, &news);
    from.sources = source_list("10.1.1.9");
    struct fake_server *server =
        fake_peer_server(world_peer(&world, "10.1.1.1@53", answer_by_name, NULL));
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    warnings = notices = 0;
    log_set_sink(count_lines);
    world_upstream(&world, "10.1.1.1@53", &options);
    world_upstream(&world, "10.1.1.1@53", &from);
    fake_loop_advance(world.loop, 30 * S);
    assert_int_equal(warnings, 2);
    fake_server_set_dial(server, FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, 60 * S);
    assert_int_equal(notices, 2);
    log_set_sink(NULL);
    world_close(&world);
    sources_unref(from.sources);
}

/* The first reason may mislead: a server that restarts refuses dials before it shows its fault. */
static void test_pool_a_new_reason_is_logged_at_once_and_each_only_once(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    struct fake_server *server = fake_peer_server(peer);
    warnings = 0;
    world_upstream(&world, "10.1.1.1@53", &options);
    fake_loop_advance(world.loop, 5 * S);
    log_set_sink(count_lines);
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    fake_server_close_all(server);
    fake_loop_advance(world.loop, 10 * S);
    assert_int_equal(warnings, 1);
    assert_non_null(strstr(last_line, "refused"));
    fake_server_set_dial(server, FAKE_DIAL_BLACKHOLE);
    fake_loop_advance(world.loop, 15 * S);
    assert_int_equal(warnings, 2);
    assert_non_null(strstr(last_line, "timed out"));
    fake_server_set_dial(server, FAKE_DIAL_REFUSE);
    fake_loop_advance(world.loop, 15 * S);
    assert_int_equal(warnings, 2);
    log_set_sink(NULL);
    world_close(&world);
}

/* The peer accepts connections and then breaks them. */
static void test_pool_an_upstream_that_hangs_up_is_logged_as_rarely(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    static struct asker askers[300];
    struct upstream_options options = world_nailed();
    struct fake_peer *peer;
    struct upstream *upstream = world_open_server(&world, &peer, answer_by_name, NULL, &options);
    warnings = notices = 0;
    log_set_sink(count_lines);
    for (int i = 0; i < 600; i++) {
        if (i % 2 == 0)
            ask(&askers[i / 2], &world, "lost.example", upstream);
        fake_loop_advance(world.loop, 100 * MS);
        fake_server_reset_all(fake_peer_server(peer));
        fake_loop_advance(world.loop, 200 * MS);
    }
    assert_in_range(warnings, 2, 4); /* warnings in three minutes */
    assert_int_equal(notices, 0);
    fake_loop_advance(world.loop, 10 * S);
    ask_and_wait(&asker, &world, "www.example", upstream);
    ask_and_wait(&asker, &world, "www2.example", upstream);
    assert_int_equal(notices, 1);
    log_set_sink(NULL);
    world_close(&world);
}

static void test_pool_hundreds_of_dead_upstreams_share_the_log(void **state)
{
    (void)state;
    struct world world;
    char text[32];
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    world.quota.max = 10000;
    warnings = notices = 0;
    log_set_sink(count_lines);
    for (int i = 0; i < 400; i++) {
        snprintf(text, sizeof(text), "10.2.%d.%d@53", i / 256, i % 256);
        world_blackhole(&world, text);
        world_upstream(&world, text, &options);
    }
    fake_loop_advance(world.loop, 120 * S);
    assert_in_range(warnings, 60, 120 + 20);
    log_set_sink(NULL);
    world_close(&world);
}

/* Retries of many dead upstreams do not delay the dials of a healthy one. */
static void test_pool_dead_upstreams_do_not_delay_the_dials_of_others(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    char text[32];
    struct upstream_options options = world_no_fallback();
    world_open(&world);
    world.quota.max = 10000;
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", answer_by_name, NULL);
    struct upstream *upstream = world_upstream(&world, "10.1.1.1@53", &options);
    for (int i = 0; i < 1500; i++) {
        snprintf(text, sizeof(text), "10.2.%d.%d@53", i / 256, i % 256);
        world_blackhole(&world, text);
        world_upstream(&world, text, &options);
    }
    fake_loop_advance(world.loop, 60 * S); /* all upstreams have failed at least once */
    fake_server_close_all(fake_peer_server(peer));
    fake_loop_advance(world.loop, 5 * MS);
    ask_and_wait(&asker, &world, "www.example", upstream);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.took_us < 200 * MS);
    world_close(&world);
}

enum { MANY_REFUSING = 3000 / WORLD_COST };

/* These nailed addresses have no listener. */
static void open_refusing(struct world *world, struct fake_peer **peers,
                          struct upstream **upstreams, size_t count,
                          const struct upstream_options *options)
{
    char text[32];
    world_open(world);
    world->quota.max = 100000;
    for (size_t i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "10.2.%zu.%zu@53", i / 256, i % 256);
        peers[i] = world_peer(world, text, answer_by_name, NULL);
        fake_server_set_dial(fake_peer_server(peers[i]), FAKE_DIAL_REFUSE);
        upstreams[i] = world_upstream(world, text, options);
    }
}

static size_t all_dials(struct fake_peer *const *peers, size_t count)
{
    size_t dials = 0;
    for (size_t i = 0; i < count; i++)
        dials += peer_dials(peers[i]);
    return dials;
}

/* Ten thousand nailed addresses refuse. Before this bound existed, they cost four thousand dials a
 * second. */
static void test_pool_thousands_of_refusals_cost_a_bounded_rate_of_dials(void **state)
{
    (void)state;
    static struct fake_peer *peers[MANY_REFUSING];
    static struct upstream *upstreams[MANY_REFUSING];
    struct world world;
    struct upstream_options options = world_nailed();
    open_refusing(&world, peers, upstreams, MANY_REFUSING, &options);
    fake_loop_advance(world.loop, 30 * S);
    size_t first = all_dials(peers, MANY_REFUSING);
    assert_in_range(first, MANY_REFUSING + 29 * DIALER_AGAIN_PER_S,
                    MANY_REFUSING + 31 * DIALER_AGAIN_PER_S);
    fake_loop_advance(world.loop, 30 * S);
    assert_in_range(all_dials(peers, MANY_REFUSING) - first, 30 * DIALER_AGAIN_PER_S - 1,
                    30 * DIALER_AGAIN_PER_S + 1);
    for (size_t i = 0; i < MANY_REFUSING; i++) /* each address has had its turn */
        assert_true(peer_dials(peers[i]) > 1);
    world_close(&world);
}

/* All servers come back. The bound applies to failures only, so each server needs to wait for one
 * dial at most. */
static void test_pool_thousands_that_refused_are_found_again_soon(void **state)
{
    (void)state;
    static struct fake_peer *peers[MANY_REFUSING];
    static struct upstream *upstreams[MANY_REFUSING];
    struct world world;
    struct upstream_options options = world_nailed();
    open_refusing(&world, peers, upstreams, MANY_REFUSING, &options);
    fake_loop_advance(world.loop, 30 * S);
    for (size_t i = 0; i < MANY_REFUSING; i++)
        fake_server_set_dial(fake_peer_server(peers[i]), FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, BACKOFF_CAP_US + S);
    assert_int_equal(world.stats.upstream_ready, MANY_REFUSING);
    world_close(&world);
}

static void test_pool_one_that_refused_is_found_again_after_its_rest(void **state)
{
    (void)state;
    struct fake_peer *peer;
    struct upstream *upstream;
    struct world world;
    struct upstream_options options = world_nailed();
    open_refusing(&world, &peer, &upstream, 1, &options);
    fake_loop_advance(world.loop, 60 * S);
    assert_true(peer_dials(peer) > 15); /* the mean rest is two seconds */
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    fake_loop_advance(world.loop, BACKOFF_CAP_US + 100 * MS);
    assert_int_equal(world.stats.upstream_ready, 1);
    world_close(&world);
}

/* Behind thousands in the line a dial would take a minute. A query without another way dials at
 * once. */
static void test_pool_a_query_does_not_wait_behind_thousands_that_refuse(void **state)
{
    (void)state;
    static struct fake_peer *peers[MANY_REFUSING];
    static struct upstream *upstreams[MANY_REFUSING];
    struct world world;
    struct asker asker;
    struct upstream_options options = world_no_fallback();
    size_t in_line = 0;
    open_refusing(&world, peers, upstreams, MANY_REFUSING, &options);
    fake_loop_advance(world.loop, 30 * S);
    for (size_t i = 0; i < MANY_REFUSING && in_line < 10; i++) {
        const struct list *first = list_first(&upstreams[i]->pool.conns);
        if (LIST_ITEM(first, struct conn, node)->state != CONN_PARKED)
            continue;
        in_line++;
        fake_server_set_dial(fake_peer_server(peers[i]), FAKE_DIAL_ACCEPT);
        ask_and_wait(&asker, &world, "www.example", upstreams[i]);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_true(asker.took_us < 50 * MS);
    }
    assert_int_equal(in_line, 10);
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pool_an_instant_failure_frees_no_waiter_too_early),
        cmocka_unit_test(test_pool_survives_thousands_of_instant_failures),
        cmocka_unit_test(test_pool_a_given_up_query_makes_room_for_waiters),
        cmocka_unit_test(test_pool_garbage_makes_room_for_waiters),
        cmocka_unit_test(test_pool_a_late_answer_serves_the_waiters),
        cmocka_unit_test(test_pool_a_peer_that_closes_accepted_connections_is_dialled_rarely),
        cmocka_unit_test(test_pool_idle_timeout_is_not_for_kept_connections),
        cmocka_unit_test(test_pool_recycled_connections_beyond_the_kept_ones_leave),
        cmocka_unit_test(test_pool_in_doubt_dials_for_queries_that_need_a_stream),
        cmocka_unit_test(test_pool_a_dead_upstream_is_logged_at_once_each_minute_and_at_its_return),
        cmocka_unit_test(test_pool_a_dead_upstream_is_logged_once_for_all_workers),
        cmocka_unit_test(test_pool_a_worker_that_gives_up_its_upstream_holds_back_no_return),
        cmocka_unit_test(test_pool_each_identity_of_a_server_has_its_lines),
        cmocka_unit_test(test_pool_a_new_reason_is_logged_at_once_and_each_only_once),
        cmocka_unit_test(test_pool_an_upstream_that_hangs_up_is_logged_as_rarely),
        cmocka_unit_test(test_pool_hundreds_of_dead_upstreams_share_the_log),
        cmocka_unit_test(test_pool_dead_upstreams_do_not_delay_the_dials_of_others),
        cmocka_unit_test(test_pool_thousands_of_refusals_cost_a_bounded_rate_of_dials),
        cmocka_unit_test(test_pool_thousands_that_refused_are_found_again_soon),
        cmocka_unit_test(test_pool_one_that_refused_is_found_again_after_its_rest),
        cmocka_unit_test(test_pool_a_query_does_not_wait_behind_thousands_that_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
