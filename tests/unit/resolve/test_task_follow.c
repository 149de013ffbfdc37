/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/recursion.h"

/* Several tasks would send one zone the same minimised QNAME. Server 1 is the root; server 2 has
 * com and all its names. */
static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    static const struct sections com = {.authority = {"com. 900 NS a.com."},
                                        .additional = {"a.com. 900 A 192.0.0.2"}};
    static const struct sections soa = {.authority = {"com. 900 SOA a.com. x. 1 2 3 4 60"}};
    response_make(to, server == 1 ? 0 : HEADER_AA, question, server == 1 ? &com : &soa);
    return true;
}

enum { CLIENTS = 3 };

static struct waiter clients[CLIENTS];
static struct task *asks[CLIENTS];

/* Starts the questions n0.com, n1.com and so on at the same time. */
static void ask_all(void)
{
    static const char *const names[CLIENTS] = {"n0.com", "n1.com", "n2.com"};
    questions[0] = 0;
    answers = asked_count = answered_count = 0;
    for (unsigned i = 0; i < CLIENTS; i++) {
        struct cache_key key;
        cache_key_init(&key, cache, &(struct question){NAME(names[i]), RRTYPE_A, RRCLASS_IN}, 0,
                       CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
        list_init(&clients[i].node);
        clients[i].on_answer = on_client_answer;
        assert_int_equal(task_join(&tasks, &tasks.shared, &key, &clients[i], NULL),
                         RESOLVER_WAITING);
        asks[i] = tasks_find(&tasks, &key);
    }
}

static void assert_nothing_is_left(void)
{
    assert_int_equal(tasks.count, 0);
    assert_int_equal(held, 0);
    for (unsigned i = 0; i < TASK_LEADERS; i++)
        assert_null(tasks.leaders[i]);
}

static void test_followers_continue_with_the_knowledge_of_their_leader(void **state)
{
    (void)state;
    ask_all();
    assert_int_equal(asked_count, 1);
    run();
    assert_int_equal(answers, CLIENTS);
    assert_string_equal(questions, "1:com. A, 2:n0.com. A, 2:n1.com. A, 2:n2.com. A");
    assert_int_equal(stats.recursion_queries, 4);
    assert_nothing_is_left();
}

static void test_whole_questions_follow_no_task(void **state)
{
    (void)state;
    world.rules.minimise = false;
    ask_all();
    assert_int_equal(asked_count, CLIENTS);
    run();
    assert_nothing_is_left();
}

static void test_followers_of_a_silent_query_ask_after_a_while(void **state)
{
    (void)state;
    ask_all();
    fake_loop_advance(loop, TASK_FOLLOW_US + 10 * US_PER_MS);
    assert_int_equal(asked_count, CLIENTS); /* no task follows a query twice */
    run();
    assert_int_equal(answers, CLIENTS);
    assert_nothing_is_left();
}

static void test_followers_ask_when_their_leader_fails(void **state)
{
    (void)state;
    ask_all();
    answered_count = 1;
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_int_equal(answers, 1);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    run();
    assert_int_equal(answers, CLIENTS);
    assert_int_equal(rcode, RCODE_NOERROR);
    assert_nothing_is_left();
}

static void end_of(struct task *task)
{
    struct failure failure = {.rcode = RCODE_SERVFAIL};
    finish_failed(task, &failure);
    finish_deliver(&tasks);
}

static void test_a_task_that_ends_leaves_no_follower_waiting(void **state)
{
    (void)state;
    ask_all();
    end_of(asks[1]); /* ends a follower */
    end_of(asks[0]); /* ends the leader */
    assert_int_equal(answers, 2);
    answered_count = 1;
    run();
    assert_int_equal(answers, 3);
    assert_string_equal(questions, "1:com. A, 2:n2.com. A");
    ask_all();
    for (unsigned i = 0; i < CLIENTS; i++)
        if (asks[i])
            end_of(asks[i]);
    assert_nothing_is_left();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_followers_continue_with_the_knowledge_of_their_leader,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_whole_questions_follow_no_task, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_followers_of_a_silent_query_ask_after_a_while, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_followers_ask_when_their_leader_fails, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_task_that_ends_leaves_no_follower_waiting, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
