/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/recursion.h"

#include "resolve/trace.h"

#include "resolve/strategy_forward.h"

/*
 * Zones with first: yes. The stub zone corp.com has server 1000, the forward zone fwd.com 1001, and
 * the forward zone ".", in some tests, 1002. The root is server 1; com and all below is server 2.
 * Server 1000 refers in.corp.com to 7.
 */
enum { CORP = 1000, FWD, OUTSIDE };

static bool is_dead[3]; /* which of the three servers are dead */
static bool is_wrong;   /* recursion answers for names in other zones */

static bool answer_a(struct response_text *to, uint16_t flags, const struct question *question,
                     const char *record)
{
    struct sections sections = {.answer = {record}};
    response_make(to, flags, question, &sections);
    return true;
}

static bool refer(struct response_text *to, const struct question *question, const char *ns,
                  const char *glue)
{
    struct sections sections = {.authority = {ns}, .additional = {glue}};
    response_make(to, 0, question, &sections);
    return true;
}

static bool respond(struct response_text *to, unsigned server, const struct question *question)
{
    static char line[NAME_TEXT_MAX + 64];
    char name[NAME_TEXT_MAX];
    if (server >= CORP && is_dead[server - CORP])
        return false;
    if (server == 7)
        return false;
    if (server == 1)
        return refer(to, question, "com. 900 NS a.com.", "a.com. 900 A 192.0.0.2");
    if (server == CORP && name_is_below(question->name, NAME("in.corp.com")))
        return refer(to, question, "in.corp.com. 900 NS a.in.corp.com.",
                     "a.in.corp.com. 900 A 192.0.0.7");
    if (is_wrong && server == 2)
        return answer_a(to, HEADER_AA, question, "www.corp.com. 300 CNAME www.fwd.com.");
    snprintf(line, sizeof(line), "%s 300 A 192.0.2.%u", name_format(question->name, name),
             server >= CORP ? server - CORP + 100 : server);
    return answer_a(to, HEADER_AA, question, line);
}

static int set_up_first(void **state)
{
    if (set_up(state))
        return -1;
    memset(is_dead, 0, sizeof(is_dead));
    is_wrong = false;
    may_recurse_elsewhere = true;
    world.rules.minimise = false;
    routes_free(tasks.shared.routes);
    ZONES(&zones, "corp.com", "fwd.com", ".");
    zones.zones[0].kind = ROUTE_STUB;
    for (size_t i = 0; i < 3; i++)
        zones.zones[i].first = true;
    zones.options.zone_count = 2;
    zones.options.recursion.enabled = true;
    tasks.shared.routes = NULL;
    return 0;
}

static void begin(void)
{
    static const struct route_strategies strategies = {
        .forward = &forward_strategy, .stub = &stub_strategy, .iterate = &iterate_strategy};
    tasks.shared.routes = routes_new(&zones.options, NULL, &strategies);
}

static void test_the_zones_own_servers_are_asked_first(void **state)
{
    (void)state;
    begin();
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 A 192.0.2.100\n");
    assert_string_equal(questions, "1000:www.corp.com. A");
    assert_string_equal(resolve("www.fwd.com"), "an www.fwd.com. 300 A 192.0.2.101\n");
    assert_string_equal(questions, "1001:www.fwd.com. A");
    assert_int_equal(stats.zones_passed_over, 0);
}

static void test_recursion_resolves_where_the_zones_servers_fail(void **state)
{
    (void)state;
    is_dead[0] = is_dead[1] = true;
    begin();
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 A 192.0.2.2\n");
    assert_string_equal(questions, "1000:www.corp.com. A, 1:www.corp.com. A, 2:www.corp.com. A");
    assert_string_equal(resolve("www.fwd.com"), "an www.fwd.com. 300 A 192.0.2.2\n");
    assert_string_equal(questions, "1001:www.fwd.com. A, 2:www.fwd.com. A");
    assert_int_equal(rcode, RCODE_NOERROR);
    assert_int_equal(ede_count, 0);
    assert_int_equal(stats.zones_passed_over, 2);
    assert_int_equal(stats.failures_unreachable, 0);
    resolve("www.corp.com");
    assert_string_equal(questions, ""); /* the cache has it, as any other answer */
}

static void test_a_trace_shows_the_zone_that_was_passed_over(void **state)
{
    (void)state;
    unsigned passed = 0;
    is_dead[0] = true;
    begin();
    struct trace *trace = watching = trace_new(&tasks.traces, false, loop_now(loop));
    resolve("www.corp.com");
    for (size_t i = 0; i < trace->count; i++)
        if (trace->steps[i].kind == TRACE_PASSED) {
            assert_true(name_equal(trace_name(trace, trace->steps[i].zone), NAME("corp.com")));
            assert_string_equal(trace->steps[i].word, "iterate");
            passed++;
        }
    assert_int_equal(passed, 1);
    trace_close(trace);
    watching = NULL;
}

