/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/recursion.h"

#include "resolve/task_trace.h"
#include "resolve/trace.h"

/* Traces a question through a small hierarchy: server 1 is the root, 2 com, 3 example.com. Server 4
 * never answers, and 5 is lame. */
static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    static const struct sections none = {.answer = {NULL}};
    static const struct sections root = {.answer = {". 900 NS a.root."},
                                         .additional = {"a.root. 900 A 192.0.0.1"}};
    static const struct sections com = {.authority = {"com. 900 NS a.com."},
                                        .additional = {"a.com. 900 A 192.0.0.2"}};
    static const struct sections example = {
        .authority = {"example.com. 600 NS lame.example.com.",
                      "example.com. 600 NS ns.example.com."},
        .additional = {"lame.example.com. 600 A 192.0.0.5", "ns.example.com. 600 A 192.0.0.3"}};
    static const struct sections dead = {.authority = {"dead.com. 600 NS ns.dead.com."},
                                         .additional = {"ns.dead.com. 600 A 192.0.0.4"}};
    static const struct sections bare = {.authority = {"bare.com. 600 NS ns.example.com."}};
    static const struct sections www = {.answer = {"www.example.com. 300 A 192.0.2.80"}};
    static const struct sections ns = {.answer = {"ns.example.com. 300 A 192.0.0.3"}};
    static const struct sections away = {.answer = {"away.example.com. 2 CNAME www.bare.com."}};
    static const struct sections there = {.answer = {"www.bare.com. 300 A 192.0.2.81"}};
    const struct sections *said = NULL;
    uint16_t flags = 0;

    if (server == 4)
        return false;
    if (server == 1 && question->type == RRTYPE_NS) {
        said = &root;
        flags = HEADER_AA;
    } else if (server == 1) {
        said = &com;
    } else if (server == 2) {
        said = name_is_below(question->name, NAME("dead.com"))   ? &dead
               : name_is_below(question->name, NAME("bare.com")) ? &bare
                                                                 : &example;
    } else if (server == 3) {
        flags = HEADER_AA;
        said = name_equal(question->name, NAME("www.example.com"))    ? &www
               : name_equal(question->name, NAME("ns.example.com"))   ? &ns
               : name_equal(question->name, NAME("away.example.com")) ? &away
               : name_equal(question->name, NAME("www.bare.com"))     ? &there
                                                                      : &none;
    }
    response_make(to, said ? flags : RCODE_REFUSED, question, said ? said : &none);
    return true;
}

static char shown[64 * 1024];

/* Returns a name of the trace without its last dot. */
static const char *text_of(const struct trace *trace, struct trace_name at)
{
    static char texts[2][NAME_TEXT_MAX];
    static unsigned next;
    char *out = texts[next++ % 2];
    name_format(trace_name(trace, at), out);
    size_t len = strlen(out);
    if (len > 1)
        out[len - 1] = 0;
    return out;
}

/* Returns the trace as text, one line per step. */
static const char *show(const struct trace *trace)
{
    char type[RRTYPE_TEXT_MAX];
    size_t len = 0;
    shown[0] = 0;
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_step *step = &trace->steps[i];
        len += (size_t)snprintf(shown + len, sizeof(shown) - len, "%*s%s", 2 * step->depth, "",
                                trace_kind_name(step->kind));
        if (step->has_question)
            len += (size_t)snprintf(shown + len, sizeof(shown) - len, " %s %s",
                                    text_of(trace, step->asked), rrtype_name(step->type, type));
        if (step->zone.len)
            len += (size_t)snprintf(shown + len, sizeof(shown) - len, " of %s",
                                    text_of(trace, step->zone));
        if (step->leads_to.len)
            len += (size_t)snprintf(shown + len, sizeof(shown) - len, " to %s",
                                    text_of(trace, step->leads_to));
        len += (size_t)snprintf(shown + len, sizeof(shown) - len, "%s%s\n", *step->word ? ": " : "",
                                step->word);
    }
    return shown;
}

static const char *watch(const char *name, bool fresh)
{
    watching = trace_new(&tasks.traces, fresh, loop_now(loop));
    assert_non_null(watching);
    resolve(name);
    show(watching);
    trace_close(watching);
    watching = NULL;
    assert_int_equal(tasks.traces, 0);
    return shown;
}

