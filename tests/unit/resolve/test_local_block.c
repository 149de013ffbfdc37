/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Block lists, and aliases that lead to listed names. */

#include "unit/local/local_sample.h"

#include "unit/resolve/clients.h"

#include "cache/cache.h"
#include "local/local_block.h"
#include "local/local_forget.h"

static struct local_names *table;

static uint32_t list_of(struct local_build *build, enum local_action action, const char *name)
{
    uint32_t list;
    struct addr addr = ip("192.0.2.66");
    assert_int_equal(
        local_build_list(build, action, &addr, action == LOCAL_REDIRECT ? 1 : 0, &list), ERR_OK);
    assert_int_equal(local_build_listed(build, list, NAME(name)), ERR_OK);
    return list;
}

static struct local_names *make_table(bool blocks_aliases)
{
    struct local_build *build = local_build_new();
    zone(build, "fine.ads.example", LOCAL_TRANSPARENT);
    record(build, "own.ads.example. 60 IN A 192.0.2.7");
    list_of(build, LOCAL_NXDOMAIN, "ads.example");
    list_of(build, LOCAL_REDIRECT, "moved.example");
    list_of(build, LOCAL_REFUSE, "refused.test");
    list_of(build, LOCAL_NODATA, "empty.test");
    if (blocks_aliases)
        local_build_block_aliases(build);
    return build_end(build);
}

static int set_up_table(void **state)
{
    int result = set_up(state);
    table = make_table(true);
    resolver_set_local(resolver, table);
    return result;
}

static int tear_down_table(void **state)
{
    int result = tear_down(state);
    local_names_free(table);
    return result;
}

/* Queries www.example. The server answers with an alias and with the target's data. */
static void ask_alias(struct client *client, const char *alias, const char *data)
{
    client_ask(client, WWW, 0);
    assert_int_equal(answer(asked_count - 1, 0, (struct sections){.answer = {alias, data}}),
                     EXCHANGE_TAKEN);
    assert_int_equal(client->answers, 1);
}

static void ask_alias_of_tracker(struct client *client)
{
    ask_alias(client, "www.example. 900 IN CNAME X.Ads.example.",
              "x.ads.example. 900 IN A 192.0.2.1");
}

static void test_an_alias_to_a_listed_name_is_blocked_like_the_name(void **state)
{
    (void)state;
    struct client client = {0};
    ask_alias_of_tracker(&client);
    assert_int_equal(client.rcode, RCODE_NXDOMAIN);
    assert_string_equal(client.text, "ns www.example. 300 SOA www.example.\n");
    assert_int_equal(client.ede_count, 1);
    assert_int_equal(client.ede[0], EDE_BLOCKED);
    assert_int_equal(stats.blocked_aliases, 1);
}

static void test_a_blocked_alias_is_kept_no_longer_than_the_lists_ttl(void **state)
{
    (void)state;
    struct client client = {0};
    struct answer found;
    ask_alias_of_tracker(&client);
    assert_true(find(WWW, &found));
    assert_int_equal(found.kind, ANSWER_NXDOMAIN);
    assert_int_equal(found.ede[0], EDE_BLOCKED);
    assert_int_equal(found.message.data[2] & (HEADER_AA >> 8), 0);
    fake_loop_advance(loop, (LOCAL_ZONE_TTL_S + 1) * (uint64_t)SECOND);
    assert_false(find(WWW, &found));
}

static void test_a_redirecting_list_gives_its_addresses_to_the_name_asked_for(void **state)
{
    (void)state;
    struct client client = {0};
    ask_alias(&client, "www.example. 60 IN CNAME moved.example.",
              "moved.example. 60 IN A 192.0.2.1");
    assert_string_equal(client.text, "an www.example. 300 A 192.0.2.66\n");
    assert_int_equal(client.ede[0], EDE_FORGED_ANSWER);
}

static void test_a_listed_name_in_the_middle_of_a_chain_counts(void **state)
{
    (void)state;
    struct client client = {0};
    client_ask(&client, WWW, 0);
    answer(0, 0,
           (struct sections){.answer = {"www.example. 60 IN CNAME x.ads.example.",
                                        "x.ads.example. 60 IN CNAME good.example.",
                                        "good.example. 60 IN A 192.0.2.1"}});
    assert_int_equal(client.rcode, RCODE_NXDOMAIN);
}

