/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_H
#define NAILUP_RESOLVE_TASK_H

/*
 * Acts on what a strategy decides: asks upstreams, starts and joins subtasks, waits, ends. Owns the
 * exchange and the subtasks of each task.
 */

#include "resolve/tasks.h"
#include "resolve/waiter.h"

/* Adds the waiter of a client's question to the task of the key: the one that runs, or a new one.
 * The waiter is not called before the return. trace: where a new one tells what it does, which it
 * holds; almost always NULL. */
enum resolver_result task_join(struct tasks *tasks, const struct cache_key *key,
                               struct waiter *waiter, struct trace *trace);

/* As task_join() for a name answered here whose aliases, the answer head (borrowed for the call),
 * lead to target, which is not: that is resolved and put behind them. */
enum resolver_result task_join_alias(struct tasks *tasks, const struct cache_key *key,
                                     const struct answer *head, struct name target,
                                     struct waiter *waiter, struct trace *trace);

/* Starts a task that nobody waits for, unless one of the key runs or no room is left. */
void task_refresh(struct tasks *tasks, const struct cache_key *key);

#endif
