/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The steps of a query under DNS64, with reloads between them. tests/scenario/{dns64,rpz} run them
 * through a whole daemon. */
#include "unit/rpz/rpz_make.h"

#include <stdlib.h>
#include <string.h>

#include "base/stats.h"
#include "cache/compose.h"
#include "dns/edns.h"
#include "dns/header.h"
#include "dns/message.h"
#include "dns/rrtype.h"
#include "serve/course.h"
#include "support/fake_loop.h"
#include "unit/serve/stub_resolver.h"

#define ZEROS "0.0.0.0.0.0.0.0.0.0.0.0.0.0.0.0"
#define REVERSE "1.2.2.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.0.ip6.arpa"
#define REVERSE_TARGET "33.2.0.192.in-addr.arpa"

static struct loop *loop;
static struct stats stats;
static struct courses courses;
static struct course course;
static struct dns64_options dns64;
static struct query query;
static struct addr client;
static struct course_query about;
static struct cache_key key;
static struct answer answer;
static struct canned canned;
static uint8_t asked[NAME_WIRE_MAX];

static void set_prefix(const char *text)
{
    assert_int_equal(prefix_parse(&dns64.prefix, text), ERR_OK);
    courses.dns64 = &dns64;
}

static int setup(void **state)
{
    (void)state;
    stub_reset();
    loop = loop_new();
    assert_true(courses_init(&courses, loop, &stub, &stats));
    dns64 = (struct dns64_options){.clients = NULL};
    set_prefix("64:ff9b::/96");
    assert_int_equal(addr_parse(&client, "2001:db8::1", 53), ERR_OK);
    about = (struct course_query){.query = &query, .client = &client, .is_resolved = true};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    course_deinit(&course);
    courses_deinit(&courses);
    loop_free(loop);
    return 0;
}

static enum course_end begin(const char *name, uint16_t type)
{
    query = (struct query){.question = canned_question(name, type, asked)};
    return course_begin(&course, &courses, &about, &key, &answer);
}

/* Gives the course the answer that it awaits. */
static enum course_end take(unsigned records, uint16_t rdata_len)
{
    struct question question = {{key.name, key.name_len}, key.type, key.cls};
    canned_make(&canned, &question, 0, records, rdata_len);
    canned.answer.kind = records ? ANSWER_POSITIVE : ANSWER_NODATA;
    answer = canned.answer;
    return course_take(&course, &courses, &about, &key, &answer);
}

static void assert_asks(const char *name, uint16_t type)
{
    uint8_t wire[NAME_WIRE_MAX];
    struct question question = canned_question(name, type, wire);
    assert_int_equal(key.type, type);
    assert_true(name_equal((struct name){key.name, key.name_len}, question.name));
}

/* Asserts that the answer has the client's question, and this number of records of the type. */
static void assert_answer(uint16_t rcode, uint16_t type, unsigned count)
{
    struct message message;
    assert_int_equal(message_parse(&message, answer.message), MESSAGE_OK);
    assert_true(question_equal(&message.question, &query.question));
    assert_int_equal(message.flags & HEADER_RCODE_MASK, rcode);
    struct rr_iter iter = message_rrs(&message, SECTION_ANSWER);
    for (struct rr rr; message_rr_next(&iter, &rr);)
        count -= rr.type == type;
    assert_int_equal(count, 0);
}

static void test_addresses_take_two_answers(void **state)
{
    (void)state;
    assert_int_equal(begin("www.example", RRTYPE_AAAA), COURSE_ASK);
    assert_asks("www.example", RRTYPE_AAAA);
    assert_int_equal(take(0, 0), COURSE_ASK);
    assert_asks("www.example", RRTYPE_A);
    assert_int_equal(take(2, 4), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_AAAA, 2);
}

static void test_too_many_addresses_fail_alone(void **state)
{
    (void)state;
    assert_int_equal(begin("www.example", RRTYPE_AAAA), COURSE_ASK);
    assert_int_equal(take(0, 0), COURSE_ASK);
    assert_int_equal(take(4000, 4), COURSE_REPLY);
    assert_answer(RCODE_SERVFAIL, RRTYPE_AAAA, 0);
}

