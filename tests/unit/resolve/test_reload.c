/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Zones change while tasks run: which zone answers, what the cache keeps, and which upstreams stay.
 */
#include "unit/local/local_sample.h"

#include "unit/resolve/clients.h"

#include "local/local_forget.h"
#include "local/local_names.h"
#include "resolve/tasks.h"

/* The zone "example" has upstream 1001 in clients.h, and upstream 1000 in this order of zones. */
#define OTHER "example", "test"

static enum err reload_with(const struct local_names *local, size_t max_tasks,
                            const char *const *names)
{
    struct zone_set *set = malloc(sizeof(*set));
    const struct route_options *options = zones_make(set, names);
    enum err err = resolver_reload(resolver, options, local, max_tasks);
    memset(set, 0xa5, sizeof(*set)); /* a reference to the old zones would now show */
    free(set);
    return err;
}

static void reload_all(const struct local_names *local, size_t max_tasks, const char *const *names)
{
    assert_int_equal(reload_with(local, max_tasks, names), ERR_OK);
}

#define RELOAD(...) reload_all(NULL, MAX_TASKS, (const char *const[]){__VA_ARGS__, NULL})

static int set_up_reload(void **state)
{
    upstreams_wanted = upstreams_held = 0;
    upstreams_settled = 0;
    upstreams_left = UINT_MAX;
    return set_up(state);
}

/* When the resolver has ended, no upstream is wanted or held. */
static int tear_down_reload(void **state)
{
    int result = tear_down(state);
    assert_int_equal(upstreams_wanted + upstreams_held, 0);
    return result;
}

/* ---- zones whose servers have names only ---- */

/* The zone "example" awaits the addresses of its servers; "." has servers. */
static void reload_awaiting(enum route_kind kind, bool first)
{
    static const char *const names[] = {"example", ".", NULL};
    struct zone_set *set = malloc(sizeof(*set));
    zones_make(set, names);
    set->zones[0].upstream_count = 0;
    set->zones[0].awaits_hosts = true;
    set->zones[0].kind = kind;
    set->zones[0].first = first;
    assert_int_equal(resolver_reload(resolver, &set->options, NULL, MAX_TASKS), ERR_OK);
    free(set);
}

static void expect_no_address_yet(enum route_kind kind)
{
    struct client client = {0}, later = {0};
    reload_awaiting(kind, false);
    client_ask(&client, WWW, 0);
    fake_loop_settle(loop);
    assert_int_equal(asked_count, 0);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_string_equal(client.reason,
                        "no address of the zone's servers, given by name, is known yet");
    RELOAD("example", "test"); /* an address is known now, and the failure was not cached */
    client_ask(&later, WWW, 0);
    answer(0, 0, WWW_A);
    assert_string_equal(later.text, WWW_TEXT);
}

static void test_a_forward_zone_without_known_addresses_fails_with_a_reason(void **state)
{
    (void)state;
    expect_no_address_yet(ROUTE_FORWARD);
}

static void test_a_stub_zone_without_known_addresses_fails_with_a_reason(void **state)
{
    (void)state;
    expect_no_address_yet(ROUTE_STUB);
}

static void test_a_substitute_answers_while_no_address_is_known(void **state)
{
    struct client client = {0};
    (void)state;
    reload_awaiting(ROUTE_FORWARD, true);
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_of(0), 1001);
    answer(0, 0, WWW_A);
    assert_string_equal(client.text, WWW_TEXT);
}

/* ---- questions that run ---- */

