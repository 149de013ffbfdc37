/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/fake_exchange.h"
#include "unit/resolve/sample.h"

#include "resolve/finish.h"
#include "resolve/task.h"
#include "support/fake_loop.h"

/*
 * Tasks under a strategy that the test writes: the effects of steps, alone and together. The zone
 * "." has upstream 1000.
 */
enum { MAX_TASKS = 40 };

static struct loop *loop;
static struct cache *cache;
static struct stats stats;
static struct zone_set zones;
static struct tasks tasks;
static struct waiter waiter;
static unsigned answers;
static uint8_t rcode;
static char text[4096];

/* The strategy runs a function of the test for the question "top", and forwards all other
 * questions. */
static void (*script)(const struct strategy_view *view, const struct event *event,
                      struct steps *out);

static void ask(const struct strategy_view *view, struct steps *out)
{
    steps_add(out, STEP_ASK)->ask =
        (struct step_ask){.group = view->zone->group, .group_len = 1, .question = *view->question};
}

static void next(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    if (name_equal(view->question->name, NAME("top")))
        script(view, event, out);
    else if (event->kind == EVENT_STARTED)
        ask(view, out);
    else if (event->kind == EVENT_ANSWERED)
        steps_add(out, STEP_DONE);
    else
        steps_add(out, STEP_FAIL)->failure = (struct failure){.rcode = RCODE_SERVFAIL};
}

static const struct strategy scripted = {.name = "scripted", .next = next};

static void on_client_answer(struct waiter *client, const struct answer *got)
{
    (void)client;
    answers++;
    rcode = header_rcode(got->message.data);
    snprintf(text, sizeof(text), "%.4095s", answer_show(got));
}

static struct cache_key key_of(const char *name)
{
    struct cache_key key;
    cache_key_init(&key, cache, &(struct question){NAME(name), RRTYPE_A, RRCLASS_IN}, 0, 0,
                   CACHE_SPACE_SHARED);
    return key;
}

static void begin(void (*with)(const struct strategy_view *view, const struct event *event,
                               struct steps *out))
{
    struct cache_key key = key_of("top");
    script = with;
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, NULL), RESOLVER_WAITING);
}

static void sub(struct steps *out, const char *name)
{
    static uint8_t wires[STEPS_MAX][NAME_WIRE_MAX];
    steps_add(out, STEP_SUBTASK)->question =
        (struct question){sample_name(wires[out->count - 1], name), RRTYPE_A, RRCLASS_IN};
}

static void on_turn_end(struct turn_end *end)
{
    finish_deliver(CONTAINER_OF(end, struct tasks, deliver));
}

static int set_up(void **state)
{
    (void)state;
    static const struct cache_options options = {.size_bytes = CACHE_SIZE_MIN, .max_ttl_s = 86400};
    memset(&stats, 0, sizeof(stats));
    asked_count = answers = 0;
    loop = loop_new();
    cache = cache_new(&options);
    cache_thread_begin();
    tasks.loop = loop;
    tasks.cache = cache;
    tasks.stats = &stats;
    space_init(&tasks.shared, CACHE_SPACE_SHARED);
    tasks.shared.routes =
        routes_new(ZONES(&zones, "."), NULL, &(struct route_strategies){.forward = &scripted});
    turn_end_init(&tasks.deliver, on_turn_end);
    list_init(&waiter.node);
    waiter.on_answer = on_client_answer;
    return !tasks_init(&tasks, MAX_TASKS);
}

static int tear_down(void **state)
{
    (void)state;
    tasks_deinit(&tasks);
    routes_free(tasks.shared.routes);
    cache_thread_end();
    cache_free(cache);
    loop_free(loop);
    return 0;
}

static struct sections address_of(const char *name)
{
    static char record[80];
    snprintf(record, sizeof(record), "%s. 60 IN A 192.0.2.1", name);
    return (struct sections){.answer = {record}};
}

/* ---- ending at once ---- */

static void fail_at_once(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    (void)view;
    (void)event;
    steps_add(out, STEP_FAIL)->failure = (struct failure){.rcode = RCODE_SERVFAIL};
}

static void test_a_failure_at_once_is_delivered_at_the_end_of_the_turn(void **state)
{
    (void)state;
    begin(fail_at_once);
    assert_int_equal(answers, 0);
    assert_int_equal(tasks.count, 0);
    fake_loop_settle(loop);
    assert_int_equal(answers, 1);
    assert_int_equal(rcode, RCODE_SERVFAIL);
}

/* ---- asking again ---- */

static void ask_twice(const struct strategy_view *view, const struct event *event,
                      struct steps *out)
{
    if (event->kind == EVENT_STARTED)
        ask(view, out);
    else if (event->kind == EVENT_ANSWERED && event->response->kind == RESPONSE_REFERRAL)
        ask(view, out);
    else
        steps_add(out, STEP_DONE);
}

