/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/local/local_sample.h"

#include "unit/resolve/clients.h"

#include "resolve/outlook.h"

/* ---- one question ---- */

static void test_a_question_goes_to_its_zone_and_its_answer_is_kept(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    assert_false(find(WWW, &found));
    client_ask(&client, WWW, 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(asked_of(0), 1001);
    assert_true(asked[0]->asked.recursion_desired);
    assert_false(asked[0]->asked.dnssec_ok || asked[0]->asked.checking_disabled);
    assert_int_equal(answer(0, 0, WWW_A), EXCHANGE_TAKEN);
    assert_int_equal(client.answers, 1);
    assert_string_equal(client.text, WWW_TEXT);
    assert_int_equal(resolver_tasks(resolver), 0);
    assert_true(find(WWW, &found));
    assert_int_equal(stats.cache_hits, 1);
    assert_int_equal(stats.cache_misses, 1);
}

static void test_an_answer_names_the_upstream_that_gave_it(void **state)
{
    (void)state;
    struct client client = {0}, alias = {0}, failed = {0}, refused = {0};
    client_ask(&client, "b.example", 0);
    client_ask(&alias, WWW, 0);
    answer(1, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    answer(2, 0, (struct sections){.answer = {"a.test. 100 IN A 192.0.2.9"}});
    assert_int_equal(alias.source, 2); /* the upstream of the target */
    answer(0, 0, (struct sections){.answer = {"b.example. 100 IN A 192.0.2.9"}});
    assert_int_equal(client.source, 0);
    client_ask(&failed, "c.example", 0);
    exchange_fails(3, (struct exchange_failure){.any_network = true});
    assert_int_equal(failed.source, -1);
    client_ask(&refused, "d.example", 0);
    assert_int_equal(answer(4, RCODE_REFUSED, (struct sections){0}), EXCHANGE_ANOTHER);
    exchange_fails(4, (struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED});
    assert_int_equal(refused.kind, ANSWER_FAILURE);
    assert_int_equal(refused.source, 4); /* a refusal is an answer, too */
}

static void test_do_and_cd_are_passed_on(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, CACHE_KEY_DO | CACHE_KEY_CD);
    assert_true(asked[0]->asked.dnssec_ok && asked[0]->asked.checking_disabled);
    end_resolver();
}

/* A validating upstream reports its verdict with AD, and without DO only to a query with AD. */
static void test_ad_is_requested_where_it_is_trusted(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    client_ask(&clients[0], WWW, 0);
    assert_false(asked[0]->asked.authentic_data);
    end_resolver();
    zones.zones[1].trust_ad = true;
    resolver = resolver_new(loop, cache, NULL, &zones.options, MAX_TASKS, &stats);
    client_ask(&clients[1], WWW, 0);
    assert_true(asked[1]->asked.authentic_data && !asked[1]->asked.dnssec_ok);
    end_resolver();
}

static void test_equal_questions_share_one_exchange(void **state)
{
    (void)state;
    struct client clients[100] = {0};
    for (size_t i = 0; i < ARRAY_LEN(clients); i++)
        client_ask(&clients[i], i % 2 ? "WWW.example" : WWW, 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(resolver_tasks(resolver), 1);
    assert_int_equal(stats.joined, 99);
    answer(0, 0, WWW_A);
    for (size_t i = 0; i < ARRAY_LEN(clients); i++) {
        assert_int_equal(clients[i].answers, 1);
        assert_string_equal(clients[i].text, WWW_TEXT);
    }
}

static void test_questions_that_differ_by_do_or_cd_are_not_joined(void **state)
{
    (void)state;
    struct client clients[4] = {0};
    for (unsigned flags = 0; flags < 4; flags++)
        client_ask(&clients[flags], WWW, flags);
    assert_int_equal(asked_count, 4);
    end_resolver();
}

static void test_a_name_without_a_zone_has_no_route(void **state)
{
    (void)state;
    struct zone_set other;
    struct resolver *first = resolver;
    struct client client = {0};
    resolver = resolver_new(loop, cache, NULL, ZONES(&other, "example"), 10, &stats);
    assert_int_equal(try_ask(&client, "www.com", 0), RESOLVER_NO_ROUTE);
    other.zones[0].upstream_count = 0;
    resolver_free(resolver);
    resolver = resolver_new(loop, cache, NULL, &other.options, 10, &stats);
    assert_int_equal(try_ask(&client, WWW, 0), RESOLVER_NO_ROUTE);
    assert_int_equal(stats.failures_prohibited, 2);
    resolver_free(resolver);
    resolver = first;
}

static void test_no_more_than_max_tasks_run(void **state)
{
    (void)state;
    static struct client clients[MAX_TASKS + 1];
    memset(clients, 0, sizeof(clients));
    for (unsigned i = 0; i < MAX_TASKS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u.example", i);
        client_ask(&clients[i], name, 0);
    }
    assert_int_equal(try_ask(&clients[MAX_TASKS], WWW, 0), RESOLVER_FULL);
    assert_int_equal(stats.failures_full, 1);
    /* a client that joins a task needs no other */
    client_ask(&clients[MAX_TASKS], "n7.example", 0);
    answer(3, 0, (struct sections){.answer = {"n3.example. 1 IN A 192.0.2.1"}});
    struct client late = {0};
    client_ask(&late, WWW, 0);
    assert_int_equal(resolver_tasks(resolver), MAX_TASKS);
    end_resolver();
}

static void test_a_client_that_left_is_not_called_and_the_answer_is_cached(void **state)
{
    (void)state;
    struct client stays = {0}, leaves = {0};
    struct answer found;
    client_ask(&leaves, WWW, 0);
    client_ask(&stays, WWW, 0);
    resolver_leave(resolver, &leaves.waiter);
    resolver_leave(resolver, &stays.waiter);
    assert_int_equal(resolver_tasks(resolver), 1);
    answer(0, 0, WWW_A);
    assert_int_equal(stays.answers + leaves.answers, 0);
    assert_true(find(WWW, &found));
}

static void test_a_waiter_may_ask_the_next_question_when_called(void **state)
{
    (void)state;
    struct client client = {.asks_again = "next.example"};
    client_ask(&client, WWW, 0);
    answer(0, 0, WWW_A);
    assert_int_equal(asked_count, 2);
    answer(1, 0, (struct sections){.answer = {"next.example. 60 IN A 192.0.2.2"}});
    assert_int_equal(client.answers, 2);
    assert_string_equal(client.text, "an next.example. 60 A 192.0.2.2\n");
}

static void test_a_waiter_may_ask_the_same_question_when_called(void **state)
{
    (void)state;
    struct client client = {.asks_again = WWW};
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 0 IN A 192.0.2.1"}});
    assert_int_equal(asked_count, 2);
    answer(1, 0, WWW_A);
    assert_int_equal(client.answers, 2);
}

static void test_an_unsuitable_answer_makes_the_exchange_go_on(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    assert_int_equal(answer(0, RCODE_SERVFAIL, (struct sections){0}), EXCHANGE_ANOTHER);
    assert_int_equal(answer(0, RCODE_REFUSED, (struct sections){0}), EXCHANGE_ANOTHER);
    assert_int_equal(
        answer(0, 0, (struct sections){.authority = {"mail.example. 300 IN NS ns.example."}}),
        EXCHANGE_ANOTHER);
    assert_int_equal(client.answers, 0);
    assert_int_equal(answer(0, 0, WWW_A), EXCHANGE_TAKEN);
    assert_int_equal(client.rcode, RCODE_NOERROR);
}

/* ---- failures ---- */

static void test_a_failure_says_why_and_is_remembered_for_a_while(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.kind, ANSWER_FAILURE);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_int_equal(client.ede[1], EDE_NETWORK_ERROR);
    assert_int_equal(stats.failures_unreachable, 1);
    assert_true(find(WWW, &found));
    assert_int_equal(found.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_int_equal(found.ede[1], EDE_CACHED_ERROR);
    fake_loop_advance(loop, 5 * US_PER_S);
    assert_false(find(WWW, &found));
}

/* After the network returns, the cache must not serve a failure from the time before. */
static void test_a_failure_is_forgotten_when_the_network_changed(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    struct answer found;
    client_ask(&clients[0], WWW, 0);
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_true(find(WWW, &found));
    fake_loop_advance(loop, US_PER_S);
    resolver_network_changed(resolver);
    assert_false(find(WWW, &found));
    client_ask(&clients[1], WWW, 0);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(clients[1].kind, ANSWER_FAILURE);
    assert_true(find(WWW, &found)); /* this failure is from the present network */
}

static void test_answers_survive_a_network_change(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    assert_int_equal(answer(0, 0, WWW_A), EXCHANGE_TAKEN);
    fake_loop_advance(loop, US_PER_S);
    resolver_network_changed(resolver);
    assert_true(find(WWW, &found));
}

static void test_a_failure_for_lack_of_room_is_not_remembered(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    exchange_fails(0, (struct exchange_failure){.full = true});
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(stats.failures_full, 1);
    assert_false(find(WWW, &found));
}

static void test_a_failure_gives_way_to_a_good_answer_stored_meanwhile(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    struct resolver *other =
        resolver_new(loop, cache, NULL, &zones.options, 10, &stats); /* plays another worker */
    struct resolver *first = resolver;
    struct client there = {0};
    resolver = other;
    client_ask(&there, WWW, 0);
    answer(1, 0, WWW_A);
    resolver = first;
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_string_equal(client.text, WWW_TEXT);
    assert_int_equal(there.source, 1);
    assert_int_equal(client.source, -1); /* from the cache */
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_POSITIVE);
    resolver_free(other);
}

static void test_the_end_of_the_resolver_fails_running_questions(void **state)
{
    (void)state;
    struct client clients[3] = {0};
    clients[0].asks_again = NULL;
    client_ask(&clients[0], WWW, 0);
    client_ask(&clients[1], "a.test", 0);
    client_ask(&clients[2], WWW, 0);
    answer(1, 0, (struct sections){.answer = {"a.test. 60 IN CNAME b.com."}});
    assert_int_equal(resolver_tasks(resolver), 3);
    end_resolver();
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(clients[i].answers, 1);
        assert_int_equal(clients[i].rcode, RCODE_SERVFAIL);
    }
    assert_int_equal(active_count, 0);
}