static void test_a_new_question_uses_the_new_zones_and_a_running_one_its_own(void **state)
{
    (void)state;
    struct client before = {0}, after = {0};
    client_ask(&before, WWW, 0);
    assert_int_equal(asked_of(0), 1001);
    RELOAD(OTHER);
    client_ask(&after, WWW, 0); /* an equal question does not join the task of the former zones */
    assert_int_equal(asked_count, 2);
    assert_int_equal(asked_of(1), 1000);
    assert_int_equal(stats.joined, 0);
    assert_true(asked[0]->active);
    assert_int_equal(answer(0, 0, WWW_A), EXCHANGE_TAKEN);
    assert_int_equal(before.answers, 1);
    assert_string_equal(before.text, WWW_TEXT);
    assert_int_equal(after.answers, 0);
    answer(1, 0, (struct sections){.answer = {"www.example. 300 IN A 192.0.2.2"}});
    assert_string_equal(after.text, "an www.example. 300 A 192.0.2.2\n");
}

static void test_equal_questions_after_a_reload_share_one_exchange(void **state)
{
    (void)state;
    struct client before = {0}, after[2] = {0};
    client_ask(&before, WWW, 0);
    RELOAD(OTHER);
    client_ask(&after[0], WWW, 0);
    client_ask(&after[1], WWW, 0);
    assert_int_equal(asked_count, 2);
    assert_int_equal(stats.joined, 1);
    end_resolver();
    assert_int_equal(before.answers + after[0].answers + after[1].answers, 3);
}

/* The operator may reload because of a wrong answer, such as an NXDOMAIN from servers outside a
 * tunnel. */
static void test_answers_of_former_upstreams_are_not_kept(void **state)
{
    (void)state;
    struct client before = {0}, after = {0}, late = {0};
    struct answer found;
    client_ask(&before, WWW, 0);
    client_ask(&late, "late.example", 0);
    RELOAD(OTHER);
    client_ask(&after, WWW, 0);
    answer(2, 0, (struct sections){.answer = {"www.example. 300 IN A 192.0.2.2"}});
    answer(0, RCODE_NXDOMAIN,
           (struct sections){.authority = {"example. 300 IN SOA ns. root. 1 2 3 4 300"}});
    assert_int_equal(before.rcode, RCODE_NXDOMAIN);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(late.rcode, RCODE_SERVFAIL);
    assert_false(find("late.example", &found));
}

static void test_the_cache_stays(void **state)
{
    (void)state;
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    RELOAD(OTHER);
    assert_true(find(WWW, &found));
    RELOAD("org"); /* no zone contains the name now */
    assert_true(find(WWW, &found));
}

static enum err reload_into(uint32_t space, const char *const *names)
{
    struct zone_set set;
    const struct route_options *options = zones_make(&set, names);
    struct route_options moved = *options;
    moved.space = space;
    return resolver_reload(resolver, &moved, NULL, MAX_TASKS);
}

static void test_a_portal_finds_and_leaves_no_answers(void **state)
{
    (void)state;
    static const char *const names[] = {OTHER, NULL};
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    assert_int_equal(reload_into(SPACE_PORTALS, names), ERR_OK);
    assert_false(find(WWW, &found));
    keep(WWW, "www.example. 300 IN A 192.0.2.66"); /* the portal's false answer */
    assert_true(find(WWW, &found));
    keep("new.example", "new.example. 300 IN A 192.0.2.66");
    RELOAD(OTHER);
    assert_true(find(WWW, &found));
    assert_int_equal(found.message.data[found.message.len - 1], 1);
    assert_false(find("new.example", &found));
}

static void test_a_question_that_outlives_the_portal_leaves_nothing(void **state)
{
    (void)state;
    static const char *const names[] = {OTHER, NULL};
    struct client client = {0};
    struct answer found;
    assert_int_equal(reload_into(SPACE_PORTALS, names), ERR_OK);
    client_ask(&client, WWW, 0);
    RELOAD(OTHER);
    assert_int_equal(answer(0, 0, WWW_A), EXCHANGE_TAKEN);
    assert_int_equal(client.answers, 1);
    assert_false(find(WWW, &found));
    assert_int_equal(reload_into(SPACE_PORTALS, names), ERR_OK);
    assert_false(find(WWW, &found));
}

