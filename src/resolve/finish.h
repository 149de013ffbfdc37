/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_FINISH_H
#define NAILUP_RESOLVE_FINISH_H

/*
 * The end of a task: its answer is stored, handed to every waiter and the task given back. Ending
 * and delivering are apart: a waiter may be a task that ends too, and so on along a chain of any
 * length; all are delivered from one loop, not from within each other.
 */

#include "cache/answer.h"
#include "resolve/tasks.h"

/* Ends the task with an answer. owned is what the answer borrows from and is taken over; NULL when
 * it borrows from tasks->scrubbed, and finish_deliver() follows before the next answer comes. */
void finish_answered(struct task *task, const struct answer *answer, struct answer *owned);

/* Ends the task with a failure. */
void finish_failed(struct task *task, const struct failure *failure);

/* The task goes on, but whoever takes a stale answer (RFC 8767) gets one, if there is one. */
void finish_stale(struct task *task);

/* Delivers all that ended. The last thing a callback from below does; nothing when it is already
 * under way further up the stack. */
void finish_deliver(struct tasks *tasks);

#endif
