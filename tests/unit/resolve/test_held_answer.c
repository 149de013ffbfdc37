/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Answers that wait for a verdict, above exchanges that the test answers by hand. */
#include "unit/resolve/fake_exchange.h"
#include "unit/resolve/sample.h"

#include "resolve/finish.h"
#include "resolve/strategy_forward.h"
#include "resolve/task.h"
#include "support/fake_loop.h"

enum { CLIENTS = 3, MAX_TASKS = 40 };

static struct loop *loop;
static struct cache *cache;
static struct stats stats;
static struct zone_set zones;
static struct tasks tasks;

/* ---- clients ---- */

static struct client {
    struct waiter waiter;
    unsigned answers;
    uint8_t rcode;
    uint16_t ede;
    char text[256];
} clients[CLIENTS];

static void on_client_answer(struct waiter *waiter, const struct answer *got)
{
    struct client *client = CONTAINER_OF(waiter, struct client, waiter);
    client->answers++;
    client->rcode = header_rcode(got->message.data);
    client->ede = got->ede_count ? got->ede[0] : EDE_NONE;
    snprintf(client->text, sizeof(client->text), "%.255s", answer_show(got));
}

static void client_asks(unsigned number, const char *name)
{
    struct cache_key key;
    cache_key_init(&key, cache, &(struct question){NAME(name), RRTYPE_A, RRCLASS_IN}, 0, 0);
    list_init(&clients[number].waiter.node);
    clients[number].waiter.on_answer = on_client_answer;
    assert_int_equal(task_join(&tasks, &key, &clients[number].waiter, NULL), RESOLVER_WAITING);
}

/* ---- the judge ---- */

static enum verdict verdict;
static uint16_t verdict_ede;
static struct task *judged[CLIENTS];
static unsigned judged_count;

static enum verdict judge_answer(void *context, struct task *task, const struct answer *answer,
                                 struct span message, uint16_t *ede)
{
    struct message whole;
    assert_ptr_equal(context, &tasks);
    assert_int_equal(message_parse(&whole, message), MESSAGE_OK);
    assert_int_equal(whole.id, 4711); /* as the server sent it */
    assert_true(answer->message.len > 0);
    if (judged_count < CLIENTS)
        judged[judged_count] = task;
    judged_count++;
    *ede = verdict_ede;
    return verdict;
}

static void on_turn_end(struct turn_end *end)
{
    finish_deliver(CONTAINER_OF(end, struct tasks, deliver));
}

static int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};
    static const struct judge judge = {judge_answer, &tasks};
    memset(&stats, 0, sizeof(stats));
    memset(clients, 0, sizeof(clients));
    asked_count = judged_count = 0;
    verdict = VERDICT_LATER;
    verdict_ede = EDE_NONE;
    loop = loop_new();
    cache = cache_new(&options);
    cache_thread_begin();
    tasks.loop = loop;
    tasks.cache = cache;
    tasks.stats = &stats;
    tasks.judge = &judge;
    tasks.routes = routes_new(ZONES(&zones, "."), NULL,
                              &(struct route_strategies){.forward = &forward_strategy});
    turn_end_init(&tasks.deliver, on_turn_end);
    return !tasks_init(&tasks, MAX_TASKS);
}

static int tear_down(void **state)
{
    (void)state;
    tasks_deinit(&tasks);
    routes_free((struct routes *)(uintptr_t)tasks.routes);
    cache_thread_end();
    cache_free(cache);
    loop_free(loop);
    return 0;
}

static bool is_cached(const char *name)
{
    struct cache_key key;
    struct answer found;
    cache_key_init(&key, cache, &(struct question){NAME(name), RRTYPE_A, RRCLASS_IN}, 0, 0);
    cache_read_begin();
    bool is_found = cache_find(cache, &key, loop_now(loop), &found);
    cache_read_end();
    return is_found;
}

static void decide(struct task *task, enum verdict how, uint16_t ede)
{
    task_on_verdict(task, how, ede);
    finish_deliver(&tasks);
}

/* ---- tests ---- */

static void test_a_good_answer_is_delivered_at_once_and_without_a_copy(void **state)
{
    (void)state;
    verdict = VERDICT_GOOD;
    client_asks(0, "a.com");
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    assert_int_equal(judged_count, 1);
    assert_int_equal(tasks.held_bytes, 0);
    assert_string_equal(clients[0].text, "an a.com. 60 A 192.0.2.1\n");
    assert_true(is_cached("a.com"));
}

