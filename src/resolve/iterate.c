/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * What answers of servers that have zones mean for the way down: pure. What is done at one cut is
 * descent's, what of a message is believed that of classify, scrub and delegation.
 *
 * Invariant: every cut that is entered after a referral is strictly below the one before it.
 */
#include "resolve/iterate.h"

#include "dns/edns.h"
#include "dns/rrtype.h"
#include "resolve/descent.h"

static void iterate_on_started(const struct strategy_view *view, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    memory->pending = memory->absent_labels = memory->addrs_asked = 0;
    memory->ede = EDE_NONE;
    memory->failed = (struct exchange_failure){0};
    memory->asking = memory->from_cache = memory->primed = memory->revisited = false;
    memory->met_recursive = memory->met_empty = memory->is_last_hope = memory->lacked = false;
    qname_min_init(&memory->min, view->rules->minimise);
    if (view->question->cls != RRCLASS_IN)
        descent_fail(out, RCODE_REFUSED, EDE_NOT_SUPPORTED);
    else
        descent_find_cut(view, out);
}

static bool is_priming(const struct question *question)
{
    return name_is_root(question->name) && question->type == RRTYPE_NS;
}

/* RFC 9609: hints are only good to ask who the servers of the root are. */
static void prime(const struct strategy_view *view, struct steps *out)
{
    descent_memory(view)->primed = true;
    struct step *step = steps_add(out, STEP_SUBTASK);
    step->tag = ITERATE_TAG_PRIMING;
    step->question = (struct question){.name = name_root(), .type = RRTYPE_NS, .cls = RRCLASS_IN};
}

static void on_cut(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct delegation *cut = event->delegation;
    if (!cut) {
        if (event->answer)
            steps_add(out, STEP_DONE);
        else
            descent_fail_unreachable(view, out);
        return;
    }
    if (cut->origin == DELEGATION_HINTS && view->rules->priming && !memory->primed &&
        !is_priming(view->question)) {
        prime(view, out);
        return;
    }
    memory->min.passed = event->passed;
    memory->from_cache = cut->origin == DELEGATION_PARENT || cut->origin == DELEGATION_CHILD;
    descent_enter(view, cut, out);
}

/* ---- answers ---- */

static void learn(const struct event *event, struct steps *out)
{
    if (event->delegation)
        steps_add(out, STEP_LEARN);
}

static void on_referral(const struct strategy_view *view, const struct event *event,
                        struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct delegation *cut = event->delegation;
    if (!cut) { /* no server of it is believed */
        steps_add(out, STEP_ANOTHER);
        return;
    }
    if (!descent_draw(view, BUDGET_REFERRALS)) {
        descent_fail_exhausted(view, out);
        return;
    }
    steps_add(out, STEP_LEARN);
    memory->from_cache = false;
    if (memory->revisited && descent_mark(cut) == memory->failed_mark) { /* the same addresses */
        descent_enter_asked(view, cut, out);
        return;
    }
    memory->failed = (struct exchange_failure){0}; /* it was another zone's */
    descent_enter(view, cut, out);
}

static void iterate_follow(const struct strategy_view *view, const struct event *event,
                           struct steps *out)
{
    if (!descent_draw(view, BUDGET_ALIASES)) {
        descent_fail_exhausted(view, out);
        return;
    }
    learn(event, out);
    if (descent_memory(view)->pending)
        steps_add(out, STEP_LEAVE);
    descent_memory(view)->pending = 0;
    steps_add(out, STEP_KEEP);
    steps_add(out, STEP_SUBTASK)->question = (struct question){
        .name = event->response->chain.name,
        .type = view->question->type,
        .cls = view->question->cls,
    };
}

/*
 * What the servers say of a part of the name: that it is there, and more labels are shown; or
 * something that must be asked for with the whole name. That covers aliases, whose target depends
 * on it, and NXDOMAIN, which servers without a notion of empty non-terminals give (RFC 9156 section
 * 4): a name is believed to be absent when both say so.
 */
static void on_part(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct response *response = event->response;
    learn(event, out);
    if (response->kind == RESPONSE_ANSWER || response->kind == RESPONSE_NODATA) {
        qname_min_passed(&memory->min, &memory->asked);
        steps_add(out, STEP_PASSED)->name = memory->asked.name;
    } else {
        if (response->kind == RESPONSE_NXDOMAIN && !response->chain.hops)
            memory->absent_labels = (uint8_t)name_label_count(memory->asked.name);
        qname_min_stop(&memory->min);
    }
    descent_ask_on(view, out);
}

static void on_whole(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    const struct response *response = event->response;
    if (response->is_empty && !memory->is_last_hope) {
        memory->met_empty = true;
        steps_add(out, STEP_ANOTHER);
        return;
    }
    struct name name = view->question->name;
    learn(event, out);
    if (memory->absent_labels && !response->chain.hops) {
        if (response->kind == RESPONSE_NXDOMAIN)
            steps_add(out, STEP_ABSENT)->name = name_suffix(name, memory->absent_labels);
        else if (response->kind != RESPONSE_YXDOMAIN) /* what they deny is there after all */
            steps_add(out, STEP_PASSED)->name = name_parent(name);
    }
    steps_add(out, STEP_DONE);
}

