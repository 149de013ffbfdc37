/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The forward strategy: pure. Which server, transport and attempt is the exchange's to choose. */
#include "resolve/forward.h"

#include "dns/edns.h"
#include "dns/rrtype.h"

static void add_ede(struct failure *failure, uint16_t code)
{
    for (unsigned i = 0; i < failure->ede_count; i++)
        if (failure->ede[i] == code)
            return;
    if (code != EDE_NONE && failure->ede_count < FAILURE_EDE_MAX)
        failure->ede[failure->ede_count++] = code;
}

static struct failure *fail(struct steps *out)
{
    struct failure *failure = &steps_add(out, STEP_FAIL)->failure;
    *failure = (struct failure){.rcode = RCODE_SERVFAIL, .cache = true};
    return failure;
}

static void on_started(const struct strategy_view *view, struct steps *out)
{
    view->memory->forward.ede = EDE_NONE;
    steps_add(out, STEP_ASK)->ask = (struct step_ask){
        .group = view->zone->group,
        .group_len = view->zone->group_len,
        .recursion_desired = true,
        .question = *view->question,
    };
}

static void follow(const struct strategy_view *view, const struct response *response,
                   struct steps *out)
{
    steps_add(out, STEP_KEEP);
    steps_add(out, STEP_SUBTASK)->question = (struct question){
        .name = response->chain.name,
        .type = view->question->type,
        .cls = view->question->cls,
    };
}

static void on_answered(const struct strategy_view *view, const struct response *response,
                        struct steps *out)
{
    switch (response->kind) {
    case RESPONSE_ANSWER:
    case RESPONSE_NODATA:
    case RESPONSE_NXDOMAIN:
    case RESPONSE_YXDOMAIN:
        steps_add(out, STEP_DONE);
        break;
    case RESPONSE_ALIAS:
        follow(view, response, out);
        break;
    case RESPONSE_CIRCULAR: /* the data is at fault, another server has the same */
        add_ede(fail(out), EDE_INVALID_DATA);
        break;
    case RESPONSE_REFERRAL:
    case RESPONSE_SERVFAIL:
    case RESPONSE_REFUSED:
    case RESPONSE_NOTIMP:
    case RESPONSE_FORMERR:
    case RESPONSE_OTHER:
    case RESPONSE_TRUNCATED:
    case RESPONSE_UNSOUND:
    case RESPONSE_LAME:
        if (response->ede != EDE_NONE)
            view->memory->forward.ede = response->ede;
        steps_add(out, STEP_ANOTHER);
        break;
    }
}

/*
 * RFC 8914: 22 when nobody could be reached, all refused, or nothing better is known; 23 when the
 * network had a part in it. What an upstream itself gave as its reason (a bogus signature, say)
 * says more and comes first.
 */
static void on_failed(const struct strategy_view *view, const struct exchange_failure *exchange,
                      struct steps *out)
{
    struct failure *failure = fail(out);
    add_ede(failure, view->memory->forward.ede);
    if (exchange->full) {
        failure->cache = false;
        add_ede(failure, EDE_OTHER);
        return;
    }
    bool refused = exchange->any_answer && exchange->rcode == RCODE_REFUSED;
    if (!exchange->any_answer || refused || failure->ede_count == 0)
        add_ede(failure, EDE_NO_REACHABLE_AUTHORITY);
    if (exchange->any_network)
        add_ede(failure, EDE_NETWORK_ERROR);
    if (exchange->error >= ERR_TLS_NOT_SPOKEN)
        failure->error = exchange->error;
}

static void next(const struct strategy_view *view, const struct event *event, struct steps *out)
{
    switch (event->kind) {
    case EVENT_STARTED:
        on_started(view, out);
        break;
    case EVENT_ANSWERED:
        on_answered(view, event->response, out);
        break;
    case EVENT_FAILED:
        on_failed(view, event->exchange, out);
        break;
    case EVENT_SUB_DONE:
        steps_add(out, STEP_DONE);
        break;
    case EVENT_SUB_FAILED:
        steps_add(out, STEP_FAIL)->failure = *event->failure;
        break;
    case EVENT_ALIAS: /* another strategy's */
    case EVENT_TIME:  /* it never waits */
        break;
    }
}

const struct strategy forward_strategy = {.name = "forward", .next = next};
