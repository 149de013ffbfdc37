/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Discovered upstreams: the table keeps a bounded number, and prefers used and nailed ones.
 */

#include "unit/upstream/world.h"

/* Returns the nth server of a zone with very many servers. */
static struct addr nth(unsigned n)
{
    char text[32];
    snprintf(text, sizeof(text), "100.%u.%u.%u@53", 64 + n / 65536, n / 256 % 256, n % 256);
    return fake_addr(text);
}

static struct upstream *discover_nth(struct world *world, unsigned n)
{
    struct addr addr = nth(n);
    return upstreams_discover(world->upstreams, &addr, &upstream_options_default);
}

/* Discovers this many upstreams, from number `first` on, and drops each at once. */
static void discover_many(struct world *world, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct upstream *upstream = discover_nth(world, first + i);
        assert_non_null(upstream);
        upstreams_drop(upstream);
        if (i % 100 == 99)
            fake_loop_settle(world->loop);
    }
    fake_loop_settle(world->loop);
}

static size_t count(const struct world *world)
{
    return upstreams_count(world->upstreams);
}

static void test_discovered_again_it_is_the_same_object(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    world_open(&world);
    world_peer(&world, "192.0.2.1@53", NULL, NULL);
    struct upstream *met = world_discover(&world, "192.0.2.1@53", &upstream_options_default);
    ask_and_wait(&asker, &world, "www.example", met);
    uint64_t srtt_us = met->udp.srtt_us;
    assert_int_not_equal(srtt_us, 0);
    upstreams_drop(met);
    fake_loop_advance(world.loop, 100 * S);
    assert_ptr_equal(world_discover(&world, "192.0.2.1@53", &upstream_options_default), met);
    assert_int_equal(met->udp.srtt_us, srtt_us);
    assert_int_equal(upstreams_discovered(world.upstreams), 1);
    world_close(&world);
}

static void test_discovered_in_a_prefix_it_is_dialled_at_first_sight_and_kept(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    upstreams_drop(world_discover(&world, "10.1.1.1@53", &options));
    fake_loop_advance(world.loop, 1000 * S);
    assert_int_equal(world.stats.upstream_ready, 1);
    assert_int_equal(peer_dials(peer), 1);
    assert_int_equal(world.quota.used, 1);
    world_close(&world);
}

/* The servers that a hostile zone names must take no places from honest servers. */
static void test_discovered_without_a_connection_it_gets_no_place(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    struct upstream *met = world_discover(&world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &world, "www.example", met);
    upstreams_drop(met);
    fake_loop_advance(world.loop, 3600 * S);
    assert_in_range(peer_dials(peer), 1, 3);
    assert_int_equal(world.quota.used, 0);
    world_close(&world);
}

static void test_discovered_and_dead_it_loses_its_place_until_the_next_query(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    struct fake_peer *peer = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    struct upstream *met = world_discover(&world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &world, "www.example", met);
    fake_loop_advance(world.loop, 1 * S);
    assert_int_equal(world.quota.used, 1);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_REFUSE);
    (void)pool_recycle(&met->pool);
    fake_loop_advance(world.loop, 3600 * S);
    assert_int_equal(world.quota.used, 0);
    assert_in_range(peer_dials(peer), 1, 10);
    fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_ACCEPT);
    ask_and_wait(&asker, &world, "www.example", met);
    fake_loop_advance(world.loop, 10 * S);
    assert_int_equal(world.quota.used, 1);
    world_close(&world);
}