static void test_recursion_resolves_where_a_zone_below_a_stub_zone_fails(void **state)
{
    (void)state;
    begin();
    assert_string_equal(resolve("www.in.corp.com"), "an www.in.corp.com. 300 A 192.0.2.2\n");
}

static void test_recursion_is_the_substitute_of_the_forward_zone_of_the_root(void **state)
{
    (void)state;
    zones.options.zone_count = 3;
    is_dead[2] = true;
    begin();
    assert_string_equal(resolve("www.net.com"), "an www.net.com. 300 A 192.0.2.2\n");
    assert_string_equal(questions, "1002:www.net.com. A, 1:www.net.com. A, 2:www.net.com. A");
}

static void test_the_zone_above_is_the_substitute_before_recursion_and_is_the_last(void **state)
{
    (void)state;
    zones.options.zone_count = 3;
    is_dead[0] = is_dead[1] = true;
    begin();
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 A 192.0.2.102\n");
    assert_string_equal(questions, "1000:www.corp.com. A, 1002:www.corp.com. A");
    is_dead[2] = true;
    resolve("ftp.corp.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_string_equal(questions, "1000:ftp.corp.com. A, 1002:ftp.corp.com. A");
    assert_int_equal(stats.failures_unreachable, 1);
}

/* Recursion finds an alias into another configured zone. That zone's servers must answer for its
 * target. */
static void test_recursion_is_trusted_for_names_of_the_zone_only(void **state)
{
    (void)state;
    is_dead[0] = is_wrong = true;
    begin();
    assert_string_equal(resolve("www.corp.com"), "an www.corp.com. 300 CNAME www.fwd.com.\n"
                                                 "an www.fwd.com. 300 A 192.0.2.101\n");
}

static void test_without_recursion_only_the_zone_above_is_a_substitute(void **state)
{
    (void)state;
    zones.options.recursion.enabled = false;
    is_dead[0] = true;
    begin();
    resolve("www.corp.com");
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_string_equal(questions, "1000:www.corp.com. A");
}

static void test_answers_from_recursion_for_a_zone_without_cache_are_not_kept(void **state)
{
    (void)state;
    zones.zones[0].cache = false;
    is_dead[0] = true;
    begin();
    resolve("www.corp.com");
    resolve("www.corp.com");
    assert_string_equal(questions, "1000:www.corp.com. A, 2:www.corp.com. A");
}

static void test_a_zones_servers_leave_time_for_the_substitute(void **state)
{
    (void)state;
    struct cache_key key;
    begin();
    asked_count = answered_count = answers = 0;
    cache_key_init(&key, cache, &(struct question){NAME("a.fwd.com"), RRTYPE_A, RRCLASS_IN}, 0,
                   CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, NULL), RESOLVER_WAITING);
    assert_int_equal(asked[0]->asked.wall_us, TASK_FIRST_US);
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_int_equal(asked[1]->asked.wall_us, BUDGET_WALL_US);
    answered_count = 1;
    run();
    assert_int_equal(answers, 1);
}

/* A lack of room here does not mean that the servers failed. */
static void test_a_question_without_room_does_not_move_to_another_zone(void **state)
{
    (void)state;
    struct cache_key key;
    begin();
    asked_count = answered_count = answers = 0;
    cache_key_init(&key, cache, &(struct question){NAME("a.fwd.com"), RRTYPE_A, RRCLASS_IN}, 0,
                   CACHE_VIEW_ANSWERS, CACHE_SPACE_SHARED);
    assert_int_equal(task_join(&tasks, &tasks.shared, &key, &waiter, NULL), RESOLVER_WAITING);
    exchange_fails(0, (struct exchange_failure){.full = true});
    fake_loop_advance(loop, US_PER_MS);
    assert_int_equal(answers, 1);
    assert_int_equal(rcode, RCODE_SERVFAIL);
    assert_int_equal(asked_count, 1);
    assert_int_equal(stats.failures_full, 1);
}

#define FIRST(test) cmocka_unit_test_setup_teardown(test, set_up_first, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        FIRST(test_the_zones_own_servers_are_asked_first),
        FIRST(test_recursion_resolves_where_the_zones_servers_fail),
        FIRST(test_a_trace_shows_the_zone_that_was_passed_over),
        FIRST(test_recursion_resolves_where_a_zone_below_a_stub_zone_fails),
        FIRST(test_recursion_is_the_substitute_of_the_forward_zone_of_the_root),
        FIRST(test_the_zone_above_is_the_substitute_before_recursion_and_is_the_last),
        FIRST(test_recursion_is_trusted_for_names_of_the_zone_only),
        FIRST(test_without_recursion_only_the_zone_above_is_a_substitute),
        FIRST(test_answers_from_recursion_for_a_zone_without_cache_are_not_kept),
        FIRST(test_a_zones_servers_leave_time_for_the_substitute),
        FIRST(test_a_question_without_room_does_not_move_to_another_zone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
