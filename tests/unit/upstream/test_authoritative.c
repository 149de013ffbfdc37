/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Groups of servers as recursion makes them: a zone's servers of both IP versions, all new, some
 * dead, some without a route.
 */

#include "unit/upstream/world.h"

enum { MANY = 24 };

struct zone {
    struct world world;
    struct upstream *group[EXCHANGE_GROUP_MAX];
    struct fake_peer *peers[EXCHANGE_GROUP_MAX];
    size_t count;
};

static void open_zone(struct zone *zone)
{
    zone->count = 0;
    world_open(&zone->world);
}

/* Adds a server to the zone. */
static struct fake_peer *add(struct zone *zone, const char *addr, enum fake_udp how)
{
    struct fake_peer *peer = world_peer(&zone->world, addr, NULL, NULL);
    fake_server_set_udp(fake_peer_server(peer), how);
    zone->group[zone->count] = world_discover(&zone->world, addr, &upstream_options_default);
    return zone->peers[zone->count++] = peer;
}

static void add_v6(struct zone *zone, unsigned count, enum fake_udp how)
{
    char text[64];
    for (unsigned i = 0; i < count; i++) {
        snprintf(text, sizeof(text), "2001:db8::%x@53", (unsigned)zone->count + 1);
        add(zone, text, how);
    }
}

/* Queries as recursion does, rejects answers with this rcode, and waits for the end. */
static void ask_but(struct zone *zone, struct asker *asker, struct exchange_question question,
                    uint16_t bad_rcode)
{
    struct world *world = &zone->world;
    memset(asker, 0, sizeof(*asker));
    asker->world = world;
    asker->bad_rcode = bad_rcode;
    asker->asked_at = loop_now(world->loop);
    assert_int_equal(name_parse(&question.question.name, asker->wire, "www.example", 11), ERR_OK);
    question.question.type = RRTYPE_A;
    question.question.cls = RRCLASS_IN;
    exchange_init(&asker->exchange, world->upstreams, &asker_handler, asker);
    exchange_start(&asker->exchange, &question, zone->group, zone->count);
    for (int i = 0; i < 10000 && asker->result == ASKER_WAITING; i++)
        fake_loop_advance(world->loop, MS);
    assert_int_not_equal(asker->result, ASKER_WAITING);
}

static void ask_as(struct zone *zone, struct asker *asker, struct exchange_question question)
{
    ask_but(zone, asker, question, 0);
}

static void ask_zone(struct zone *zone, struct asker *asker)
{
    ask_as(zone, asker, (struct exchange_question){0});
}

static uint64_t failed_sends(const struct zone *zone)
{
    return fake_net_counts(zone->world.net).udp_errors;
}

static void see_flags(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    uint8_t *flags = owner;
    *flags = ask->query.data[2];
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
}

static void mute(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    (void)ask;
    answer->how = FAKE_SILENT;
}

static void truncates_udp(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    if (ask->transport == FAKE_UDP)
        fake_answer_truncated(answer, ask->query);
}

static void test_authoritative_servers_are_not_asked_for_recursion(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    uint8_t flags = 0xff;
    open_zone(&zone);
    fake_peer_set(add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER), see_flags, &flags);
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(flags & 1, 0);
    world_close(&zone.world);
}

/* A bogus answer may have been forged, so the next query takes a stream. */
static void test_authoritative_question_that_prefers_streams_takes_one_first(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    uint8_t flags = 0;
    open_zone(&zone);
    struct fake_peer *peer = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    fake_peer_set(peer, see_flags, &flags);
    ask_as(&zone, &asker, (struct exchange_question){.prefers_stream = true});
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    assert_int_equal(peer_stream_queries(peer), 1);
    world_close(&zone.world);
}

static void test_authoritative_question_that_prefers_streams_goes_on_by_datagram(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    uint8_t flags = 0;
    open_zone(&zone);
    struct fake_peer *peer = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    fake_peer_set(peer, see_flags, &flags);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    ask_as(&zone, &asker, (struct exchange_question){.prefers_stream = true});
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_false(asker.over_stream);
    world_close(&zone.world);
}

