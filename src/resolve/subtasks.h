/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_SUBTASKS_H
#define NAILUP_RESOLVE_SUBTASKS_H

/*
 * The places in which a task waits for its subtasks. Owns task.sub and task.subs. task.c starts the
 * subtasks and takes their answers.
 *
 * Invariant: tasks never wait for each other in a cycle.
 */

#include <stdbool.h>
#include <stdint.h>

#include "resolve/tasks.h"

/* The tag of the subtask that a validation waits for. */
enum { TASK_TAG_VALIDATION = 0xffff };

/* All places are free. */
void subtasks_init(struct task *task);

/* Returns a free place for a subtask of this tag, or NULL. A validation has a reserved place,
 * because the strategy may use all others meanwhile. */
struct subtask *subtasks_place(struct task *task, uint16_t tag);

/* Whether a subtask of this tag would be too far below the client's question. */
bool subtasks_are_too_deep(const struct task *task, uint16_t tag);

/* Whether child already waits for parent, directly or through subtasks. Returns true when the
 * search takes too many steps. */
bool subtasks_would_loop(const struct task *parent, const struct task *child);

/* Makes parent wait for child in this free place. A new child is linked before it starts, so that
 * a search for a cycle sees it. */
void subtask_link(struct subtask *sub, struct task *parent, struct task *child,
                  void (*on_answer)(struct waiter *waiter, const struct answer *answer));

/* Frees the place of a subtask whose answer has come. */
void subtask_end(struct subtask *sub);

/* Stops the wait for this subtask, which continues. No effect on a free place. */
void subtask_leave(struct subtask *sub);

/* Stops the wait for all subtasks, which continue. */
void subtasks_leave(struct task *task);

#endif
