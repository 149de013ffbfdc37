/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * The table, the memory and the budgets of tasks. task.c decides what a task does.
 *
 * Invariant: a task in the table runs or lingers. At most one task of a key is current; it comes
 * before tasks of former routes. The memory of tasks is freed only with the worker, so code that
 * looks at a task that just ended reads no freed memory.
 */
#include "resolve/tasks.h"

#include <stdlib.h>

#include "base/check.h"
#include "dns/word.h"
#include "recurse/lame.h"
#include "resolve/held_message.h"
#include "resolve/trace.h"
#include "validate/validation.h"

struct slab {
    struct list node;
    struct task tasks[TASKS_SLAB];
};

static size_t buckets_for(size_t max)
{
    size_t buckets = 64;
    while (buckets < max)
        buckets *= 2;
    return buckets;
}

bool tasks_init(struct tasks *tasks, size_t max)
{
    size_t buckets = buckets_for(max);
    retries_init(&tasks->retries, tasks->loop, tasks->cache);
    tasks->buckets = calloc(buckets, sizeof(struct task *));
    tasks->bucket_mask = buckets - 1;
    tasks->count = tasks->refreshing = tasks->sub_count = 0;
    held_messages_init(&tasks->held);
    tasks->traces = 0;
    tasks->max = max;
    tasks->delivering = tasks->closing = false;
    zone_load_init(&tasks->load);
    memset(&tasks->large, 0, sizeof(tasks->large));
    unproven_init(&tasks->unproven, max, tasks->load.seed);
    memset(tasks->leaders, 0, sizeof(tasks->leaders));
    list_init(&tasks->idle);
    list_init(&tasks->slabs);
    list_init(&tasks->finished);
    verify_turn_init(&tasks->turn, tasks->loop);
    list_init(&tasks->lingering);
    tasks->lingering_count = 0;
    tasks->lame = lame_new();
    return tasks->buckets && tasks->lame;
}

void tasks_deinit(struct tasks *tasks)
{
    MUST(tasks->count == 0 && tasks->traces == 0);
    MUST(list_is_empty(&tasks->finished));
    held_messages_deinit(&tasks->held);
    verify_turn_deinit(&tasks->turn);
    retries_deinit(&tasks->retries);
    for (struct list *node; (node = list_take_first(&tasks->slabs));)
        free(LIST_ITEM(node, struct slab, node));
    free(tasks->buckets);
    lame_free(tasks->lame);
}

static bool tasks_grow(struct tasks *tasks)
{
    struct slab *slab = malloc(sizeof(*slab));
    if (!slab)
        return false;
    list_init(&slab->node);
    list_append(&tasks->slabs, &slab->node);
    for (size_t i = 0; i < TASKS_SLAB; i++) {
        list_init(&slab->tasks[i].node);
        slab->tasks[i].state = TASK_FREE;
        list_append(&tasks->idle, &slab->tasks[i].node);
    }
    return true;
}

static struct task **tasks_bucket_of(const struct tasks *tasks, const struct cache_key *key)
{
    return &tasks->buckets[key->hash & tasks->bucket_mask];
}

/* Keeps the order of the old bucket, because the newest task of a key comes first. */
static void rehash(struct tasks *tasks, struct task *task)
{
    for (struct task *next; task; task = next) {
        struct task **at = tasks_bucket_of(tasks, &task->key);
        next = task->next;
        while (*at)
            at = &(*at)->next;
        task->next = NULL;
        *at = task;
    }
}

bool tasks_set_max(struct tasks *tasks, size_t max)
{
    struct task **old = tasks->buckets;
    size_t old_buckets = tasks->bucket_mask + 1, buckets = buckets_for(max);
    if (buckets > old_buckets) {
        tasks->buckets = calloc(buckets, sizeof(struct task *));
        if (!tasks->buckets) {
            tasks->buckets = old;
            return false;
        }
        tasks->bucket_mask = buckets - 1;
        for (size_t i = 0; i < old_buckets; i++)
            rehash(tasks, old[i]);
        free(old);
    }
    tasks->max = max;
    unproven_set_max(&tasks->unproven, max);
    return true;
}