static void test_authoritative_question_that_expects_a_large_answer_opens_no_stream(void **state)
{
    (void)state;
    struct zone zone;
    struct asker first, second, third;
    open_zone(&zone);
    struct fake_peer *peer = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    ask_as(&zone, &first, (struct exchange_question){.expects_large = true});
    assert_int_equal(first.result, ASKER_ANSWERED);
    assert_false(first.over_stream);
    assert_int_equal(fake_server_dials(fake_peer_server(peer)), 0);

    fake_peer_set(peer, truncates_udp, NULL);
    ask_zone(&zone, &second);
    assert_true(second.over_stream);
    ask_as(&zone, &third, (struct exchange_question){.expects_large = true});
    assert_true(third.over_stream);
    assert_int_equal(fake_server_dials(fake_peer_server(peer)), 1);
    assert_int_equal(zone.world.stats.upstream_queries_udp, 2);
    assert_int_equal(zone.world.stats.upstream_large_queries, 1);
    world_close(&zone.world);
}

/* All exchanges of a question share its budget. */
static void test_authoritative_questions_keep_to_their_common_budget(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    uint8_t left = 5;
    open_zone(&zone);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
    add(&zone, "192.0.2.2@53", FAKE_UDP_DROP);
    ask_as(&zone, &asker, (struct exchange_question){.attempts_max = 3, .attempts_left = &left});
    assert_int_equal(left, 2);
    ask_as(&zone, &asker, (struct exchange_question){.attempts_left = &left});
    assert_int_equal(left, 0);
    assert_int_equal(asker.result, ASKER_FAILED);
    ask_as(&zone, &asker, (struct exchange_question){.attempts_left = &left});
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(left, 0);
    world_close(&zone.world);
}

static void test_authoritative_question_without_a_reader_sends_one_silent_query(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    struct list waiters, waiter;
    uint8_t left = 5;
    open_zone(&zone);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
    add(&zone, "192.0.2.2@53", FAKE_UDP_DROP);
    list_init(&waiters);
    list_init(&waiter);
    ask_as(&zone, &asker,
           (struct exchange_question){.attempts_left = &left, .wanted_by = &waiters});
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(left, 4);
    list_append(&waiters, &waiter);
    ask_as(&zone, &asker,
           (struct exchange_question){.attempts_left = &left, .wanted_by = &waiters});
    assert_int_equal(left, 0);
    world_close(&zone.world);
}

