/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Places are few, so each search walks all of them. A search for a cycle has a bound. */
#include "resolve/subtasks.h"

enum { DEPENDS_STEPS_MAX = 256 /* tasks that one search for a dependence looks at */ };

void subtasks_init(struct task *task)
{
    task->subs = 0;
    for (unsigned i = 0; i < TASK_SUBS_MAX; i++)
        task->sub[i].child = NULL;
}

struct subtask *subtasks_place(struct task *task, uint16_t tag)
{
    struct subtask *reserved = &task->sub[TASK_SUB_VALIDATION];
    if (tag == TASK_TAG_VALIDATION)
        return reserved->child ? NULL : reserved;
    for (unsigned i = 0; i < TASK_SUB_VALIDATION; i++)
        if (!task->sub[i].child)
            return &task->sub[i];
    return NULL;
}

bool subtasks_are_too_deep(const struct task *task, uint16_t tag)
{
    return task->depth >= (tag ? TASK_DEPTH_ALL_MAX : TASK_DEPTH_MAX);
}

/* Whether task waits for other. */
static bool depends(const struct task *task, const struct task *other, unsigned *steps_left)
{
    if (task == other || !*steps_left)
        return true;
    --*steps_left;
    for (unsigned i = 0; task->subs && i < TASK_SUBS_MAX; i++)
        if (task->sub[i].child && depends(task->sub[i].child, other, steps_left))
            return true;
    return false;
}

bool subtasks_would_loop(const struct task *parent, const struct task *child)
{
    unsigned steps_left = DEPENDS_STEPS_MAX;
    return depends(child, parent, &steps_left);
}

void subtask_link(struct subtask *sub, struct task *parent, struct task *child,
                  void (*on_answer)(struct waiter *waiter, const struct answer *answer))
{
    sub->waiter.on_answer = on_answer;
    sub->waiter.takes_stale = false; /* the client's own question may have one */
    sub->parent = parent;
    sub->child = child;
    sub->is_joined = false;
    parent->subs++;
    list_append(&child->waiters, &sub->waiter.node);
}

void subtask_end(struct subtask *sub)
{
    sub->child = NULL;
    sub->parent->subs--;
}

void subtask_leave(struct subtask *sub)
{
    if (!sub->child)
        return;
    list_remove(&sub->waiter.node);
    subtask_end(sub);
}

void subtasks_leave(struct task *task)
{
    for (unsigned i = 0; task->subs && i < TASK_SUBS_MAX; i++)
        subtask_leave(&task->sub[i]);
}