static void test_a_bad_answer_fails_with_the_judge_s_reason(void **state)
{
    (void)state;
    verdict = VERDICT_BAD;
    verdict_ede = EDE_DNSSEC_BOGUS;
    client_asks(0, "a.com");
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    assert_int_equal(clients[0].rcode, RCODE_SERVFAIL);
    assert_int_equal(clients[0].ede, EDE_DNSSEC_BOGUS);
}

/* The scrub space serves other answers while one is held. */
static void test_a_held_answer_survives_the_answers_of_other_tasks(void **state)
{
    (void)state;
    client_asks(0, "a.com");
    client_asks(1, "b.com");
    client_asks(2, "c.com");
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    assert_int_equal(judged[0]->state, TASK_VALIDATING);
    answer(1, 0, (struct sections){.answer = {"b.com. 60 IN A 192.0.2.2"}});
    verdict = VERDICT_GOOD;
    answer(2, 0, (struct sections){.answer = {"c.com. 60 IN A 192.0.2.3"}});
    assert_string_equal(clients[2].text, "an c.com. 60 A 192.0.2.3\n");
    assert_int_equal(clients[0].answers + clients[1].answers, 0);
    assert_false(is_cached("a.com"));

    decide(judged[1], VERDICT_GOOD, EDE_NONE);
    decide(judged[0], VERDICT_GOOD, EDE_NONE);
    assert_string_equal(clients[0].text, "an a.com. 60 A 192.0.2.1\n");
    assert_string_equal(clients[1].text, "an b.com. 60 A 192.0.2.2\n");
    assert_true(is_cached("a.com"));
    assert_int_equal(tasks.held_bytes, 0);
}

static void test_the_message_is_kept_whole_until_the_verdict(void **state)
{
    (void)state;
    struct message message;
    client_asks(0, "a.com");
    answer(0, 0,
           (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"},
                             .additional = {"unrelated.org. 60 IN A 192.0.2.9"}});
    struct held_answer *held = judged[0]->held;
    assert_int_equal(message_parse(&message, span_of(held->message, held->message_len)),
                     MESSAGE_OK);
    assert_int_equal(message.counts[SECTION_ADDITIONAL], 1); /* scrub has dropped it */
    assert_int_equal(header_count(held->answer->message.data, SECTION_ADDITIONAL), 0);
    decide(judged[0], VERDICT_BAD, EDE_DNSSEC_BOGUS);
    assert_int_equal(clients[0].ede, EDE_DNSSEC_BOGUS);
    assert_int_equal(tasks.held_bytes, 0);
}

static void test_a_client_joins_a_task_that_validates(void **state)
{
    (void)state;
    client_asks(0, "a.com");
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    client_asks(1, "a.com");
    assert_int_equal(asked_count, 1);
    decide(judged[0], VERDICT_GOOD, EDE_NONE);
    assert_int_equal(clients[0].answers + clients[1].answers, 2);
}

static void test_a_verdict_that_never_comes_ends_with_the_task_s_clock(void **state)
{
    (void)state;
    client_asks(0, "a.com");
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    fake_loop_advance(loop, TASK_WALL_US + 10 * US_PER_MS);
    assert_int_equal(clients[0].rcode, RCODE_SERVFAIL);
    assert_int_equal(tasks.held_bytes, 0);
    assert_int_equal(tasks.count, 0);
}

static void test_an_answer_above_the_bound_of_held_bytes_fails_and_is_not_remembered(void **state)
{
    (void)state;
    client_asks(0, "a.com");
    tasks.held_bytes = HELD_ANSWERS_BYTES_MAX - 100;
    answer(0, 0, (struct sections){.answer = {"a.com. 60 IN A 192.0.2.1"}});
    assert_int_equal(clients[0].rcode, RCODE_SERVFAIL);
    assert_int_equal(stats.failures_full, 1);
    assert_false(is_cached("a.com"));
    assert_int_equal(tasks.held_bytes, HELD_ANSWERS_BYTES_MAX - 100);
    tasks.held_bytes = 0;
}

#define SENTENCE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_a_good_answer_is_delivered_at_once_and_without_a_copy),
        SENTENCE(test_a_bad_answer_fails_with_the_judge_s_reason),
        SENTENCE(test_a_held_answer_survives_the_answers_of_other_tasks),
        SENTENCE(test_the_message_is_kept_whole_until_the_verdict),
        SENTENCE(test_a_client_joins_a_task_that_validates),
        SENTENCE(test_a_verdict_that_never_comes_ends_with_the_task_s_clock),
        SENTENCE(test_an_answer_above_the_bound_of_held_bytes_fails_and_is_not_remembered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
