/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Stale answers, for upstreams that fail or are slow. */
#include "unit/resolve/clients.h"

#include "dns/build.h"
#include "resolve/tasks.h"

#define WWW_STALE_TEXT "an www.example. 30 A 192.0.2.1\n"

static const struct exchange_failure unreachable = {.any_network = true};

/* Stores an answer and lets it expire past_us ago. */
static void keep_over(const char *name, const char *record, uint64_t past_us)
{
    keep(name, record);
    fake_loop_advance(loop, 300 * SECOND + past_us);
    assert_false(query(name));
}

static void test_when_the_upstreams_fail_clients_get_the_stale_answer(void **state)
{
    (void)state;
    struct client clients[2] = {0};
    struct answer found;
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 1000 * SECOND);
    client_ask(&clients[0], WWW, 0);
    client_ask(&clients[1], WWW, 0);
    assert_int_equal(clients[0].answers, 0); /* the upstreams get their chance first */
    exchange_fails(1, unreachable);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(clients[i].answers, 1);
        assert_int_equal(clients[i].rcode, RCODE_NOERROR);
        assert_string_equal(clients[i].text, WWW_STALE_TEXT);
        assert_int_equal(clients[i].source, -1);
        assert_int_equal(clients[i].ede_count, 2);
        assert_int_equal(clients[i].ede[0], EDE_STALE_ANSWER);
        assert_int_equal(clients[i].ede[1], EDE_NO_REACHABLE_AUTHORITY);
    }
    assert_int_equal(stats.cache_stale, 2);
    fake_loop_advance(loop, 29 * SECOND);
    assert_true(find(WWW, &found)); /* no server gets a query meanwhile */
    assert_int_equal(found.ede[0], EDE_STALE_ANSWER);
    assert_int_equal(found.stale_s, 1000);
    assert_int_equal(stats.cache_stale, 3);
    fake_loop_advance(loop, 1 * SECOND);
    assert_false(find(WWW, &found));
}

static void test_a_stale_answer_is_resolved_again_and_ends_at_last(void **state)
{
    (void)state;
    struct client client = {0};
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    for (unsigned i = 0; i < 86400 / 30; i++) {
        client_ask(&client, WWW, 0);
        exchange_fails(asked_count - 1, unreachable);
        assert_int_equal(client.rcode, RCODE_NOERROR);
        fake_loop_advance(loop, 30 * SECOND);
        asked_count = 0; /* makes room in the list */
    }
    fake_loop_advance(loop, 1 * SECOND);
    client_ask(&client, WWW, 0);
    exchange_fails(asked_count - 1, unreachable);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
}

static void test_a_stale_answer_is_refreshed_after_it_is_served(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    client_ask(&client, WWW, 0);
    exchange_fails(1, unreachable);
    fake_loop_advance(loop, 27 * SECOND);
    query(WWW);
    query(WWW);
    assert_int_equal(asked_count, 3);
    answer(2, 0, (struct sections){.answer = {"www.example. 300 IN A 192.0.2.2"}});
    assert_true(find(WWW, &found));
    assert_int_equal(found.stale_s, 0);
    assert_int_equal(found.ede_count, 0);
    assert_string_equal(answer_show(&found), "an www.example. 300 A 192.0.2.2\n");
}

static void test_clients_wait_for_slow_upstreams_as_long_as_the_option_says(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    client_ask(&client, WWW, 0);
    fake_loop_advance(loop, PATIENCE_US - 2000);
    assert_int_equal(client.answers, 0);
    fake_loop_advance(loop, 4000);
    assert_int_equal(client.answers, 1);
    assert_string_equal(client.text, WWW_STALE_TEXT);
    assert_int_equal(client.ede_count, 1);
    assert_int_equal(client.ede[0], EDE_STALE_ANSWER);
    assert_int_equal(resolver_tasks(resolver), 1);
    assert_true(query(WWW)); /* other clients do not wait for the timeout again */
    answer(1, 0, (struct sections){.answer = {"www.example. 300 IN A 192.0.2.2"}});
    assert_int_equal(client.answers, 1);
    assert_true(find(WWW, &found));
    assert_string_equal(answer_show(&found), "an www.example. 300 A 192.0.2.2\n");
}

