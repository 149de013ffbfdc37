/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Invariants: who leads has a place in the table, which is empty otherwise; who follows is in its
 * leader's list and has its timer armed, so nobody waits for ever. Leaders never wait for those who
 * follow them: they have an exchange under way, which ends by itself.
 */
#include "resolve/task_follow.h"

#include "base/check.h"

/* What is asked of whom; 0 is nothing. Two that meet here cost one of them a wait. */
static uint64_t mark_of(const struct tasks *tasks, struct name zone, const struct question *part)
{
    uint64_t seed = tasks->load.seed;
    return (name_hash(part->name, seed + zone.len) ^ part->type) | 1;
}

static struct task **task_follow_place_of(struct tasks *tasks, uint64_t mark)
{
    return &tasks->leaders[mark >> 32 & (TASK_LEADERS - 1)];
}

bool task_follow(struct task *task, struct name zone, const struct question *part)
{
    struct tasks *tasks = task->tasks;
    uint64_t now = loop_now(tasks->loop), mark = mark_of(tasks, zone, part);
    struct task *leader = *task_follow_place_of(tasks, mark);
    if (!leader || leader->leads != mark || leader == task || task->followed == mark)
        return false;
    task->followed = mark;
    list_append(&leader->followers, &task->follows);
    timer_start(tasks->loop, &task->wait, now + TASK_FOLLOW_US);
    return true;
}

void task_lead(struct task *task, struct name zone, const struct question *part)
{
    uint64_t mark = mark_of(task->tasks, zone, part);
    struct task **place = task_follow_place_of(task->tasks, mark);
    MUST(!task->leads);
    if (*place)
        return;
    *place = task;
    task->leads = mark;
}

void task_lead_end(struct task *task)
{
    struct tasks *tasks = task->tasks;
    if (!task->leads)
        return;
    *task_follow_place_of(tasks, task->leads) = NULL;
    task->leads = 0;
    for (struct list *node; (node = list_take_first(&task->followers));) {
        struct task *follower = LIST_ITEM(node, struct task, follows);
        timer_start(tasks->loop, &follower->wait, loop_now(tasks->loop));
    }
}
