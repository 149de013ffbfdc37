/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reloads of a whole resolver above real upstreams in a simulated network: connections that stay,
 * questions under way, and many of both at random.
 */
#include "unit/upstream/world.h"

#include "base/log.h"
#include "dns/header.h"
#include "resolve/resolver.h"

enum { ZONES_MAX = 4, CLIENTS = 200 };

struct whole {
    struct world world;
    struct cache *cache;
    struct resolver *resolver;
};

struct client {
    struct waiter waiter;
    unsigned asked, answers;
    uint16_t rcode;
};

/* ---- a configuration, which the resolver takes ---- */

struct config {
    struct route_options options;
    struct route_zone zones[ZONES_MAX];
    struct route_upstream upstreams[ZONES_MAX];
};

static struct config *config_new(void)
{
    struct config *config = calloc(1, sizeof(*config));
    config->options.zones = config->zones;
    return config;
}

static void add_zone(struct config *config, const char *text, const char *addr,
                     const struct upstream_options *options)
{
    size_t number = config->options.zone_count++;
    struct route_zone *zone = &config->zones[number];
    struct name name;
    assert_int_equal(name_parse(&name, zone->wire, text, strlen(text)), ERR_OK);
    zone->name_len = name.len;
    zone->cache = true;
    zone->upstreams = &config->upstreams[number];
    zone->upstream_count = 1;
    zone->upstreams->addr = fake_addr(addr);
    zone->upstreams->options = *options;
}

static void config_free(struct config *config)
{
    memset(config, 0xa5, sizeof(*config));
    free(config);
}

static void reload(struct whole *whole, struct config *config)
{
    assert_int_equal(resolver_reload(whole->resolver, &config->options, NULL, CLIENTS), ERR_OK);
    config_free(config);
}

static void whole_open(struct whole *whole, struct config *config)
{
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400, .failure_ttl_s = 1};
    world_open(&whole->world);
    cache_thread_begin();
    whole->cache = cache_new(&options);
    whole->resolver = resolver_new(whole->world.loop, whole->cache, whole->world.upstreams,
                                   &config->options, CLIENTS, &whole->world.stats);
    assert_non_null(whole->resolver);
    config_free(config);
}

static void whole_close(struct whole *whole)
{
    resolver_free(whole->resolver);
    world_close(&whole->world);
    cache_thread_end();
    cache_free(whole->cache);
}

/* ---- clients ---- */

static void on_answer(struct waiter *waiter, const struct answer *answer)
{
    struct client *client = CONTAINER_OF(waiter, struct client, waiter);
    client->answers++;
    client->rcode = header_rcode(answer->message.data);
}

static void ask_name(struct whole *whole, struct client *client, const char *text)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = {.type = RRTYPE_A, .cls = RRCLASS_IN};
    struct cache_key key;
    struct answer found;
    assert_int_equal(name_parse(&question.name, wire, text, strlen(text)), ERR_OK);
    resolver_key(whole->resolver, RESOLVER_NO_VIEW, &key, &question, false, false);
    list_init(&client->waiter.node);
    client->waiter.on_answer = on_answer;
    client->asked++;
    cache_read_begin();
    if (resolver_find(whole->resolver, RESOLVER_NO_VIEW, &key, &found))
        on_answer(&client->waiter, &found);
    else if (resolver_ask(whole->resolver, RESOLVER_NO_VIEW, &key, &client->waiter) !=
             RESOLVER_WAITING)
        client->asked--;
    cache_read_end();
}

static struct upstream_options nailed(uint32_t max_requests)
{
    struct upstream_options options = world_nailed();
    options.fallback = UPSTREAM_FALLBACK_NONE;
    options.max_requests = max_requests;
    return options;
}

static void answer_slowly(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = *(uint64_t *)owner;
}

/* ---- */

static struct config *two_zones(uint32_t first, uint32_t second)
{
    struct config *config = config_new();
    struct upstream_options a = nailed(first), b = nailed(second);
    add_zone(config, ".", "10.1.1.1@53", &a);
    add_zone(config, "example", "10.1.1.2@53", &b);
    return config;
}

