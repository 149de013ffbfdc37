/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_LINGER_H
#define NAILUP_RESOLVE_LINGER_H

/*
 * Failed tasks that may still learn their answer. Their clients have the failure already. Their
 * query stays registered on a live stream (upstream/exchange.h), and a late answer is cached. A
 * client with the same question joins the task, so a slow server does not get a copy for each
 * retry.
 *
 * A lingering task is in the table of tasks and counts towards their bound. At most one task in
 * TASK_LINGER_SHARE lingers, and the oldest gives way to new tasks. Only tasks of forward zones
 * linger, because recursion has other servers to ask.
 */

#include <stdbool.h>

#include "resolve/tasks.h"

/* Whether a task that is about to fail keeps its exchange. */
bool linger_may(const struct task *task);

/* Makes a parting task linger after its delivery. False: it may not linger; its exchange is stopped
 * and the caller gives the task back. */
MUST_USE bool linger_begin(struct task *task);

/* Runs the task as if it had started now, after a late answer came or a client joined. */
void linger_wake(struct task *task);

/* Makes the task linger again, without waiters, after a useless late answer. */
void linger_again(struct task *task);

/* Gives the task back, because an answer can no longer come. */
void linger_end(struct task *task);

/* Ends the oldest lingering task; false: no task lingers. */
bool linger_drop_oldest(struct tasks *tasks);

/* Ends all lingering tasks. */
void linger_drop_all(struct tasks *tasks);

#endif
