/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_FINISH_H
#define NAILUP_RESOLVE_FINISH_H

/*
 * The end of a task: its answer is stored and handed to every waiter, and the task is given back.
 * Ending and delivering are separate: a waiter may be a task that ends too, along a chain of any
 * length, and one loop delivers all of them without recursion.
 */

#include "cache/answer.h"
#include "resolve/tasks.h"

/* Ends the task with an answer. owned is the memory that the answer borrows from and is taken over.
 * NULL: it borrows from tasks->scrubbed, and finish_deliver() comes before the next answer. */
void finish_answered(struct task *task, const struct answer *answer, struct answer *owned);

/* Ends the task with a failure. */
void finish_failed(struct task *task, const struct failure *failure);

/* Gives a stale answer, if there is one, to the waiters that take one (RFC 8767). The task goes
 * on. */
void finish_stale(struct task *task);

/* Delivers every ended task. A callback calls it last. It does nothing while a caller up the stack
 * delivers. */
void finish_deliver(struct tasks *tasks);

#endif
