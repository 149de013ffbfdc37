/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Follows local aliases to their target: pure. */
#include "resolve/strategy_alias.h"

static void alias_next(const struct strategy_view *view, const struct event *event,
                       struct steps *out)
{
    switch (event->kind) {
    case EVENT_ALIAS:
        steps_follow(out, view, event->target);
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