static void test_reverse_names_have_an_alias(void **state)
{
    (void)state;
    assert_int_equal(begin(REVERSE, RRTYPE_PTR), COURSE_ASK);
    assert_asks(REVERSE_TARGET, RRTYPE_PTR);
    assert_int_equal(take(1, 1), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_CNAME, 1);
}

/* A server chooses the size of its answer, so that size must never stop the daemon. */
static void test_a_reverse_answer_that_does_not_fit_fails_alone(void **state)
{
    (void)state;
    assert_int_equal(begin(REVERSE, RRTYPE_PTR), COURSE_ASK);
    assert_int_equal(take(CANNED_RRS_MAX, 1), COURSE_REPLY);
    assert_answer(RCODE_SERVFAIL, RRTYPE_PTR, 0);
}

/* ---- the target of a rule ---- */

static struct rpz_policy *policy;

static void set_policy(void)
{
    static char log_name[] = "";
    static const struct rpz_zone_options options = {.log_name = log_name};
    struct rpz_policy_entry entry = {&options,
                                     rules_make("rpz", "bad.test CNAME garden.example.\n")};
    policy = rpz_policy_new(&entry, 1, false);
    rpz_rules_unref(entry.rules);
    courses.police.policy = policy;
}

static enum course_end begin_redirected(void)
{
    set_policy();
    return begin("bad.test", RRTYPE_AAAA);
}

static int teardown_policy(void **state)
{
    rpz_policy_unref(policy);
    return teardown(state);
}

static void test_the_target_of_a_rule_takes_two_answers(void **state)
{
    (void)state;
    assert_int_equal(begin_redirected(), COURSE_ASK);
    assert_asks("garden.example", RRTYPE_AAAA);
    assert_int_equal(take(0, 0), COURSE_ASK);
    assert_asks("garden.example", RRTYPE_A);
    assert_int_equal(take(2, 4), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_AAAA, 2);
}

/* The target's A records would otherwise answer a question for AAAA. */
static void test_the_target_of_a_rule_fails_when_dns64_has_ended(void **state)
{
    (void)state;
    assert_int_equal(begin_redirected(), COURSE_ASK);
    assert_int_equal(take(0, 0), COURSE_ASK);
    courses.dns64 = NULL;
    assert_int_equal(take(2, 4), COURSE_REPLY);
    assert_answer(RCODE_SERVFAIL, RRTYPE_A, 0);
}

static void test_the_target_of_a_rule_begins_again_when_dns64_has_ended(void **state)
{
    (void)state;
    assert_int_equal(begin_redirected(), COURSE_ASK);
    assert_int_equal(take(0, 0), COURSE_ASK);
    courses.dns64 = NULL;
    course_key(&course, &courses, &about, &key);
    assert_asks("garden.example", RRTYPE_AAAA);
    assert_int_equal(take(0, 0), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_CNAME, 1);
}

/* ---- reloads between two answers ---- */

static void test_a_reverse_name_without_its_prefix_is_ordinary(void **state)
{
    (void)state;
    assert_int_equal(begin(REVERSE, RRTYPE_PTR), COURSE_ASK);
    set_prefix("64:ff9b:1::/96");
    assert_int_equal(take(1, 1), COURSE_ASK);
    assert_asks(REVERSE, RRTYPE_PTR);
    assert_int_equal(take(1, 1), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_PTR, 1);
}

static void test_a_reverse_name_may_become_that_of_another_address(void **state)
{
    (void)state;
    assert_int_equal(begin("0.0.0.0.0.0.0.c." ZEROS ".b.9.f.f.4.6.0.0.ip6.arpa", RRTYPE_PTR),
                     COURSE_ASK);
    assert_asks("0.0.0.192.in-addr.arpa", RRTYPE_PTR);
    set_prefix("64:ff9b::/64");
    assert_int_equal(take(1, 1), COURSE_ASK);
    assert_asks("192.0.0.0.in-addr.arpa", RRTYPE_PTR);
    assert_int_equal(take(1, 1), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_CNAME, 1);
}