static void test_whole_a_reload_dials_only_changed_upstreams_and_loses_no_question(void **state)
{
    (void)state;
    struct whole whole;
    struct client stays = {0}, changed = {0}, gone = {0}, after = {0};
    uint64_t delay_us = 300 * MS;
    whole_open(&whole, two_zones(1000, 1000));
    struct world *world = &whole.world;
    struct fake_peer *first = world_peer(world, "10.1.1.1@53", answer_slowly, &delay_us);
    struct fake_peer *second = world_peer(world, "10.1.1.2@53", answer_slowly, &delay_us);
    fake_loop_advance(world->loop, S);
    ask_name(&whole, &stays, "a.test");
    ask_name(&whole, &changed, "a.example");
    fake_loop_advance(world->loop, 50 * MS);
    reload(&whole, two_zones(1000, 999));
    fake_loop_advance(world->loop, 50 * MS);
    ask_name(&whole, &after, "a.example");
    ask_name(&whole, &gone, "b.example");
    fake_loop_advance(world->loop, 50 * MS);
    struct config *less = config_new();
    struct upstream_options options = nailed(1000);
    add_zone(less, ".", "10.1.1.1@53", &options);
    reload(&whole, less);
    fake_loop_advance(world->loop, S);
    const struct client *all[] = {&stays, &changed, &gone, &after};
    for (size_t i = 0; i < ARRAY_LEN(all); i++) {
        assert_int_equal(all[i]->answers, 1);
        assert_int_equal(all[i]->rcode, RCODE_NOERROR);
    }
    assert_int_equal(peer_dials(first), 1);
    assert_int_equal(peer_dials(second), 2);
    assert_int_equal(peer_stream_queries(second), 3);
    assert_int_equal(world->stats.upstream_ready, 1);
    assert_int_equal(world->quota.used, 1);
    whole_close(&whole);
}

static void test_whole_the_end_may_come_while_former_upstreams_drain(void **state)
{
    (void)state;
    struct whole whole;
    struct client client = {0};
    uint64_t delay_us = 3 * S;
    whole_open(&whole, two_zones(1000, 1000));
    world_peer(&whole.world, "10.1.1.2@53", answer_slowly, &delay_us);
    fake_loop_advance(whole.world.loop, S);
    ask_name(&whole, &client, "a.example");
    reload(&whole, two_zones(1, 1));
    fake_loop_advance(whole.world.loop, 10 * MS);
    whole_close(&whole);
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
}

static struct config *config_at_random(void)
{
    static const char *const names[] = {".", "example", "in.example", "test"};
    struct config *config = config_new();
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char addr[32];
        struct upstream_options options = nailed(2 + (uint32_t)rand_below(4));
        snprintf(addr, sizeof(addr), "10.1.1.%u@53", 1 + (unsigned)rand_below(4));
        if (rand_below(3) == 0)
            options = upstream_options_default;
        if (i == 0 || rand_below(3))
            add_zone(config, names[i], addr, &options);
    }
    return config;
}

static void answer_at_random(void *owner, const struct fake_ask *ask, struct fake_answer *answer)
{
    (void)owner;
    fake_answer_a(answer, ask->query, "192.0.2.1", 300);
    answer->delay_us = rand_below(5) ? rand_below(50) * MS : rand_below(2) * S;
    if (rand_below(20) == 0)
        answer->how = FAKE_SILENT;
    else if (rand_below(20) == 0)
        answer->how = FAKE_CLOSE;
}

static void test_whole_reloads_at_random_answer_every_question_and_leave_nothing(void **state)
{
    (void)state;
    static struct client clients[CLIENTS];
    struct whole whole;
    size_t most = 0;
    memset(clients, 0, sizeof(clients));
    whole_open(&whole, config_at_random());
    struct world *world = &whole.world;
    for (unsigned i = 1; i <= 4; i++) {
        char addr[32];
        snprintf(addr, sizeof(addr), "10.1.1.%u@53", i);
        world_peer(world, addr, answer_at_random, NULL);
    }
    for (unsigned round = 0; round < 3000; round++) {
        char name[64];
        struct client *client = &clients[rand_below(CLIENTS)];
        snprintf(name, sizeof(name), "n%u.%s", (unsigned)rand_below(1000),
                 rand_below(2) ? "in.example" : "test");
        if (client->asked == client->answers)
            ask_name(&whole, client, name);
        if (rand_below(30) == 0)
            reload(&whole, config_at_random());
        fake_loop_advance(world->loop, rand_below(20) * MS);
        most = MAX(most, upstreams_count(world->upstreams));
    }
    fake_loop_advance(world->loop, 30 * S);
    for (unsigned i = 0; i < CLIENTS; i++)
        assert_int_equal(clients[i].answers, clients[i].asked);
    assert_true(most <= 4 * 5); /* each address with each possible set of options */
    reload(&whole, config_new());
    fake_loop_advance(world->loop, 30 * S);
    assert_int_equal(upstreams_count(world->upstreams), 0);
    assert_int_equal(fake_net_open_sockets(world->net), 0);
    assert_int_equal(world->quota.used, 0);
    whole_close(&whole);
}

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole_a_reload_dials_only_changed_upstreams_and_loses_no_question),
        cmocka_unit_test(test_whole_the_end_may_come_while_former_upstreams_drain),
        cmocka_unit_test(test_whole_reloads_at_random_answer_every_question_and_leave_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
