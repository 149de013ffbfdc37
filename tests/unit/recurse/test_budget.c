/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "recurse/budget.h"

static struct budget fresh_budget(uint64_t now)
{
    struct budget *made = budget_new(now);
    assert_non_null(made);
    struct budget fresh = *made;
    budget_unref(made);
    return fresh;
}

static void test_a_kind_is_used_up_at_its_bound_and_others_are_not(void **state)
{
    (void)state;
    struct budget budget;
    budget = fresh_budget(5);
    for (unsigned i = 0; i < BUDGET_LOOKUPS_MAX; i++)
        assert_true(budget_take(&budget, BUDGET_LOOKUPS, 5));
    assert_false(budget_take(&budget, BUDGET_LOOKUPS, 5));
    assert_int_equal(budget.used[BUDGET_LOOKUPS], BUDGET_LOOKUPS_MAX);
    assert_true(budget_is_drained(&budget, 5));
    assert_int_equal(budget_time_left(&budget, 6), BUDGET_WALL_US - 1);
    assert_int_equal(budget_time_left(&budget, 5 + BUDGET_WALL_US), 1);
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_int_equal(budget.used[BUDGET_QUERIES], 1);
}

static void test_no_question_is_left_without_attempts(void **state)
{
    (void)state;
    struct budget budget;
    budget = fresh_budget(5);
    assert_int_equal(budget.attempts_left, BUDGET_ATTEMPTS_MAX);
    budget.attempts_left = 1;
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_false(budget_is_drained(&budget, 5));
    budget.attempts_left = 0;
    assert_false(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_true(budget_is_drained(&budget, 5));
    assert_true(budget_take(&budget, BUDGET_REFERRALS, 5));
}

static void test_a_budget_is_ample_while_half_is_left(void **state)
{
    (void)state;
    struct budget whole = fresh_budget(5), budget;
    budget_allow_validation(&whole, 800, 4);
    unsigned half = (BUDGET_QUERIES_MAX + BUDGET_VALIDATION_QUERIES) / 2;
    budget = whole;
    assert_true(budget_is_ample(&budget, 5 + BUDGET_WALL_US / 2));
    assert_false(budget_is_ample(&budget, 6 + BUDGET_WALL_US / 2));
    for (unsigned i = 0; i < half; i++)
        assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_true(budget_is_ample(&budget, 5));
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_false(budget_is_ample(&budget, 5));
    budget = whole;
    budget.attempts_left = (uint8_t)half;
    assert_true(budget_is_ample(&budget, 5));
    budget.attempts_left--;
    assert_false(budget_is_ample(&budget, 5));
    budget = whole;
    budget.refs = budget.tasks_max / 2;
    assert_true(budget_is_ample(&budget, 5));
    budget.refs++;
    assert_false(budget_is_ample(&budget, 5));
    budget = whole;
    while (budget_take(&budget, BUDGET_ALIASES, 5))
        ;
    assert_false(budget_is_ample(&budget, 5));
}

static void test_a_validated_question_may_ask_more_and_others_may_not(void **state)
{
    (void)state;
    struct budget plain = fresh_budget(5), budget = fresh_budget(5);
    budget_allow_validation(&budget, 800, 4);
    assert_int_equal(plain.verify_units_left, 0);
    assert_int_equal(budget.verify_units_left, 800);
    assert_int_equal(plain.verify_failures_left, 0);
    assert_int_equal(budget.verify_failures_left, 4);
    assert_int_equal(budget.tasks_max, BUDGET_TASKS_MAX + BUDGET_VALIDATION_TASKS);
    assert_int_equal(budget.attempts_left, BUDGET_ATTEMPTS_MAX + BUDGET_VALIDATION_QUERIES);
    for (unsigned i = 0; i < BUDGET_QUERIES_MAX; i++) {
        assert_true(budget_take(&plain, BUDGET_QUERIES, 5));
        assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    }
    assert_false(budget_take(&plain, BUDGET_QUERIES, 5));
    for (unsigned i = 0; i < BUDGET_VALIDATION_QUERIES; i++)
        assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_false(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_true(budget_is_drained(&budget, 5));
}

/* The attack costs only some privacy: it does not use up the budget. */
static void test_few_servers_without_addresses_end_the_search(void **state)
{
    /* Without a seed, names with these eight bytes have one hash, whatever the seven bytes before
     * them are. */
    static const char same_hash[] = "|\\001\\129,\\247!\\173\\028wxyz.victim.com.";
    uint8_t wire[NAME_WIRE_MAX];
    struct name name;
    char text[64];
    (void)state;
    struct budget *budget = budget_new(1);
    for (unsigned i = 0; i <= BUDGET_ABSENT_MAX; i++) {
        assert_int_equal(budget_has_absent_left(budget), i < BUDGET_ABSENT_MAX);
        snprintf(text, sizeof(text), "ns0000%u%s", i, same_hash);
        assert_int_equal(name_parse(&name, wire, text, strlen(text)), ERR_OK);
        budget_note_absent(budget, name);
        budget_note_absent(budget, name); /* known */
    }
    assert_false(budget_has_absent_left(budget));
    budget_unref(budget);
}

static void test_a_minimised_name_that_another_task_sent_is_given_back(void **state)
{
    (void)state;
    struct budget *budget = budget_new(1);
    budget_give_back_minimised(budget); /* none was taken */
    for (unsigned i = 0; i < BUDGET_MINIMISED_MAX; i++)
        assert_true(budget_take_minimised(budget));
    budget_give_back_minimised(budget);
    assert_true(budget_take_minimised(budget));
    assert_false(budget_take_minimised(budget));
    budget_unref(budget);
}

static void test_queries_have_the_whole_name_after_the_bound_on_minimised_ones(void **state)
{
    (void)state;
    struct budget budget;
    budget = fresh_budget(5);
    for (unsigned i = 0; i < BUDGET_MINIMISED_MAX; i++)
        assert_true(budget_take_minimised(&budget));
    assert_false(budget_take_minimised(&budget));
    assert_false(budget_is_drained(&budget, 5));
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
}

static void test_an_expired_budget_gives_nothing(void **state)
{
    (void)state;
    struct budget budget;
    budget = fresh_budget(5);
    assert_false(budget_is_drained(&budget, 5));
    assert_true(budget_is_drained(&budget, 5 + BUDGET_WALL_US));
    assert_true(budget_take(&budget, BUDGET_QUERIES, 4 + BUDGET_WALL_US));
    assert_false(budget_take(&budget, BUDGET_QUERIES, 5 + BUDGET_WALL_US));
}

static void test_tasks_share_one_and_the_last_frees_it(void **state)
{
    (void)state;
    struct budget *budget = budget_new(0);
    assert_non_null(budget);
    struct budget *other = budget_ref(budget);
    assert_true(budget_take(budget, BUDGET_ALIASES, 1));
    budget_unref(budget);
    assert_int_equal(other->used[BUDGET_ALIASES], 1);
    budget_unref(other);
    budget_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kind_is_used_up_at_its_bound_and_others_are_not),
        cmocka_unit_test(test_no_question_is_left_without_attempts),
        cmocka_unit_test(test_a_budget_is_ample_while_half_is_left),
        cmocka_unit_test(test_a_validated_question_may_ask_more_and_others_may_not),
        cmocka_unit_test(test_queries_have_the_whole_name_after_the_bound_on_minimised_ones),
        cmocka_unit_test(test_few_servers_without_addresses_end_the_search),
        cmocka_unit_test(test_a_minimised_name_that_another_task_sent_is_given_back),
        cmocka_unit_test(test_an_expired_budget_gives_nothing),
        cmocka_unit_test(test_tasks_share_one_and_the_last_frees_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