/* The exchange may draw any server first. */
static void test_authoritative_zone_with_one_dead_server_answers_at_first_contact(void **state)
{
    (void)state;
    for (int round = 0; round < 20; round++) {
        struct zone zone;
        struct asker asker;
        open_zone(&zone);
        add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
        add(&zone, "192.0.2.2@53", FAKE_UDP_DELIVER);
        for (int i = 0; i < round; i++)
            (void)rand_u64();
        ask_zone(&zone, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_in_range(asker.took_us, 0, HEALTH_RTO_FIRST_US + 50 * MS);
        world_close(&zone.world);
    }
}

/* Only one question waits for the dead server. Otherwise each would, until the server counts as
 * ill. One question in twenty explores whether the server is back. */
static void test_authoritative_server_that_was_silent_once_does_not_come_first_again(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    unsigned late = 0;
    open_zone(&zone);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
    add(&zone, "192.0.2.2@53", FAKE_UDP_DELIVER);
    for (int i = 0; i < 100; i++) {
        ask_zone(&zone, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        late += asker.took_us >= HEALTH_RTO_FIRST_US;
    }
    assert_in_range(late, 1, HEALTH_ILL_SILENCES);
    world_close(&zone.world);
}

static void
test_authoritative_zone_with_half_its_servers_dead_answers_within_the_attempts(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_zone(&zone);
    add_v6(&zone, 4, FAKE_UDP_DROP);
    add_v6(&zone, 4, FAKE_UDP_REFUSE);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 0, 4 * HEALTH_RTO_FIRST_US + 100 * MS);
    world_close(&zone.world);
}

/* This host has no IPv6, and the zone has few other servers. */
static void test_authoritative_family_without_a_route_costs_only_rare_tries(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_zone(&zone);
    add_v6(&zone, MANY, FAKE_UDP_FAIL_NOW);
    struct fake_peer *peer = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_in_range(asker.took_us, 0, 50 * MS);
    assert_in_range(failed_sends(&zone), 0, REACH_STRIKES);
    for (int i = 0; i < 200; i++)
        ask_zone(&zone, &asker);
    assert_in_range(failed_sends(&zone), 0, REACH_STRIKES);
    assert_int_equal(fake_peer_udp_queries(peer), 201);
    fake_loop_advance(zone.world.loop, 2 * REACH_REST_US);
    for (int i = 0; i < 10; i++)
        ask_zone(&zone, &asker);
    assert_in_range(failed_sends(&zone), 0, 2 * REACH_STRIKES);
    world_close(&zone.world);
}

static void test_authoritative_family_that_gets_a_route_is_used_again(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    size_t asked = 0;
    open_zone(&zone);
    add_v6(&zone, 6, FAKE_UDP_FAIL_NOW);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    ask_zone(&zone, &asker);
    for (size_t i = 0; i < 6; i++)
        fake_server_set_udp(fake_peer_server(zone.peers[i]), FAKE_UDP_DELIVER);
    upstreams_network_changed(zone.world.upstreams, NETWORK_CHANGED);
    for (int i = 0; i < 50; i++)
        ask_zone(&zone, &asker);
    for (size_t i = 0; i < 6; i++)
        asked += fake_peer_udp_queries(zone.peers[i]) > 0;
    assert_int_equal(asked, 6);
    world_close(&zone.world);
}

/* A query that cannot be sent is not an attempt, even if the only reachable server comes last of
 * many. */
static void test_authoritative_servers_without_a_route_use_up_no_attempts(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_zone(&zone);
    add_v6(&zone, EXCHANGE_GROUP_MAX - 1, FAKE_UDP_FAIL_NOW);
    add_v6(&zone, 1, FAKE_UDP_DELIVER); /* a server of the missing IP version */
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    world_close(&zone.world);
}

/* One server is nailed, but its network has no route. The other server is elsewhere. */
static void test_authoritative_nailed_server_without_a_route_comes_last(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    struct upstream_options nailed = world_nailed();
    open_zone(&zone);
    struct fake_peer *plant = world_peer(&zone.world, "10.1.1.1@53", NULL, NULL);
    fake_server_set_udp(fake_peer_server(plant), FAKE_UDP_FAIL_NOW);
    fake_server_set_dial(fake_peer_server(plant), FAKE_DIAL_FAIL_NOW);
    zone.group[zone.count] = world_discover(&zone.world, "10.1.1.1@53", &nailed);
    zone.peers[zone.count++] = plant;
    struct fake_peer *peer = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    fake_loop_advance(zone.world.loop, S);
    for (int i = 0; i < 200; i++) {
        ask_zone(&zone, &asker);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_in_range(asker.took_us, 0, 50 * MS);
    }
    assert_int_equal(fake_peer_udp_queries(peer), 200);
    assert_in_range(failed_sends(&zone), 0, 3);
    fake_server_set_udp(fake_peer_server(plant), FAKE_UDP_DELIVER);
    fake_server_set_dial(fake_peer_server(plant), FAKE_DIAL_ACCEPT);
    fake_loop_advance(zone.world.loop, 10 * S);
    for (int i = 0; i < 20; i++)
        ask_zone(&zone, &asker);
    assert_true(fake_peer_queries(plant) > 0);
    world_close(&zone.world);
}

/* A filter on this machine refuses datagrams to some servers. Streams of the same IP version work,
 * so the version is not missing. */
static void test_authoritative_answers_over_streams_prove_a_route(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    struct upstream_options nailed = world_nailed();
    open_zone(&zone);
    for (unsigned i = 0; i < REACH_STRIKES; i++) {
        char text[ADDR_TEXT_MAX];
        snprintf(text, sizeof(text), "192.0.2.%u@53", i + 1);
        add(&zone, text, FAKE_UDP_FAIL_NOW);
    }
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(upstreams_lacks_family(zone.world.upstreams, AF_INET));
    assert_false(upstreams_lacks_family(zone.world.upstreams, AF_INET6));
    struct fake_peer *plant = world_peer(&zone.world, "10.1.1.1@53", NULL, NULL);
    zone.group[0] = world_discover(&zone.world, "10.1.1.1@53", &nailed);
    zone.count = 1;
    fake_loop_advance(zone.world.loop, S);
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(fake_peer_udp_queries(plant), 0);
    assert_false(upstreams_lacks_family(zone.world.upstreams, AF_INET));
    world_close(&zone.world);
}

static void test_authoritative_zone_without_any_route_fails_at_once(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_zone(&zone);
    add_v6(&zone, MANY, FAKE_UDP_FAIL_NOW);
    ask_zone(&zone, &asker);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.failure.any_network);
    assert_in_range(asker.took_us, 0, MS);
    world_close(&zone.world);
}

