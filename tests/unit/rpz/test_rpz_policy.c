/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/rpz/rpz_make.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/log.h"
#include "cache/compose.h"
#include "dns/present.h"
#include "rpz/rpz_reply.h"

/* Decisions over several zones, their counters, and bounds. tests/scenario/rpz tests the rest. */

enum { ZONES = 3 };

static struct rpz_zone_options options[ZONES];
static struct rpz_policy *policy;
static struct rpz_decision decision;
static char logged[1024];
static char empty[] = "";

static void on_log(enum log_level level, const char *line)
{
    (void)level;
    snprintf(logged, sizeof(logged), "%s", line);
}

static int set_up(void **state)
{
    (void)state;
    memset(options, 0, sizeof(options));
    for (size_t i = 0; i < ZONES; i++) {
        char text[] = {'a' + (char)i, '.', 'r', 'p', 'z', 0};
        options[i].name_len = name_copy(zone_make_name(text), options[i].wire).len;
        options[i].log_name = empty;
    }
    *logged = 0;
    log_set_sink(on_log);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rpz_policy_unref(policy);
    policy = NULL;
    log_set_sink(NULL);
    return 0;
}

/* Makes a policy of count zones with these rules. NULL: the zone is not loaded. */
static struct rpz_policy *make(size_t count, const char *const texts[], bool wait_recurse)
{
    struct rpz_policy_entry entries[ZONES] = {{0}};
    for (size_t i = 0; i < count; i++) {
        char text[NAME_TEXT_MAX];
        struct name name = {options[i].wire, options[i].name_len};
        entries[i].options = &options[i];
        if (texts[i])
            entries[i].rules = rules_make(name_format(name, text), texts[i]);
    }
    struct rpz_policy *made = rpz_policy_new(entries, count, wait_recurse);
    assert_non_null(made);
    for (size_t i = 0; i < count; i++)
        rpz_rules_unref(entries[i].rules);
    return made;
}

#define MAKE(...)                                                                                  \
    make(sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *),                              \
         (const char *const[]){__VA_ARGS__}, false)

static enum rpz_step ask(const char *name, const char *client, bool dnssec_ok, bool is_stream)
{
    struct question question = {zone_make_name(name), RRTYPE_A, 1};
    struct addr addr = addr_make(client);
    struct rpz_query query = {
        .client = &addr, .question = &question, .dnssec_ok = dnssec_ok, .is_stream = is_stream};
    bool may_ask =
        rpz_policy_lists_client(policy, 0, &addr) || rpz_policy_may_ask(policy, 0, question.name);
    enum rpz_step step = rpz_policy_ask(policy, &query, &decision);
    assert_true(may_ask || step == RPZ_CLEAR);
    return step;
}

static uint64_t hits(size_t zone, enum rpz_action action)
{
    return rpz_policy_zone_hits(rpz_policy_at(policy, zone), action);
}

