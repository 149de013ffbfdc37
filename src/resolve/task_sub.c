/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Questions that a task waits for: from the cache, of the task that runs for them, or of a new one.
 *
 * Invariant: tasks never wait for each other in a circle.
 */
#include "dns/edns.h"
#include "local/local_answer.h"
#include "local/local_names.h"
#include "resolve/iterate.h"
#include "resolve/task_inside.h"
#include "resolve/task_trace.h"
#include "resolve/waiter.h"

static void start_sub(struct task *task, const struct question *question, uint16_t tag, bool again);

static void feed_sub_failure(struct task *task, uint16_t tag, const struct failure *failure)
{
    struct event event = {.kind = EVENT_SUB_FAILED, .tag = tag, .failure = failure};
    task_feed_event(task, &event, NULL);
}

/* A circle is the zones' own fault, and must be remembered (TsuNAME); no room is ours. */
static void feed_sub_refusal(struct task *task, uint16_t tag, uint16_t ede)
{
    struct failure failure = {
        .rcode = RCODE_SERVFAIL, .cache = ede != EDE_OTHER, .ede_count = 1, .ede = {ede}};
    if (ede == EDE_NO_REACHABLE_AUTHORITY)
        failure.error = ERR_NO_ZONE; /* told when it was an alias */
    feed_sub_failure(task, tag, &failure);
}

static void feed_sub_answer(struct task *task, uint16_t tag, const struct answer *answer)
{
    if (answer->kind == ANSWER_FAILURE) {
        struct failure failure = {.rcode = header_rcode(answer->message.data),
                                  .cache = answer->ttl_s != 0};
        failure.ede_count = answer->ede_count;
        for (unsigned i = 0; i < answer->ede_count; i++)
            failure.ede[i] = answer->ede[i];
        failure.error = answer->error;
        feed_sub_failure(task, tag, &failure);
        return;
    }
    struct event event = {.kind = EVENT_SUB_DONE, .tag = tag, .answer = answer};
    task_feed_event(task, &event, answer);
}

/* The budget it ran on was another question's, and may be why it failed. */
static bool may_begin_again(const struct task *task, const struct subtask *sub,
                            const struct answer *answer)
{
    return sub->joined && answer->kind == ANSWER_FAILURE && answer->ttl_s == 0 &&
           (!task->budget ||
            budget_take(task->budget, BUDGET_LOOKUPS, loop_now(task->tasks->loop)));
}

/* The answer is borrowed for this call; a task that ends here has made its own of it. */
static void on_sub_answer(struct waiter *waiter, const struct answer *answer)
{
    struct subtask *sub = CONTAINER_OF(waiter, struct subtask, waiter);
    struct task *task = sub->parent;
    struct question question = sub->child->question; /* it lives until all waiters are called */
    sub->child = NULL;
    task->subs--;
    if (waiter->source)
        task->source = *waiter->source;
    if (may_begin_again(task, sub, answer))
        start_sub(task, &question, sub->tag, true);
    else
        feed_sub_answer(task, sub->tag, answer);
    task_check_under_way(task);
}

static struct subtask *free_sub(struct task *task)
{
    for (unsigned i = 0; i < TASK_SUBS_MAX; i++)
        if (!task->sub[i].child)
            return &task->sub[i];
    return NULL;
}

/* Makes task wait for child. Its place is taken before the child starts, so that whoever the child
 * waits for is seen to depend on this task. */
static void link_sub(struct task *task, struct subtask *sub, struct task *child)
{
    sub->waiter.on_answer = on_sub_answer;
    sub->waiter.takes_stale = false; /* the question that client asked may have a stale answer */
    sub->parent = task;
    sub->child = child;
    sub->joined = false;
    task->subs++;
    list_append(&child->waiters, &sub->waiter.node);
}

