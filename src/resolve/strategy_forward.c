/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The forward strategy: pure. The exchange chooses server, transport and attempt. */
#include "resolve/strategy_forward.h"

#include "dns/edns.h"
#include "resolve/failure.h"

/* Only a substitute can help. The failure is not remembered: addresses may come any moment. */
static void forward_without_servers(const struct strategy_view *view, struct steps *out)
{
    struct failure *failure = &steps_add(out, STEP_ABOVE)->failure;
    *failure = failure_servfail();
    failure->cache = view->zone->above;
    failure->text = "no address of the zone's servers, given by name, is known yet";
    failure_add_ede(failure, EDE_NO_REACHABLE_AUTHORITY);
}

static void forward_on_started(const struct strategy_view *view, struct steps *out)
{
    view->memory->forward.ede = EDE_NONE;
    if (view->zone->group_len == 0) {
        forward_without_servers(view, out);
        return;
    }
    steps_add(out, STEP_ASK)->ask = (struct step_ask){
        .group = view->zone->group,
        .group_len = view->zone->group_len,
        .recursion_desired = true,
        .question = *view->question,
    };
}

static void forward_on_answered(const struct strategy_view *view, const struct response *response,
                                struct steps *out)
{
    struct failure *failure;
    switch (response->kind) {
    case RESPONSE_ANSWER:
    case RESPONSE_NODATA:
    case RESPONSE_NXDOMAIN:
    case RESPONSE_YXDOMAIN:
        steps_add(out, STEP_DONE);
        break;
    case RESPONSE_ALIAS:
        steps_follow(out, view, response->chain.name);
        break;
    case RESPONSE_LOOP: /* the data is at fault, and other servers have the same */
        failure = &steps_add(out, STEP_FAIL)->failure;
        *failure = failure_servfail();
        failure_add_ede(failure, EDE_INVALID_DATA);
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

static void forward_next(const struct strategy_view *view, const struct event *event,
                         struct steps *out)
{
    switch (event->kind) {
    case EVENT_STARTED:
        forward_on_started(view, out);
        break;
    case EVENT_ANSWERED:
        forward_on_answered(view, event->response, out);
        break;
    case EVENT_ALIAS:
        steps_follow(out, view, event->target);
        break;
    case EVENT_FAILED:
        steps_add(out, STEP_ABOVE)->failure =
            failure_of_exchange(event->exchange, view->memory->forward.ede);
        break;
    case EVENT_SUB_DONE:
        steps_add(out, STEP_DONE);
        break;
    case EVENT_SUB_FAILED:
        steps_add(out, STEP_FAIL)->failure = *event->failure;
        break;
    case EVENT_FOLLOWED: /* it never follows */
    case EVENT_BOGUS:    /* the task asks forwarders again */
    case EVENT_GLUE:
    case EVENT_CUT: /* it has no zone cuts */
        break;
    }
}

const struct strategy forward_strategy = {.name = "forward", .next = forward_next};
