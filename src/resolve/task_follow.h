/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_FOLLOW_H
#define NAILUP_RESOLVE_TASK_FOLLOW_H

/*
 * Tasks on their way down often want to show one zone the same part of their names: the addresses
 * of a zone's servers, clients after a start. One of them asks, the others wait until it has its
 * answer, and look into the cache anew. Nobody waits long, or twice for the same part: who learns
 * nothing asks itself. Of the worker's thread.
 */

#include <stdbool.h>

#include "dns/question.h"
#include "resolve/tasks.h"

/* Waits for a task that asks the zone this part at the moment; EVENT_TIME comes when it has ended,
 * or after TASK_FOLLOW_US. False: nobody does, or the task is not to wait. */
bool task_follow(struct task *task, struct name zone, const struct question *part);

/* The task asks: others may follow, until task_lead_end(). */
void task_lead(struct task *task, struct name zone, const struct question *part);
void task_lead_end(struct task *task);

#endif