static void test_authoritative_preferred_family_comes_first_and_the_other_replaces_it(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    const struct exchange_question question = {.prefer_family = AF_INET6};
    open_zone(&zone);
    struct fake_peer *v4 = add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    add_v6(&zone, 1, FAKE_UDP_DELIVER);
    fake_server_set_latency(fake_peer_server(zone.peers[1]), 90 * MS);
    for (int i = 0; i < 50; i++) {
        ask_as(&zone, &asker, question);
        assert_ptr_equal(asker.from, zone.group[1]);
    }
    assert_int_equal(fake_peer_udp_queries(v4), 0);
    fake_server_set_udp(fake_peer_server(zone.peers[1]), FAKE_UDP_DROP);
    for (int i = 0; i < 10; i++) {
        ask_as(&zone, &asker, question);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_ptr_equal(asker.from, zone.group[0]);
    }
    assert_in_range(asker.took_us, 0, 10 * MS); /* the server already counts as ill */
    world_close(&zone.world);
}

static void test_authoritative_question_may_have_less_time_and_fewer_attempts(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    size_t heard = 0;
    open_zone(&zone);
    add_v6(&zone, 8, FAKE_UDP_DROP);
    ask_as(&zone, &asker, (struct exchange_question){.wall_us = 1500 * MS});
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_in_range(asker.took_us, 1500 * MS, 1501 * MS);
    assert_true(asker.failure.is_late);
    world_close(&zone.world);

    open_zone(&zone);
    add_v6(&zone, 8, FAKE_UDP_DROP);
    ask_as(&zone, &asker, (struct exchange_question){.attempts_max = 3});
    for (size_t i = 0; i < zone.count; i++)
        heard += fake_peer_udp_queries(zone.peers[i]);
    assert_int_equal(zone.world.stats.upstream_queries_udp, 3);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_int_equal(heard, 0);
    world_close(&zone.world);

    open_zone(&zone); /* never more than for all the others together */
    add_v6(&zone, 20, FAKE_UDP_DROP);
    ask_as(&zone, &asker, (struct exchange_question){.attempts_max = 200, .wall_us = 3600 * S});
    assert_in_range(asker.took_us, 0, EXCHANGE_WALL_US + MS);
    assert_in_range(zone.world.stats.upstream_queries_udp, 1, EXCHANGE_ATTEMPTS_MAX);
    world_close(&zone.world);
}

static const struct exchange_question rests = {.accepts_one_round = true};

static size_t sent(const struct zone *zone)
{
    return zone->world.stats.upstream_queries_udp;
}

static void open_dead_zone(struct zone *zone, unsigned count)
{
    struct asker asker;
    open_zone(zone);
    add_v6(zone, count, FAKE_UDP_DROP);
    ask_as(zone, &asker, rests);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
}

static void test_authoritative_dead_zone_costs_one_round_until_it_is_forgotten(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, 3);
    for (int i = 0; i < 5; i++) {
        size_t before = sent(&zone);
        ask_as(&zone, &asker, rests);
        assert_int_equal(asker.result, ASKER_FAILED);
        assert_true(asker.failure.any_network);
        assert_in_range(asker.took_us, EXCHANGE_ROUND_US, EXCHANGE_ROUND_US + MS);
        assert_int_equal(sent(&zone) - before, 3);
    }
    /* Further rounds do not extend that time. */
    fake_loop_advance(zone.world.loop, UPSTREAM_GIVEN_UP_US - 5 * EXCHANGE_ROUND_US);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_ROUND_US, EXCHANGE_ROUND_US + MS);
    world_close(&zone.world);
}