/* False, with the reason, when the subtask cannot be had. */
static bool join_sub(struct task *task, const struct cache_key *key, uint16_t tag, bool again,
                     uint16_t *ede)
{
    struct tasks *tasks = task->tasks;
    struct task *running = tasks_find(tasks, key);
    struct subtask *sub = free_sub(task);
    *ede = EDE_OTHER;
    if (sub)
        sub->tag = tag;
    if (!sub || task->depth == TASK_DEPTH_MAX)
        return false;
    if (running) {
        *ede = EDE_INVALID_DATA; /* aliases in a circle */
        if (task_depends_on(running, task))
            return false;
        link_sub(task, sub, running);
        sub->joined = !again;
        task_resume(running);
        if (task_is_traced(task))
            task_trace_sub_joined(task, &running->question);
        return true;
    }
    if (task->budget && task->budget->refs >= BUDGET_TASKS_MAX)
        return false;
    struct task *child;
    enum resolver_result result = task_take(tasks, key, task->depth + 1u, &child);
    if (result == RESOLVER_NO_ROUTE)
        *ede = EDE_NO_REACHABLE_AUTHORITY;
    if (result != RESOLVER_WAITING)
        return false;
    link_sub(task, sub, child);
    child->client = task->client;
    if (task->is_refresh)
        tasks_set_refresh(child);
    if (task->budget)
        child->budget = budget_ref(task->budget);
    if (tag == ITERATE_TAG_PRIMING)
        STATS_INC(tasks->stats, recursion_primings);
    if (task_is_traced(task))
        child->trace = trace_ref(task->trace);
    task_start(child);
    return true;
}

/* What is about to end is of no use to who refreshes: the whole would end with it, unless it is
 * only needed on the way (a tag). Of what is stale nothing fresh can be made. */
static bool is_good_for(const struct task *task, const struct answer *found, uint16_t tag)
{
    uint64_t now = loop_now(task->tasks->loop);
    if (found->stale_s || (task_is_traced(task) && !trace_allows(task->trace, found->stored_at)))
        return false;
    return !task->is_refresh || tag || !answer_is_ending(found, answer_age(found, now));
}

/* Names of special use are never asked for, whether an alias or the name of a server leads to them.
 * The operator's own names are for clients only. A name of a block list is not asked for when an
 * alias leads there (no tag), because finish.c answers the whole question by the list. */
static bool find_special(struct tasks *tasks, const struct cache_key *key, uint16_t tag,
                         struct answer *out)
{
    struct question question = {
        .name = {key->name, key->name_len}, .type = key->type, .cls = key->cls};
    struct local_result result;
    const struct local_names *local = tasks->local;
    if (!local || !local_names_may_have(local, question.name))
        return false;
    bool is_blocked = !tag && tasks->blocks_aliases &&
                      local_names_block(local, question.name, &question, &result);
    if (!is_blocked && (local_names_has_own(local, question.name) ||
                        local_names_find(local, &question, &result) != LOCAL_ANSWERED))
        return false;
    local_answer(out, &tasks->local_space, local, &question, &result, loop_now(tasks->loop));
    if (is_blocked && out->kind != ANSWER_FAILURE)
        out->ttl_s = LOCAL_ZONE_TTL_S;
    return true;
}

/* again: after it was joined and failed for another's sake, once. */
static void start_sub(struct task *task, const struct question *question, uint16_t tag, bool again)
{
    struct tasks *tasks = task->tasks;
    struct cache_key key;
    struct answer found;
    uint16_t ede;
    cache_key_init(&key, tasks->cache, question, tag ? 0 : task->key.flags, task->key.view);
    cache_read_begin();
    if (cache_find(tasks->cache, &key, loop_now(tasks->loop), &found) &&
        is_good_for(task, &found, tag)) {
        if (task_is_traced(task))
            task_trace_sub_cached(task, question, &found);
        feed_sub_answer(task, tag, &found);
    } else if (find_special(tasks, &key, tag, &found)) {
        feed_sub_answer(task, tag, &found);
    } else if (!join_sub(task, &key, tag, again, &ede)) {
        if (task_is_traced(task))
            task_trace_sub_refused(task, question, ede);
        feed_sub_refusal(task, tag, ede);
    }
    cache_read_end();
}

void task_sub_start(struct task *task, const struct question *question, uint16_t tag)
{
    start_sub(task, question, tag, false);
}
