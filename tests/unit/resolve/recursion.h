/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_RECURSION_H
#define NAILUP_TESTS_RESOLVE_RECURSION_H

/*
 * Tasks that recurse, in virtual time, above servers that the test writes. The last byte of an
 * address is the server's number: 1 is the root, and 1001 the stub zone corp.com. IPv6 addresses
 * are not discovered, except in tests where an IP version has no route: their numbers get 600
 * added. One file of a program includes this.
 */

#include "unit/resolve/fake_exchange.h"
#include "unit/resolve/sample.h"

#include "base/units.h"
#include "dns/edns.h"
#include "resolve/finish.h"
#include "resolve/strategy_iterate.h"
#include "resolve/task.h"
#include "resolve/iterate_world.h"
#include "resolve/task_ask.h"
#include "support/fake_loop.h"

enum { MAX_TASKS = 60 };

static struct loop *loop;
static struct cache *cache;
static struct stats stats;
static struct zone_set zones;
static struct tasks tasks;
static struct waiter waiter;
static struct iterate_world world;
static struct trace *watching;           /* watches the next question; NULL: no trace */
static unsigned answers, answered_count; /* counts answers to the client */
static int held;
static int lacking;                /* the IP version that has no route; 0: both have one */
static bool may_recurse_elsewhere; /* some servers are recursive */
static uint8_t rcode, ede_count;
static uint16_t ede[2];
static enum err told;
static char text[4096], questions[16384];

/* ---- the servers ---- */

/* Makes the server's response to the question. Returns false for silence. Each test defines it. */
static bool respond(struct response_text *to, unsigned server, const struct question *question);

static inline size_t hold(void *context, const struct addr *ips, size_t count,
                          struct upstream **out, size_t most, size_t *unproven)
{
    size_t taken = 0;
    *unproven = 0;
    (void)context;
    for (size_t i = 0; i < count && taken < most; i++) {
        size_t len;
        const uint8_t *bytes = addr_bytes(&ips[i], &len);
        if (len == 4 || lacking)
            out[taken++] = upstream_number(bytes[len - 1] + (len == 16 ? 600u : 0u));
    }
    held += (int)taken;
    return taken;
}

static inline bool lacks_family(void *context, int family)
{
    (void)context;
    return family == lacking;
}

static inline void drop(void *context, struct upstream *const *group, size_t count)
{
    (void)context;
    for (size_t i = 0; i < count; i++)
        assert_non_null(group[i]);
    held -= (int)count;
}

static inline void log_question(uintptr_t server, const struct question *question)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    size_t len = strlen(questions);
    snprintf(questions + len, sizeof(questions) - len, "%s%u:%s %s", len ? ", " : "",
             (unsigned)server, name_format(question->name, name),
             rrtype_name(question->type, type));
}

static inline enum exchange_verdict say(unsigned number, struct response_text *sent)
{
    header_put(sent->bytes, HEADER_RA, false);
    return answer_with(number, response_parse(sent));
}

/* Returns the server at this place of the order, in which doubtful servers come last. */
static inline unsigned order_of(const struct exchange *exchange, unsigned place)
{
    for (unsigned doubtful = 0; doubtful < 2; doubtful++)
        for (unsigned i = 0; i < exchange->group_len; i++)
            if ((exchange->asked.doubtful >> i & 1) == doubtful && place-- == 0)
                return i;
    fail();
    return 0;
}

/* a silent server takes as long as an exchange may */
static bool silence_lasts;

/* Runs one exchange to its end, and tries the servers of the group in their order. */
static inline void serve(unsigned number)
{
    struct exchange *exchange = asked[number];
    struct exchange_failure failure = {0};
    struct question question = exchange->asked.question;
    assert_true(may_recurse_elsewhere || !exchange->asked.recursion_desired);
    for (unsigned i = 0; i < exchange->group_len; i++) {
        uintptr_t server = (uintptr_t)exchange->group[order_of(exchange, i)];
        static struct response_text sent;
        log_question(server, &question);
        answering = (struct upstream *)server;
        if (!respond(&sent, (unsigned)server, &question)) {
            failure.is_late = silence_lasts;
            failure.any_network = !silence_lasts;
            continue;
        }
        if (say(number, &sent) == EXCHANGE_TAKEN)
            return;
        failure.any_answer = true;
    }
    exchange_fails(number, failure);
}