/* Any of the dead servers may come back. After its answer, the others get a full exchange again. */
static void test_authoritative_dead_server_that_is_back_is_found_by_the_next_question(void **state)
{
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct zone zone;
        struct asker asker;
        open_dead_zone(&zone, 3);
        fake_server_set_udp(fake_peer_server(zone.peers[i]), FAKE_UDP_DELIVER);
        ask_as(&zone, &asker, rests);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        assert_ptr_equal(asker.from, zone.group[i]);
        assert_in_range(asker.took_us, 0, 50 * MS);
        fake_server_set_udp(fake_peer_server(zone.peers[i]), FAKE_UDP_DROP);
        ask_as(&zone, &asker, rests);
        assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
        world_close(&zone.world);
    }
}

/* The server's first answer is truncated, and the stream that follows belongs to the round. */
static void test_authoritative_dead_server_that_is_back_may_be_asked_over_tcp(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, 1);
    fake_server_set_udp(fake_peer_server(zone.peers[0]), FAKE_UDP_DELIVER);
    fake_peer_set(zone.peers[0], truncates_udp, NULL);
    ask_as(&zone, &asker, rests);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_true(asker.over_stream);
    world_close(&zone.world);
}

static void test_authoritative_lost_query_is_sent_again_if_no_server_is_given_up(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_zone(&zone);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DELIVER);
    for (int i = 0; i < 10; i++) {
        fake_server_lose_datagrams(fake_peer_server(zone.peers[0]), 1);
        ask_as(&zone, &asker, rests);
        assert_int_equal(asker.result, ASKER_ANSWERED);
    }
    world_close(&zone.world);
}

/* A question with hardly any time left proves nothing about the servers. */
static void test_authoritative_short_question_gives_no_server_up(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    struct exchange_question hurried = rests;
    hurried.wall_us = HEALTH_RTO_FIRST_US + 100 * MS;
    open_zone(&zone);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
    ask_as(&zone, &asker, hurried);
    assert_int_equal(sent(&zone), 2);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
    world_close(&zone.world);
}

/* A server that is new or has answered deserves the full effort. */
static void test_authoritative_zone_with_a_server_not_given_up_is_asked_in_full(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, 3);
    add(&zone, "192.0.2.1@53", FAKE_UDP_DROP);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_ROUND_US, EXCHANGE_ROUND_US + MS);
    world_close(&zone.world);
}

static void test_authoritative_dead_servers_of_a_large_zone_keep_to_the_bound(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, MANY);
    for (int i = 0; i < 4; i++) {
        size_t before = sent(&zone);
        ask_as(&zone, &asker, rests);
        assert_in_range(sent(&zone) - before, 1, EXCHANGE_ATTEMPTS_MAX + 1); /* plus a probe */
    }
    world_close(&zone.world);
}

/* The old connection is dead as well, so a query on it cannot find the server. */
static void test_authoritative_nailed_dead_server_is_found_past_its_dead_connection(void **state)
{
    (void)state;
    for (int by_reset = 0; by_reset < 2; by_reset++) {
        struct zone zone;
        struct asker asker;
        struct upstream_options nailed = world_nailed();
        nailed.fallback = UPSTREAM_FALLBACK_UDP;
        open_zone(&zone);
        struct fake_peer *plant = world_peer(&zone.world, "10.1.1.1@53", mute, &zone);
        zone.group[zone.count++] = world_discover(&zone.world, "10.1.1.1@53", &nailed);
        fake_loop_advance(zone.world.loop, S);
        fake_server_set_udp(fake_peer_server(plant), FAKE_UDP_DROP);
        ask_as(&zone, &asker, rests);
        assert_int_equal(asker.result, ASKER_FAILED);
        fake_server_set_udp(fake_peer_server(plant), FAKE_UDP_DELIVER);
        fake_peer_set(plant, NULL, NULL);
        if (by_reset)
            fake_server_reset_all(fake_peer_server(plant));
        ask_as(&zone, &asker, rests);
        assert_int_equal(asker.result, ASKER_ANSWERED);
        world_close(&zone.world);
    }
}

static void test_authoritative_dead_forwarders_get_full_exchanges(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, 2);
    ask_zone(&zone, &asker);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
    world_close(&zone.world);
}

