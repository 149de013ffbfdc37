/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A task's life: how it comes to be, how long it may run. Steps are task_step's, what servers say
 * task_answer's, questions it waits for task_sub's, the end finish's.
 */
#include "resolve/task.h"

#include "base/check.h"
#include "dns/edns.h"
#include "resolve/finish.h"
#include "resolve/linger.h"
#include "resolve/local_alias.h"
#include "resolve/task_cut.h"
#include "resolve/task_inside.h"
#include "resolve/task_trace.h"

static void task_on_due(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, wait);
    struct tasks *tasks = task->tasks;
    if (task->gives_way && !task_cut_give_way(task))
        return;
    const struct exchange_failure unasked = {.full = task->zone_full};
    struct event event = {.kind = EVENT_TIME};
    if (task->has_no_server)
        event = (struct event){.kind = EVENT_FAILED, .exchange = &unasked};
    if (task->has_no_server && task_is_traced(task))
        task_trace_given_up(task, &unasked);
    task->has_no_server = false;
    list_remove(&task->follows);
    task_feed_event(task, &event, NULL);
    task_check_under_way(task);
    finish_deliver(tasks);
}

/* The upstreams had their chance: clients get what is stale, if there is something, and the task
 * goes on for the next. */
static void task_on_late(struct task *task)
{
    struct tasks *tasks = task->tasks;
    task->is_late = true;
    timer_start(tasks->loop, &task->wall, task->ends_at);
    finish_stale(task);
}

/* Exchanges end by themselves, but a chain of aliases may need many, one after the other. What it
 * waits for goes on: the cache gains for who asks again. */
static void task_on_wall(struct timer *timer)
{
    struct task *task = CONTAINER_OF(timer, struct task, wall);
    struct tasks *tasks = task->tasks;
    if (!task->is_late) {
        task_on_late(task);
        return;
    }
    task_fail(task, stat_failures_unreachable, EDE_NO_REACHABLE_AUTHORITY, true);
    finish_deliver(tasks);
}

/* ---- from above ---- */

static struct task *take_in(struct tasks *tasks, const struct cache_key *key,
                            const struct zone *zone, unsigned depth)
{
    if (depth > 0 && tasks->sub_count >= tasks->max / TASK_SUB_SHARE)
        return NULL;
    if (tasks->count >= tasks->max)
        (void)linger_drop_oldest(tasks);
    struct task *task = tasks_take(tasks, key);
    if (!task)
        return NULL;
    tasks->sub_count += depth > 0;
    task->zone = zone;
    route_hold(zone);
    task->source.addr.sa.sa_family = AF_UNSPEC;
    task->depth = (uint8_t)depth;
    timer_init(&task->wait, task_on_due);
    timer_init(&task->wall, task_on_wall);
    exchange_init(&task->exchange, tasks->upstreams, &task_exchange_handler, task);
    return task;
}

static bool has_servers(const struct tasks *tasks, const struct zone *zone)
{
    return zone->group_len || (zone->is_authoritative && tasks->world);
}

enum resolver_result task_take(struct tasks *tasks, const struct cache_key *key, unsigned depth,
                               struct task **out)
{
    struct name name = {key->name, key->name_len};
    const struct zone *zone = route_find(tasks->routes, name, key->type);
    if (!zone || !has_servers(tasks, zone))
        return RESOLVER_NO_ROUTE;
    *out = take_in(tasks, key, zone, depth);
    return *out ? RESOLVER_WAITING : RESOLVER_FULL;
}

/* Where the zone's questions need one; false: out of memory. */
static bool give_budget(struct task *task, const struct zone *zone)
{
    if (zone->is_authoritative && !task->budget)
        task->budget = budget_new(loop_now(task->tasks->loop));
    return task->budget || !zone->is_authoritative;
}

bool task_move(struct task *task, const struct zone *zone)
{
    if (!has_servers(task->tasks, zone) || !give_budget(task, zone))
        return false;
    exchange_stop(&task->exchange);
    task_cut_drop(task);
    timer_stop(&task->wait);
    tasks_leave_subs(task);
    route_hold(zone);
    route_drop(task->zone);
    task->zone = zone;
    return true;
}

static void start_clock(struct task *task)
{
    struct loop *loop = task->tasks->loop;
    uint64_t patience_us = cache_stale_timeout_us(task->tasks->cache);
    task->is_late = patience_us == 0 || patience_us >= TASK_WALL_US;
    task->ends_at = loop_now(loop) + TASK_WALL_US;
    timer_start(loop, &task->wall, task->is_late ? task->ends_at : loop_now(loop) + patience_us);
}

static void start_with(struct task *task, const struct event *event, const struct answer *answer)
{
    start_clock(task);
    bool has_budget = give_budget(task, task->zone);
    if (task_is_traced(task))
        task_trace_begun(task);
    if (!has_budget)
        task_fail(task, stat_failures_other, EDE_OTHER, false);
    else
        task_feed_event(task, event, answer);
    task_check_under_way(task);
}

void task_resume(struct task *task)
{
    if (task->state != TASK_LINGERING)
        return;
    linger_wake(task);
    start_clock(task);
    exchange_resume(&task->exchange);
}

void task_start(struct task *task)
{
    start_with(task, &(struct event){.kind = EVENT_STARTED}, NULL);
}

/* A question that is being asked already is not asked a second time because somebody watches. */
static bool join_running(struct tasks *tasks, const struct cache_key *key, struct waiter *waiter,
                         struct trace *trace)
{
    struct task *task = tasks_find(tasks, key);
    if (!task)
        return false;
    if (trace)
        trace_say(trace, TRACE_JOINED, 0, &task->question, "", loop_now(tasks->loop));
    list_append(&task->waiters, &waiter->node);
    STATS_INC(tasks->stats, joined);
    task_resume(task);
    return true;
}

enum resolver_result task_join(struct tasks *tasks, const struct cache_key *key,
                               struct waiter *waiter, struct trace *trace)
{
    if (join_running(tasks, key, waiter, trace))
        return RESOLVER_WAITING;
    struct task *task;
    enum resolver_result result = task_take(tasks, key, 0, &task);
    if (result != RESOLVER_WAITING)
        return result;
    if (trace)
        task->trace = trace_ref(trace);
    task->client = waiter->client;
    list_append(&task->waiters, &waiter->node);
    task_start(task);
    return RESOLVER_WAITING;
}

enum resolver_result task_join_alias(struct tasks *tasks, const struct cache_key *key,
                                     const struct answer *head, struct name target,
                                     struct waiter *waiter, struct trace *trace)
{
    static const struct zone here = {.strategy = &local_alias_strategy}; /* nobody is asked */
    const struct event event = {.kind = EVENT_ALIAS, .target = target};
    if (join_running(tasks, key, waiter, trace))
        return RESOLVER_WAITING;
    struct task *task = take_in(tasks, key, &here, 0);
    if (!task)
        return RESOLVER_FULL;
    if (trace)
        task->trace = trace_ref(trace);
    task->client = waiter->client;
    list_append(&task->waiters, &waiter->node);
    start_with(task, &event, head);
    return RESOLVER_WAITING;
}

void task_refresh(struct tasks *tasks, const struct cache_key *key)
{
    struct task *task;
    if (tasks_find(tasks, key) || task_take(tasks, key, 0, &task) != RESOLVER_WAITING)
        return;
    tasks_set_refresh(task);
    STATS_INC(tasks->stats, cache_refreshes);
    task_start(task);
}