static void test_without_a_stale_answer_a_slow_question_continues_to_its_end(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    fake_loop_advance(loop, TASK_WALL_US - 2000);
    assert_int_equal(client.answers, 0);
    fake_loop_advance(loop, 4000);
    assert_int_equal(client.answers, 1);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
}

static void test_a_stale_nxdomain_has_its_own_code(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    answer(0, RCODE_NXDOMAIN,
           (struct sections){.authority = {"example. 300 IN SOA a. b. 1 2 3 4 60"}});
    fake_loop_advance(loop, 60 * SECOND);
    client_ask(&client, WWW, 0);
    exchange_fails(1, unreachable);
    assert_int_equal(client.rcode, RCODE_NXDOMAIN);
    assert_int_equal(client.ede[0], EDE_STALE_NXDOMAIN_ANSWER);
}

static void test_a_stale_answer_never_has_ad(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    end_resolver();
    zones.zones[1].trust_ad = true;
    resolver = resolver_new(loop, cache, NULL, &zones.options, MAX_TASKS, &stats);
    client_ask(&client, WWW, CACHE_KEY_DO);
    answer(0, HEADER_AD, WWW_A);
    assert_true(find_with(WWW, CACHE_KEY_DO, &found));
    assert_true(header_has(found.message.data, HEADER_AD));
    fake_loop_advance(loop, 301 * SECOND);
    client_ask(&client, WWW, CACHE_KEY_DO);
    exchange_fails(1, unreachable);
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_int_equal(client.ede[0], EDE_STALE_ANSWER);
    assert_true(find_with(WWW, CACHE_KEY_DO, &found));
    assert_false(header_has(found.message.data, HEADER_AD));
}

static void test_a_client_with_cd_or_do_gets_the_stale_answer_of_others(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 1000 * SECOND);
    client_ask(&client, WWW, CACHE_KEY_CD);
    exchange_fails(1, unreachable);
    assert_int_equal(client.rcode, RCODE_NOERROR);
    assert_string_equal(client.text, WWW_STALE_TEXT);
    assert_int_equal(client.stale_s, 1000);
    assert_int_equal(client.ede[0], EDE_STALE_ANSWER);
    assert_true(find_with(WWW, CACHE_KEY_CD, &found)); /* no server gets a query for a while */
    client_ask(&client, WWW, CACHE_KEY_DO | CACHE_KEY_CD);
    exchange_fails(2, unreachable);
    assert_int_equal(client.rcode, RCODE_NOERROR); /* no zone here is known to be signed */
    assert_int_equal(client.ede[0], EDE_STALE_ANSWER);
}

static void test_an_unchecked_answer_serves_no_other_client(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, CACHE_KEY_CD);
    answer(0, 0, WWW_A);
    fake_loop_advance(loop, 301 * SECOND);
    client_ask(&client, WWW, CACHE_KEY_CD);
    exchange_fails(1, unreachable);
    assert_int_equal(client.rcode, RCODE_NOERROR);
    client_ask(&client, WWW, 0);
    exchange_fails(2, unreachable);
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
}

static void test_a_stale_answer_does_not_hide_that_dnssec_failed(void **state)
{
    (void)state;
    static struct response_text text;
    struct client client = {0};
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    client_ask(&client, WWW, 0);
    struct question question = asked[1]->asked.question;
    struct build build;
    response_begin(&text, RCODE_SERVFAIL, &question);
    build_init(&build, text.bytes + text.len, 64);
    build_opt_begin(&build, 1232, 0, 0, false);
    edns_add_ede(&build, EDE_DNSSEC_BOGUS, "");
    build_opt_end(&build);
    text.len += build_len(&build);
    header_set_count(text.bytes, SECTION_ADDITIONAL, 1);
    assert_int_equal(answer_with(1, response_parse(&text)), EXCHANGE_ANOTHER);
    exchange_fails(1, (struct exchange_failure){.any_answer = true, .rcode = RCODE_SERVFAIL});
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
    assert_int_equal(client.ede[0], EDE_DNSSEC_BOGUS);
}