/* Serves exchanges until none is under way. */
static inline void run(void)
{
    for (;;) {
        fake_loop_advance(loop, US_PER_MS);
        if (answered_count == asked_count)
            return;
        unsigned number = answered_count++;
        if (asked[number]->active)
            serve(number);
    }
}

/* ---- the client ---- */

static inline void on_client_answer(struct waiter *client, const struct answer *got)
{
    (void)client;
    answers++;
    rcode = header_rcode(got->message.data);
    ede_count = got->ede_count;
    memcpy(ede, got->ede, sizeof(ede));
    told = got->error;
    snprintf(text, sizeof(text), "%.4095s", answer_show(got));
}

static inline const char *resolve_with(const char *name, uint16_t type, uint8_t flags)
{
    struct cache_key key;
    struct answer found;
    cache_key_init(&key, cache, &(struct question){NAME(name), type, RRCLASS_IN}, flags,
                   CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    questions[0] = 0;
    answers = 0;
    asked_count = answered_count = 0;
    cache_read_begin();
    bool is_cached = cache_find(cache, &key, loop_now(loop), &found);
    if (is_cached)
        on_client_answer(&waiter, &found);
    cache_read_end();
    if (!is_cached)
        assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, watching),
                         RESOLVER_WAITING);
    run();
    assert_int_equal(answers, 1);
    assert_int_equal(held, 0);
    assert_int_equal(tasks.count, 0);
    for (unsigned i = 0; i < ZONE_LOAD_PLACES; i++)
        assert_int_equal(tasks.load.counts[i], 0);
    return text;
}

static inline const char *resolve(const char *name)
{
    return resolve_with(name, RRTYPE_A, 0);
}

static inline void on_turn_end(struct turn_end *end)
{
    finish_deliver(CONTAINER_OF(end, struct tasks, deliver));
}

static inline int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {
        .size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400, .max_negative_ttl_s = 900};
    memset(&stats, 0, sizeof(stats));
    loop = loop_new();
    cache = cache_new(&options);
    cache_thread_begin();
    tasks.loop = loop;
    tasks.cache = cache;
    tasks.stats = &stats;
    tasks.minimal_responses = true;
    space_init(&tasks.shared, CACHE_SPACE_SHARED);
    tasks.shared.routes = routes_new(ZONES(&zones, ".", "corp.com"), NULL,
                                     &(struct route_strategies){.forward = &iterate_strategy});
    struct zone *root =
        (struct zone *)(uintptr_t)route_find(tasks.shared.routes, name_root(), RRTYPE_A);
    root->is_authoritative = true;
    root->group_len = 0;
    struct zone *corp =
        (struct zone *)(uintptr_t)route_find(tasks.shared.routes, NAME("corp.com"), RRTYPE_A);
    corp->is_authoritative = true;
    corp->strategy = &stub_strategy;
    world = (struct iterate_world){.rules = {.minimise = true, .ipv4 = true},
                                   .hold = hold,
                                   .drop = drop,
                                   .lacks = lacks_family};
    lacking = 0;
    delegation_init(&world.hints, name_root(), DELEGATION_HINTS, UINT64_MAX);
    delegation_add(&world.hints, NAME("a.root"));
    delegation_add_addr(&world.hints, 0, span_of("\300\0\0\1", 4));
    tasks.world = &world;
    turn_end_init(&tasks.deliver, on_turn_end);
    list_init(&waiter.node);
    waiter.on_answer = on_client_answer;
    return !tasks_init(&tasks, MAX_TASKS);
}

static inline int tear_down(void **state)
{
    (void)state;
    tasks_deinit(&tasks);
    routes_free(tasks.shared.routes);
    cache_thread_end();
    cache_free(cache);
    loop_free(loop);
    return 0;
}

#endif