bool task_is_current(const struct task *task)
{
    const struct space *space = task->space;
    if (space->is_retired)
        return false;
    if (task->zone->routes)
        return task->zone->routes == space->routes;
    return task->local_changes == space->local_changes;
}

struct task *tasks_find(const struct tasks *tasks, const struct cache_key *key)
{
    for (struct task *task = *tasks_bucket_of(tasks, key); task; task = task->next)
        if (task->key.hash == key->hash && cache_key_equal(&task->key, key))
            return task_is_current(task) ? task : NULL;
    return NULL;
}

struct task *tasks_find_finished(const struct tasks *tasks, const struct cache_key *key)
{
    unsigned left = TASKS_FINISHED_LOOKS;
    LIST_EACH(node, &tasks->finished)
    {
        struct task *task = LIST_ITEM(node, struct task, node);
        if (task->key.hash == key->hash && cache_key_equal(&task->key, key))
            return task_is_current(task) ? task : NULL;
        if (!--left)
            break;
    }
    return NULL;
}

static void copy_key(struct cache_key *to, const struct cache_key *from)
{
    memcpy(to, from, offsetof(struct cache_key, name));
    word_copy(to->name, from->name, from->name_len);
}

static void init_group(struct task_group *group)
{
    group->count = group->attempts_max = 0;
    group->is_full = false;
    unproven_query_init(&group->unproven);
    group->leads = group->followed = 0;
    list_init(&group->followers);
    list_init(&group->follows);
}

/* Sets single fields: most of a task's kilobytes need not be cleared. */
static void reset(struct task *task, struct tasks *tasks, struct space *space,
                  const struct cache_key *key)
{
    task->tasks = tasks;
    task->space = space;
    space->refs++;
    task->zone = NULL;
    list_init(&task->waiters);
    task_move(task, TASK_DECIDING);
    task->depth = 0;
    task->is_refresh = false;
    task->events_left = TASK_EVENTS_MAX;
    task->local_changes = space->local_changes;
    task->head = NULL;
    task->bogus = NULL;
    task->failure_text = NULL;
    task->budget = NULL;
    task->trace = NULL;
    init_group(&task->group);
    task->client = 0;
    task->held = NULL;
    task->owned = NULL;
    copy_key(&task->key, key);
    task->question = (struct question){
        .name = {task->key.name, task->key.name_len},
        .type = key->type,
        .cls = key->cls,
    };
}

struct task *tasks_take(struct tasks *tasks, struct space *space, const struct cache_key *key)
{
    if (tasks->closing || tasks->count >= tasks->max)
        return NULL;
    if (list_is_empty(&tasks->idle) && !tasks_grow(tasks))
        return NULL;
    struct task *task = LIST_ITEM(list_take_first(&tasks->idle), struct task, node);
    reset(task, tasks, space, key);
    tasks_link(tasks, task);
    return task;
}

void tasks_link(struct tasks *tasks, struct task *task)
{
    struct task **bucket = tasks_bucket_of(tasks, &task->key);
    task->next = *bucket;
    *bucket = task;
    tasks->count++;
}

void tasks_unlink(struct tasks *tasks, struct task *task)
{
    struct task **at = tasks_bucket_of(tasks, &task->key);
    while (*at != task) {
        MUST(*at);
        at = &(*at)->next;
    }
    *at = task->next;
    tasks->count--;
    tasks->sub_count -= task->depth > 0;
}

bool tasks_has_verdict(const struct space *space, const struct cache_key *key,
                       const struct answer *answer)
{
    if (answer->security != SECURITY_UNCHECKED || answer->kind == ANSWER_FAILURE ||
        key->flags & CACHE_KEY_CD || key->cls != RRCLASS_IN)
        return true;
    if (key->view == CACHE_VIEW_TRUST) /* harvest.h */
        return false;
    struct name name = {key->name, key->name_len};
    const struct zone *zone = route_find(space->routes, name, key->type);
    return !zone || !zone->validates;
}