static void test_a_stale_answer_serves_a_former_question_but_is_not_kept_for_it(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    fake_loop_advance(loop, 400 * SECOND);
    client_ask(&client, WWW, 0);
    RELOAD(OTHER);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_true(client.stale_s > 0);
    assert_false(find(WWW, &found)); /* the new upstreams get a query at once */
}

static void test_a_former_questions_alias_uses_the_new_zones(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    RELOAD(".", OTHER); /* "test" has upstream 1002 as before, but it is a different zone */
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(asked_count, 2);
    assert_int_equal(asked_of(1), 1002);
    answer(1, 0, (struct sections){.answer = {"a.test. 300 IN A 192.0.2.1"}});
    assert_string_equal(client.text, "an www.example. 300 CNAME a.test.\n"
                                     "an a.test. 300 A 192.0.2.1\n");
    assert_true(find("a.test", &found));
    assert_false(find(WWW, &found));
}

static void test_a_former_questions_alias_without_a_zone_for_its_target_fails(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    RELOAD("example");
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_int_equal(client.error, ERR_NO_ZONE);
}

/* Two tasks with one key run, and the resolver still detects a loop through both. */
static void test_an_alias_loop_across_a_reload_ends(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    RELOAD(".", OTHER);
    for (unsigned i = 0; i < 3; i++) {
        bool is_www = i % 2 == 0;
        assert_int_equal(asked_count, i + 1);
        answer(i, 0,
               (struct sections){.answer = {is_www ? "www.example. 300 IN CNAME a.test."
                                                   : "a.test. 300 IN CNAME www.example."}});
    }
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(resolver_tasks(resolver), 0);
}

static void test_a_former_refresh_does_not_keep_a_new_question_from_the_new_zones(void **state)
{
    (void)state;
    struct client client = {0};
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    assert_true(query(WWW));
    fake_loop_advance(loop, 280 * SECOND);
    assert_true(query(WWW)); /* the hit starts a refresh */
    assert_int_equal(asked_count, 2);
    RELOAD(OTHER);
    fake_loop_advance(loop, 3 * SECOND);
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_of(2), 1000);
    end_resolver();
}

/* ---- which upstreams are wanted, and for how long ---- */

static void test_former_upstreams_are_held_until_their_last_question_has_ended(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    assert_int_equal(upstreams_wanted, 3);
    client_ask(&clients[0], WWW, 0);
    client_ask(&clients[1], "a.test", 0);
    RELOAD("example");
    assert_int_equal(upstreams_settled, 2);
    assert_int_equal(upstreams_wanted, 1);
    assert_int_equal(upstreams_held, 4);
    answer(0, 0, WWW_A);
    assert_int_equal(upstreams_held, 4);
    answer(1, 0, (struct sections){.answer = {"a.test. 300 IN A 192.0.2.1"}});
    assert_int_equal(upstreams_held, 1);
}

static void test_idle_former_upstreams_are_dropped_at_once(void **state)
{
    (void)state;
    RELOAD("example");
    assert_int_equal(upstreams_held, 1);
    RELOAD("example", "test");
    assert_int_equal(upstreams_held, 2);
}

static void test_running_questions_hold_the_routes_of_their_own_reload(void **state)
{
    (void)state;
    struct client clients[3] = {0};
    client_ask(&clients[0], WWW, 0);
    RELOAD("example");
    client_ask(&clients[1], WWW, 0);
    RELOAD("test", "example");
    client_ask(&clients[2], WWW, 0);
    assert_int_equal(upstreams_held, 3 + 1 + 2);
    answer(1, 0, WWW_A);
    assert_int_equal(upstreams_held, 3 + 2);
    answer(2, 0, WWW_A);
    answer(0, 0, WWW_A);
    assert_int_equal(upstreams_held, 2);
    for (unsigned i = 0; i < 3; i++)
        assert_string_equal(clients[i].text, WWW_TEXT);
}

