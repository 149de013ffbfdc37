/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The places in which tasks wait for each other: their number, their depth, and no cycles. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "resolve/subtasks.h"

enum { TAG_ALIAS, TAG_ADDRESS };

/* A search for a cycle looks at 256 tasks. */
enum { CHAIN = 300, SEARCHED = 256 };

static struct task *tasks;

static int make_tasks(void **state)
{
    (void)state;
    tasks = calloc(CHAIN, sizeof(*tasks));
    assert_non_null(tasks);
    for (unsigned i = 0; i < CHAIN; i++) {
        list_init(&tasks[i].waiters);
        subtasks_init(&tasks[i]);
    }
    return 0;
}

static int free_tasks(void **state)
{
    (void)state;
    free(tasks);
    return 0;
}

static void take_answer(struct waiter *waiter, const struct answer *answer)
{
    (void)waiter;
    (void)answer;
}

static struct subtask *wait_for(struct task *parent, struct task *child, uint16_t tag)
{
    struct subtask *sub = subtasks_place(parent, tag);
    assert_non_null(sub);
    subtask_link(sub, parent, child, take_answer);
    return sub;
}

/* Each task waits for the next one. */
static void chain(unsigned length)
{
    for (unsigned i = 0; i + 1 < length; i++)
        wait_for(&tasks[i], &tasks[i + 1], TAG_ADDRESS);
}

static void test_a_validation_has_a_place_when_the_strategy_uses_all_others(void **state)
{
    (void)state;
    for (unsigned i = 1; i < TASK_SUBS_MAX; i++)
        wait_for(&tasks[0], &tasks[i], TAG_ADDRESS);
    assert_null(subtasks_place(&tasks[0], TAG_ADDRESS));
    struct subtask *sub = wait_for(&tasks[0], &tasks[TASK_SUBS_MAX], TASK_TAG_VALIDATION);
    assert_ptr_equal(sub, &tasks[0].sub[TASK_SUB_VALIDATION]);
    assert_null(subtasks_place(&tasks[0], TASK_TAG_VALIDATION));
    assert_int_equal(tasks[0].subs, TASK_SUBS_MAX);
}

static void test_a_linked_subtask_has_the_task_among_its_waiters(void **state)
{
    (void)state;
    struct subtask *sub = wait_for(&tasks[0], &tasks[1], TAG_ADDRESS);
    assert_ptr_equal(list_first(&tasks[1].waiters), &sub->waiter.node);
    assert_ptr_equal(sub->waiter.on_answer, take_answer);
    assert_false(sub->waiter.takes_stale);
    assert_ptr_equal(sub->parent, &tasks[0]);
}

static void test_a_place_is_free_after_the_end_of_its_subtask(void **state)
{
    (void)state;
    struct subtask *sub = wait_for(&tasks[0], &tasks[1], TAG_ADDRESS);
    list_take_first(&tasks[1].waiters);
    subtask_end(sub);
    assert_int_equal(tasks[0].subs, 0);
    assert_ptr_equal(subtasks_place(&tasks[0], TAG_ADDRESS), sub);
}

static void test_a_task_that_left_no_longer_waits(void **state)
{
    (void)state;
    struct subtask *sub = wait_for(&tasks[0], &tasks[1], TAG_ADDRESS);
    wait_for(&tasks[0], &tasks[2], TASK_TAG_VALIDATION);
    subtask_leave(sub);
    subtask_leave(sub);
    assert_int_equal(tasks[0].subs, 1);
    assert_true(list_is_empty(&tasks[1].waiters));
    subtasks_leave(&tasks[0]);
    assert_int_equal(tasks[0].subs, 0);
    assert_true(list_is_empty(&tasks[2].waiters));
}

static void test_targets_of_aliases_are_less_deep_than_other_subtasks(void **state)
{
    (void)state;
    tasks[0].depth = TASK_DEPTH_MAX - 1;
    assert_false(subtasks_are_too_deep(&tasks[0], TAG_ALIAS));
    tasks[0].depth = TASK_DEPTH_MAX;
    assert_true(subtasks_are_too_deep(&tasks[0], TAG_ALIAS));
    tasks[0].depth = TASK_DEPTH_ALL_MAX - 1;
    assert_false(subtasks_are_too_deep(&tasks[0], TAG_ADDRESS));
    assert_false(subtasks_are_too_deep(&tasks[0], TASK_TAG_VALIDATION));
    tasks[0].depth = TASK_DEPTH_ALL_MAX;
    assert_true(subtasks_are_too_deep(&tasks[0], TAG_ADDRESS));
    assert_true(subtasks_are_too_deep(&tasks[0], TASK_TAG_VALIDATION));
}

static void test_a_task_does_not_wait_for_itself(void **state)
{
    (void)state;
    assert_true(subtasks_would_loop(&tasks[0], &tasks[0]));
}

static void test_a_cycle_is_found_through_other_tasks(void **state)
{
    (void)state;
    chain(4);
    assert_true(subtasks_would_loop(&tasks[3], &tasks[0]));
    assert_true(subtasks_would_loop(&tasks[3], &tasks[2]));
    assert_false(subtasks_would_loop(&tasks[0], &tasks[3]));
    assert_false(subtasks_would_loop(&tasks[4], &tasks[0]));
    wait_for(&tasks[1], &tasks[4], TASK_TAG_VALIDATION);
    assert_true(subtasks_would_loop(&tasks[4], &tasks[0]));
}

static void test_a_search_that_takes_too_long_finds_a_cycle(void **state)
{
    (void)state;
    chain(SEARCHED);
    assert_false(subtasks_would_loop(&tasks[CHAIN - 1], &tasks[0]));
    wait_for(&tasks[SEARCHED - 1], &tasks[SEARCHED], TAG_ADDRESS);
    assert_true(subtasks_would_loop(&tasks[CHAIN - 1], &tasks[0]));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_tasks, free_tasks)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_validation_has_a_place_when_the_strategy_uses_all_others),
        TEST(test_a_linked_subtask_has_the_task_among_its_waiters),
        TEST(test_a_place_is_free_after_the_end_of_its_subtask),
        TEST(test_a_task_that_left_no_longer_waits),
        TEST(test_targets_of_aliases_are_less_deep_than_other_subtasks),
        TEST(test_a_task_does_not_wait_for_itself),
        TEST(test_a_cycle_is_found_through_other_tasks),
        TEST(test_a_search_that_takes_too_long_finds_a_cycle),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