/* A parked query computes its key again. */
static void test_the_key_follows_the_prefix(void **state)
{
    (void)state;
    assert_int_equal(begin(REVERSE, RRTYPE_PTR), COURSE_ASK);
    set_prefix("64:ff9b:1::/96");
    course_key(&course, &courses, &about, &key);
    assert_asks(REVERSE, RRTYPE_PTR);
    assert_int_equal(take(1, 1), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_PTR, 1);
}

static void test_an_answer_for_dns64_that_has_ended_is_not_sent(void **state)
{
    (void)state;
    assert_int_equal(begin("www.example", RRTYPE_AAAA), COURSE_ASK);
    assert_int_equal(take(0, 0), COURSE_ASK);
    courses.dns64 = NULL;
    assert_int_equal(take(1, 4), COURSE_REPLY);
    assert_answer(RCODE_SERVFAIL, RRTYPE_A, 0);
    assert_int_equal(begin(REVERSE, RRTYPE_PTR), COURSE_ASK);
    assert_asks(REVERSE, RRTYPE_PTR);
}

static void test_a_parked_query_begins_again_when_dns64_has_ended(void **state)
{
    (void)state;
    assert_int_equal(begin("www.example", RRTYPE_AAAA), COURSE_ASK);
    assert_int_equal(take(0, 0), COURSE_ASK);
    courses.dns64 = NULL;
    course_key(&course, &courses, &about, &key);
    assert_asks("www.example", RRTYPE_AAAA);
    assert_int_equal(take(0, 0), COURSE_REPLY);
    assert_answer(RCODE_NOERROR, RRTYPE_AAAA, 0);
}

/* ---- answers to which no rule applies ---- */

/* Returns whether a rule may apply to a fresh answer with an alias to this target. All such answers
 * have one place in memory and one length. */
static bool concerns_alias_of(const char *target)
{
    static struct compose_space space;
    uint8_t wire[NAME_WIRE_MAX], to[NAME_WIRE_MAX];
    struct question question = canned_question("svc.test", RRTYPE_A, wire);
    struct question end = canned_question(target, RRTYPE_A, to);
    struct compose compose;
    compose_begin(&compose, &space, &question, HEADER_AA);
    compose_cname(&compose, question.name, RRCLASS_IN, 60, end.name);
    assert_true(compose_end(&compose, &answer));
    compose_describe(&answer, ANSWER_POSITIVE, EDE_NONE, loop_now(loop));
    return courses_concern_answer(&courses, 0, &key, &answer);
}

/* Local data differs between the views of one space, and one turn answers clients of several views.
 */
static void test_an_answer_made_in_this_turn_is_judged_each_time(void **state)
{
    (void)state;
    set_policy();
    begin("svc.test", RRTYPE_A);
    assert_false(concerns_alias_of("fine.test"));
    assert_false(concerns_alias_of("two.test"));
    assert_true(concerns_alias_of("bad.test"));
    assert_false(concerns_alias_of("two.test"));
}

/* ---- */

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_addresses_take_two_answers),
        TEST(test_too_many_addresses_fail_alone),
        TEST(test_reverse_names_have_an_alias),
        TEST(test_a_reverse_answer_that_does_not_fit_fails_alone),
        cmocka_unit_test_setup_teardown(test_the_target_of_a_rule_takes_two_answers, setup,
                                        teardown_policy),
        cmocka_unit_test_setup_teardown(test_the_target_of_a_rule_fails_when_dns64_has_ended, setup,
                                        teardown_policy),
        cmocka_unit_test_setup_teardown(test_the_target_of_a_rule_begins_again_when_dns64_has_ended,
                                        setup, teardown_policy),
        TEST(test_a_reverse_name_without_its_prefix_is_ordinary),
        TEST(test_a_reverse_name_may_become_that_of_another_address),
        TEST(test_the_key_follows_the_prefix),
        TEST(test_an_answer_for_dns64_that_has_ended_is_not_sent),
        TEST(test_a_parked_query_begins_again_when_dns64_has_ended),
        cmocka_unit_test_setup_teardown(test_an_answer_made_in_this_turn_is_judged_each_time, setup,
                                        teardown_policy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
