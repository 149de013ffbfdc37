/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Ends tasks. A finished task leaves the table at once, so a waiter that repeats the question gets
 * a new task or the cache's answer.
 *
 * Invariant: an answer is stored before it is handed out, and never inside a read section.
 */
#include "resolve/finish.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/rrtype.h"
#include "local/local_answer.h"
#include "local/local_block.h"
#include "local/local_names.h"
#include "resolve/bogus.h"
#include "resolve/linger.h"
#include "resolve/sentinel.h"
#include "resolve/stale.h"
#include "resolve/subtasks.h"
#include "resolve/task_ask.h"
#include "resolve/task_trace.h"
#include "resolve/zone_answers.h"

/* Stops everything that could call the task back, except the exchange of a parting task. */
static void finish_stop(struct task *task)
{
    if (task->state != TASK_PARTING)
        exchange_stop(&task->exchange);
    task_ask_drop(task);
    list_remove(&task->node); /* of tasks->turn */
    timer_stop(&task->wait);
    timer_stop(&task->clock);
    subtasks_leave(task);
}

static void finish_as(struct task *task, enum task_state state)
{
    struct tasks *tasks = task->tasks;
    task_move(task, state);
    finish_stop(task);
    if (task_is_traced(task))
        task_trace_ended(task);
    tasks_unlink(tasks, task);
    list_append(&tasks->finished, &task->node);
    if (!tasks->delivering)
        loop_at_turn_end(tasks->loop, &tasks->deliver);
}

void finish_answered(struct task *task, const struct answer *answer, struct answer *owned)
{
    task->answer = *answer;
    task->owned = owned;
    finish_as(task, TASK_ANSWERED);
}

/* The zone whose servers were asked. */
static struct name finish_zone_asked(const struct task *task)
{
    return task->zone->is_authoritative ? delegation_zone(&task->memory.iterate.cut)
                                        : task->zone->name;
}

/* Returns a text to be copied, or NULL. */
static const char *finish_text(const struct task *task, const struct failure *failure,
                               char space[ANSWER_TEXT_MAX])
{
    if (failure->text || failure->error)
        return failure->text;
    if (failure->cause == FAILURE_OTHER)
        return NULL;
    return failure_tell(failure, finish_zone_asked(task), space);
}

void finish_failed(struct task *task, const struct failure *failure)
{
    char space[ANSWER_TEXT_MAX];
    const char *text = finish_text(task, failure, space);
    task->failure = *failure;
    task->failure_text = text ? strdup(text) : NULL;
    task->failure.text = task->failure_text;
    if (task->is_early && !failure->is_bogus && list_is_empty(&task->waiters))
        task->failure.cache = false; /* the task has sent only one query */
    finish_as(task, linger_may(task) ? TASK_PARTING : TASK_FAILED);
}

/* The task is out of the table, so no waiter joins it. Other waiters may leave while one is called.
 */
static void finish_hand_out(struct task *task, const struct answer *answer,
                            const struct tap_source *source)
{
    for (struct list *node; (node = list_take_first(&task->waiters));) {
        struct waiter *waiter = LIST_ITEM(node, struct waiter, node);
        waiter->source = source;
        waiter->on_answer(waiter, answer);
    }
}

/* Whether local data answers the question. That happens when local data changed while the task ran,
 * or when an alias or a server's name led to the name and upstreams answered. A hit does not look
 * at local data, so a stored answer would hide it. */
static bool is_local(const struct task *task)
{
    const struct space *space = task->space;
    const struct zone_set *zones = task->tasks->zones;
    bool may_be = task->depth > 0 || task->local_changes != space->local_changes;
    return (may_be && space->local &&
            local_names_has(space->local, task->question.name, task->question.type)) ||
           (zones && zone_answers_has(zones, space, &task->question));
}

static bool finish_may_store(const struct task *task)
{
    return task_is_current(task) && !is_local(task);
}

static void hand_out_in_section(struct task *task, const struct answer *answer)
{
    bool has_source = addr_family(&task->source.addr) != AF_UNSPEC;
    cache_read_begin();
    finish_hand_out(task, answer, has_source ? &task->source : NULL);
    cache_read_end();
}

/* An answer that may not be kept still displaces an old one, or clients would get the stale answer
 * for as long as it may be served, although the servers answer. A failure displaces nothing. */
