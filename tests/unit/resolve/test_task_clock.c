/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The order of the deadlines of a task, and their instants. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "cache/cache.h"
#include "loop/loop.h"
#include "resolve/task_clock.h"
#include "support/fake_loop.h"

enum { MOST = 4 };

#define STALE_US (US_PER_S / 2)

static struct tasks tasks;
static struct task *task;
static struct space space;
static struct zone zone;
static enum task_deadline passed[MOST];
static uint64_t passed_at[MOST];
static unsigned passed_count;

static void pass(struct timer *timer)
{
    assert_ptr_equal(timer, &task->clock);
    assert_true(passed_count < MOST);
    passed_at[passed_count] = loop_now(tasks.loop) - FAKE_LOOP_START_US;
    passed[passed_count++] = task_clock_pass(task);
}

/* Makes a task over a cache with this timeout for stale answers. */
static void make(uint64_t stale_us)
{
    const struct cache_options options = {.size_bytes = 1 << 20,
                                          .serve_stale_s = stale_us ? 3600 : 0,
                                          .stale_answer_timeout_us = stale_us};
    tasks = (struct tasks){.loop = loop_new(), .cache = cache_new(&options)};
    task = calloc(1, sizeof(*task));
    assert_non_null(task);
    assert_non_null(tasks.cache);
    task->tasks = &tasks;
    task->space = &space;
    task->zone = &zone;
    task->key.cls = RRCLASS_IN;
    space.mode = VALIDATE_NO;
    zone.validates = false;
    timer_init(&task->clock, pass);
    passed_count = 0;
}

static int tear_down(void **state)
{
    (void)state;
    timer_stop(&task->clock);
    free(task);
    cache_free(tasks.cache);
    loop_free(tasks.loop);
    return 0;
}

/* Deadlines come at the next tick of the clock. */
static void assert_passed(unsigned index, enum task_deadline deadline, uint64_t at_us)
{
    assert_true(index < passed_count);
    assert_int_equal(passed[index], deadline);
    assert_true(passed_at[index] >= at_us && passed_at[index] <= at_us + 2 * US_PER_MS);
}

static void test_a_stale_answer_comes_before_the_end(void **state)
{
    (void)state;
    make(STALE_US);
    assert_true(task_clock_allows_stale(&tasks));
    task_clock_start(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 2);
    assert_passed(0, TASK_DEADLINE_PATIENCE, STALE_US);
    assert_passed(1, TASK_DEADLINE_END, TASK_WALL_US);
}

static void test_a_task_has_only_an_end_where_nothing_can_be_done_earlier(void **state)
{
    (void)state;
    make(0);
    assert_false(task_clock_allows_stale(&tasks));
    task_clock_start(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 1);
    assert_passed(0, TASK_DEADLINE_END, TASK_WALL_US);
}

static void test_a_stale_timeout_after_the_end_does_not_count(void **state)
{
    (void)state;
    make(TASK_WALL_US);
    assert_false(task_clock_allows_stale(&tasks));
    task_clock_start(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 1);
    assert_passed(0, TASK_DEADLINE_END, TASK_WALL_US);
}

static void test_clients_wait_less_for_a_verdict_that_changes_nothing(void **state)
{
    (void)state;
    make(0);
    zone.validates = true;
    space.mode = VALIDATE_LOG;
    task_clock_start(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 2);
    assert_passed(0, TASK_DEADLINE_PATIENCE, TASK_VERDICT_US);
    assert_passed(1, TASK_DEADLINE_END, TASK_WALL_US);
}

static void test_clients_wait_to_the_end_for_a_verdict_that_counts(void **state)
{
    (void)state;
    make(0);
    zone.validates = true;
    space.mode = VALIDATE_YES;
    task_clock_start(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 1);
    assert_passed(0, TASK_DEADLINE_END, TASK_WALL_US);
}

static void test_a_task_without_clients_has_only_an_end(void **state)
{
    (void)state;
    make(STALE_US);
    task_clock_start_end(task);
    fake_loop_advance(tasks.loop, 2 * TASK_WALL_US);
    assert_int_equal(passed_count, 1);
    assert_passed(0, TASK_DEADLINE_END, TASK_WALL_US);
}

#define TEST(name) cmocka_unit_test_teardown(name, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_a_stale_answer_comes_before_the_end),
        TEST(test_a_task_has_only_an_end_where_nothing_can_be_done_earlier),
        TEST(test_a_stale_timeout_after_the_end_does_not_count),
        TEST(test_clients_wait_less_for_a_verdict_that_changes_nothing),
        TEST(test_clients_wait_to_the_end_for_a_verdict_that_counts),
        TEST(test_a_task_without_clients_has_only_an_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
