/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recurse/budget.h"

static void test_a_kind_is_used_up_at_its_bound_and_others_are_not(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 5);
    for (unsigned i = 0; i < BUDGET_LOOKUPS_MAX; i++)
        assert_true(budget_take(&budget, BUDGET_LOOKUPS, 5));
    assert_false(budget_take(&budget, BUDGET_LOOKUPS, 5));
    assert_int_equal(budget_left(&budget, BUDGET_LOOKUPS), 0);
    assert_true(budget_is_drained(&budget, 5));
    assert_int_equal(budget_time_left(&budget, 6), BUDGET_WALL_US - 1);
    assert_int_equal(budget_time_left(&budget, 5 + BUDGET_WALL_US), 1);
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_int_equal(budget_left(&budget, BUDGET_QUERIES), BUDGET_QUERIES_MAX - 1);
}

static void test_without_attempts_left_there_are_no_more_questions(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 5);
    assert_int_equal(budget.attempts_left, BUDGET_ATTEMPTS_MAX);
    budget.attempts_left = 1;
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_false(budget_is_drained(&budget, 5));
    budget.attempts_left = 0;
    assert_false(budget_take(&budget, BUDGET_QUERIES, 5));
    assert_true(budget_is_drained(&budget, 5));
    assert_true(budget_take(&budget, BUDGET_REFERRALS, 5));
}

/* Only privacy suffers: nothing is drained by it. */
static void test_names_are_shown_whole_after_so_many_parts(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 5);
    for (unsigned i = 0; i < BUDGET_MINIMISED_MAX; i++)
        assert_true(budget_take_minimised(&budget));
    assert_false(budget_take_minimised(&budget));
    assert_false(budget_is_drained(&budget, 5));
    assert_true(budget_take(&budget, BUDGET_QUERIES, 5));
}

static void test_nothing_can_be_had_when_its_time_is_over(void **state)
{
    (void)state;
    struct budget budget;
    budget_init(&budget, 5);
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
    assert_int_equal(budget_left(other, BUDGET_ALIASES), BUDGET_ALIASES_MAX - 1);
    budget_unref(other);
    budget_unref(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_kind_is_used_up_at_its_bound_and_others_are_not),
        cmocka_unit_test(test_without_attempts_left_there_are_no_more_questions),
        cmocka_unit_test(test_names_are_shown_whole_after_so_many_parts),
        cmocka_unit_test(test_nothing_can_be_had_when_its_time_is_over),
        cmocka_unit_test(test_tasks_share_one_and_the_last_frees_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
