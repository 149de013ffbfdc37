/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_H
#define NAILUP_RESOLVE_TASK_H

/*
 * The life of a task: feeds events to its strategy and does the steps that the strategy chooses.
 * task_ask.h asks servers, and finish.h ends tasks. Tasks never wait for each other in a cycle.
 */

#include "resolve/tasks.h"
#include "resolve/waiter.h"

/* ---- for the resolver ---- */

/* Adds the waiter of a client's question to the running task of the key, or to a new one in the
 * space of the key. The
 * waiter is not called before the return. A new task holds the trace and writes to it; NULL mostly.
 */
enum resolver_result task_join(struct tasks *tasks, struct space *space,
                               const struct cache_key *key, struct waiter *waiter,
                               struct trace *trace);

/* Like task_join(), for a local name whose aliases lead to a target that is not local. head is the
 * answer with these aliases, borrowed for the call. The task resolves the target and appends it. */
enum resolver_result task_join_alias(struct tasks *tasks, struct space *space,
                                     const struct cache_key *key, const struct answer *head,
                                     struct name target, struct waiter *waiter,
                                     struct trace *trace);

/* Starts a task without waiters, unless one of the key runs or no room is left. */
void task_refresh(struct tasks *tasks, struct space *space, const struct cache_key *key);

#endif