static void test_discovered_and_unused_it_makes_room_for_another(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options options = world_nailed();
    world_open(&world);
    world.quota.max = 1;
    world_peer(&world, "10.1.1.1@53", NULL, NULL);
    world_peer(&world, "10.1.1.2@53", NULL, NULL);
    struct upstream *first = world_discover(&world, "10.1.1.1@53", &options);
    ask_and_wait(&asker, &world, "www.example", first);
    upstreams_drop(first);
    fake_loop_advance(world.loop, NAIL_UNUSED_US / 2);
    struct upstream *second = world_discover(&world, "10.1.1.2@53", &options);
    ask_and_wait(&asker, &world, "www.example", second);
    upstreams_drop(second);
    fake_loop_advance(world.loop, 1 * S);
    assert_int_equal(first->pool.places, 1);
    assert_int_equal(second->pool.places, 0);
    fake_loop_advance(world.loop, NAIL_UNUSED_US / 2 + 20 * S);
    assert_int_equal(first->pool.places, 0);
    assert_int_equal(second->pool.places, 1);
    fake_loop_advance(world.loop, 2 * NAIL_UNUSED_US); /* they do not displace each other in turn */
    assert_int_equal(second->pool.places, 1);
    world_close(&world);
}

static void test_discovered_without_end_they_stay_bounded_and_the_last_used_stay(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    discover_many(&world, 0, UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    struct upstream *first = discover_nth(&world, 0); /* the upstream is used again */
    first->queries = 1;
    upstreams_drop(first);
    discover_many(&world, UPSTREAMS_DISCOVERED_MAX, UPSTREAMS_DISCOVERED_MAX - 1);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    assert_ptr_equal(discover_nth(&world, 0), first);
    upstreams_drop(first);
    discover_many(&world, 2 * UPSTREAMS_DISCOVERED_MAX, UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    /* a new upstream object for the address */
    assert_int_equal(discover_nth(&world, 0)->queries, 0);
    world_close(&world);
}

static void test_discovered_in_a_flood_nailed_wanted_and_held_ones_stay(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream_options nailed = world_nailed();
    struct addr wanted_at = fake_addr("192.0.2.2@53");
    world_open(&world);
    struct fake_peer *plant = world_peer(&world, "10.1.1.1@53", NULL, NULL);
    world_peer(&world, "192.0.2.1@53", NULL, NULL);
    struct upstream *met = world_discover(&world, "10.1.1.1@53", &nailed);
    ask_and_wait(&asker, &world, "www.example", met);
    upstreams_drop(met);
    struct upstream *held = world_discover(&world, "192.0.2.1@53", &upstream_options_default);
    struct upstream *wanted =
        upstreams_want(world.upstreams, &wanted_at, &upstream_options_default);
    assert_ptr_equal(world_discover(&world, "192.0.2.2@53", &upstream_options_default), wanted);
    upstreams_drop(wanted);
    fake_loop_advance(world.loop, 100 * MS);
    discover_many(&world, 0, 2 * UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(world.stats.upstream_ready, 1);
    assert_ptr_equal(world_discover(&world, "10.1.1.1@53", &nailed), met);
    ask_and_wait(&asker, &world, "www.example", met);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_int_equal(peer_dials(plant), 1);
    ask_and_wait(&asker, &world, "www.example", held);
    assert_int_equal(asker.result, ASKER_ANSWERED);
    assert_ptr_equal(world_discover(&world, "192.0.2.2@53", &upstream_options_default), wanted);
    world_close(&world);
}

/* A zone that makes us hold many dead servers must not displace the others. */
static void test_discovered_dead_ones_that_are_held_do_not_displace_the_others(void **state)
{
    (void)state;
    struct world world;
    struct asker asker;
    struct upstream *held[60];
    world_open(&world);
    upstreams_env(world.upstreams)->discovered_max = 40;
    world_peer(&world, "192.0.2.1@53", NULL, NULL);
    struct upstream *honest = world_discover(&world, "192.0.2.1@53", &upstream_options_default);
    ask_and_wait(&asker, &world, "www.example", honest);
    upstreams_drop(honest);
    for (unsigned i = 0; i < ARRAY_LEN(held); i++)
        held[i] = discover_nth(&world, i);
    fake_loop_settle(world.loop);
    assert_int_equal(count(&world), 61);
    for (unsigned i = 0; i < ARRAY_LEN(held); i++)
        upstreams_drop(held[i]);
    upstreams_drop(discover_nth(&world, 59));
    fake_loop_settle(world.loop);
    assert_int_equal(count(&world), 40);
    assert_ptr_equal(world_discover(&world, "192.0.2.1@53", &upstream_options_default), honest);
    assert_int_equal(honest->answers, 1);
    world_close(&world);
}

/* All of these upstreams match the prefix, but an upstream gets a place only when it connects. They
 * are displaced like others. */
static void test_discovered_in_a_prefix_of_all_addresses_they_stay_bounded(void **state)
{
    (void)state;
    struct world world;
    struct upstream_options nailed = world_nailed();
    world_open(&world);
    world.quota.max = 5;
    for (unsigned n = 0; n < UPSTREAMS_DISCOVERED_MAX + 2000; n++) {
        struct addr addr = nth(n);
        struct upstream *upstream = upstreams_discover(world.upstreams, &addr, &nailed);
        assert_non_null(upstream);
        upstreams_drop(upstream);
        if (n % 100 == 99)
            fake_loop_advance(world.loop, MS);
    }
    fake_loop_advance(world.loop, 10 * S);
    assert_int_equal(upstreams_discovered(world.upstreams), UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    assert_int_equal(world.quota.used, 0);
    world_close(&world);
}

static void test_discovered_and_held_they_stay_bounded(void **state)
{
    (void)state;
    struct world world;
    static struct upstream *held[UPSTREAMS_DISCOVERED_LIMIT];
    world_open(&world);
    for (unsigned i = 0; i < UPSTREAMS_DISCOVERED_LIMIT; i++)
        assert_non_null(held[i] = discover_nth(&world, i));
    fake_loop_settle(world.loop);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_LIMIT);
    assert_null(discover_nth(&world, UPSTREAMS_DISCOVERED_LIMIT));
    assert_ptr_equal(discover_nth(&world, 7), held[7]); /* a known upstream can still be used */
    upstreams_drop(held[7]);
    for (unsigned i = 0; i < UPSTREAMS_DISCOVERED_LIMIT; i++)
        upstreams_drop(held[i]);
    assert_null(discover_nth(&world, UPSTREAMS_DISCOVERED_LIMIT));
    upstreams_drop(discover_nth(&world, 7)); /* the next upstream drops the surplus */
    fake_loop_settle(world.loop);
    assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
    assert_non_null(discover_nth(&world, UPSTREAMS_DISCOVERED_LIMIT));
    world_close(&world);
}

/* An upstream is dropped while it delivers its answer, and a flood of new ones follows. */
struct letting_go {
    struct world *world;
    struct upstream *from;
    bool done;
};

static enum exchange_verdict let_go(void *owner, const struct exchange_answer *answer)
{
    struct letting_go *letting = owner;
    (void)answer;
    letting->from->answers = 0; /* upstreams without answers are displaced first */
    upstreams_drop(letting->from);
    for (unsigned i = 0; i < UPSTREAMS_DISCOVERED_MAX + 1; i++)
        upstreams_drop(discover_nth(letting->world, i));
    letting->done = true;
    return EXCHANGE_TAKEN;
}

static void never(void *owner, const struct exchange_failure *failure)
{
    (void)owner;
    (void)failure;
    fail();
}

static void test_discovered_and_dropped_inside_its_own_answer_it_outlives_the_call(void **state)
{
    (void)state;
    static const struct exchange_handler handler = {.on_answer = let_go, .on_failed = never};
    for (int over_stream = 0; over_stream < 2; over_stream++) {
        struct world world;
        struct exchange exchange;
        uint8_t wire[NAME_WIRE_MAX];
        struct exchange_question question = {.question = {.type = RRTYPE_A, .cls = RRCLASS_IN}};
        struct upstream_options options = upstream_options_default;
        options.transport = over_stream ? TRANSPORT_TCP : TRANSPORT_UDP;
        options.fallback = over_stream ? UPSTREAM_FALLBACK_NONE : UPSTREAM_FALLBACK_UDP;
        world_open(&world);
        world_peer(&world, "192.0.2.1@53", NULL, NULL);
        struct letting_go letting = {.world = &world,
                                     .from = world_discover(&world, "192.0.2.1@53", &options)};
        assert_int_equal(name_parse(&question.question.name, wire, "a.example", 9), ERR_OK);
        exchange_init(&exchange, world.upstreams, &handler, &letting);
        exchange_start(&exchange, &question, &letting.from, 1);
        fake_loop_advance(world.loop, S);
        assert_true(letting.done);
        assert_int_equal(count(&world), UPSTREAMS_DISCOVERED_MAX);
        assert_int_equal(world.stats.upstream_ready, 0); /* its connection was closed with it */
        world_close(&world);
    }
}

/* A former forwarder is not a discovered server, although recursion would use the same options. */
static bool keeps_all(void *context, const struct addr *addr,
                      const struct upstream_options *options)
{
    (void)context;
    (void)addr;
    (void)options;
    return true;
}

static void test_discovered_does_not_include_upstreams_that_were_only_configured(void **state)
{
    (void)state;
    struct world world;
    struct addr at = fake_addr("192.0.2.1@53");
    world_open(&world);
    struct upstream *listed = upstreams_want(world.upstreams, &at, &upstream_options_default);
    upstreams_unwant(listed);
    upstreams_drop(listed);
    upstreams_drop(discover_nth(&world, 1));
    upstreams_settle(world.upstreams, keeps_all, NULL);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 1);
    upstreams_settle(world.upstreams, NULL, NULL);
    fake_loop_advance(world.loop, S);
    assert_int_equal(count(&world), 0);
    assert_int_equal(upstreams_discovered(world.upstreams), 0);
    world_close(&world);
}

static void test_discovered_again_while_it_retires_it_comes_back(void **state)
{
    (void)state;
    struct world world;
    world_open(&world);
    struct upstream *met = discover_nth(&world, 1);
    upstreams_settle(world.upstreams, NULL, NULL);
    assert_true(met->retiring);
    assert_int_equal(upstreams_discovered(world.upstreams), 0);
    assert_ptr_equal(discover_nth(&world, 1), met);
    assert_false(met->retiring);
    assert_int_equal(upstreams_discovered(world.upstreams), 1);
    upstreams_drop(met);
    upstreams_drop(met);
    fake_loop_advance(world.loop, S);
    assert_ptr_equal(discover_nth(&world, 1), met);
    world_close(&world);
}

/* ---- all at once ---- */

enum { CHURN_SERVERS = 40, CHURN_ASKERS = 12, CHURN_MAX = 8 };

struct churn {
    struct world world;
    struct asker askers[CHURN_ASKERS];
    struct upstream *asked[CHURN_ASKERS]; /* the asker's held upstream, or NULL */
};

static bool keeps_some(void *context, const struct addr *addr,
                       const struct upstream_options *options)
{
    (void)context;
    (void)addr;
    (void)options;
    return rand_below(2);
}

/* Discovers an upstream. Its number decides its kind: plain, over TCP, or nailed. */
static struct upstream *discover_any(struct churn *churn)
{
    unsigned n = (unsigned)rand_below(CHURN_SERVERS);
    struct addr addr = nth(n);
    struct upstream_options options = n % 3 == 2 ? world_nailed() : upstream_options_default;
    if (n % 3 == 1)
        options.transport = TRANSPORT_TCP;
    return upstreams_discover(churn->world.upstreams, &addr, &options);
}

static void churn_once(struct churn *churn, unsigned n)
{
    struct asker *asker = &churn->askers[n];
    if (churn->asked[n] && asker->result == ASKER_WAITING && rand_below(3))
        return;
    if (churn->asked[n]) {
        exchange_stop(&asker->exchange);
        upstreams_drop(churn->asked[n]);
    }
    churn->asked[n] = discover_any(churn);
    if (churn->asked[n])
        ask(asker, &churn->world, "www.example", churn->asked[n]);
}

static void open_churn(struct churn *churn)
{
    memset(churn->asked, 0, sizeof(churn->asked));
    world_open(&churn->world);
    churn->world.quota.max = 4;
    upstreams_env(churn->world.upstreams)->discovered_max = CHURN_MAX;
    for (unsigned n = 0; n < CHURN_SERVERS; n++) {
        struct addr addr = nth(n);
        struct fake_peer *peer = fake_peer_new(churn->world.net, &addr, NULL, NULL);
        if (n % 5 == 4)
            fake_server_set_udp(fake_peer_server(peer), FAKE_UDP_DROP);
        if (n % 7 == 6)
            fake_server_set_dial(fake_peer_server(peer), FAKE_DIAL_BLACKHOLE);
    }
}

static void test_discovered_and_dropped_in_any_order_nothing_is_lost(void **state)
{
    (void)state;
    static struct churn churn;
    open_churn(&churn);
    for (unsigned round = 0; round < 20000; round++) {
        churn_once(&churn, (unsigned)rand_below(CHURN_ASKERS));
        if (rand_below(200) == 0)
            upstreams_settle(churn.world.upstreams, keeps_some, NULL);
        if (rand_below(3) == 0)
            fake_loop_advance(churn.world.loop, rand_below(20) * MS);
        assert_in_range(upstreams_discovered(churn.world.upstreams), 0, 2 * CHURN_MAX);
    }
    for (unsigned n = 0; n < CHURN_ASKERS; n++) {
        exchange_stop(&churn.askers[n].exchange);
        if (churn.asked[n])
            upstreams_drop(churn.asked[n]);
    }
    upstreams_drop(discover_any(&churn)); /* drops the surplus */
    fake_loop_advance(churn.world.loop, 100 * S);
    assert_in_range(count(&churn.world), 1, CHURN_MAX);
    upstreams_settle(churn.world.upstreams, NULL, NULL);
    fake_loop_advance(churn.world.loop, 100 * S);
    assert_int_equal(count(&churn.world), 0);
    world_close(&churn.world);
}

struct looks {
    unsigned shown, listed; /* listed: without discovered upstreams */
};

static void look(void *context, const struct upstream_view *view)
{
    struct looks *looks = context;
    looks->shown++;
    looks->listed += view->addr.in.sin_addr.s_addr == fake_addr("10.0.0.1@53").in.sin_addr.s_addr;
}

/* Continues a walk until its end. Returns its number of steps, each of which looks at a bounded
 * number of upstreams. */
static unsigned walk_on(struct world *world, struct upstreams_walk *walk, struct looks *looks)
{
    for (unsigned steps = 1;; steps++) {
        size_t from = walk->place;
        unsigned shown = looks->shown;
        bool is_more = upstreams_some(world->upstreams, walk, 64, look, looks);
        assert_true(walk->place - from <= UPSTREAMS_WALK_MAX);
        assert_true(looks->shown - shown <= 64);
        if (!is_more)
            return steps;
    }
}

static void test_discovered_by_thousands_a_part_is_shown_and_all_are_counted(void **state)
{
    (void)state;
    enum { MET = 15000 };
    struct world world;
    struct looks looks = {0};
    world_open(&world);
    discover_many(&world, 0, MET);
    struct addr addr = fake_addr("10.0.0.1@53");
    struct upstream *listed =
        /* the last of all upstreams */
        upstreams_want(world.upstreams, &addr, &upstream_options_default);
    struct upstreams_walk walk = {.discovered_below = 500};
    assert_true(walk_on(&world, &walk, &looks) < 20);
    assert_int_equal(looks.shown, 501);
    assert_int_equal(looks.listed, 1);
    assert_int_equal(walk.left_out, MET - 500);
    struct prefix prefix;
    assert_int_equal(prefix_parse(&prefix, "100.64.1.0/24"), ERR_OK);
    walk = (struct upstreams_walk){.prefix = &prefix, .discovered_below = SIZE_MAX};
    looks = (struct looks){0};
    walk_on(&world, &walk, &looks);
    assert_int_equal(looks.shown, 256);
    assert_int_equal(walk.left_out, 0);
    looks = (struct looks){0};
    assert_int_equal(upstreams_first(world.upstreams, 128, look, &looks), 1);
    assert_int_equal(looks.shown, 1); /* the view for scrapers is bounded, too */
    upstreams_unwant(listed);
    upstreams_drop(listed);
    world_close(&world);
}

/* If each part began at the oldest upstream, the steps would be quadratic. */
static void test_walk_passes_each_upstream_once(void **state)
{
    (void)state;
    enum { MET = 10000 };
    struct world world;
    struct looks looks = {0};
    world_open(&world);
    discover_many(&world, 0, MET);
    struct upstreams_walk walk = {.discovered_below = SIZE_MAX};
    walk_on(&world, &walk, &looks);
    assert_int_equal(looks.shown, MET);
    assert_int_equal(walk.place, MET);
    assert_int_equal(walk.steps, MET);
    /* starts again at the first upstream */
    walk = (struct upstreams_walk){.discovered_below = SIZE_MAX};
    looks = (struct looks){0};
    walk_on(&world, &walk, &looks);
    assert_int_equal(looks.shown, MET);
    world_close(&world);
}

enum { STAY = 1000, GO = 500, COME = GO };

static void mark(void *context, const struct upstream_view *view)
{
    uint8_t *seen = context;
    seen[ntohl(view->addr.in.sin_addr.s_addr) & 0xffff]++;
}

/* Two walks alternate while upstreams come and go, including the one at which a walk continues. */
static void test_walks_that_alternate_see_each_remaining_upstream_once(void **state)
{
    (void)state;
    static uint8_t seen[2][65536];
    static const size_t most[2] = {10, 16};
    struct upstreams_walk walks[2] = {{.discovered_below = SIZE_MAX},
                                      {.discovered_below = SIZE_MAX}};
    bool is_more[2] = {true, true};
    struct world world;
    world_open(&world);
    upstreams_env(world.upstreams)->discovered_max = GO + STAY;
    discover_many(&world, 0, GO + STAY);
    for (unsigned come = 0; is_more[0] || is_more[1];) {
        for (int i = 0; i < 2; i++) {
            if (is_more[i])
                is_more[i] = upstreams_some(world.upstreams, &walks[i], most[i], mark, seen[i]);
        }
        /* as many of the oldest upstreams go */
        for (unsigned now = 0; now < 20 && come < COME; now++)
            discover_many(&world, GO + STAY + come++, 1);
    }
    assert_int_equal(count(&world), GO + STAY);
    for (unsigned i = 0; i < GO + STAY + COME; i++) {
        bool stays = i >= GO;
        for (int walk = 0; walk < 2; walk++)
            assert_in_range(seen[walk][i], stays, 1);
    }
    world_close(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_discovered_again_it_is_the_same_object),
        cmocka_unit_test(test_discovered_in_a_prefix_it_is_dialled_at_first_sight_and_kept),
        cmocka_unit_test(test_discovered_without_a_connection_it_gets_no_place),
        cmocka_unit_test(test_discovered_and_dead_it_loses_its_place_until_the_next_query),
        cmocka_unit_test(test_discovered_dead_ones_that_are_held_do_not_displace_the_others),
        cmocka_unit_test(test_discovered_and_unused_it_makes_room_for_another),
        cmocka_unit_test(test_discovered_without_end_they_stay_bounded_and_the_last_used_stay),
        cmocka_unit_test(test_discovered_in_a_flood_nailed_wanted_and_held_ones_stay),
        cmocka_unit_test(test_discovered_in_a_prefix_of_all_addresses_they_stay_bounded),
        cmocka_unit_test(test_discovered_and_held_they_stay_bounded),
        cmocka_unit_test(test_discovered_and_dropped_inside_its_own_answer_it_outlives_the_call),
        cmocka_unit_test(test_discovered_does_not_include_upstreams_that_were_only_configured),
        cmocka_unit_test(test_discovered_again_while_it_retires_it_comes_back),
        cmocka_unit_test(test_discovered_and_dropped_in_any_order_nothing_is_lost),
        cmocka_unit_test(test_discovered_by_thousands_a_part_is_shown_and_all_are_counted),
        cmocka_unit_test(test_walk_passes_each_upstream_once),
        cmocka_unit_test(test_walks_that_alternate_see_each_remaining_upstream_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
