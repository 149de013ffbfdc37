/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What servers say, on its way to the strategy: classified, and scrubbed where it is useful. What
 * is left of a message is scrub's to say, what it says of cuts task_cut's.
 */
#include "base/check.h"
#include "base/log.h"
#include "dns/rrtype.h"
#include "resolve/classify.h"
#include "resolve/finish.h"
#include "resolve/linger.h"
#include "resolve/scrub.h"
#include "resolve/task_cut.h"
#include "resolve/task_follow.h"
#include "resolve/task_inside.h"
#include "resolve/task_trace.h"

static void log_response(const struct task *task, enum response_kind kind)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    LOG(LOG_DEBUG, "resolve", "%s %s: %s", name_format(task->asked.name, name),
        rrtype_name(task->asked.type, type), response_kind_name(kind));
}

/* Scrubs what is useful. What does not come out whole is not believed; the answer to a part of the
 * question is nobody's. */
static const struct answer *vet(struct task *task, struct response *response, struct answer *answer,
                                const struct message *message)
{
    struct tasks *tasks = task->tasks;
    struct zone cut;
    const struct zone *zone = task->zone;
    if (zone->is_authoritative) {
        task_cut_zone(task, &cut);
        zone = &cut;
    }
    struct scrub_rules rules = {
        .zone = zone,
        .cache = tasks->cache,
        .private = tasks->recursion.private,
        .dnssec_ok = task->key.flags & CACHE_KEY_DO,
        .minimal_responses = tasks->minimal_responses,
        .now = loop_now(tasks->loop),
    };
    classify(response, message, &task->asked, zone);
    log_response(task, response->kind);
    if (!response_is_useful(response->kind) || !task_asks_whole(task, &task->asked))
        return NULL;
    if (scrub(answer, &tasks->scrubbed, message, &task->question, response, &rules))
        return answer;
    response->kind = RESPONSE_UNSOUND;
    return NULL;
}

static enum exchange_verdict task_answer_on_answer(void *owner, const struct exchange_answer *from)
{
    struct task *task = owner;
    struct tasks *tasks = task->tasks;
    struct response response;
    struct answer answer;
    MUST(!tasks->delivering);
    if (task->state == TASK_FAILED) /* its failure is about to be delivered */
        return EXCHANGE_TAKEN;
    bool is_late = task->state == TASK_LINGERING;
    if (is_late)
        linger_wake(task);
    uint64_t leads = task->leads;
    task->source = from->source;
    struct at_hand at_hand = {.answer = vet(task, &response, &answer, from->message)};
    struct event event = {.kind = EVENT_ANSWERED, .response = &response};
    at_hand.event = &event;
    if (task->zone->is_authoritative) {
        task_cut_note(task, &from->source.addr, &response, from->message);
        if (response_is_useful(response.kind) || response.kind == RESPONSE_REFERRAL)
            task_cut_note_answer(task);
        if (task_cut_read(task, &response, from, &tasks->cut))
            event.delegation = &tasks->cut;
        at_hand.part_ttl_s = task_cut_ttl(&response, from->message);
    }
    if (response.kind == RESPONSE_LAME)
        STATS_INC(tasks->stats, recursion_lame);
    if (task_is_traced(task))
        task_trace_answered(task, from, &response, event.delegation);
    task_feed(task, &at_hand);
    if (!at_hand.another) {
        if (task->leads == leads) /* else it asks the next by now, or has ended */
            task_lead_end(task);
        task_check_under_way(task);
    } else if (is_late) {
        linger_again(task);
    }
    finish_deliver(tasks);
    return at_hand.another ? EXCHANGE_ANOTHER : EXCHANGE_TAKEN;
}

static void task_answer_on_failed(void *owner, const struct exchange_failure *failure)
{
    struct task *task = owner;
    struct tasks *tasks = task->tasks;
    struct event event = {.kind = EVENT_FAILED, .exchange = failure};
    task_lead_end(task);
    if (!failure->any_answer && !failure->full)
        task_cut_note_silence(task);
    if (task_is_traced(task))
        task_trace_given_up(task, failure);
    task_feed_event(task, &event, NULL);
    task_check_under_way(task);
    finish_deliver(tasks);
}

static void task_answer_on_quiet(void *owner)
{
    struct task *task = owner;
    if (task->state == TASK_LINGERING)
        linger_end(task);
}

static void task_answer_on_lost(void *owner, const struct exchange_loss *loss)
{
    const struct task *task = owner;
    if (task_is_traced(task))
        task_trace_unheard(task, loss);
}

const struct exchange_handler task_exchange_handler = {
    .on_answer = task_answer_on_answer,
    .on_failed = task_answer_on_failed,
    .on_lost = task_answer_on_lost,
    .on_quiet = task_answer_on_quiet,
    .lingers = true,
};
