/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TASK_INSIDE_H
#define NAILUP_RESOLVE_TASK_INSIDE_H

/*
 * What the parts of task ask of each other: task.c begins and times them, task_step.c feeds the
 * strategy and does its steps, task_answer.c judges what servers say, task_sub.c has the subtasks.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/stats.h"
#include "resolve/tasks.h"

/* What an event brought that the steps may use. */
struct at_hand {
    const struct event *event;
    const struct answer *answer; /* to be kept, or to end with; NULL with most events */
    bool another;                /* STEP_ANOTHER was among the steps */
    uint32_t part_ttl_s;         /* how long a response to a part of the question holds */
};

/* Whether servers are asked for all of the question, not for a part of its name. What is whole is
 * mostly the very name; that is seen before the bytes are compared. */
static inline bool task_asks_whole(const struct task *task, const struct question *asked)
{
    return (asked->name.wire == task->question.name.wire && asked->type == task->question.type) ||
           question_equal(asked, &task->question);
}

/* ---- task.c ---- */

/* A task for the key that has not started. Other results than RESOLVER_WAITING: there is none. */
enum resolver_result task_take(struct tasks *tasks, const struct cache_key *key, unsigned depth,
                               struct task **out);
void task_start(struct task *task);

/* A waiter joined the task: if it lingers, it asks again within the bounds of its exchange. */
void task_resume(struct task *task);

/* Its question is resolved by this zone from now on: nothing is under way any more. False, and
 * nothing has changed: that zone has nobody to ask, or memory is out. */
bool task_move(struct task *task, const struct zone *zone);

/* ---- task_step.c ---- */

/* Asks the strategy and does what it says. The task may have ended afterwards, but is not given
 * back before finish_deliver(). */
void task_feed(struct task *task, struct at_hand *at_hand);
void task_feed_event(struct task *task, const struct event *event, const struct answer *answer);

/* Ends the task for a reason of our own. */
void task_fail(struct task *task, enum stat reason, uint16_t ede, bool cache);

/* A task that runs with nothing under way would never end: a strategy's mistake (MUST). */
void task_check_under_way(const struct task *task);

/* ---- task_answer.c ---- */

/* Of a task's exchange. */
extern const struct exchange_handler task_exchange_handler;

/* ---- task_sub.c ---- */

/* From the cache, or by a task of its own. What recursion itself wants to know (a tag) is asked for
 * without the flags of the client's question, so that all clients' tasks share it. */
void task_sub_start(struct task *task, const struct question *question, uint16_t tag);

#endif
