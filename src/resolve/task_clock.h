/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_CLOCK_H
#define NAILUP_RESOLVE_TASK_CLOCK_H

/*
 * The deadlines of a running task (enum task_deadline): which one is next, and when. Owns
 * task.clock, task.deadline and task.ends_at.
 */

#include "resolve/tasks.h"

/* Whether clients may get a stale answer before the end of a task. */
bool task_clock_allows_stale(const struct tasks *tasks);

/* Starts the clock of a task that clients wait for. Their patience comes first where something can
 * be done for them when it is over. */
void task_clock_start(struct task *task);

/* Starts the clock of a task without clients: only its end is due. */
void task_clock_start_end(struct task *task);

/* Returns the deadline that has just come, and starts the clock for the next one. */
enum task_deadline task_clock_pass(struct task *task);

#endif
