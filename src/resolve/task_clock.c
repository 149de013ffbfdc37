/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* One timer serves both deadlines, because patience always ends before the task does. */
#include "resolve/task_clock.h"

#include "resolve/task_validate.h"

/* 0: a stale answer never comes before the end. */
static uint64_t stale_timeout_us(const struct tasks *tasks)
{
    uint64_t us = cache_stale_timeout_us(tasks->cache);
    return us < TASK_WALL_US ? us : 0;
}

bool task_clock_allows_stale(const struct tasks *tasks)
{
    return stale_timeout_us(tasks) != 0;
}

static void await_end(struct task *task)
{
    task->deadline = TASK_DEADLINE_END;
    timer_start(task->tasks->loop, &task->clock, task->ends_at);
}

void task_clock_start(struct task *task)
{
    struct loop *loop = task->tasks->loop;
    uint64_t now = loop_now(loop), patience_us = stale_timeout_us(task->tasks);
    task->ends_at = now + TASK_WALL_US;
    if (!patience_us && task_validates(task) && !task_is_enforced(task))
        patience_us = TASK_VERDICT_US;
    if (!patience_us) {
        await_end(task);
        return;
    }
    task->deadline = TASK_DEADLINE_PATIENCE;
    timer_start(loop, &task->clock, now + patience_us);
}

void task_clock_start_end(struct task *task)
{
    task->ends_at = loop_now(task->tasks->loop) + TASK_WALL_US;
    await_end(task);
}

enum task_deadline task_clock_pass(struct task *task)
{
    enum task_deadline passed = task->deadline;
    if (passed == TASK_DEADLINE_PATIENCE)
        await_end(task);
    return passed;
}
