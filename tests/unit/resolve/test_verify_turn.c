/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The time for verifications in a turn, and the order of the tasks that wait for the next one. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "resolve/verify_turn.h"
#include "support/fake_loop.h"

enum { WAITING = 3, TICKS_US = 1000 };

static struct loop *loop;
static struct verify_turn turn;
static struct list waiting[WAITING];
static struct list *taken[WAITING];
static unsigned taken_count, turns, cost_us;

static int set_up(void **state)
{
    (void)state;
    taken_count = turns = cost_us = 0;
    loop = loop_new();
    assert_non_null(loop);
    verify_turn_init(&turn, loop);
    for (unsigned i = 0; i < WAITING; i++)
        list_init(&waiting[i]);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    verify_turn_deinit(&turn);
    loop_free(loop);
    return 0;
}

/* Each task that is taken verifies for cost_us. */
static void take_all(struct timer *timer)
{
    struct verify_turn *due = CONTAINER_OF(timer, struct verify_turn, next);
    turns++;
    verify_turn_begin(due);
    for (struct list *node; (node = verify_turn_take(due));) {
        taken[taken_count++] = node;
        verify_turn_add(due, cost_us);
    }
}

static void put_off_all(void)
{
    for (unsigned i = 0; i < WAITING; i++)
        verify_turn_put_off(&turn, &waiting[i], take_all);
}

static void test_a_turn_has_time_until_its_bound(void **state)
{
    (void)state;
    assert_true(verify_turn_has_time(&turn, false));
    verify_turn_add(&turn, VERIFY_TURN_US - 1);
    assert_true(verify_turn_has_time(&turn, false));
    verify_turn_add(&turn, 1);
    assert_false(verify_turn_has_time(&turn, false));
    assert_false(verify_turn_has_time(&turn, true));
}

static void test_the_next_turn_has_time_again(void **state)
{
    (void)state;
    verify_turn_add(&turn, VERIFY_TURN_US);
    fake_loop_advance(loop, 1);
    assert_true(verify_turn_has_time(&turn, false));
    verify_turn_add(&turn, VERIFY_TURN_US);
    verify_turn_begin(&turn);
    assert_true(verify_turn_has_time(&turn, false));
}

static void test_tasks_that_were_put_off_have_precedence(void **state)
{
    (void)state;
    verify_turn_put_off(&turn, &waiting[0], take_all);
    assert_false(verify_turn_has_time(&turn, false));
    assert_true(verify_turn_has_time(&turn, true));
    list_remove(&waiting[0]);
    assert_true(verify_turn_has_time(&turn, false));
}

static void test_the_task_that_waits_longest_comes_first(void **state)
{
    (void)state;
    put_off_all();
    fake_loop_settle(loop);
    assert_int_equal(turns, 1);
    assert_int_equal(taken_count, WAITING);
    for (unsigned i = 0; i < WAITING; i++)
        assert_ptr_equal(taken[i], &waiting[i]);
    fake_loop_advance(loop, TICKS_US);
    assert_int_equal(turns, 1); /* nothing waits */
}

static void test_a_task_that_gets_no_time_waits_for_one_more_turn(void **state)
{
    (void)state;
    cost_us = VERIFY_TURN_US;
    put_off_all();
    for (unsigned i = 1; i <= WAITING; i++) {
        assert_true(fake_loop_step(loop));
        assert_int_equal(turns, i);
        assert_int_equal(taken_count, i);
    }
    assert_false(fake_loop_step(loop));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_turn_has_time_until_its_bound),
        TEST(test_the_next_turn_has_time_again),
        TEST(test_tasks_that_were_put_off_have_precedence),
        TEST(test_the_task_that_waits_longest_comes_first),
        TEST(test_a_task_that_gets_no_time_waits_for_one_more_turn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
