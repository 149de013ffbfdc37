/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* How many copies of one question leave while no server answers (EXCHANGE_SILENT_MAX). */

#include "unit/upstream/world.h"

enum { SERVERS_MAX = 13 };

struct silent_zone {
    struct world world;
    struct fake_peer *peers[SERVERS_MAX];
    struct upstream *group[SERVERS_MAX];
    size_t count;
};

static void open_servers(struct silent_zone *zone, size_t count,
                         const struct upstream_options *options)
{
    *zone = (struct silent_zone){.count = count};
    world_open(&zone->world);
    for (size_t i = 0; i < count; i++) {
        char at[32];
        snprintf(at, sizeof(at), "10.1.1.%zu@53", i + 1);
        zone->peers[i] = world_peer(&zone->world, at, NULL, NULL);
        zone->group[i] = world_upstream(&zone->world, at, options);
    }
    fake_loop_advance(zone->world.loop, 100 * MS);
}

static size_t count_sent(const struct silent_zone *zone)
{
    return zone->world.stats.upstream_queries_udp + zone->world.stats.upstream_queries_tcp +
           zone->world.stats.upstream_queries_tls;
}

static void ask_all_servers(struct silent_zone *zone, struct asker *asker)
{
    ask_group(asker, &zone->world, "www.example", zone->group, zone->count);
}

static void wait_for_end(struct silent_zone *zone, struct asker *asker)
{
    for (int i = 0; i < 10000 && asker->result == ASKER_WAITING; i++)
        fake_loop_advance(zone->world.loop, MS);
}

