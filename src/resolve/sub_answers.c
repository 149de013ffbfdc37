/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "resolve/sub_answers.h"

#include "local/local_answer.h"
#include "local/local_names.h"
#include "resolve/subtasks.h"
#include "resolve/task_trace.h"
#include "resolve/task_validate.h"
#include "resolve/zone_answers.h"

/* A refresh cannot use an answer that is about to expire, because the refreshed answer would expire
 * with it. An answer that only helps the task on its way (it has a tag) is good enough. A stale
 * answer cannot refresh anything. */
static bool sub_is_usable(const struct task *task, const struct answer *found, uint16_t tag)
{
    uint64_t now = loop_now(task->tasks->loop);
    if (found->stale_s || (task_is_traced(task) && !trace_allows(task->trace, found->stored_at)))
        return false;
    return !task->is_refresh || tag || !answer_is_ending(found, answer_age(found, now));
}

/* Special-use names never go to servers, whether an alias or the name of a server leads to them.
 * The operator's own names are for clients only. A blocked name that an alias leads to (no tag)
 * does not go out either, because finish.c answers the whole question by the list. */
static bool sub_find_special(const struct task *task, const struct cache_key *key, uint16_t tag,
                             struct answer *out)
{
    struct tasks *tasks = task->tasks;
    struct question question = {
        .name = {key->name, key->name_len}, .type = key->type, .cls = key->cls};
    struct local_result result;
    const struct local_names *local = tasks_local(tasks, task->space);
    if (!local || !local_names_may_have(local, question.name))
        return false;
    bool is_blocked = !tag && task->space->blocks_aliases &&
                      local_names_block(local, question.name, &question, &result);
    if (!is_blocked && (local_names_has_own(local, question.name) ||
                        local_names_find(local, &question, &result) != LOCAL_ANSWERED ||
                        zone_answers_claims(tasks->zones, &question, result.special_len)))
        return false;
    local_answer(out, &tasks->local_space, &question, &result, loop_now(tasks->loop));
    if (is_blocked && out->kind != ANSWER_FAILURE)
        out->ttl_s = LOCAL_ZONE_TTL_S;
    return true;
}

/* The target of an alias gets the answer that a client would get from a zone held here. Names below
 * its cuts, and names of a zone that has lost its data and has a fallback, are resolved like
 * others.
 */
static enum sub_answers_result sub_find_in_zone(const struct task *task,
                                                const struct question *question, uint16_t tag,
                                                struct sub_answers *out)
{
    struct tasks *tasks = task->tasks;
    if (tag || !tasks->zones)
        return SUB_ANSWERS_NONE;
    switch (zone_answers_find(tasks, task->space, question, out->key.flags & CACHE_KEY_DO, false,
                              &out->answer, out->wire, &out->target)) {
    case ZONE_ANSWERS_FOUND:
        return SUB_ANSWERS_FOUND;
    case ZONE_ANSWERS_ELSEWHERE:
        return SUB_ANSWERS_ALIAS;
    case ZONE_ANSWERS_NOT:
        break;
    }
    return SUB_ANSWERS_NONE;
}

/* Makes the key of a subtask's question. Where answers are validated, addresses of servers are
 * asked for with CD: keys need addresses, so addresses must not need keys, and no client sees them.
 */
static void sub_make_key(const struct task *task, const struct question *question, uint16_t tag,
                         struct cache_key *key)
{
    uint8_t flags = task->key.flags, view = CACHE_VIEW_ANSWERS;
    if (tag == TASK_TAG_VALIDATION) {
        flags = CACHE_KEY_DO;
        view = CACHE_VIEW_TRUST;
    } else if (tag) {
        flags = task->zone->validates ? CACHE_KEY_CD : 0;
    }
    cache_key_init(key, task->tasks->cache, question, flags, view, task->space->number);
}

static bool sub_find_usable(const struct task *task, const struct cache_key *key, uint16_t tag,
                            struct answer *out)
{
    struct tasks *tasks = task->tasks;
    return cache_find(tasks->cache, key, loop_now(tasks->loop), out) &&
           sub_is_usable(task, out, tag) && tasks_may_use(task->space, key, out);
}

/* Finds what the cache knows under the key or, for an address asked for with CD, without CD. */
static bool sub_find_cached(const struct task *task, const struct question *question, uint16_t tag,
                            const struct cache_key *key, struct answer *out)
{
    struct cache_key checked;
    if (tag && key->flags == CACHE_KEY_CD) {
        cache_key_init(&checked, task->tasks->cache, question, 0, key->view, key->space);
        if (sub_find_usable(task, &checked, tag, out) && out->kind != ANSWER_FAILURE)
            return true;
    }
    return sub_find_usable(task, key, tag, out);
}

enum sub_answers_result sub_answers_find(const struct task *task, const struct question *question,
                                         uint16_t tag, struct sub_answers *out)
{
    sub_make_key(task, question, tag, &out->key);
    if (sub_find_cached(task, question, tag, &out->key, &out->answer)) {
        if (task_is_traced(task))
            task_trace_sub_cached(task, question, &out->answer);
        return SUB_ANSWERS_FOUND;
    }
    if (sub_find_special(task, &out->key, tag, &out->answer))
        return SUB_ANSWERS_FOUND;
    return sub_find_in_zone(task, question, tag, out);
}