/* The target's servers get no query. */
static void test_a_target_in_another_zone_is_not_asked_for(void **state)
{
    (void)state;
    struct client refused = {0}, empty = {0};
    ask_alias(&refused, "www.example. 60 IN CNAME a.refused.test.", NULL);
    assert_int_equal(refused.rcode, RCODE_REFUSED);
    assert_int_equal(refused.ede[0], EDE_BLOCKED);
    client_ask(&empty, "b.example", 0);
    answer(1, 0, (struct sections){.answer = {"b.example. 60 IN CNAME empty.test."}});
    assert_int_equal(empty.answers, 1);
    assert_int_equal(empty.kind, ANSWER_NODATA);
    assert_string_equal(empty.text, "ns b.example. 300 SOA b.example.\n");
    assert_int_equal(asked_count, 2);
}

static void test_the_operators_data_for_a_target_overrides_lists(void **state)
{
    (void)state;
    static const char *const targets[] = {"fine.ads.example", "own.ads.example", "other.example"};
    for (unsigned i = 0; i < ARRAY_LEN(targets); i++) {
        struct client client = {0};
        char asked_name[32], alias[128], data[128];
        snprintf(asked_name, sizeof(asked_name), "n%u.example", i);
        snprintf(alias, sizeof(alias), "%s. 60 IN CNAME %s.", asked_name, targets[i]);
        snprintf(data, sizeof(data), "%s. 60 IN A 192.0.2.1", targets[i]);
        client_ask(&client, asked_name, 0);
        answer(asked_count - 1, 0, (struct sections){.answer = {alias, data}});
        assert_int_equal(client.kind, ANSWER_POSITIVE);
    }
    assert_int_equal(stats.blocked_aliases, 0);
}

static void test_the_option_turns_it_off(void **state)
{
    (void)state;
    struct client client = {0};
    struct local_names *lax = make_table(false);
    resolver_set_local(resolver, lax);
    ask_alias_of_tracker(&client);
    assert_int_equal(client.kind, ANSWER_POSITIVE);
    resolver_set_local(resolver, table);
    local_names_free(lax);
}

/* One client queries a name that another client's answer contains, while that client still waits.
 */
static void test_every_waiter_gets_the_lists_answer(void **state)
{
    (void)state;
    struct client first = {.asks_again = "b.example"}, second = {0};
    client_ask(&first, WWW, 0);
    client_ask(&second, WWW, 0);
    answer(0, 0,
           (struct sections){.answer = {"www.example. 60 IN CNAME x.ads.example.",
                                        "x.ads.example. 60 IN A 192.0.2.1"}});
    assert_string_equal(first.text, "ns www.example. 300 SOA www.example.\n");
    assert_string_equal(second.text, "ns www.example. 300 SOA www.example.\n");
    end_resolver();
}

/* ---- a reload ---- */

static unsigned walk(struct local_names *names)
{
    struct answer found;
    uint64_t place = 0;
    while (cache_walk(cache, &place, 64, local_forget, names))
        ;
    return find(WWW, &found) ? 1 : 0;
}

static void test_a_reload_forgets_answers_whose_aliases_are_listed_now(void **state)
{
    (void)state;
    struct client client = {0};
    resolver_set_local(resolver, NULL);
    ask_alias_of_tracker(&client);
    assert_int_equal(client.kind, ANSWER_POSITIVE);
    resolver_set_local(resolver, table);
    assert_int_equal(walk(table), 0);
}

static void test_a_reload_forgets_decisions_of_lists(void **state)
{
    (void)state;
    struct client client = {0};
    ask_alias_of_tracker(&client);
    struct local_names *lax = make_table(false);
    resolver_set_local(resolver, lax);
    assert_int_equal(walk(lax), 0);
    resolver_set_local(resolver, table);
    local_names_free(lax);
}

static void test_a_reload_keeps_other_aliases(void **state)
{
    (void)state;
    struct client client = {0};
    ask_alias(&client, "www.example. 60 IN CNAME good.example.", "good.example. 60 IN A 192.0.2.1");
    assert_int_equal(walk(table), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up_table, tear_down_table)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_alias_to_a_listed_name_is_blocked_like_the_name),
        TEST(test_a_blocked_alias_is_kept_no_longer_than_the_lists_ttl),
        TEST(test_a_redirecting_list_gives_its_addresses_to_the_name_asked_for),
        TEST(test_a_listed_name_in_the_middle_of_a_chain_counts),
        TEST(test_a_target_in_another_zone_is_not_asked_for),
        TEST(test_the_operators_data_for_a_target_overrides_lists),
        TEST(test_the_option_turns_it_off),
        TEST(test_every_waiter_gets_the_lists_answer),
        TEST(test_a_reload_forgets_answers_whose_aliases_are_listed_now),
        TEST(test_a_reload_forgets_decisions_of_lists),
        TEST(test_a_reload_keeps_other_aliases),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
