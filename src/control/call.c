/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The life of a call. request.c reads it, and the commands answer it.
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
    call->more = NULL;
    call->feed = NULL;
    call->state = NULL;
    call->free_state = free;
    call->on_done = on_done;
    call->context = context;
    reply_init(&call->reply, CONTROL_REPLY_MAX);
    return call;
}

void call_free(struct call *call)
{
    reply_deinit(&call->reply);
    call->free_state(call->state);
    free(call);
}

void call_abandon(struct call *call)
{
    call->on_done = NULL;
}

static void call_hand_over(struct call *call)
{
    if (call->on_done)
        call->on_done(call, call->context);
    else
        call_free(call);
}

void call_done(struct call *call)
{
    reply_end(&call->reply);
    call_hand_over(call);
}

void call_continue(struct call *call, void (*more)(struct call *call), void *state)
{
    call->more = more;
    call->state = state;
    call_hand_over(call);
}

void call_feed(struct call *call, void (*feed)(struct call *call, struct span piece), void *state,
               void (*free_state)(void *state))
{
    call->feed = feed;
    call->state = state;
    call->free_state = free_state;
    call_hand_over(call);
}

void call_end(struct call *call)
{
    call->more = NULL;
    call->feed = NULL;
    reply_end(&call->reply);
}
