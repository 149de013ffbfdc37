/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/sample.h"

#include "resolve/strategy_forward.h"

/* The strategy alone: events in, steps out. */
static union strategy_memory memory;
static struct steps steps;
static struct upstream *group[1];
static struct zone zone;
static struct question question;
static struct response response;

static struct step *feed(struct event event)
{
    struct strategy_view view = {.question = &question, .zone = &zone, .memory = &memory};
    steps.count = 0;
    forward_strategy.next(&view, &event, &steps);
    return steps.at;
}

static struct step *answered(enum response_kind kind, uint16_t ede)
{
    response.kind = kind;
    response.ede = ede;
    return feed((struct event){.kind = EVENT_ANSWERED, .response = &response});
}

static const struct failure *failed(struct exchange_failure exchange)
{
    struct step *step = feed((struct event){.kind = EVENT_FAILED, .exchange = &exchange});
    assert_int_equal(steps.count, 1);
    assert_int_equal(step->kind, STEP_ABOVE);
    assert_int_equal(step->failure.rcode, RCODE_SERVFAIL);
    return &step->failure;
}

static int start(void **state)
{
    (void)state;
    static uint8_t wire[NAME_WIRE_MAX];
    zone = (struct zone){.name = name_root(), .group = group, .group_len = 1, .cache = true};
    question = (struct question){sample_name(wire, "www.example"), RRTYPE_A, RRCLASS_IN};
    feed((struct event){.kind = EVENT_STARTED});
    return 0;
}

static void test_it_starts_by_asking_the_group_with_rd(void **state)
{
    (void)state;
    assert_int_equal(steps.count, 1);
    assert_int_equal(steps.at[0].kind, STEP_ASK);
    assert_ptr_equal(steps.at[0].ask.group, group);
    assert_int_equal(steps.at[0].ask.group_len, 1);
    assert_true(steps.at[0].ask.recursion_desired);
    assert_true(question_equal(&steps.at[0].ask.question, &question));
}

static void test_an_answer_to_the_question_ends_it(void **state)
{
    (void)state;
    static const enum response_kind kinds[] = {RESPONSE_ANSWER, RESPONSE_NODATA, RESPONSE_NXDOMAIN,
                                               RESPONSE_YXDOMAIN};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        assert_int_equal(answered(kinds[i], EDE_NONE)->kind, STEP_DONE);
        assert_int_equal(steps.count, 1);
    }
}

static void test_a_useless_answer_makes_it_ask_another_server(void **state)
{
    (void)state;
    static const enum response_kind kinds[] = {
        RESPONSE_REFERRAL, RESPONSE_SERVFAIL, RESPONSE_REFUSED,   RESPONSE_NOTIMP,
        RESPONSE_FORMERR,  RESPONSE_OTHER,    RESPONSE_TRUNCATED, RESPONSE_UNSOUND};
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        assert_int_equal(answered(kinds[i], EDE_NONE)->kind, STEP_ANOTHER);
        assert_int_equal(steps.count, 1);
    }
}

static void test_an_open_alias_is_kept_and_its_target_asked_for(void **state)
{
    (void)state;
    response.chain.name = NAME("elsewhere.com");
    struct step *step = answered(RESPONSE_ALIAS, EDE_NONE);
    assert_int_equal(steps.count, 2);
    assert_int_equal(step[0].kind, STEP_KEEP);
    assert_int_equal(step[1].kind, STEP_SUBTASK);
    assert_true(name_equal(step[1].question.name, NAME("elsewhere.com")));
    assert_int_equal(step[1].question.type, RRTYPE_A);
    struct answer answer = {.kind = ANSWER_POSITIVE};
    step = feed((struct event){.kind = EVENT_SUB_DONE, .answer = &answer});
    assert_int_equal(step->kind, STEP_DONE);
}

static void test_the_question_fails_like_its_target(void **state)
{
    (void)state;
    struct failure failure = {.rcode = RCODE_SERVFAIL, .ede_count = 1, .ede = {EDE_NETWORK_ERROR}};
    struct step *step = feed((struct event){.kind = EVENT_SUB_FAILED, .failure = &failure});
    assert_int_equal(step->kind, STEP_FAIL);
    assert_int_equal(step->failure.ede[0], EDE_NETWORK_ERROR);
    assert_false(step->failure.cache);
}

