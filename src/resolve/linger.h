/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_LINGER_H
#define NAILUP_RESOLVE_LINGER_H

/*
 * Tasks that failed but may still learn the answer. Their clients already have the failure. Their
 * question is still registered on a live stream (upstream/exchange.h), and a late answer is
 * cached. A client that asks the same meanwhile joins the task, so a slow server is not asked
 * again for each retry.
 *
 * A lingering task is in the table of tasks and counts towards their bound. At most one in
 * TASK_LINGER_SHARE lingers, the oldest gives way to new tasks. Only tasks of forward zones linger:
 * recursion has other servers to ask.
 */

#include <stdbool.h>

#include "resolve/tasks.h"

/* Whether the task that is about to fail should keep its exchange. */
bool linger_may(const struct task *task);

/* The failed task has been delivered: it lingers from now on. False: it may no longer linger; its
 * exchange is stopped and the caller gives it back. */
MUST_USE bool linger_begin(struct task *task);

/* A late answer came, or a client wants it again: the task runs as if it had started now. */
void linger_wake(struct task *task);

/* The late answer was useless: the task lingers again, without waiters. */
void linger_again(struct task *task);

/* No answer can come any more. The task is given back. */
void linger_end(struct task *task);

/* Ends the oldest; false: none lingers. */
bool linger_drop_oldest(struct tasks *tasks);

/* Ends all of them. */
void linger_drop_all(struct tasks *tasks);

#endif