static void test_authoritative_change_of_network_forgets_given_up_servers(void **state)
{
    (void)state;
    struct zone zone;
    struct asker asker;
    open_dead_zone(&zone, 2);
    upstreams_network_changed(zone.world.upstreams, NETWORK_CHANGED);
    ask_as(&zone, &asker, rests);
    assert_in_range(asker.took_us, EXCHANGE_WALL_US, EXCHANGE_WALL_US + MS);
    world_close(&zone.world);
}

static void refuses(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_rcode(answer, ask->query, RCODE_REFUSED);
}

/* Otherwise a failure would be remembered although a server that was not asked may answer. */
static void test_authoritative_failure_tells_of_servers_that_were_not_asked(void **state)
{
    struct zone zone;
    struct asker asker;
    char text[32];
    (void)state;
    open_zone(&zone);
    for (unsigned i = 0; i < 6; i++) {
        snprintf(text, sizeof(text), "192.0.2.%u@53", i + 1);
        struct fake_peer *peer = world_peer(&zone.world, text, refuses, NULL);
        zone.group[i] = world_discover(&zone.world, text, &upstream_options_default);
        zone.peers[zone.count++] = peer;
    }
    ask_but(&zone, &asker, (struct exchange_question){.useless_max = 5}, RCODE_REFUSED);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_true(asker.failure.left_some);
    ask_but(&zone, &asker, (struct exchange_question){.useless_max = 6}, RCODE_REFUSED);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_false(asker.failure.left_some);
    ask_but(&zone, &asker, (struct exchange_question){.useless_max = 5, .doubtful = 1},
            RCODE_REFUSED);
    assert_int_equal(asker.result, ASKER_FAILED);
    assert_false(asker.failure.left_some);
    world_close(&zone.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_authoritative_dead_zone_costs_one_round_until_it_is_forgotten),
        cmocka_unit_test(test_authoritative_dead_server_that_is_back_is_found_by_the_next_question),
        cmocka_unit_test(test_authoritative_dead_server_that_is_back_may_be_asked_over_tcp),
        cmocka_unit_test(test_authoritative_lost_query_is_sent_again_if_no_server_is_given_up),
        cmocka_unit_test(test_authoritative_short_question_gives_no_server_up),
        cmocka_unit_test(test_authoritative_zone_with_a_server_not_given_up_is_asked_in_full),
        cmocka_unit_test(test_authoritative_dead_servers_of_a_large_zone_keep_to_the_bound),
        cmocka_unit_test(test_authoritative_nailed_dead_server_is_found_past_its_dead_connection),
        cmocka_unit_test(test_authoritative_dead_forwarders_get_full_exchanges),
        cmocka_unit_test(test_authoritative_change_of_network_forgets_given_up_servers),
        cmocka_unit_test(test_authoritative_servers_are_not_asked_for_recursion),
        cmocka_unit_test(test_authoritative_question_that_prefers_streams_takes_one_first),
        cmocka_unit_test(test_authoritative_question_that_prefers_streams_goes_on_by_datagram),
        cmocka_unit_test(test_authoritative_question_that_expects_a_large_answer_opens_no_stream),
        cmocka_unit_test(test_authoritative_questions_keep_to_their_common_budget),
        cmocka_unit_test(test_authoritative_question_without_a_reader_sends_one_silent_query),
        cmocka_unit_test(test_authoritative_zone_with_one_dead_server_answers_at_first_contact),
        cmocka_unit_test(test_authoritative_server_that_was_silent_once_does_not_come_first_again),
        cmocka_unit_test(
            test_authoritative_zone_with_half_its_servers_dead_answers_within_the_attempts),
        cmocka_unit_test(test_authoritative_family_without_a_route_costs_only_rare_tries),
        cmocka_unit_test(test_authoritative_family_that_gets_a_route_is_used_again),
        cmocka_unit_test(test_authoritative_servers_without_a_route_use_up_no_attempts),
        cmocka_unit_test(test_authoritative_nailed_server_without_a_route_comes_last),
        cmocka_unit_test(test_authoritative_answers_over_streams_prove_a_route),
        cmocka_unit_test(test_authoritative_zone_without_any_route_fails_at_once),
        cmocka_unit_test(test_authoritative_preferred_family_comes_first_and_the_other_replaces_it),
        cmocka_unit_test(test_authoritative_question_may_have_less_time_and_fewer_attempts),
        cmocka_unit_test(test_authoritative_failure_tells_of_servers_that_were_not_asked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