static void test_an_alias_loop_fails_without_asking_another_server(void **state)
{
    (void)state;
    struct step *step = answered(RESPONSE_LOOP, EDE_NONE);
    assert_int_equal(step->kind, STEP_FAIL);
    assert_int_equal(step->failure.ede[0], EDE_INVALID_DATA);
    assert_true(step->failure.cache);
}

static void test_silence_is_no_reachable_authority_and_a_network_error(void **state)
{
    (void)state;
    const struct failure *failure = failed((struct exchange_failure){.any_network = true});
    assert_int_equal(failure->ede_count, 2);
    assert_int_equal(failure->ede[0], EDE_NO_REACHABLE_AUTHORITY);
    assert_int_equal(failure->ede[1], EDE_NETWORK_ERROR);
    assert_true(failure->cache);
}

static void test_refusals_are_no_reachable_authority(void **state)
{
    (void)state;
    const struct failure *failure =
        failed((struct exchange_failure){.any_answer = true, .rcode = RCODE_REFUSED});
    assert_int_equal(failure->ede_count, 1);
    assert_int_equal(failure->ede[0], EDE_NO_REACHABLE_AUTHORITY);
}

static void test_servfail_from_all_has_the_upstreams_reason_or_says_unreachable(void **state)
{
    (void)state;
    struct exchange_failure exchange = {.any_answer = true, .rcode = RCODE_SERVFAIL};
    assert_int_equal(failed(exchange)->ede_count, 1);
    assert_int_equal(failed(exchange)->ede[0], EDE_NO_REACHABLE_AUTHORITY);
    answered(RESPONSE_SERVFAIL, EDE_DNSSEC_BOGUS);
    answered(RESPONSE_SERVFAIL, EDE_NONE);
    assert_int_equal(failed(exchange)->ede_count, 1);
    assert_int_equal(failed(exchange)->ede[0], EDE_DNSSEC_BOGUS);
}

static void test_reasons_are_bounded_and_not_repeated(void **state)
{
    (void)state;
    answered(RESPONSE_SERVFAIL, EDE_NETWORK_ERROR);
    const struct failure *failure = failed((struct exchange_failure){.any_network = true});
    assert_int_equal(failure->ede_count, 2);
    assert_int_equal(failure->ede[0], EDE_NETWORK_ERROR);
    assert_int_equal(failure->ede[1], EDE_NO_REACHABLE_AUTHORITY);
    answered(RESPONSE_SERVFAIL, EDE_DNSSEC_BOGUS);
    assert_int_equal(failed((struct exchange_failure){.any_network = true})->ede_count, 2);
}

static void test_our_own_lack_of_room_is_not_remembered(void **state)
{
    (void)state;
    const struct failure *failure =
        failed((struct exchange_failure){.any_network = true, .full = true});
    assert_false(failure->cache);
    assert_int_equal(failure->ede[0], EDE_OTHER);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_it_starts_by_asking_the_group_with_rd, start),
        cmocka_unit_test_setup(test_an_answer_to_the_question_ends_it, start),
        cmocka_unit_test_setup(test_a_useless_answer_makes_it_ask_another_server, start),
        cmocka_unit_test_setup(test_an_open_alias_is_kept_and_its_target_asked_for, start),
        cmocka_unit_test_setup(test_the_question_fails_like_its_target, start),
        cmocka_unit_test_setup(test_an_alias_loop_fails_without_asking_another_server, start),
        cmocka_unit_test_setup(test_silence_is_no_reachable_authority_and_a_network_error, start),
        cmocka_unit_test_setup(test_refusals_are_no_reachable_authority, start),
        cmocka_unit_test_setup(test_servfail_from_all_has_the_upstreams_reason_or_says_unreachable,
                               start),
        cmocka_unit_test_setup(test_reasons_are_bounded_and_not_repeated, start),
        cmocka_unit_test_setup(test_our_own_lack_of_room_is_not_remembered, start),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