/* ---- zones ---- */

static void test_answers_of_an_uncached_zone_are_not_kept(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    resolver_free(resolver);
    zones.zones[1].cache = false;
    resolver = resolver_new(loop, cache, NULL, &zones.options, MAX_TASKS, &stats);
    client_ask(&client, WWW, 0);
    answer(0, 0, WWW_A);
    assert_string_equal(client.text, WWW_TEXT);
    assert_false(find(WWW, &found));
    client_ask(&client, WWW, 0);
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.answers, 2);
    assert_false(find(WWW, &found));
}

static void test_an_alias_out_of_the_zone_is_resolved_by_the_targets_zone(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, CACHE_KEY_CD);
    answer(0, 0,
           (struct sections){
               .answer = {"www.example. 300 IN CNAME a.test.", "a.test. 300 IN A 6.6.6.6"}});
    assert_int_equal(asked_count, 2);
    assert_int_equal(asked_of(1), 1002);
    assert_true(asked[1]->asked.checking_disabled);
    assert_int_equal(client.answers, 0);
    fake_loop_advance(loop, 2 * US_PER_S);
    answer(1, 0, (struct sections){.answer = {"a.test. 100 IN A 192.0.2.9"}});
    assert_string_equal(client.text, "an www.example. 298 CNAME a.test.\n"
                                     "an a.test. 100 A 192.0.2.9\n");
    assert_false(find(WWW, &found)); /* a query with CD made that answer */
}