/* A few that refuse a part of the name are enough to try the whole: not all are asked twice. */
static void on_useless(const struct strategy_view *view, const struct response *response,
                       struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    if (response->ede != EDE_NONE)
        memory->ede = response->ede;
    memory->met_recursive |= response->is_recursive;
    if (qname_min_is_whole(view->question, &memory->asked) ||
        ++memory->refusals < ITERATE_REFUSALS_MAX) {
        steps_add(out, STEP_ANOTHER);
        return;
    }
    qname_min_stop(&memory->min);
    descent_ask_on(view, out);
}

static void iterate_on_answered(const struct strategy_view *view, const struct event *event,
                                struct steps *out)
{
    const struct response *response = event->response;
    bool is_whole = qname_min_is_whole(view->question, &descent_memory(view)->asked);
    switch (response->kind) {
    case RESPONSE_ANSWER:
    case RESPONSE_NODATA:
    case RESPONSE_NXDOMAIN:
    case RESPONSE_YXDOMAIN:
        if (is_whole)
            on_whole(view, event, out);
        else
            on_part(view, event, out);
        break;
    case RESPONSE_ALIAS:
        if (is_whole)
            iterate_follow(view, event, out);
        else
            on_part(view, event, out);
        break;
    case RESPONSE_CIRCULAR: /* the data is at fault, another server has the same */
        if (is_whole)
            descent_fail(out, RCODE_SERVFAIL, EDE_INVALID_DATA);
        else
            on_part(view, event, out);
        break;
    case RESPONSE_REFERRAL:
        on_referral(view, event, out);
        break;
    case RESPONSE_SERVFAIL:
    case RESPONSE_REFUSED:
    case RESPONSE_NOTIMP:
    case RESPONSE_FORMERR:
    case RESPONSE_OTHER:
    case RESPONSE_TRUNCATED:
    case RESPONSE_UNSOUND:
    case RESPONSE_LAME:
        on_useless(view, response, out);
        break;
    }
}

/* ---- failures, and what comes of subtasks ---- */

/* Servers that answered, but not of use, or are silent may be those that cannot bear a part of a
 * name. */
static void iterate_on_failed(const struct strategy_view *view,
                              const struct exchange_failure *exchange, struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    bool is_whole = qname_min_is_whole(view->question, &memory->asked);
    memory->asking = false;
    memory->failed = *exchange;
    if (exchange->full) {
        descent_fail_unreachable(view, out);
    } else if (!is_whole &&
               (exchange->any_answer || qname_min_may_be_dropped(delegation_zone(&memory->cut)))) {
        qname_min_stop(&memory->min);
        descent_ask_on(view, out);
    } else {
        descent_try_more(view, out);
    }
}

static void take_addrs(struct iterate_memory *memory, unsigned server, const struct answer *answer)
{
    struct message message;
    if (server < memory->cut.server_count && answer->kind == ANSWER_POSITIVE &&
        message_parse(&message, answer->message) == MESSAGE_OK)
        delegation_add_answer(&memory->cut, server, &message);
}

static void on_address(const struct strategy_view *view, unsigned server, const struct event *event,
                       struct steps *out)
{
    struct iterate_memory *memory = descent_memory(view);
    memory->pending--;
    if (event->kind == EVENT_SUB_DONE)
        take_addrs(memory, server, event->answer);
    else
        memory->lacked |= !event->failure->cache;
    if (!memory->asking)
        descent_try_more(view, out);
}

/* The cut that failed is still known. A question that came from there begins above it. */
static void on_primed(const struct strategy_view *view, struct steps *out)
{
    const struct iterate_memory *memory = descent_memory(view);
    if (memory->revisited)
        steps_add(out, STEP_CUT)->name = name_parent(delegation_zone(&memory->cut));
    else
        descent_find_cut(view, out);
}

static void on_sub(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    bool is_done = event->kind == EVENT_SUB_DONE;
    if (event->tag >= DESCENT_TAG_ADDRESS)
        on_address(view, (event->tag - DESCENT_TAG_ADDRESS) / 2u, event, out);
    else if (event->tag == ITERATE_TAG_PRIMING) /* without an answer the hints must do */
        on_primed(view, out);
    else if (is_done)
        steps_add(out, STEP_DONE);
    else
        steps_add(out, STEP_FAIL)->failure = *event->failure;
}

static void iterate_next(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    switch (event->kind) {
    case EVENT_STARTED:
        iterate_on_started(view, out);
        break;
    case EVENT_CUT:
        on_cut(view, event, out);
        break;
    case EVENT_GLUE:
        descent_take_glue(view, event->delegation, out);
        break;
    case EVENT_ANSWERED:
        iterate_on_answered(view, event, out);
        break;
    case EVENT_FAILED:
        iterate_on_failed(view, event->exchange, out);
        break;
    case EVENT_SUB_DONE:
    case EVENT_SUB_FAILED:
        on_sub(view, event, out);
        break;
    case EVENT_ALIAS: /* another strategy's */
        break;
    case EVENT_TIME: /* another has asked the same: what it learned is in the cache */
        descent_find_cut(view, out);
        break;
    }
}

const struct strategy iterate_strategy = {.name = "iterate", .next = iterate_next};
const struct strategy stub_strategy = {.name = "stub", .next = iterate_next};
