/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_BUDGET_H
#define NAILUP_RESOLVE_TASK_BUDGET_H

/*
 * The budget of a task (recurse/budget.h): which tasks have one, and which work it allows. A
 * subtask has a reference to the budget of its parent.
 */

#include "resolve/tasks.h"

/* Gives the task a budget where the zone's questions need one. The question may have begun in a
 * zone that is not validated, and an alias may lead to one that is. Keys and DS records are
 * validated in every zone. False: out of memory. */
MUST_USE bool task_budget_give(struct task *task, const struct zone *zone);

/* Gives the task a new budget: it runs as if it had started now, and the time of the former one may
 * be over. Out of memory: it keeps that one. */
void task_budget_renew(struct task *task);

#endif