static void test_each_step_down_from_the_root_is_shown(void **state)
{
    (void)state;
    world.rules.priming = true;
    assert_string_equal(watch("www.example.com", false),
                        "question www.example.com A of .: iterate\n"
                        "zone cut of .: the hints\n"
                        "  question . NS of .: iterate\n"
                        "  zone cut of .: the hints\n"
                        "  answer . NS of .: answer\n"
                        "  end . NS: positive\n"
                        "zone cut of .: known from the zone itself\n"
                        "answer com A of . to com: referral\n"
                        "answer example.com A of com to example.com: referral\n"
                        "answer www.example.com A of example.com: refused\n"
                        "answer www.example.com A of example.com: answer\n"
                        "end www.example.com A: positive\n");
}

/* Returns the state of the first step of this kind about a QNAME with this beginning. */
static const char *state_at(const struct trace *trace, enum trace_kind kind, const char *start)
{
    for (size_t i = 0; i < trace->count; i++) {
        const struct trace_step *step = &trace->steps[i];
        if (step->kind == kind && step->has_question &&
            strncmp(text_of(trace, step->asked), start, strlen(start)) == 0)
            return step->state;
    }
    return "no such step";
}

/* Each step shows the state that it ended. */
static void test_each_step_names_the_state_of_its_task(void **state)
{
    (void)state;
    watching = trace_new(&tasks.traces, false, loop_now(loop));
    assert_non_null(watching);
    resolve("away.example.com");
    assert_string_equal(state_at(watching, TRACE_BEGUN, "away"), "deciding");
    assert_string_equal(state_at(watching, TRACE_ANSWERED, "away"), "asking");
    assert_string_equal(state_at(watching, TRACE_BEGUN, "www.bare"), "deciding");
    assert_string_equal(state_at(watching, TRACE_ENDED, "www.bare"), "answered");
    assert_string_equal(state_at(watching, TRACE_ENDED, "away"), "answered");
    trace_close(watching);
    watching = NULL;
}

static void test_an_alias_and_the_addresses_of_servers_are_shown_one_step_in(void **state)
{
    (void)state;
    resolve("www.example.com");
    const char *said = watch("away.example.com", false);
    assert_non_null(strstr(said, "zone cut of example.com: known from the zone above\n"));
    assert_non_null(strstr(said, "answer away.example.com A of example.com to www.bare.com: alias\n"
                                 "  question www.bare.com A of .: iterate\n"));
    assert_non_null(strstr(said, "    question ns.example.com A of .: iterate\n"));
    assert_non_null(strstr(said, "    end ns.example.com A: positive\n"));
    assert_non_null(
        strstr(said, "\n  end www.bare.com A: positive\nend away.example.com A: positive\n"));
}

static void test_known_answers_are_used_unless_the_trace_is_fresh(void **state)
{
    (void)state;
    resolve("away.example.com");
    fake_loop_advance(loop, 10 * US_PER_S);
    assert_non_null(
        strstr(watch("away.example.com", false), "  from the cache www.bare.com A: positive\n"));
    fake_loop_advance(loop, 10 * US_PER_S);
    const char *said = watch("away.example.com", true);
    assert_null(strstr(said, "from the cache"));
    assert_non_null(strstr(said, "question away.example.com A of .: iterate\n"
                                 "zone cut of .: the hints\n"));
    assert_non_null(strstr(said, "answer com A of . to com: referral\n"));
}

static void test_servers_that_fail_are_shown_with_the_end(void **state)
{
    (void)state;
    const char *said = watch("www.dead.com", false);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_non_null(strstr(said, "given up www.dead.com A of dead.com: no server answered\n"));
    assert_non_null(strstr(said, "end www.dead.com A: failed\n"));
}

static void test_a_trace_shows_a_timeout(void **state)
{
    (void)state;
    silence_lasts = true;
    const char *said = watch("www.dead.com", false);
    silence_lasts = false;
    assert_non_null(
        strstr(said, "given up www.dead.com A of dead.com: no server answered in time\n"));
}

static void test_a_second_client_sees_that_it_joins(void **state)
{
    (void)state;
    struct trace *second = trace_new(&tasks.traces, false, loop_now(loop));
    struct waiter other = {.on_answer = on_client_answer};
    struct cache_key key;
    list_init(&other.node);
    cache_key_init(&key, cache, &(struct question){NAME("www.example.com"), RRTYPE_A, RRCLASS_IN},
                   0, CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    asked_count = answered_count = answers = 0;
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, NULL), RESOLVER_WAITING);
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &other, second), RESOLVER_WAITING);
    run();
    assert_int_equal(answers, 2);
    assert_string_equal(show(second), "waits for another's question www.example.com A\n");
    trace_close(second);
}

