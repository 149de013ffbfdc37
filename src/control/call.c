/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The life of a call. What it is asked is request.c's, what it answers is commands.c's.
 *
 * Invariant: each call is done exactly once.
 */

#include "control/call.h"

#include <stdlib.h>

struct call *call_new(struct loop *loop, const struct control_view *view,
                      void (*on_done)(struct call *call, void *context), void *context)
{
    struct call *call = malloc(sizeof(*call));

    if (!call)
        return NULL;
    call->loop = loop;
    call->view = view;
    call->argc = 0;
    call->on_done = on_done;
    call->context = context;
    reply_init(&call->reply, CONTROL_REPLY_MAX);
    return call;
}

void call_free(struct call *call)
{
    reply_deinit(&call->reply);
    free(call);
}

void call_abandon(struct call *call)
{
    call->on_done = NULL;
}

void call_done(struct call *call)
{
    reply_end(&call->reply);
    if (call->on_done)
        call->on_done(call, call->context);
    else
        call_free(call);
}