static void finish_store(struct task *task, const struct answer *answer)
{
    struct cache *cache = task->tasks->cache;
    if (!finish_may_store(task))
        return;
    if (answer->ttl_s)
        cache_store(cache, &task->key, answer);
    else if (answer->kind != ANSWER_FAILURE)
        cache_remove(cache, &task->key);
}

static void store_and_hand_out(struct task *task, const struct answer *answer)
{
    finish_store(task, answer);
    hand_out_in_section(task, answer);
}

/* A block list's answer is kept no longer than its own TTL and that of the answer it replaces. */
static uint32_t blocked_ttl(const struct tasks *tasks, const struct answer *blocked,
                            const struct answer *replaced)
{
    uint32_t most_s = blocked->kind == ANSWER_FAILURE ? cache_ttl(tasks->cache, ANSWER_FAILURE, 0)
                                                      : LOCAL_ZONE_TTL_S;
    return MIN(replaced->ttl_s, most_s);
}

/* Hands out a copy, because a waiter may need the space that the answer is made in. */
static void hand_out_blocked(struct task *task, const struct answer *replaced,
                             const struct local_result *result)
{
    struct tasks *tasks = task->tasks;
    struct answer blocked;
    local_answer(&blocked, &tasks->local_space, &task->question, result, replaced->stored_at);
    tasks->local_space.bytes[2] &= (uint8_t) ~(HEADER_AA >> 8); /* it is cached: cache/answer.h */
    blocked.ttl_s = blocked_ttl(tasks, &blocked, replaced);
    blocked.security =
        replaced->security == SECURITY_UNCHECKED ? SECURITY_UNCHECKED : SECURITY_INSECURE;
    struct answer *copy = compose_dup(&blocked);
    uint8_t bytes[COMPOSE_FAILURE_MAX];
    if (!copy) {
        compose_failure(&blocked, bytes, &task->question, RCODE_SERVFAIL);
        blocked.stored_at = replaced->stored_at;
    }
    store_and_hand_out(task, copy ? copy : &blocked);
    free(copy);
}

/* The sentinel is only for clients without CD whose answers are validated. */
static enum sentinel judge_sentinel(const struct task *task, const struct answer *answer)
{
    const struct validation_options *options = &task->tasks->validation;
    bool may_tell = task->space->mode == VALIDATE_YES && options->sentinel &&
                    answer->security == SECURITY_SECURE && task->depth == 0 &&
                    task->key.view == CACHE_VIEW_ANSWERS && !(task->key.flags & CACHE_KEY_CD);
    return may_tell ? sentinel_judge(&task->question, options->anchors) : SENTINEL_NONE;
}

/* Answers about trusted keys are never stored: they depend on the anchors, not on the zone. */
static void deliver_sentinel(struct task *task, const struct answer *answer, enum sentinel verdict)
{
    uint8_t bytes[COMPOSE_FAILURE_MAX];
    struct answer failure;
    if (verdict == SENTINEL_PASS) {
        hand_out_in_section(task, answer);
        return;
    }
    compose_failure(&failure, bytes, &task->question, RCODE_SERVFAIL);
    failure.stored_at = answer->stored_at;
    hand_out_in_section(task, &failure);
}

/* An alias may lead to a blocked name. */
static void deliver_answer(struct task *task, const struct answer *answer)
{
    const struct tasks *tasks = task->tasks;
    struct local_result result;
    enum sentinel sentinel = judge_sentinel(task, answer);
    if (sentinel != SENTINEL_NONE) {
        deliver_sentinel(task, answer, sentinel);
        return;
    }
    if (!task->space->blocks_aliases || task->key.view != CACHE_VIEW_ANSWERS ||
        !local_block_find(tasks_local(tasks, task->space), answer->message, &task->question,
                          &result)) {
        store_and_hand_out(task, answer);
        return;
    }
    STATS_INC(tasks->stats, blocked_aliases);
    hand_out_blocked(task, answer, &result);
}

/* Another worker may have stored an answer since. That answer is better than our failure, which
 * must not displace it. */
static bool hand_out_cached(struct task *task)
{
    struct answer found;
    cache_read_begin();
    struct tasks *tasks = task->tasks;
    bool good = cache_find(tasks->cache, &task->key, loop_now(tasks->loop), &found) &&
                found.kind != ANSWER_FAILURE && !found.stale_s &&
                tasks_may_use(task->space, &task->key, &found);
    if (good)
        finish_hand_out(task, &found, NULL);
    cache_read_end();
    return good;
}