static void test_a_target_in_the_cache_is_taken_from_there(void **state)
{
    (void)state;
    struct client first = {0}, second = {0};
    struct answer found;
    client_ask(&first, "a.test", 0);
    answer(0, 0, (struct sections){.answer = {"a.test. 100 IN A 192.0.2.9"}});
    fake_loop_advance(loop, 10 * US_PER_S);
    client_ask(&second, WWW, 0);
    answer(1, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(asked_count, 2);
    assert_string_equal(second.text, "an www.example. 300 CNAME a.test.\n"
                                     "an a.test. 90 A 192.0.2.9\n");
    assert_true(find(WWW, &found));
    assert_int_equal(found.ttl_s, 90);
}

static void test_clients_of_the_target_share_its_task(void **state)
{
    (void)state;
    struct client alias = {0}, target = {0};
    client_ask(&target, "a.test", 0);
    client_ask(&alias, WWW, 0);
    answer(1, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(asked_count, 2);
    assert_int_equal(resolver_tasks(resolver), 2);
    answer(0, RCODE_NXDOMAIN, (struct sections){.authority = {"test. 60 IN SOA a. b. 1 2 3 4 5"}});
    assert_int_equal(target.rcode, RCODE_NXDOMAIN);
    assert_int_equal(alias.rcode, RCODE_NXDOMAIN);
    assert_string_equal(alias.text, "an www.example. 300 CNAME a.test.\n"
                                    "ns test. 5 SOA a.\n");
}

static void test_a_chain_without_its_end_is_asked_for_in_the_same_zone(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME b.example."}});
    assert_int_equal(asked_of(1), 1001);
    answer(1, 0, (struct sections){.answer = {"b.example. 300 IN A 192.0.2.1"}});
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_int_equal(client.answers, 1);
}

static void test_the_failure_of_the_target_reaches_the_client(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    exchange_fails(1, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_FAILURE);
}

static void test_an_alias_loop_across_zones_fails(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    answer(1, 0, (struct sections){.answer = {"a.test. 300 IN CNAME b.com."}});
    answer(2, 0, (struct sections){.answer = {"b.com. 300 IN CNAME www.example."}});
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_INVALID_DATA);
    assert_int_equal(resolver_tasks(resolver), 0);
}

static void test_an_endless_alias_chain_across_zones_is_stopped(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, "n0.test", 0);
    unsigned i = 0;
    for (; !client.answers; i++) {
        char text[80];
        assert_true(i < 2 * ALIAS_HOPS_MAX);
        snprintf(text, sizeof(text), "n%u.%s. 60 IN CNAME n%u.%s.", i, i % 2 ? "example" : "test",
                 i + 1, i % 2 ? "test" : "example");
        answer(i, 0, (struct sections){.answer = {text}});
    }
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(i, ALIAS_HOPS_MAX + 1);
    assert_int_equal(resolver_tasks(resolver), 0);
}