/* The servers are known to be fast, so a query without an answer is soon repeated. */
static void learn(struct silent_zone *zone)
{
    struct asker asker;
    for (int i = 0; i < 60; i++) {
        ask_all_servers(zone, &asker);
        wait_for_end(zone, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
}

static void fall_silent(struct silent_zone *zone, bool is_silent)
{
    for (size_t i = 0; i < zone->count; i++) {
        struct fake_server *server = fake_peer_server(zone->peers[i]);
        fake_server_set_udp(server, is_silent ? FAKE_UDP_DROP : FAKE_UDP_DELIVER);
        fake_server_set_dial(server, is_silent ? FAKE_DIAL_BLACKHOLE : FAKE_DIAL_ACCEPT);
        for (size_t k = 0; is_silent && k < peer_dials(zone->peers[i]); k++)
            fake_conn_go_dark(peer_conn(zone->peers[i], k));
    }
}

static const struct upstream_options *const all_options[] = {&upstream_options_default, NULL};

static void each_group(void (*check)(struct silent_zone *zone))
{
    static const size_t counts[] = {1, 2, 4, SERVERS_MAX};
    for (size_t which = 0; which < ARRAY_LEN(all_options); which++) {
        for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
            struct silent_zone zone;
            struct upstream_options nailed = world_nailed();
            open_servers(&zone, counts[i], all_options[which] ? all_options[which] : &nailed);
            learn(&zone);
            fall_silent(&zone, true);
            check(&zone);
            world_close(&zone.world);
        }
    }
}

static void check_bound(struct silent_zone *zone)
{
    struct asker asker;
    for (int round = 0; round < 3; round++) {
        size_t before = count_sent(zone);
        ask_all_servers(zone, &asker);
        wait_for_end(zone, &asker);
        assert_int_equal(asker.result, ASKER_FAILED);
        fake_loop_advance(zone->world.loop, S);
        assert_in_range(count_sent(zone) - before, 3, EXCHANGE_SILENT_MAX);
    }
}

static void test_silence_gets_no_more_copies_than_the_bound(void **state)
{
    (void)state;
    each_group(check_bound);
}

/* The server comes back in time, and its answer reaches the waiting question. */
static void check_return(struct silent_zone *zone)
{
    struct asker asker;
    ask_all_servers(zone, &asker);
    fake_loop_advance(zone->world.loop, 2500 * MS);
    fall_silent(zone, false);
    wait_for_end(zone, &asker);
    if (zone->count < EXCHANGE_SILENT_MAX) /* otherwise, all copies went to new servers */
        assert_int_equal(asker.result, ASKER_ANSWERED);
}

static void test_silence_leaves_copies_for_servers_that_come_back(void **state)
{
    (void)state;
    each_group(check_return);
}

/* An only server comes back just before the wall time, and the last copy of the question finds it.
 */
static void check_late_return(struct silent_zone *zone)
{
    struct asker asker;
    if (zone->count > 1)
        return; /* the copies have gone to several servers */
    ask_all_servers(zone, &asker);
    fake_loop_advance(zone->world.loop, EXCHANGE_WALL_US - 300 * MS);
    fall_silent(zone, false);
    wait_for_end(zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
}

static void test_silence_leaves_a_copy_for_the_end_of_the_wall_time(void **state)
{
    (void)state;
    each_group(check_late_return);
}

static void ask_resting(struct silent_zone *zone, struct asker *asker)
{
    struct exchange_question question = {.recursion_desired = true, .accepts_one_round = true};

    *asker = (struct asker){.world = &zone->world};
    assert_int_equal(name_parse(&question.question.name, asker->wire, "www.example", 11), ERR_OK);
    question.question.type = RRTYPE_A;
    question.question.cls = RRCLASS_IN;
    exchange_init(&asker->exchange, zone->world.upstreams, &asker_handler, asker);
    exchange_start(&asker->exchange, &question, zone->group, zone->count);
}

/* After all servers were silent, a question sends one query each to several servers at once. */
static void test_silence_a_round_keeps_to_the_bound(void **state)
{
    (void)state;
    static struct asker askers[20];
    struct silent_zone zone;

    open_servers(&zone, SERVERS_MAX, &upstream_options_default);
    fall_silent(&zone, true);
    for (size_t i = 0; i < ARRAY_LEN(askers); i++)
        ask_resting(&zone, &askers[i]);
    for (size_t i = 0; i < ARRAY_LEN(askers); i++)
        wait_for_end(&zone, &askers[i]);
    size_t before = count_sent(&zone);
    ask_resting(&zone, &askers[0]);
    assert_true(askers[0].exchange.one_round);
    wait_for_end(&zone, &askers[0]);
    assert_int_equal(askers[0].result, ASKER_FAILED);
    assert_int_equal(count_sent(&zone) - before, EXCHANGE_SILENT_MAX);
    world_close(&zone.world);
}

/* A useless answer is not silence, so all servers get the query. */
static void refusing(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_rcode(answer, ask->query, RCODE_REFUSED);
}

static void test_silence_useless_answers_do_not_count(void **state)
{
    (void)state;
    struct silent_zone zone = {.count = 9};
    struct asker asker;

    world_open(&zone.world);
    for (size_t i = 0; i < zone.count; i++) {
        char at[32];
        snprintf(at, sizeof(at), "10.1.2.%zu@53", i + 1);
        zone.peers[i] = world_peer(&zone.world, at, refusing, NULL);
        zone.group[i] = world_upstream(&zone.world, at, &upstream_options_default);
    }
    ask_group(&asker, &zone.world, "www.example", zone.group, zone.count);
    asker.bad_rcode = RCODE_REFUSED;
    wait_for_end(&zone, &asker);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(count_sent(&zone), zone.count);
    world_close(&zone.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_silence_gets_no_more_copies_than_the_bound),
        cmocka_unit_test(test_silence_leaves_copies_for_servers_that_come_back),
        cmocka_unit_test(test_silence_leaves_a_copy_for_the_end_of_the_wall_time),
        cmocka_unit_test(test_silence_a_round_keeps_to_the_bound),
        cmocka_unit_test(test_silence_useless_answers_do_not_count),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