/* ---- budgets ---- */

/* Zones with forwarders and without validation need none: a question causes one exchange there. */
bool tasks_give_budget(struct task *task, const struct zone *zone)
{
    bool validates = zone->validates || task->key.view == CACHE_VIEW_TRUST;
    bool is_needed = zone->is_authoritative || validates;
    if (is_needed && !task->budget)
        task->budget = budget_new(loop_now(task->tasks->loop));
    if (task->budget && validates)
        budget_allow_validation(task->budget, VALIDATION_UNITS_MAX,
                                VALIDATION_QUESTION_FAILURES_MAX);
    if (task->budget)
        task->budget->is_recursive |= zone->is_authoritative;
    return task->budget || !is_needed;
}

static void count_reached(struct stats *stats, unsigned reached)
{
    static const enum stat bounds[] = {
        [BUDGET_QUERIES] = stat_recursion_bound_queries,
        [BUDGET_REFERRALS] = stat_recursion_bound_referrals,
        [BUDGET_LOOKUPS] = stat_recursion_bound_lookups,
        [BUDGET_RESTARTS] = stat_recursion_bound_restarts,
        [BUDGET_ALIASES] = stat_recursion_bound_aliases,
        [BUDGET_KINDS] = stat_recursion_bound_time,
    };
    for (unsigned i = 0; reached && i < ARRAY_LEN(bounds); i++)
        if (reached >> i & 1)
            stats_add_at(stats, bounds[i], 1);
}

/* Counts the work for a client's question when its last task ends. */
static void count_budget(struct stats *stats, const struct budget *budget)
{
    stats_add_at(stats, stat_recursion_resolutions, 1);
    stats_add_at(stats, stat_recursion_queries, budget->used[BUDGET_QUERIES]);
    stats_add_at(stats, stat_recursion_referrals, budget->used[BUDGET_REFERRALS]);
    stats_add_at(stats, stat_recursion_lookups, budget->used[BUDGET_LOOKUPS]);
    stats_add_at(stats, stat_recursion_restarts, budget->used[BUDGET_RESTARTS]);
    count_reached(stats, budget->reached);
}

void tasks_drop_budget(struct tasks *tasks, struct budget *budget)
{
    if (budget && budget->refs == 1 && budget->is_recursive)
        count_budget(tasks->stats, budget);
    budget_unref(budget);
}

void tasks_renew_budget(struct task *task)
{
    struct budget *former = task->budget;
    task->budget = NULL;
    if (former && tasks_give_budget(task, task->zone))
        tasks_drop_budget(task->tasks, former);
    else
        task->budget = former;
}

/* ---- the end of a task ---- */

void tasks_give(struct tasks *tasks, struct task *task)
{
    MUST(list_is_empty(&task->waiters));
    route_drop(task->zone);
    task->zone = NULL;
    space_drop(task->space);
    task->space = NULL;
    tasks->refreshing -= task->is_refresh;
    free(task->head);
    free(task->owned);
    task->head = task->owned = NULL;
    held_message_free(&tasks->held, task->held);
    task->held = NULL;
    free(task->bogus);
    free(task->failure_text);
    task->bogus = NULL;
    task->failure_text = NULL;
    tasks_drop_budget(tasks, task->budget);
    trace_unref(task->trace);
    task->budget = NULL;
    task->trace = NULL;
    task_move(task, TASK_FREE);
    list_prepend(&tasks->idle, &task->node);
}

bool tasks_may_refresh(const struct tasks *tasks)
{
    return tasks->refreshing < tasks->max / TASK_REFRESH_SHARE &&
           tasks->count < tasks->max - tasks->max / TASK_REFRESH_SHARE;
}

void tasks_set_refresh(struct task *task)
{
    MUST(!task->is_refresh);
    task->is_refresh = true;
    task->tasks->refreshing++;
}

struct task *tasks_any(const struct tasks *tasks)
{
    for (size_t i = 0; tasks->count && i <= tasks->bucket_mask; i++)
        if (tasks->buckets[i])
            return tasks->buckets[i];
    return NULL;
}
