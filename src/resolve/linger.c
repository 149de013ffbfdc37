/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The list of lingering tasks. task.c decides what a late answer means.
 *
 * Invariant: a lingering task has a lingering exchange and no waiters.
 */
#include "resolve/linger.h"

#include "resolve/task_clock.h"

#include <stdlib.h>

#include "base/check.h"
#include "resolve/trace.h"

bool linger_may(const struct task *task)
{
    return exchange_lingers(&task->exchange) && !task->zone->is_authoritative && task->depth == 0 &&
           !task->tasks->closing && task_is_current(task);
}

static void linger_enter(struct task *task)
{
    struct tasks *tasks = task->tasks;
    task_move(task, TASK_LINGERING);
    tasks->lingering_count++;
    list_append(&tasks->lingering, &task->node);
}

static void linger_leave(struct task *task)
{
    MUST(task->state == TASK_LINGERING);
    list_remove(&task->node);
    task->tasks->lingering_count--;
}

/* Drops the trace, the role as a refresh and the answer, which belonged to the client's
 * question. */
static void forget_client(struct task *task)
{
    task->tasks->refreshing -= task->is_refresh;
    task->is_refresh = false;
    trace_unref(task->trace);
    task->trace = NULL;
    free(task->owned);
    free(task->failure_text);
    task->owned = NULL;
    task->failure_text = NULL;
    task->failure.text = NULL;
}

bool linger_begin(struct task *task)
{
    struct tasks *tasks = task->tasks;
    bool may = linger_may(task) && !task->head && !tasks_find(tasks, &task->key);
    if (may && tasks->lingering_count >= tasks->max / TASK_LINGER_SHARE)
        may = linger_drop_oldest(tasks);
    if (!may || tasks->count >= tasks->max) {
        exchange_stop(&task->exchange);
        return false;
    }
    forget_client(task);
    tasks_link(tasks, task);
    linger_enter(task);
    return true;
}

void linger_wake(struct task *task)
{
    linger_leave(task);
    task_move(task, TASK_DECIDING);
    task->events_left = TASK_EVENTS_MAX;
    task_clock_start_end(task);
}

void linger_again(struct task *task)
{
    MUST(list_is_empty(&task->waiters));
    timer_stop(&task->clock);
    linger_enter(task);
}

void linger_end(struct task *task)
{
    linger_leave(task);
    exchange_stop(&task->exchange);
    tasks_unlink(task->tasks, task);
    tasks_give(task->tasks, task);
}

bool linger_drop_oldest(struct tasks *tasks)
{
    struct list *node = list_first(&tasks->lingering);
    if (node)
        linger_end(LIST_ITEM(node, struct task, node));
    return node != NULL;
}

void linger_drop_all(struct tasks *tasks)
{
    while (linger_drop_oldest(tasks))
        ;
}
