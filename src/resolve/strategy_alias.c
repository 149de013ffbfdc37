/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Follows local aliases to their target: pure. */
#include "resolve/strategy_alias.h"

static void alias_on_alias(const struct strategy_view *view, struct name target, struct steps *out)
{
    steps_add(out, STEP_KEEP);
    steps_add(out, STEP_SUBTASK)->question = (struct question){
        .name = target,
        .type = view->question->type,
        .cls = view->question->cls,
    };
}

static void alias_next(const struct strategy_view *view, const struct event *event,
                       struct steps *out)
{
    switch (event->kind) {
    case EVENT_ALIAS:
        alias_on_alias(view, event->target, out);
        break;
    case EVENT_SUB_DONE:
        steps_add(out, STEP_DONE);
        break;
    case EVENT_SUB_FAILED:
        steps_add(out, STEP_FAIL)->failure = *event->failure;
        break;
    case EVENT_STARTED: /* it asks no server */
    case EVENT_ANSWERED:
    case EVENT_FAILED:
    case EVENT_BOGUS:
    case EVENT_FOLLOWED:
    case EVENT_GLUE:
    case EVENT_CUT:
        break;
    }
}

const struct strategy alias_strategy = {.name = "local alias", .next = alias_next};