static void test_a_hundred_reloads_hold_only_running_tasks(void **state)
{
    (void)state;
    static struct client clients[100];
    memset(clients, 0, sizeof(clients));
    for (unsigned i = 0; i < 100; i++) {
        client_ask(&clients[i], WWW, 0);
        if (i % 2)
            RELOAD(OTHER);
        else
            RELOAD(".", OTHER);
        if (i > 0)
            answer(i - 1, 0, WWW_A);
        assert_int_equal(resolver_tasks(resolver), 1);
        assert_true(upstreams_held <= 6);
    }
    answer(99, 0, WWW_A);
    for (unsigned i = 0; i < 100; i++)
        assert_int_equal(clients[i].answers, 1);
    assert_int_equal(upstreams_held, 2);
}

static void test_the_end_of_the_resolver_drops_all_former_zones(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    client_ask(&clients[0], WWW, 0);
    RELOAD(OTHER);
    client_ask(&clients[1], WWW, 0);
    RELOAD("test");
    end_resolver();
    assert_int_equal(clients[0].answers + clients[1].answers, 2);
    assert_int_equal(upstreams_held, 0);
}

static void test_a_reload_out_of_memory_changes_nothing(void **state)
{
    (void)state;
    struct client before = {0}, joined = {0}, after = {0};
    static const char *const names[] = {"example", "test", "lan", NULL};
    client_ask(&before, WWW, 0);
    for (unsigned left = 0; left < 3; left++) {
        upstreams_left = left;
        assert_int_equal(reload_with(NULL, 1, names), ERR_NO_MEMORY);
        assert_int_equal(upstreams_wanted, 3);
        assert_int_equal(upstreams_held, 3);
    }
    upstreams_left = UINT_MAX;
    assert_int_equal(upstreams_settled, 4); /* the new routes are freed */
    client_ask(&joined, WWW, 0);
    assert_int_equal(stats.joined, 1);
    client_ask(&after, "a.test", 0);
    assert_int_equal(asked_of(1), 1002);
    answer(0, 0, WWW_A);
    struct answer found;
    assert_true(find(WWW, &found));
    end_resolver();
}

/* A zone is added at run time and removed again. */
static void test_a_zone_is_set_and_unset_beside_those_of_the_configuration(void **state)
{
    (void)state;
    struct client clients[3] = {0};
    RELOAD(".", "example", "test", "corp.example");
    client_ask(&clients[0], "www.corp.example", 0);
    assert_int_equal(asked_of(0), 1003);
    client_ask(&clients[1], WWW, 0);
    assert_int_equal(asked_of(1), 1001);
    RELOAD(".", "example", "test");
    client_ask(&clients[2], "www.corp.example", 0);
    assert_int_equal(asked_of(2), 1001);
    end_resolver();
}

/* ---- bounds ---- */

static void test_a_new_bound_on_tasks_holds_at_once(void **state)
{
    (void)state;
    static struct client clients[201];
    static const char *const names[] = {"example", NULL};
    char name[32];
    memset(clients, 0, sizeof(clients));
    reload_all(NULL, 200, names); /* more zones than the table had room for */
    for (unsigned i = 0; i < 200; i++) {
        snprintf(name, sizeof(name), "n%u.example", i);
        client_ask(&clients[i], name, 0);
        if (i == 100)
            reload_all(NULL, 2000, names);
    }
    reload_all(NULL, 10, names);
    assert_int_equal(resolver_tasks(resolver), 200);
    assert_int_equal(try_ask(&clients[200], WWW, 0), RESOLVER_FULL);
    for (unsigned i = 0; i < 191; i++)
        exchange_fails(i, (struct exchange_failure){.any_network = true});
    assert_int_equal(try_ask(&clients[200], WWW, 0), RESOLVER_WAITING);
    assert_int_equal(try_ask(&clients[0], "n0.example", 0), RESOLVER_FULL);
    end_resolver();
}

/* ---- local data ---- */

