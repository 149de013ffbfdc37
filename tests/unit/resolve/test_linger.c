/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Tasks without clients, and the late answers that they wait for. */
#include "unit/resolve/clients.h"

#include "resolve/tasks.h"
#include "resolve/trace.h"

/* A client gets a failure for its query. The exchange with this number lingers. */
static void fail_and_linger(const char *name)
{
    struct client client = {0};
    client_ask(&client, name, 0);
    exchange_fails_and_lingers(asked_count - 1);
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.kind, ANSWER_FAILURE);
}

static void test_a_late_answer_is_cached(void **state)
{
    (void)state;
    struct answer found;
    fail_and_linger(WWW);
    assert_int_equal(resolver_tasks(resolver), 0);
    answer(0, 0, WWW_A);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
    assert_false(asked[0]->lingering);
}

static void test_a_client_that_asks_meanwhile_gets_the_late_answer(void **state)
{
    (void)state;
    struct client client = {0};
    fail_and_linger(WWW);
    fake_loop_advance(loop, 6 * SECOND);
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_count, 1);
    assert_true(asked[0]->active);
    assert_int_equal(resolver_tasks(resolver), 1);
    answer(0, 0, WWW_A);
    assert_int_equal(client.answers, 1);
    assert_string_equal(client.text, WWW_TEXT);
}

/* The second client gets the same failure, and the task continues to linger. */
static void test_a_task_lingers_again_after_it_was_joined(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    fail_and_linger(WWW);
    fake_loop_advance(loop, 6 * SECOND);
    client_ask(&client, WWW, 0);
    exchange_fails_and_lingers(0);
    assert_int_equal(client.kind, ANSWER_FAILURE);
    answer(0, 0, WWW_A);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
}

static void test_a_useless_late_answer_changes_nothing(void **state)
{
    (void)state;
    struct answer found;
    fail_and_linger(WWW);
    assert_int_equal(answer(0, RCODE_SERVFAIL, (struct sections){0}), EXCHANGE_ANOTHER);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_FAILURE);
    answer(0, 0, WWW_A);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
}

/* The task fails once more inside the call that brings the answer, which ends the exchange. */
static void test_a_late_answer_that_fails_ends_the_lingering(void **state)
{
    (void)state;
    struct client client = {0};
    fail_and_linger(WWW);
    assert_int_equal(answer(0, 0,
                            (struct sections){.answer = {"www.example. 300 IN CNAME b.example.",
                                                         "b.example. 300 IN CNAME www.example."}}),
                     EXCHANGE_TAKEN);
    assert_false(asked[0]->lingering);
    fake_loop_advance(loop, 6 * SECOND);
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_count, 2);
    answer(1, 0, WWW_A);
    assert_string_equal(client.text, WWW_TEXT);
}

static void test_silence_ends_a_lingering_task(void **state)
{
    (void)state;
    struct client client = {0};
    fail_and_linger(WWW);
    fake_loop_advance(loop, 6 * SECOND);
    exchange_stop(asked[0]);
    asked[0]->handler->on_quiet(asked[0]->owner);
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_count, 2);
    answer(1, 0, WWW_A);
    assert_int_equal(client.answers, 1);
}

/* Counts tasks that linger. The memory of tasks is reused, so several numbers may mean one
 * exchange. */
static unsigned count_lingering(void)
{
    unsigned count = 0;
    for (unsigned i = 0; i < asked_count; i++) {
        bool is_first = asked[i]->lingering;
        for (unsigned k = 0; k < i; k++)
            is_first &= asked[k] != asked[i];
        count += is_first;
    }
    return count;
}

/* The oldest lingering task gives way: first to other lingering tasks, then to clients. */
static void test_lingering_tasks_are_bounded_and_make_room(void **state)
{
    (void)state;
    enum { MOST = MAX_TASKS / TASK_LINGER_SHARE };
    struct client clients[MAX_TASKS] = {0};
    char name[32];
    for (unsigned i = 0; i < MOST + 5; i++) {
        snprintf(name, sizeof(name), "n%u.example", i);
        fail_and_linger(name);
    }
    assert_int_equal(count_lingering(), MOST);
    for (unsigned i = 0; i < MAX_TASKS; i++) {
        snprintf(name, sizeof(name), "c%u.example", i);
        client_ask(&clients[i], name, 0);
    }
    assert_int_equal(resolver_tasks(resolver), MAX_TASKS);
    assert_int_equal(count_lingering(), 0);
    end_resolver();
}

static void test_a_reload_ends_lingering_tasks(void **state)
{
    (void)state;
    fail_and_linger(WWW);
    assert_int_equal(resolver_reload(resolver, &zones.options, NULL, MAX_TASKS), ERR_OK);
    assert_false(asked[0]->lingering);
}

static void test_a_trace_ends_with_the_failure(void **state)
{
    (void)state;
    struct trace *trace = resolver_trace_new(resolver, true);
    struct client client = {.waiter.on_answer = on_answer};
    struct cache_key key = key_of(WWW, 0);
    list_init(&client.waiter.node);
    assert_int_equal(resolver_trace_ask(resolver, RESOLVER_NO_VIEW, &key, trace, &client.waiter),
                     RESOLVER_WAITING);
    exchange_fails_and_lingers(0);
    trace_unref(trace); /* no trace is left when the resolver ends */
    answer(0, 0, WWW_A);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_a_late_answer_is_cached),
        SENTENCE(test_a_client_that_asks_meanwhile_gets_the_late_answer),
        SENTENCE(test_a_task_lingers_again_after_it_was_joined),
        SENTENCE(test_a_useless_late_answer_changes_nothing),
        SENTENCE(test_a_late_answer_that_fails_ends_the_lingering),
        SENTENCE(test_silence_ends_a_lingering_task),
        SENTENCE(test_lingering_tasks_are_bounded_and_make_room),
        SENTENCE(test_a_reload_ends_lingering_tasks),
        SENTENCE(test_a_trace_ends_with_the_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
