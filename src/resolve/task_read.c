/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* classify names the response, scrub keeps its useful part, delegation decides about cuts. */
#include "resolve/task_read.h"

#include "base/log.h"
#include "dns/rrtype.h"
#include "dns/ttl.h"
#include "recurse/delegation.h"
#include "resolve/scrub.h"
#include "resolve/tasks.h"
#include "resolve/validator.h"

static __attribute__((cold)) void log_response(const struct task *task, enum response_kind kind)
{
    char name[NAME_TEXT_MAX], type[RRTYPE_TEXT_MAX];
    LOG(LOG_DEBUG, "resolve", "%s %s: %s", name_format(task->asked.name, name),
        rrtype_name(task->asked.type, type), response_kind_name(kind));
}

/* The zone whose servers were asked, for judging what they say; borrows from the task. */
static struct zone asked_zone(const struct task *task)
{
    struct zone zone = *task->zone;
    zone.within = task->zone->within ? task->zone->within : task->zone;
    zone.name = task->asked_zone;
    zone.is_last_hope = task->memory.iterate.is_last_hope;
    return zone;
}

void task_read_kind(const struct task *task, const struct message *message,
                    struct task_reading *out)
{
    struct response *response = &out->response;
    struct zone cut;
    const struct zone *zone = task->zone;
    out->is_noted = false;
    if (zone->is_authoritative) {
        cut = asked_zone(task);
        zone = &cut;
    }
    classify(response, message, &task->asked, zone);
    log_response(task, response->kind);
}

/* Scrubs a useful message. One that does not come out whole is not believed. The answer to a
 * minimised QNAME is not an answer to a client. */
static inline const struct answer *vet(const struct task *task, const struct message *message,
                                       const struct task_judged *judged,
                                       struct compose_space *space, struct task_reading *out)
{
    const struct tasks *tasks = task->tasks;
    struct response *response = &out->response;
    struct zone cut;
    const struct zone *zone = task->zone;
    if (!response_is_useful(response->kind) || !task_asks_whole(task, &task->asked))
        return NULL;
    if (zone->is_authoritative) {
        cut = asked_zone(task);
        zone = &cut;
    }
    struct scrub_rules rules = {
        .zone = zone,
        .cache = tasks->cache,
        .private = tasks->recursion.private,
        .dnssec_ok = task->key.flags & CACHE_KEY_DO,
        .minimal_responses = tasks->minimal_responses,
        .is_trust = task->key.view == CACHE_VIEW_TRUST,
        .now = loop_now(tasks->loop),
    };
    if (judged) {
        if (judged->verdict->is_nodata)
            response->kind = RESPONSE_NODATA;
        rules.verdict = judged->verdict;
        rules.validation = judged->validation;
        rules.sets = validation_sets(judged->validation, &tasks->validator->space);
    }
    if (scrub(&out->space, space, message, &task->question, response, &rules))
        return &out->space;
    response->kind = RESPONSE_UNSOUND;
    return NULL;
}

/* A zone's statement about itself holds until it ends: hearing it again adds nothing. */
static bool is_new_about_itself(const struct message *message, const struct delegation *asked)
{
    return message->flags & HEADER_AA &&
           (asked->origin == DELEGATION_PARENT || asked->origin == DELEGATION_HINTS);
}

/* Reads what the response says about the cut it refers to, or about the asked zone. False: nothing
 * that is believed. */
static bool read_cut(const struct task *task, const struct response *response,
                     const struct exchange_answer *from, struct delegation *out)
{
    const struct message *message = from->message;
    const struct delegation *asked = &task->memory.iterate.cut;
    uint64_t now = loop_now(task->tasks->loop);
    if (response->kind == RESPONSE_REFERRAL) {
        bool is_referral = delegation_from_referral(out, message, response->referral,
                                                    task->asked_zone, &task->asked, now);
        if (is_referral)
            delegation_end_with(out, asked);
        return is_referral;
    }
    const struct parent_search *search = &task->memory.iterate.parent;
    if (search->state == PARENT_SEARCH_ASKS)
        return response->kind == RESPONSE_ANSWER &&
               delegation_from_address(out, message,
                                       name_suffix(task->question.name, search->zone_labels),
                                       task->asked_zone, &task->asked, search->ends_at, now);
    if (!response_is_useful(response->kind) || !is_new_about_itself(message, asked))
        return false;
    if (!delegation_from_child(out, message, task->asked_zone, &task->asked, from->is_proven,
                               asked->ends_at, now))
        return false;
    delegation_inherit(out, asked); /* many servers list their names but not their addresses */
    return delegation_is_reachable(out);
}

/* The life of a response to a minimised QNAME; 0: unknown. */
static uint32_t minimised_ttl(const struct response *response, const struct message *message)
{
    if (response->kind == RESPONSE_NODATA)
        return response->has_soa ? response->soa_ttl : 0;
    return response->kind == RESPONSE_ANSWER ? ttl_of_answer(message) : 0;
}

void task_read(const struct task *task, const struct exchange_answer *from,
               const struct task_judged *judged, struct compose_space *space,
               struct task_reading *out)
{
    struct tasks *tasks = task->tasks;
    out->answer = vet(task, from->message, judged, space, out);
    out->cut = NULL;
    out->minimised_ttl_s = 0;
    out->insecure_labels = judged && judged->verdict->security == SECURITY_INSECURE
                               ? judged->verdict->insecure_labels
                               : VERDICT_NO_LABELS;
    if (out->response.kind == RESPONSE_LAME)
        STATS_INC(tasks->stats, recursion_lame);
    if (!task->zone->is_authoritative)
        return;
    if (read_cut(task, &out->response, from, &tasks->cut))
        out->cut = &tasks->cut;
    out->minimised_ttl_s = minimised_ttl(&out->response, from->message);
}