/* ---- stale answers ---- */

/* Takes the waiters out first: a waiter that is called may ask again and so join this task. */
static void hand_out_stale(struct task *task, const struct answer *answer)
{
    struct list clients;
    list_init(&clients);
    LIST_EACH(node, &task->waiters)
    {
        if (!LIST_ITEM(node, struct waiter, node)->takes_stale)
            continue;
        list_remove(node);
        list_append(&clients, node);
    }
    for (struct list *node; (node = list_take_first(&clients));) {
        struct waiter *waiter = LIST_ITEM(node, struct waiter, node);
        if (answer->stale_s)
            STATS_INC(task->tasks->stats, cache_stale);
        waiter->source = NULL;
        waiter->on_answer(waiter, answer);
    }
}

/* Also stores the stale answer for a while, for the next clients. False: the cache has none. */
static bool serve_stale(struct task *task, const struct failure *failure)
{
    struct answer *stale = stale_take(task, failure);
    if (!stale)
        return false;
    if (stale->stale_s && finish_may_store(task))
        cache_store(task->tasks->cache, &task->key, stale);
    cache_read_begin();
    hand_out_stale(task, stale);
    cache_read_end();
    free(stale);
    return true;
}

void finish_stale(struct task *task)
{
    (void)serve_stale(task, NULL);
}

/* ---- delivering ---- */

static uint32_t own_failure_ttl(const struct task *task)
{
    const struct tasks *tasks = task->tasks;
    struct cache_item before;
    if (!task->failure.is_bogus) {
        uint32_t usual_s = cache_ttl(tasks->cache, ANSWER_FAILURE, 0);
        return task->failure.is_brief ? MIN(usual_s, (uint32_t)FAILURE_BRIEF_S) : usual_s;
    }
    if (task->failure.is_lasting)
        return BOGUS_TTL_MAX_S;
    cache_read_begin();
    uint64_t now = loop_now(tasks->loop);
    bool is_there = cache_peek(tasks->cache, &task->key, now, &before);
    uint32_t ttl_s = bogus_ttl(is_there ? &before.answer : NULL, now);
    cache_read_end();
    return ttl_s;
}

static uint32_t failure_ttl(const struct task *task)
{
    uint32_t ttl_s = own_failure_ttl(task), most_s = task->failure.ttl_max_s;
    return most_s ? MIN(ttl_s, most_s) : ttl_s;
}

static void deliver_failure(struct task *task)
{
    const struct failure *failure = &task->failure;
    struct tasks *tasks = task->tasks;
    if (task->is_refresh && !task->depth && !tasks->closing)
        retries_note(&tasks->retries, &task->key);
    if (hand_out_cached(task))
        return;
    bool has_stale = serve_stale(task, failure);
    uint8_t bytes[COMPOSE_FAILURE_MAX];
    struct answer answer;
    compose_failure(&answer, bytes, &task->question, failure->rcode);
    answer.stored_at = loop_now(tasks->loop);
    if (failure->cache && task->zone->cache)
        answer.ttl_s = failure_ttl(task);
    if (failure->is_bogus)
        answer.security = SECURITY_BOGUS;
    answer.text = failure->text;
    answer.ede_count = failure->ede_count;
    for (unsigned i = 0; i < failure->ede_count; i++)
        answer.ede[i] = failure->ede[i];
    answer.error = (uint8_t)failure->error;
    if (has_stale)
        hand_out_in_section(task, &answer); /* to parent tasks */
    else
        store_and_hand_out(task, &answer);
}

void finish_deliver(struct tasks *tasks)
{
    if (tasks->delivering)
        return;
    tasks->delivering = true;
    for (struct list *node; (node = list_take_first(&tasks->finished));) {
        struct task *task = LIST_ITEM(node, struct task, node);
        if (task->state == TASK_ANSWERED)
            deliver_answer(task, &task->answer);
        else
            deliver_failure(task);
        if (task->state != TASK_PARTING || !linger_begin(task))
            tasks_give(tasks, task);
    }
    turn_end_cancel(&tasks->deliver);
    tasks->delivering = false;
}