static void test_a_reader_that_leaves_early_leaves_nothing_behind(void **state)
{
    (void)state;
    struct trace *trace = trace_new(&tasks.traces, false, loop_now(loop));
    struct cache_key key;
    cache_key_init(&key, cache, &(struct question){NAME("www.example.com"), RRTYPE_A, RRCLASS_IN},
                   0, CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    asked_count = answered_count = 0;
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, trace), RESOLVER_WAITING);
    list_remove(&waiter.node);
    trace_close(trace);
    assert_int_equal(tasks.traces, 1); /* the task still holds the trace */
    run();
    assert_int_equal(tasks.traces, 0);
}

static void test_the_number_of_traces_is_bounded(void **state)
{
    (void)state;
    struct trace *traces[TRACES_MAX];
    for (int i = 0; i < TRACES_MAX; i++)
        assert_non_null(traces[i] = trace_new(&tasks.traces, false, 0));
    for (int i = 0; i < 10000; i++)
        assert_null(trace_new(&tasks.traces, false, 0));
    for (int i = 0; i < TRACES_MAX; i++)
        trace_close(traces[i]);
    assert_int_equal(tasks.traces, 0);
}

static void test_steps_and_names_beyond_the_bound_are_counted_and_left_out(void **state)
{
    (void)state;
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    unsigned running = 0;
    struct trace *trace = trace_new(&running, false, 0);
    assert_int_equal(name_parse(&name, wire, "a.long.name.that.takes.some.room.example.com", 44),
                     0);
    const struct question question = {name, RRTYPE_A, RRCLASS_IN};
    for (int i = 0; i < 100000; i++)
        trace_say(trace, TRACE_BEGUN, 0, &question, "", 0);
    assert_int_equal(trace->count, TRACE_STEPS_MAX);
    assert_int_equal(trace->missing, 100000 - TRACE_STEPS_MAX);
    for (int i = 0; i < 100000; i++)
        (void)trace_keep(trace, name);
    assert_true(trace->bytes <= TRACE_NAME_BYTES);
    assert_int_equal(trace_keep(trace, name).len, 0);
    trace_close(trace);
    assert_int_equal(running, 0);
}

static void test_the_cost_of_a_question_is_counted_when_it_ends(void **state)
{
    (void)state;
    world.rules.priming = true;
    resolve("away.example.com");
    assert_int_equal(stats.recursion_resolutions, 1);
    assert_int_equal(stats.recursion_primings, 1);
    assert_int_equal(stats.recursion_referrals, 3); /* com, example.com, bare.com */
    assert_int_equal(stats.recursion_lookups, 1);   /* IPv6 has no route here */
    assert_true(stats.recursion_queries >= 6 && stats.recursion_queries < 12);
    assert_true(stats.recursion_minimised >= 2);
    assert_int_equal(stats.recursion_bound_queries + stats.recursion_bound_time, 0);
    resolve("away.example.com");
    assert_int_equal(stats.recursion_resolutions, 1);
}

static void test_a_bound_that_was_reached_is_counted_once_a_question(void **state)
{
    (void)state;
    struct budget *budget = budget_new(0);
    struct cache_key key;
    budget->is_recursive = true;
    while (budget_take(budget, BUDGET_LOOKUPS, 0))
        ;
    assert_false(budget_take(budget, BUDGET_LOOKUPS, 0));
    assert_false(budget_take(budget, BUDGET_QUERIES, BUDGET_WALL_US));
    cache_key_init(&key, cache, &(struct question){NAME("www.example.com"), RRTYPE_A, RRCLASS_IN},
                   0, CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    struct task *task = tasks_take(&tasks, &tasks.shared, &key);
    task->zone = route_find(tasks.shared.routes, name_root(), RRTYPE_A);
    route_hold(task->zone);
    task->budget = budget;
    tasks_unlink(&tasks, task);
    task_move(task, TASK_FAILED);
    tasks_give(&tasks, task);
    assert_int_equal(stats.recursion_bound_lookups, 1);
    assert_int_equal(stats.recursion_bound_time, 1);
    assert_int_equal(stats.recursion_bound_queries, 0);
    assert_int_equal(stats.recursion_lookups, BUDGET_LOOKUPS_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_each_step_down_from_the_root_is_shown, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_each_step_names_the_state_of_its_task, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_an_alias_and_the_addresses_of_servers_are_shown_one_step_in, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_known_answers_are_used_unless_the_trace_is_fresh,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_servers_that_fail_are_shown_with_the_end, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_trace_shows_a_timeout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_second_client_sees_that_it_joins, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_reader_that_leaves_early_leaves_nothing_behind,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_number_of_traces_is_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_steps_and_names_beyond_the_bound_are_counted_and_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_cost_of_a_question_is_counted_when_it_ends, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_bound_that_was_reached_is_counted_once_a_question,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