/* Every zone takes nearly as long as an exchange may take. */
static void test_a_chain_across_slow_zones_fails_before_its_client_gives_up(void **state)
{
    (void)state;
    struct client client = {0}, later = {0};
    struct answer found;
    client_ask(&client, "n0.test", 0);
    for (unsigned i = 0; !client.answers; i++) {
        char text[80];
        assert_true(loop_now(loop) < FAKE_LOOP_START_US + 10 * US_PER_S);
        fake_loop_advance(loop, EXCHANGE_WALL_US - US_PER_MS);
        if (client.answers)
            break;
        snprintf(text, sizeof(text), "n%u.%s. 60 IN CNAME n%u.%s.", i, i % 2 ? "example" : "test",
                 i + 1, i % 2 ? "test" : "example");
        answer(i, 0, (struct sections){.answer = {text}});
    }
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_true(find("n0.test", &found) && found.kind == ANSWER_FAILURE);
    client_ask(&later, "n2.test", 0); /* the subtasks of the chain continue */
    answer(2, 0, (struct sections){.answer = {"n2.test. 60 IN A 192.0.2.1"}});
    assert_string_equal(later.text, "an n2.test. 60 A 192.0.2.1\n");
}

/* The alias of each question leads to the question before it, so no chain of subtasks is deep, and
 * the end of the first ends them all. */
static void test_a_long_chain_of_waiting_tasks_ends_at_once(void **state)
{
    (void)state;
    static struct client clients[100];
    memset(clients, 0, sizeof(clients));
    for (unsigned i = 0; i < ARRAY_LEN(clients); i++) {
        char name[40], text[80];
        snprintf(name, sizeof(name), "n%u.%s", i, i % 2 ? "example" : "test");
        snprintf(text, sizeof(text), "%s. 60 IN CNAME n%u.%s.", name, i - 1,
                 i % 2 ? "test" : "example");
        client_ask(&clients[i], name, 0);
        if (i)
            answer(i, 0, (struct sections){.answer = {text}});
    }
    assert_int_equal(asked_count, ARRAY_LEN(clients));
    answer(0, 0, (struct sections){.answer = {"n0.test. 60 IN A 192.0.2.1"}});
    for (unsigned i = 0; i < ARRAY_LEN(clients); i++) {
        assert_int_equal(clients[i].answers, 1);
        assert_int_equal(clients[i].rcode, i <= ALIAS_HOPS_MAX ? RCODE_NOERROR : RCODE_SERVFAIL);
    }
}