static void test_an_answer_may_lead_to_a_new_question_in_the_same_task(void **state)
{
    (void)state;
    begin(ask_twice);
    answer(0, 0, (struct sections){.authority = {"other. 60 IN NS ns.top."}});
    assert_int_equal(asked_count, 2);
    assert_int_equal(answers, 0);
    answer(1, 0, address_of("top"));
    assert_int_equal(answers, 1);
}

/* ---- several subtasks ---- */

static unsigned subs_done, subs_failed;

static void two_subs(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    (void)view;
    if (event->kind == EVENT_STARTED) {
        sub(out, "a.com");
        sub(out, "b.com");
        return;
    }
    subs_done += event->kind == EVENT_SUB_DONE;
    subs_failed += event->kind == EVENT_SUB_FAILED;
    if (event->kind == EVENT_SUB_DONE)
        steps_add(out, STEP_DONE);
}

static void test_the_first_of_several_subtasks_may_end_the_task(void **state)
{
    (void)state;
    subs_done = subs_failed = 0;
    begin(two_subs);
    assert_int_equal(asked_count, 2);
    assert_int_equal(tasks.count, 3);
    exchange_fails(0, (struct exchange_failure){0});
    assert_int_equal(subs_failed, 1);
    answer(1, 0, address_of("b.com"));
    assert_int_equal(answers, 1);
    assert_string_equal(text, "an b.com. 60 A 192.0.2.1\n");
    assert_int_equal(tasks.count, 0);
}

static void test_subtasks_go_on_after_their_parent(void **state)
{
    (void)state;
    subs_done = subs_failed = 0;
    begin(two_subs);
    answer(0, 0, address_of("a.com"));
    assert_int_equal(answers, 1);
    assert_int_equal(tasks.count, 1);
    answer(1, 0, address_of("b.com"));
    assert_int_equal(subs_done, 1);
    struct answer found;
    struct cache_key key = key_of("b.com");
    cache_read_begin();
    assert_true(cache_find(cache, &key, loop_now(loop), &found));
    cache_read_end();
}

static void eight_subs(const struct strategy_view *view, const struct event *event,
                       struct steps *out)
{
    (void)view;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    if (event->kind == EVENT_STARTED)
        for (size_t i = 0; i < ARRAY_LEN(names); i++)
            sub(out, names[i]);
    subs_failed += event->kind == EVENT_SUB_FAILED;
    if (subs_failed == ARRAY_LEN(names))
        steps_add(out, STEP_FAIL)->failure = (struct failure){.rcode = RCODE_SERVFAIL};
}

static void test_the_number_of_subtasks_is_bounded(void **state)
{
    (void)state;
    subs_failed = 0;
    begin(eight_subs);
    assert_int_equal(asked_count, TASK_SUBS_MAX - 1); /* a validation may use the last place */
    assert_int_equal(subs_failed, 8 - (TASK_SUBS_MAX - 1));
    for (unsigned i = 0; i < TASK_SUBS_MAX - 1; i++)
        exchange_fails(i, (struct exchange_failure){0});
    assert_int_equal(answers, 1);
}

/* ---- loops ---- */

static void itself(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    (void)view;
    if (event->kind == EVENT_STARTED)
        sub(out, "TOP");
    else
        steps_add(out, STEP_FAIL)->failure = *event->failure;
}

static void test_a_task_does_not_wait_for_itself(void **state)
{
    (void)state;
    begin(itself);
    fake_loop_settle(loop);
    assert_int_equal(answers, 1);
    assert_int_equal(rcode, RCODE_SERVFAIL);
}

/* ---- strategies without an end ---- */

static void ask_for_ever(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    (void)event;
    ask(view, out);
}

static void test_a_strategy_without_end_is_stopped(void **state)
{
    (void)state;
    begin(ask_for_ever);
    unsigned i = 0;
    for (; !answers; i++)
        answer(i, 0, address_of("top"));
    assert_int_equal(i, TASK_EVENTS_MAX);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(stats.failures_full, 1);
}

/* ---- memory ---- */

static void ask_once(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    if (event->kind == EVENT_STARTED)
        ask(view, out);
    else
        steps_add(out, STEP_DONE);
}

static void test_the_memory_of_tasks_is_reused(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 3 * TASKS_SLAB; i++) {
        begin(ask_once);
        answer(i, 0, (struct sections){.answer = {"top. 0 IN A 192.0.2.1"}});
    }
    assert_int_equal(answers, 3 * TASKS_SLAB);
    assert_ptr_equal(tasks.slabs.next, tasks.slabs.prev);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_failure_at_once_is_delivered_at_the_end_of_the_turn,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_may_lead_to_a_new_question_in_the_same_task,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_first_of_several_subtasks_may_end_the_task, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_subtasks_go_on_after_their_parent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_number_of_subtasks_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_task_does_not_wait_for_itself, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_strategy_without_end_is_stopped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_memory_of_tasks_is_reused, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