static void test_a_stale_target_makes_no_fresh_answer(void **state)
{
    (void)state;
    struct client target = {0}, alias = {0};
    keep_over("a.test", "a.test. 300 IN A 192.0.2.7", 0);
    client_ask(&target, "a.test", 0);
    exchange_fails(1, unreachable);
    assert_int_equal(target.rcode, RCODE_NOERROR);
    client_ask(&alias, WWW, 0);
    answer(2, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    assert_int_equal(asked_count, 4); /* the cache has a stale answer and does not use it */
    exchange_fails(3, unreachable);
    assert_int_equal(alias.rcode, RCODE_SERVFAIL);
    assert_true(query("a.test"));
}

static void test_an_alias_gets_its_own_stale_answer_when_its_target_fails(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    answer(0, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    answer(1, 0, (struct sections){.answer = {"a.test. 300 IN A 192.0.2.7"}});
    fake_loop_advance(loop, 300 * SECOND);
    client_ask(&client, WWW, 0);
    answer(2, 0, (struct sections){.answer = {"www.example. 300 IN CNAME a.test."}});
    exchange_fails(3, unreachable);
    assert_int_equal(client.answers, 2);
    assert_string_equal(client.text,
                        "an www.example. 30 CNAME a.test.\nan a.test. 30 A 192.0.2.7\n");
}

/* A reload changes the option while a question is under way. */
static void test_a_longer_timeout_ends_no_question_early(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    cache_set_options(cache, &(struct cache_options){.size_bytes = CACHE_SIZE_MIN,
                                                     .max_ttl_s = 86400,
                                                     .serve_stale_s = 86400,
                                                     .stale_answer_timeout_us = 60 * SECOND});
    fake_loop_advance(loop, PATIENCE_US + 2000);
    assert_int_equal(client.answers, 0);
    fake_loop_advance(loop, TASK_WALL_US - PATIENCE_US - 10000);
    assert_int_equal(client.answers, 0);
    answer(0, 0, WWW_A);
    assert_int_equal(client.rcode, RCODE_NOERROR);
}

static void test_a_client_called_with_a_stale_answer_may_ask_again(void **state)
{
    (void)state;
    struct client clients[3] = {{.asks_again = WWW}, {.asks_again = "next.example"}};
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    for (unsigned i = 0; i < 3; i++)
        client_ask(&clients[i], WWW, 0);
    fake_loop_advance(loop, PATIENCE_US + 2000);
    assert_int_equal(clients[0].answers, 1); /* the query has joined the task that continues */
    assert_int_equal(clients[2].answers, 1);
    answer(1, 0, WWW_A);
    assert_int_equal(clients[0].answers, 2);
    end_resolver();
    assert_int_equal(clients[1].answers, 2);
}

static void test_the_end_of_the_resolver_serves_no_stale_answers(void **state)
{
    (void)state;
    struct client client = {0};
    keep_over(WWW, "www.example. 300 IN A 192.0.2.1", 0);
    client_ask(&client, WWW, 0);
    end_resolver();
    assert_int_equal(client.rcode, RCODE_SERVFAIL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        SENTENCE(test_when_the_upstreams_fail_clients_get_the_stale_answer),
        SENTENCE(test_a_stale_answer_is_resolved_again_and_ends_at_last),
        SENTENCE(test_a_stale_answer_is_refreshed_after_it_is_served),
        SENTENCE(test_clients_wait_for_slow_upstreams_as_long_as_the_option_says),
        SENTENCE(test_without_a_stale_answer_a_slow_question_continues_to_its_end),
        SENTENCE(test_a_stale_nxdomain_has_its_own_code),
        SENTENCE(test_a_stale_answer_never_has_ad),
        SENTENCE(test_a_client_with_cd_or_do_gets_the_stale_answer_of_others),
        SENTENCE(test_an_unchecked_answer_serves_no_other_client),
        SENTENCE(test_a_stale_answer_does_not_hide_that_dnssec_failed),
        SENTENCE(test_a_stale_target_makes_no_fresh_answer),
        SENTENCE(test_an_alias_gets_its_own_stale_answer_when_its_target_fails),
        SENTENCE(test_a_longer_timeout_ends_no_question_early),
        SENTENCE(test_a_client_called_with_a_stale_answer_may_ask_again),
        SENTENCE(test_the_end_of_the_resolver_serves_no_stale_answers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