static void test_a_subtask_that_finds_no_room_fails_its_question_alone(void **state)
{
    (void)state;
    static struct client clients[MAX_TASKS];
    memset(clients, 0, sizeof(clients));
    struct answer found;
    for (unsigned i = 0; i < MAX_TASKS; i++) {
        char name[32];
        snprintf(name, sizeof(name), "n%u.example", i);
        client_ask(&clients[i], name, 0);
    }
    answer(5, 0, (struct sections){.answer = {"n5.example. 60 IN CNAME a.test."}});
    assert_int_equal(clients[5].rcode, RCODE_SERVFAIL);
    assert_int_equal(resolver_tasks(resolver), MAX_TASKS - 1);
    assert_false(find("n5.example", &found)); /* a lack of room here is not cached */
    end_resolver();
}

/* ---- everything at random ---- */

enum { PLAYERS = 64, PLAYED_NAMES = 12 };

static struct client players[PLAYERS];

static const char *played_name(char out[40])
{
    static const char *const tops[] = {"example", "test", "com"};
    unsigned number = (unsigned)rand_below(PLAYED_NAMES);
    snprintf(out, 40, "n%u.%s", number, tops[number % 3]);
    return out;
}

/* Forgets ended exchanges, and duplicates of exchanges whose memory was reused. */
static void compact_asked(void)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < asked_count; i++) {
        bool keep = asked[i]->active;
        for (unsigned j = 0; j < kept && keep; j++)
            keep = asked[j] != asked[i];
        if (keep)
            asked[kept++] = asked[i];
    }
    asked_count = kept;
}

static void answer_at_random(unsigned number)
{
    char owner[NAME_TEXT_MAX], target[40], record[NAME_TEXT_MAX + 80];
    name_format(asked[number]->asked.question.name, owner);
    switch (rand_below(6)) {
    case 0:
        snprintf(record, sizeof(record), "%s 1 IN A 192.0.2.1", owner);
        answer(number, 0, (struct sections){.answer = {record}});
        break;
    case 1:
        exchange_fails(number, (struct exchange_failure){.any_network = true});
        break;
    case 2:
        answer(number, RCODE_SERVFAIL, (struct sections){0});
        break;
    default:
        snprintf(record, sizeof(record), "%s 1 IN CNAME %s.", owner, played_name(target));
        answer(number, 0, (struct sections){.answer = {record}});
    }
}

static void play_once(unsigned waiting[PLAYERS])
{
    unsigned i = (unsigned)rand_below(PLAYERS);
    char name[40];
    if (players[i].answers)
        waiting[i] = players[i].answers = 0;
    if (!waiting[i]) {
        struct answer found;
        played_name(name);
        if (rand_below(2) && find(name, &found))
            return;
        client_ask(&players[i], name, 0);
        waiting[i] = 1;
    } else if (!rand_below(8)) {
        resolver_leave(resolver, &players[i].waiter);
        waiting[i] = 0;
    }
    if (asked_count > ASKED_MAX / 2)
        compact_asked();
    unsigned number = (unsigned)rand_below(asked_count);
    if (asked_count && asked[number]->active)
        answer_at_random(number);
    if (!rand_below(50))
        fake_loop_advance(loop, rand_below(2 * US_PER_S));
    fake_loop_settle(loop);
}

static void test_a_long_random_run_calls_each_waiter_once(void **state)
{
    (void)state;
    unsigned waiting[PLAYERS] = {0};
    memset(players, 0, sizeof(players));
    rand_seed_for_tests(7);
    for (unsigned round = 0; round < 30000; round++) {
        play_once(waiting);
        assert_true(resolver_tasks(resolver) <= PLAYED_NAMES);
        for (unsigned i = 0; i < PLAYERS; i++)
            assert_true(players[i].answers <= waiting[i]);
    }
    end_resolver();
    for (unsigned i = 0; i < PLAYERS; i++)
        assert_int_equal(players[i].answers, waiting[i]);
    assert_int_equal(active_count, 0);
}

/* ---- local data ---- */

static struct local_names *local;

static void use_local(void (*fill)(struct local_build *build))
{
    struct local_build *build = local_build_new();
    assert_non_null(build);
    fill(build);
    local = build_end(build);
    resolver_set_local(resolver, local);
}

static int tear_down_local(void **state)
{
    int result = tear_down(state);
    local_names_free(local);
    local = NULL;
    return result;
}

static void fill_lan(struct local_build *build)
{
    zone(build, "lan", LOCAL_NXDOMAIN);
    record(build, "nas.lan. 60 IN A 192.0.2.7");
    record(build, "out.lan. 60 IN CNAME WWW.example.");
    record(build, "far.lan. 60 IN CNAME out.lan.");
}

