/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The table of a task's states. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "resolve/task_state.h"

static bool may_reach(enum task_state from, enum task_state to, unsigned seen)
{
    if (from == to)
        return true;
    for (enum task_state next = 0; next < TASK_STATE_COUNT; next++)
        if (task_state_may_follow(from, next) && !(seen >> next & 1) &&
            may_reach(next, to, seen | 1u << next))
            return true;
    return false;
}

static void test_every_state_is_reached_and_leads_back_to_free(void **state)
{
    (void)state;
    for (enum task_state each = 0; each < TASK_STATE_COUNT; each++) {
        assert_true(may_reach(TASK_FREE, each, 0));
        assert_true(may_reach(each, TASK_FREE, 0));
        assert_false(task_state_may_follow(each, each));
    }
}

static void test_every_running_state_may_end(void **state)
{
    (void)state;
    for (enum task_state each = 0; each < TASK_STATE_COUNT; each++)
        if (task_state_is_running(each)) {
            assert_true(task_state_may_follow(each, TASK_ANSWERED));
            assert_true(task_state_may_follow(each, TASK_FAILED));
            assert_false(task_state_may_follow(each, TASK_FREE));
        }
}

static void test_a_delivered_end_is_final_except_for_a_parting_task(void **state)
{
    (void)state;
    for (enum task_state each = 0; each < TASK_STATE_COUNT; each++) {
        assert_int_equal(task_state_may_follow(TASK_ANSWERED, each), each == TASK_FREE);
        assert_int_equal(task_state_may_follow(TASK_FAILED, each), each == TASK_FREE);
        assert_int_equal(task_state_may_follow(TASK_PARTING, each),
                         each == TASK_FREE || each == TASK_LINGERING);
    }
}

static void test_a_state_that_waits_leads_back_to_a_decision_and_to_no_other_wait(void **state)
{
    (void)state;
    for (enum task_state each = TASK_ASKING; each <= TASK_VALIDATING; each++) {
        assert_true(task_state_may_follow(TASK_DECIDING, each));
        assert_true(task_state_may_follow(each, TASK_DECIDING));
        for (enum task_state other = TASK_ASKING; other <= TASK_VALIDATING; other++)
            assert_false(task_state_may_follow(each, other));
    }
}

static void test_states_have_words(void **state)
{
    (void)state;
    assert_string_equal(task_state_name(TASK_ASKING), "asking");
    assert_string_equal(task_state_name(TASK_VALIDATING), "validating");
    assert_string_equal(task_state_name(TASK_LINGERING), "lingering");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_state_is_reached_and_leads_back_to_free),
        cmocka_unit_test(test_every_running_state_may_end),
        cmocka_unit_test(test_a_delivered_end_is_final_except_for_a_parting_task),
        cmocka_unit_test(test_a_state_that_waits_leads_back_to_a_decision_and_to_no_other_wait),
        cmocka_unit_test(test_states_have_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