static struct local_names *lan(const char *address)
{
    char text[64];
    struct local_build *build = local_build_new();
    zone(build, "lan", LOCAL_NXDOMAIN);
    snprintf(text, sizeof(text), "nas.lan. 60 IN A %s", address);
    record(build, text);
    record(build, "out.lan. 60 IN CNAME www.example.");
    return build_end(build);
}

static void test_local_data_changes_with_the_zones(void **state)
{
    (void)state;
    static const char *const names[] = {"example", NULL};
    struct local_names *first = lan("192.0.2.1"), *second = lan("192.0.2.2");
    struct answer found;
    reload_all(first, MAX_TASKS, names);
    assert_true(find("nas.lan", &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.1\n");
    reload_all(second, MAX_TASKS, names);
    local_names_free(first);
    assert_true(find("nas.lan", &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.2\n");
    upstreams_left = 0;
    assert_int_equal(reload_with(NULL, 1, names), ERR_NO_MEMORY);
    upstreams_left = UINT_MAX;
    assert_true(find("nas.lan", &found));
    RELOAD("example");
    local_names_free(second);
    assert_false(find("nas.lan", &found));
}

static void test_no_client_joins_a_local_alias_after_a_reload(void **state)
{
    (void)state;
    static const char *const names[] = {".", "example", NULL};
    struct client before = {0}, after = {0};
    struct answer found;
    struct local_names *first = lan("192.0.2.1");
    reload_all(first, MAX_TASKS, names);
    assert_false(find("out.lan", &found));
    client_ask(&before, "out.lan", 0);
    assert_int_equal(asked_of(0), 1001);
    RELOAD(".", "example");
    local_names_free(first);
    assert_false(find("out.lan", &found));
    client_ask(&after, "out.lan", 0); /* the name is not local any longer */
    assert_int_equal(asked_of(1), 1000);
    answer(0, 0, WWW_A);
    assert_string_equal(before.text, "an out.lan. 60 CNAME www.example.\n" WWW_TEXT);
    answer(1, 0, (struct sections){.answer = {"out.lan. 300 IN A 192.0.2.3"}});
    assert_string_equal(after.text, "an out.lan. 300 A 192.0.2.3\n");
}

static void test_cached_answers_about_new_local_names_are_forgotten(void **state)
{
    (void)state;
    static const char *const names[] = {".", NULL};
    struct local_names *local = lan("192.0.2.1");
    struct answer found;
    uint64_t place = 0;
    keep(WWW, "www.example. 300 IN A 192.0.2.1");
    keep("nas.lan", "nas.lan. 300 IN A 192.0.2.66");
    keep("Deep.Below.LAN", "deep.below.lan. 300 IN A 192.0.2.66");
    keep("xlan", "xlan. 300 IN A 192.0.2.1");
    reload_all(local, MAX_TASKS, names);
    while (cache_walk(cache, &place, 64, local_forget, local))
        continue;
    assert_true(find(WWW, &found));
    assert_true(find("xlan", &found));
    assert_true(find("nas.lan", &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.1\n");
    assert_true(find("deep.below.lan", &found));
    assert_int_equal(found.kind, ANSWER_NXDOMAIN);
    assert_int_equal(stats.cache_hits, 2);
    end_resolver();
    local_names_free(local);
}

/* ---- at random ---- */

enum { PLAYERS = 60, ROUNDS = 4000 };

static struct client players[PLAYERS];

static void reload_at_random(void)
{
    static const char *const sets[][4] = {
        {"example", "test"}, {".", "example"}, {"test"}, {".", "in.example", "example"}};
    upstreams_left = rand_below(4) ? UINT_MAX : (unsigned)rand_below(3);
    (void)!reload_with(NULL, 40 + rand_below(200), sets[rand_below(ARRAY_LEN(sets))]);
    upstreams_left = UINT_MAX;
}

static void answer_somebody(unsigned number)
{
    if (!asked[number]->active)
        return;
    switch (rand_below(4)) {
    case 0:
        exchange_fails(number, (struct exchange_failure){.any_network = true});
        break;
    case 1:
        answer(number, 0, (struct sections){.answer = {"p1.example. 60 IN CNAME p2.test."}});
        break;
    default:
        answer(number, 0, (struct sections){.answer = {"p2.test. 60 IN A 192.0.2.1"}});
    }
}

static void test_reloads_at_random_lose_no_question(void **state)
{
    (void)state;
    unsigned waiting[PLAYERS] = {0};
    memset(players, 0, sizeof(players));
    rand_seed_for_tests(11);
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned who = (unsigned)rand_below(PLAYERS);
        /* ends all running tasks, so that the list can start again */
        if (asked_count > ASKED_MAX - 8) {
            for (unsigned i = 0; i < asked_count; i++)
                if (asked[i]->active)
                    exchange_fails(i, (struct exchange_failure){.any_network = true});
            asked_count = active_count ? asked_count : 0;
        }
        if (players[who].answers == waiting[who] && asked_count <= ASKED_MAX - 8)
            waiting[who] += try_ask(&players[who], rand_below(2) ? "p1.example" : "p2.test", 0) ==
                            RESOLVER_WAITING;
        if (asked_count)
            answer_somebody((unsigned)rand_below(asked_count));
        if (rand_below(5) == 0)
            reload_at_random();
        fake_loop_advance(loop, 100000);
        assert_true(upstreams_held <= 3 * (int)(resolver_tasks(resolver) + 1));
    }
    end_resolver();
    for (unsigned i = 0; i < PLAYERS; i++)
        assert_int_equal(players[i].answers, waiting[i]);
    assert_int_equal(active_count, 0);
}

#define RELOADING(test) cmocka_unit_test_setup_teardown(test, set_up_reload, tear_down_reload)

int main(void)
{
    log_set_level(LOG_ERROR);
    const struct CMUnitTest tests[] = {
        RELOADING(test_a_forward_zone_without_known_addresses_fails_with_a_reason),
        RELOADING(test_a_stub_zone_without_known_addresses_fails_with_a_reason),
        RELOADING(test_a_substitute_answers_while_no_address_is_known),
        RELOADING(test_a_new_question_uses_the_new_zones_and_a_running_one_its_own),
        RELOADING(test_equal_questions_after_a_reload_share_one_exchange),
        RELOADING(test_answers_of_former_upstreams_are_not_kept),
        RELOADING(test_the_cache_stays),
        RELOADING(test_a_portal_finds_and_leaves_no_answers),
        RELOADING(test_a_question_that_outlives_the_portal_leaves_nothing),
        RELOADING(test_a_stale_answer_serves_a_former_question_but_is_not_kept_for_it),
        RELOADING(test_a_former_questions_alias_uses_the_new_zones),
        RELOADING(test_a_former_questions_alias_without_a_zone_for_its_target_fails),
        RELOADING(test_an_alias_loop_across_a_reload_ends),
        RELOADING(test_a_former_refresh_does_not_keep_a_new_question_from_the_new_zones),
        RELOADING(test_former_upstreams_are_held_until_their_last_question_has_ended),
        RELOADING(test_idle_former_upstreams_are_dropped_at_once),
        RELOADING(test_running_questions_hold_the_routes_of_their_own_reload),
        RELOADING(test_a_hundred_reloads_hold_only_running_tasks),
        RELOADING(test_the_end_of_the_resolver_drops_all_former_zones),
        RELOADING(test_a_reload_out_of_memory_changes_nothing),
        RELOADING(test_a_zone_is_set_and_unset_beside_those_of_the_configuration),
        RELOADING(test_a_new_bound_on_tasks_holds_at_once),
        RELOADING(test_local_data_changes_with_the_zones),
        RELOADING(test_no_client_joins_a_local_alias_after_a_reload),
        RELOADING(test_cached_answers_about_new_local_names_are_forgotten),
        RELOADING(test_reloads_at_random_lose_no_question),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