static bool find_type(const char *name, uint16_t type, struct answer *out)
{
    struct cache_key key;
    struct question question = {NAME(name), type, RRCLASS_IN};
    resolver_key(resolver, RESOLVER_NO_VIEW, &key, &question, false, false);
    cache_read_begin();
    bool found = resolver_find(resolver, RESOLVER_NO_VIEW, &key, out);
    cache_read_end();
    return found;
}

static void test_a_local_name_is_found_and_never_asked_for(void **state)
{
    (void)state;
    struct answer found;
    use_local(fill_lan);
    assert_true(find("NAS.lan", &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.7\n");
    assert_true(find("other.lan", &found));
    assert_int_equal(found.kind, ANSWER_NXDOMAIN);
    assert_int_equal(found.ede_count, 0);
    assert_false(find(WWW, &found));
    assert_int_equal(stats.local_answers, 2);
    assert_int_equal(stats.cache_misses, 1);
    assert_int_equal(asked_count, 0);
    resolver_set_local(resolver, NULL);
    assert_false(find("nas.lan", &found));
}

static const struct outlook *look(const char *name, uint16_t type)
{
    struct question question = {NAME(name), type, RRCLASS_IN};
    static struct outlook outlook; /* borrowed from key */
    static struct cache_key key;
    resolver_key(resolver, RESOLVER_NO_VIEW, &key, &question, false, false);
    cache_read_begin();
    resolver_look(resolver, RESOLVER_NO_VIEW, &key, &outlook);
    cache_read_end();
    return &outlook;
}

static void test_a_look_shows_what_would_happen_and_changes_nothing(void **state)
{
    (void)state;
    struct client client = {0};
    use_local(fill_lan);
    const struct outlook *outlook = look(WWW, RRTYPE_A);
    assert_int_equal(outlook->way, OUTLOOK_UPSTREAMS);
    assert_true(name_equal(outlook->zone->name, NAME("example")) && !outlook->is_asked);
    outlook = look("x.lan", RRTYPE_A);
    assert_int_equal(outlook->way, OUTLOOK_LOCAL);
    assert_int_equal(outlook->rcode, RCODE_NXDOMAIN);
    assert_true(outlook->has_local && outlook->local.action == LOCAL_NXDOMAIN);
    outlook = look("far.lan", RRTYPE_A);
    assert_int_equal(outlook->way, OUTLOOK_UPSTREAMS);
    assert_true(name_equal(outlook->target, NAME(WWW)));
    assert_true(name_equal(outlook->zone->name, NAME("example")));
    assert_int_equal(look(WWW, RRTYPE_ANY)->way, OUTLOOK_LOCAL);
    assert_int_equal(asked_count, 0);
    assert_int_equal(stats.cache_misses + stats.local_answers, 0);
    client_ask(&client, WWW, 0);
    assert_true(look(WWW, RRTYPE_A)->is_asked);
    answer(0, 0, WWW_A);
    outlook = look(WWW, RRTYPE_A);
    assert_int_equal(outlook->way, OUTLOOK_CACHE);
    assert_false(outlook->is_asked);
    assert_int_equal(stats.cache_hits, 0);
}

static void test_any_questions_are_answered_locally(void **state)
{
    (void)state;
    struct answer found;
    assert_true(find_type(WWW, RRTYPE_ANY, &found));
    assert_string_equal(answer_show(&found), "an www.example. 3789 HINFO\n");
    use_local(fill_lan);
    assert_true(find_type("nas.lan", RRTYPE_ANY, &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.7\n");
}

static void test_a_local_alias_is_followed_to_the_targets_zone(void **state)
{
    (void)state;
    struct client client = {0}, again = {0};
    struct answer found;
    use_local(fill_lan);
    assert_false(find("far.lan", &found));
    client_ask(&client, "far.lan", 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(asked_of(0), 1001);
    assert_false(find("far.lan", &found)); /* a second client joins the task */
    client_ask(&again, "far.lan", 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(stats.joined, 1);
    answer(0, 0, WWW_A);
    assert_int_equal(client.answers, 1);
    assert_int_equal(again.answers, 1);
    assert_string_equal(client.text, "an far.lan. 60 CNAME out.lan.\n"
                                     "an out.lan. 60 CNAME WWW.example.\n"
                                     "an WWW.example. 300 A 192.0.2.1\n");
}

/* The alias must not be cached with its target, because a reload may change it. */
static void test_a_local_alias_is_not_cached(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    use_local(fill_lan);
    assert_false(find("out.lan", &found));
    client_ask(&client, "out.lan", 0);
    answer(0, 0, WWW_A);
    assert_false(find("out.lan", &found));
    client_ask(&client, "out.lan", 0);
    fake_loop_advance(loop, 0);
    assert_int_equal(asked_count, 1);
    assert_int_equal(client.answers, 2);
    assert_true(find(WWW, &found));
    resolver_set_local(resolver, NULL);
    assert_false(find("out.lan", &found));
}

static void test_the_client_gets_the_failure_of_a_local_aliass_target(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    use_local(fill_lan);
    assert_false(find("out.lan", &found));
    client_ask(&client, "out.lan", 0);
    exchange_fails(0, (struct exchange_failure){.any_network = true});
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_false(find("out.lan", &found));
}

/* The task is under way when its name becomes local. */
static void test_an_answer_for_a_name_that_became_local_meanwhile_is_not_kept(void **state)
{
    (void)state;
    struct client client = {0}, other = {0};
    struct answer found;
    client_ask(&client, "nas.lan", 0);
    client_ask(&other, WWW, 0);
    use_local(fill_lan);
    answer(0, 0, (struct sections){.answer = {"nas.lan. 300 IN A 192.0.2.99"}});
    answer(1, 0, WWW_A);
    assert_string_equal(client.text, "an nas.lan. 300 A 192.0.2.99\n");
    assert_true(find("nas.lan", &found));
    assert_string_equal(answer_show(&found), "an nas.lan. 60 A 192.0.2.7\n");
    assert_true(find(WWW, &found));
    assert_int_equal(stats.cache_hits, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_a_question_goes_to_its_zone_and_its_answer_is_kept,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_answer_names_the_upstream_that_gave_it, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_do_and_cd_are_passed_on, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ad_is_requested_where_it_is_trusted, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_equal_questions_share_one_exchange, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_questions_that_differ_by_do_or_cd_are_not_joined,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_name_without_a_zone_has_no_route, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_more_than_max_tasks_run, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_client_that_left_is_not_called_and_the_answer_is_cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_waiter_may_ask_the_next_question_when_called, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_waiter_may_ask_the_same_question_when_called, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_unsuitable_answer_makes_the_exchange_go_on, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_says_why_and_is_remembered_for_a_while,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_is_forgotten_when_the_network_changed,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers_survive_a_network_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_for_lack_of_room_is_not_remembered, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_failure_gives_way_to_a_good_answer_stored_meanwhile,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_end_of_the_resolver_fails_running_questions,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_answers_of_an_uncached_zone_are_not_kept, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_an_alias_out_of_the_zone_is_resolved_by_the_targets_zone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_target_in_the_cache_is_taken_from_there, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_clients_of_the_target_share_its_task, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_chain_without_its_end_is_asked_for_in_the_same_zone,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_the_failure_of_the_target_reaches_the_client, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_an_alias_loop_across_zones_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_an_endless_alias_chain_across_zones_is_stopped, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(
            test_a_chain_across_slow_zones_fails_before_its_client_gives_up, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_long_chain_of_waiting_tasks_ends_at_once, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(test_a_subtask_that_finds_no_room_fails_its_question_alone,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_a_local_name_is_found_and_never_asked_for, set_up,
                                        tear_down_local),
        cmocka_unit_test_setup_teardown(test_a_look_shows_what_would_happen_and_changes_nothing,
                                        set_up, tear_down_local),
        cmocka_unit_test_setup_teardown(test_any_questions_are_answered_locally, set_up,
                                        tear_down_local),
        cmocka_unit_test_setup_teardown(test_a_local_alias_is_followed_to_the_targets_zone, set_up,
                                        tear_down_local),
        cmocka_unit_test_setup_teardown(test_a_local_alias_is_not_cached, set_up, tear_down_local),
        cmocka_unit_test_setup_teardown(test_the_client_gets_the_failure_of_a_local_aliass_target,
                                        set_up, tear_down_local),
        cmocka_unit_test_setup_teardown(
            test_an_answer_for_a_name_that_became_local_meanwhile_is_not_kept, set_up,
            tear_down_local),
        cmocka_unit_test_setup_teardown(test_a_long_random_run_calls_each_waiter_once, set_up,
                                        tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