static void test_a_zone_that_is_not_loaded_has_no_effect(void **state)
{
    (void)state;
    policy = MAKE(NULL, "bad.test CNAME .\n");
    assert_int_equal(ask("bad.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NXDOMAIN);
    assert_ptr_equal(decision.zone, rpz_policy_at(policy, 1));
    assert_null(rpz_policy_zone_rules(rpz_policy_at(policy, 0)));
}

static void test_each_zone_counts_by_action(void **state)
{
    (void)state;
    options[0].override = RPZ_OVERRIDE_DISABLED;
    policy = MAKE("a.test CNAME .\n", "a.test CNAME *.\nb.test CNAME rpz-drop.\n");
    assert_int_equal(ask("a.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(ask("a.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(ask("b.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(ask("c.test", "192.0.2.1", false, false), RPZ_CLEAR);
    assert_int_equal(hits(0, RPZ_DISABLED), 2);
    assert_int_equal(hits(0, RPZ_NXDOMAIN), 0);
    assert_int_equal(hits(1, RPZ_NODATA), 2);
    assert_int_equal(hits(1, RPZ_DROP), 1);
}

static void test_counters_go_on_in_a_new_policy(void **state)
{
    (void)state;
    policy = MAKE("a.test CNAME .\n", "b.test CNAME .\n");
    assert_int_equal(ask("b.test", "192.0.2.1", false, false), RPZ_DECIDED);
    struct rpz_policy *next = MAKE(NULL, "c.test CNAME .\n");
    rpz_policy_take_counters(next, policy);
    rpz_policy_unref(policy);
    policy = next;
    assert_int_equal(ask("c.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(hits(1, RPZ_NXDOMAIN), 2);
}

static void test_a_look_counts_nothing(void **state)
{
    (void)state;
    struct question question = {zone_make_name("a.test"), RRTYPE_A, 1};
    struct addr addr = addr_make("192.0.2.1");
    struct rpz_query query = {.client = &addr, .question = &question, .is_look = true};
    options[0].log = true;
    policy = MAKE("a.test CNAME .\n");
    assert_int_equal(rpz_policy_ask(policy, &query, &decision), RPZ_DECIDED);
    assert_int_equal(hits(0, RPZ_NXDOMAIN), 0);
    assert_string_equal(logged, "");
}

static void test_a_match_is_logged_by_name(void **state)
{
    (void)state;
    static char label[] = "feed";
    options[0].log = true;
    options[0].log_name = label;
    policy = MAKE("*.test CNAME .\n");
    assert_int_equal(ask("a.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_non_null(strstr(logged, "feed: nxdomain by rule *.test.a.rpz. (qname) for 192.0.2.1, "
                                   "which asks for a.test. A"));
}

static void test_signed_answers_wait_unless_the_zone_breaks_them(void **state)
{
    (void)state;
    options[1].break_dnssec = true;
    policy = MAKE("a.test CNAME .\nc.test CNAME rpz-passthru.\n", "b.test CNAME .\n");
    assert_int_equal(ask("a.test", "192.0.2.1", true, false), RPZ_WAIT);
    assert_int_equal(hits(0, RPZ_NXDOMAIN), 0);
    assert_int_equal(ask("b.test", "192.0.2.1", true, false), RPZ_DECIDED);
    assert_int_equal(ask("c.test", "192.0.2.1", true, false), RPZ_EXEMPT);
}

static void test_tcp_only_exempts_streams(void **state)
{
    (void)state;
    policy = MAKE("a.test CNAME rpz-tcp-only.\n");
    assert_int_equal(ask("a.test", "192.0.2.1", false, true), RPZ_EXEMPT);
    assert_int_equal(ask("a.test", "192.0.2.1", false, false), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_TCP_ONLY);
}

static void test_clients_by_ipv6_and_ipv4(void **state)
{
    (void)state;
    policy = MAKE("24.0.2.0.192.rpz-client-ip CNAME .\n32.zz.db8.2001.rpz-client-ip CNAME *.\n");
    assert_int_equal(ask("a.test", "192.0.2.9", false, false), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NXDOMAIN);
    assert_int_equal(ask("a.test", "2001:db8::9", false, false), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NODATA);
    assert_int_equal(ask("a.test", "192.0.3.9", false, false), RPZ_CLEAR);
}

/* ---- answers ---- */

static struct compose_space space;

static const struct rpz_servers *no_servers(void *context, struct name name, bool is_last)
{
    (void)context;
    (void)name;
    (void)is_last;
    return NULL;
}

/* Judges an answer with count A records. The n-th address is 10.0.0.0 plus first plus n. */
static enum rpz_step judge(unsigned first, unsigned count)
{
    struct question question = {zone_make_name("www.test"), RRTYPE_A, 1};
    struct addr addr = addr_make("192.0.2.1");
    struct compose compose;
    struct answer answer;
    compose_begin(&compose, &space, &question, 0);
    for (unsigned i = 0; i < count; i++) {
        uint8_t rdata[4];
        put_u32(rdata, 0x0a000000 + first + i);
        compose_rr(&compose, question.name, RRTYPE_A, 60, span_of(rdata, 4));
    }
    assert_true(compose_end(&compose, &answer));
    struct rpz_query query = {.client = &addr, .question = &question};
    struct rpz_answer facts = {.message = answer.message, .servers = no_servers};
    bool may_judge = rpz_policy_may_judge(policy, 0, question.name, &answer);
    enum rpz_step step = rpz_policy_judge(policy, &query, &facts, true, &decision);
    assert_true(may_judge || step == RPZ_CLEAR);
    return step;
}

static void test_a_look_rules_out_names_and_clients_without_rules(void **state)
{
    (void)state;
    struct addr listed = addr_make("192.0.2.1"), other = addr_make("192.0.2.9");
    policy = MAKE(NULL, "bad.test CNAME .\n*.wild.test CNAME .\nlabel CNAME .\n"
                        "32.1.2.0.192.rpz-client-ip CNAME .\n");
    assert_true(rpz_policy_lists_client(policy, 0, &listed));
    assert_false(rpz_policy_lists_client(policy, 0, &other));
    assert_false(rpz_policy_may_ask(policy, 0, zone_make_name("www.example.com")));
    assert_true(rpz_policy_may_ask(policy, 0, zone_make_name("bad.test")));
    assert_true(rpz_policy_may_ask(policy, 0, zone_make_name("a.b.wild.test")));
    assert_true(rpz_policy_may_ask(policy, 0, zone_make_name("label")));
    /* A name that only resembles a rule's name passes the first look once, and must not pay for it
     * with each hit. */
    assert_false(rpz_policy_may_ask(policy, 0, zone_make_name("www.bad.test")));
    assert_false(rpz_policy_may_ask(policy, 0, zone_make_name("wild.test")));
    for (unsigned i = 0; i < 500; i++) {
        char text[32];
        snprintf(text, sizeof(text), "www.n%u.test", i);
        assert_false(rpz_policy_may_ask(policy, 0, zone_make_name(text)));
    }
}

/* Makes an answer with one record, whose owner is the QNAME. is_listed: the answer lists the
 * offsets of the record. */
static bool may_judge_record(uint16_t type, const void *rdata, size_t len, bool is_listed)
{
    struct question question = {zone_make_name("www.test"), RRTYPE_A, 1};
    struct compose compose;
    struct answer answer;
    compose_begin(&compose, &space, &question, 0);
    compose_rr(&compose, question.name, type, 60, span_of(rdata, len));
    assert_true(compose_end(&compose, &answer));
    answer.ttl_count = is_listed ? answer.ttl_count : 0;
    return rpz_policy_may_judge(policy, 0, question.name, &answer);
}

static bool may_judge_one(uint16_t type, const void *rdata, size_t len)
{
    return may_judge_record(type, rdata, len, true);
}

static void test_a_look_rules_out_answers_without_listed_addresses(void **state)
{
    (void)state;
    static const uint8_t ipv6[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
    static const uint8_t others[16] = {0x20, 0x01, 0x0d, 0xb9, [15] = 1};
    policy = MAKE("24.0.0.0.10.rpz-ip CNAME .\n", "32.zz.db8.2001.rpz-ip CNAME .\n");
    assert_true(may_judge_one(RRTYPE_A, "\x0a\x00\x00\x07", 4));
    assert_false(may_judge_one(RRTYPE_A, "\x0a\x00\x01\x07", 4));
    assert_true(may_judge_one(RRTYPE_AAAA, ipv6, 16));
    assert_false(may_judge_one(RRTYPE_AAAA, others, 16));
    assert_false(may_judge_one(RRTYPE_TXT, "\3abc", 4));
    assert_true(may_judge_record(RRTYPE_TXT, "\3abc", 4, false));
    assert_false(may_judge_one(RRTYPE_CNAME, "\1a", 3));
}

static void test_a_look_sees_listed_targets_of_aliases(void **state)
{
    (void)state;
    policy = MAKE(NULL, "a CNAME .\n*.wild.test CNAME .\n");
    assert_true(may_judge_one(RRTYPE_CNAME, "\1A", 3));
    assert_true(may_judge_one(RRTYPE_CNAME, "\1x\4wild\4test", 13));
    assert_false(may_judge_one(RRTYPE_CNAME, "\1b", 3));
    assert_false(may_judge_one(RRTYPE_TXT, "\1a", 2));
}

static void test_rules_about_servers_concern_every_answer(void **state)
{
    (void)state;
    policy = MAKE("ns.test.rpz-nsdname CNAME .\n");
    assert_true(may_judge_one(RRTYPE_TXT, "\3abc", 4));
}

/* A listed site must not hide its address behind many others. */
static void test_a_listed_address_is_found_behind_any_number_of_others(void **state)
{
    (void)state;
    policy = MAKE("32.255.0.0.10.rpz-ip CNAME .\n32.0.15.0.10.rpz-ip CNAME *.\n");
    assert_int_equal(judge(256, 3584), RPZ_CLEAR);
    assert_int_equal(judge(256, 3585), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NODATA);
    assert_int_equal(judge(255, 3586), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NXDOMAIN);
}

static void test_so_many_listed_addresses_are_compared(void **state)
{
    (void)state;
    policy = MAKE("8.0.0.0.10.rpz-ip CNAME .\n32.255.0.0.10.rpz-ip CNAME *.\n"
                  "32.0.1.0.10.rpz-ip CNAME *.\n");
    assert_int_equal(judge(0, 2 * RPZ_ADDRESSES_MAX), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NODATA); /* by the last one that is compared */
    assert_int_equal(judge(257, 2 * RPZ_ADDRESSES_MAX), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NXDOMAIN);
}

static void test_the_smallest_address_decides_between_equal_prefixes(void **state)
{
    (void)state;
    policy = MAKE("32.2.0.0.10.rpz-ip CNAME .\n32.1.0.0.10.rpz-ip CNAME *.\n");
    assert_int_equal(judge(1, 2), RPZ_DECIDED);
    assert_int_equal(decision.action, RPZ_NODATA);
}

static struct name server_names[2];
static struct rpz_servers two_servers = {.names = server_names, .name_count = 2};

static const struct rpz_servers *find_two(void *context, struct name name, bool is_last)
{
    (void)context;
    (void)name;
    (void)is_last;
    return &two_servers;
}

/* Judges by two servers of a name. The result must be the same in both orders. */
static enum rpz_action judge_servers(const char *first, const char *second)
{
    struct question question = {zone_make_name("www.test"), RRTYPE_A, 1};
    struct addr addr = addr_make("192.0.2.1");
    uint8_t bytes[COMPOSE_FAILURE_MAX];
    struct answer answer;
    enum rpz_action actions[2];
    compose_failure(&answer, bytes, &question, RCODE_NOERROR);
    struct rpz_query query = {.client = &addr, .question = &question};
    struct rpz_answer facts = {.message = answer.message, .servers = find_two};
    for (int i = 0; i < 2; i++) {
        server_names[i] = zone_make_name(first);
        server_names[!i] = zone_make_name(second);
        assert_int_equal(rpz_policy_judge(policy, &query, &facts, true, &decision), RPZ_DECIDED);
        actions[i] = decision.action;
    }
    facts.is_local = true;
    assert_int_equal(rpz_policy_judge(policy, &query, &facts, true, &decision), RPZ_CLEAR);
    assert_int_equal(actions[0], actions[1]);
    return actions[0];
}

static void test_the_last_server_decides(void **state)
{
    (void)state;
    policy = MAKE("b.ns.rpz-nsdname CNAME .\na.ns.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("b.ns", "a.ns"), RPZ_NXDOMAIN);
    /* The example in section 5.5 of the draft. */
    rpz_policy_unref(policy);
    policy = MAKE("example.rpz-nsdname CNAME .\nz.a.example.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("example", "z.a.example"), RPZ_NODATA);
}

static void test_a_rule_about_the_server_itself_comes_before_wildcards(void **state)
{
    (void)state;
    policy = MAKE("a.ns.rpz-nsdname CNAME .\n*.y.z.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("a.ns", "a.y.z"), RPZ_NXDOMAIN);
    assert_int_equal(judge_servers("b.ns", "a.y.z"), RPZ_NODATA);
    rpz_policy_unref(policy);
    policy = MAKE("a.z.rpz-nsdname CNAME .\n*.y.ns.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("a.z", "a.y.ns"), RPZ_NXDOMAIN);
}

static void test_the_wildcard_with_the_most_labels_decides(void **state)
{
    (void)state;
    policy = MAKE("*.b.a.rpz-nsdname CNAME .\n*.z.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("x.b.a", "y.x.z"), RPZ_NXDOMAIN);
    rpz_policy_unref(policy);
    policy = MAKE("*.b.z.rpz-nsdname CNAME .\n*.a.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("x.b.z", "y.x.a"), RPZ_NXDOMAIN);
}

static void test_the_servers_of_equal_wildcards_are_compared_and_not_the_rules(void **state)
{
    (void)state;
    policy = MAKE("*.b.rpz-nsdname CNAME .\n*.a.rpz-nsdname CNAME *.\n");
    assert_int_equal(judge_servers("z.a", "y.b"), RPZ_NXDOMAIN);
    rpz_policy_unref(policy);
    policy = MAKE("*.ns.rpz-nsdname CNAME .\n*.a.ns.rpz-nsdname CNAME *.\n"
                  "*.b.ns.rpz-nsdname CNAME rpz-drop.\n");
    assert_int_equal(judge_servers("x.b.ns", "y.a.ns"), RPZ_DROP);
}

static void test_a_zone_that_does_not_apply_decides_nothing(void **state)
{
    (void)state;
    struct question question = {zone_make_name("a.test"), RRTYPE_A, 1};
    struct addr addr = addr_make("192.0.2.1");
    struct rpz_query query = {.client = &addr, .question = &question, .except = 1};
    options[0].override = RPZ_OVERRIDE_DISABLED;
    options[0].break_dnssec = true;
    policy = MAKE("a.test CNAME .\n32.1.2.0.192.rpz-client-ip CNAME .\nns.rpz-nsdname CNAME .\n",
                  "b.test CNAME .\n32.1.2.0.192.rpz-client-ip CNAME rpz-passthru.\n");
    assert_true(rpz_policy_may_ask(policy, 2, question.name));
    assert_false(rpz_policy_may_ask(policy, 1, question.name));
    assert_true(rpz_policy_lists_client(policy, 2, &addr));
    assert_true(rpz_policy_lists_client(policy, 1, &addr));
    assert_false(rpz_policy_lists_client(policy, 3, &addr));
    assert_true(rpz_policy_needs_servers(policy, 2));
    assert_false(rpz_policy_needs_servers(policy, 1));
    /* If zone 0 applied, the wait for its servers would delay PASSTHRU. */
    assert_int_equal(rpz_policy_ask(policy, &query, &decision), RPZ_EXEMPT);
    assert_ptr_equal(decision.zone, rpz_policy_at(policy, 1));
    assert_int_equal(hits(0, RPZ_DISABLED), 0);
    query.except = 3;
    assert_int_equal(rpz_policy_ask(policy, &query, &decision), RPZ_CLEAR);
    query.except = 0;
    assert_int_equal(rpz_policy_ask(policy, &query, &decision), RPZ_WAIT);
}

static void test_an_answer_is_judged_by_the_zones_that_apply(void **state)
{
    (void)state;
    struct question question = {zone_make_name("www.test"), RRTYPE_A, 1};
    struct addr addr = addr_make("192.0.2.1");
    struct rpz_query query = {.client = &addr, .question = &question};
    struct compose compose;
    struct answer answer;
    policy = MAKE("24.0.0.0.10.rpz-ip CNAME .\n", "24.0.0.0.10.rpz-ip CNAME *.\n");
    compose_begin(&compose, &space, &question, 0);
    compose_rr(&compose, question.name, RRTYPE_A, 60, span_of("\x0a\x00\x00\x07", 4));
    assert_true(compose_end(&compose, &answer));
    struct rpz_answer facts = {.message = answer.message};
    for (uint32_t except = 0; except < 4; except++) {
        query.except = except;
        assert_int_equal(rpz_policy_may_judge(policy, except, question.name, &answer), except != 3);
        assert_int_equal(rpz_policy_judge(policy, &query, &facts, true, &decision),
                         except == 3 ? RPZ_CLEAR : RPZ_DECIDED);
        if (except != 3)
            assert_ptr_equal(decision.zone, rpz_policy_at(policy, except & 1));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_a_zone_that_is_not_loaded_has_no_effect),
        TEST(test_each_zone_counts_by_action),
        TEST(test_counters_go_on_in_a_new_policy),
        TEST(test_a_look_counts_nothing),
        TEST(test_a_match_is_logged_by_name),
        TEST(test_signed_answers_wait_unless_the_zone_breaks_them),
        TEST(test_tcp_only_exempts_streams),
        TEST(test_clients_by_ipv6_and_ipv4),
        TEST(test_a_look_rules_out_names_and_clients_without_rules),
        TEST(test_a_look_rules_out_answers_without_listed_addresses),
        TEST(test_a_look_sees_listed_targets_of_aliases),
        TEST(test_rules_about_servers_concern_every_answer),
        TEST(test_a_listed_address_is_found_behind_any_number_of_others),
        TEST(test_so_many_listed_addresses_are_compared),
        TEST(test_the_smallest_address_decides_between_equal_prefixes),
        TEST(test_the_last_server_decides),
        TEST(test_a_rule_about_the_server_itself_comes_before_wildcards),
        TEST(test_the_wildcard_with_the_most_labels_decides),
        TEST(test_the_servers_of_equal_wildcards_are_compared_and_not_the_rules),
        TEST(test_a_zone_that_does_not_apply_decides_nothing),
        TEST(test_an_answer_is_judged_by_the_zones_that_apply),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
