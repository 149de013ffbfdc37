/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Forward zones without validation need no budget: a question causes one exchange there. */
#include "resolve/task_budget.h"

#include "recurse/budget.h"
#include "validate/validation.h"

bool task_budget_give(struct task *task, const struct zone *zone)
{
    bool validates = zone->validates || task->key.view == CACHE_VIEW_TRUST;
    bool is_needed = zone->is_authoritative || validates;
    if (is_needed && !task->budget)
        task->budget = budget_new(loop_now(task->tasks->loop));
    if (task->budget && validates)
        budget_allow_validation(task->budget, VALIDATION_UNITS_MAX,
                                VALIDATION_QUESTION_FAILURES_MAX);
    if (task->budget)
        task->budget->is_recursive |= zone->is_authoritative;
    return task->budget || !is_needed;
}

void task_budget_renew(struct task *task)
{
    struct budget *former = task->budget;
    task->budget = NULL;
    if (former && task_budget_give(task, task->zone))
        tasks_drop_budget(task->tasks, former);
    else
        task->budget = former;
}
