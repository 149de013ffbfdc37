/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Invariant: the inquiry belongs to one thread at a time: main, the worker, main again.
 */

#include "daemon/inquiry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "control/view.h"
#include "resolve/resolver.h"
#include "resolve/trace.h"
#include "upstream/exchange.h"

/* A task ends before that (TASK_WALL_US of resolve/tasks.h). */
#define INQUIRY_WALL_US (2 * EXCHANGE_WALL_US + 2 * US_PER_S)

static void inquiry_on_back(struct mail *mail)
{
    struct inquiry *inquiry = CONTAINER_OF(mail, struct inquiry, mail);
    inquiry->on_back(inquiry);
}

/* ---- on the worker's thread ---- */

static void inquiry_send_back(struct inquiry *inquiry)
{
    timer_stop(&inquiry->limit);
    if (inquiry->trace)
        trace_close(inquiry->trace);
    inquiry->trace = NULL;
    inquiry->mail.run = inquiry_on_back;
    loop_post(inquiry->home, &inquiry->mail);
}

static void inquiry_take(struct inquiry *inquiry, const struct answer *answer)
{
    inquiry->kind = (enum answer_kind)answer->kind;
    if (answer->kind == ANSWER_FAILURE)
        return;
    inquiry->answer = malloc(answer->message.len);
    if (!inquiry->answer)
        return;
    memcpy(inquiry->answer, answer->message.data, answer->message.len);
    inquiry->len = answer->message.len;
}

static void inquiry_on_answer(struct waiter *waiter, const struct answer *answer)
{
    struct inquiry *inquiry = CONTAINER_OF(waiter, struct inquiry, waiter);
    inquiry_take(inquiry, answer);
    inquiry_send_back(inquiry);
}

static void inquiry_on_limit(struct timer *timer)
{
    struct inquiry *inquiry = CONTAINER_OF(timer, struct inquiry, limit);
    resolver_leave(inquiry->resolver, &inquiry->waiter);
    inquiry_send_back(inquiry);
}

/* Local data may have the name. Returns whether an answer comes later. */
static bool inquiry_ask(struct inquiry *inquiry, unsigned view)
{
    struct cache_key key;
    struct answer answer;
    enum resolver_result result = RESOLVER_NO_ROUTE;
    cache_read_begin();
    resolver_key(inquiry->resolver, view, &key, &inquiry->question, true,
                 inquiry->checking_disabled);
    bool is_found = resolver_trace_find(inquiry->resolver, view, &key, inquiry->trace, &answer);
    if (is_found)
        inquiry_take(inquiry, &answer);
    else
        result =
            resolver_trace_ask(inquiry->resolver, view, &key, inquiry->trace, &inquiry->waiter);
    cache_read_end();
    inquiry->was_asked = is_found || result != RESOLVER_FULL;
    return result == RESOLVER_WAITING;
}

/* During a reload, the worker may not have the view yet, or no longer. */
static void inquiry_on_arrived(struct mail *mail)
{
    struct inquiry *inquiry = CONTAINER_OF(mail, struct inquiry, mail);
    struct loop *loop = inquiry->worker->loop;
    unsigned view = RESOLVER_NO_VIEW;

    inquiry->resolver = inquiry->worker->resolver;
    if (inquiry->resolver && resolver_find_view(inquiry->resolver, inquiry->view, &view))
        inquiry->trace = resolver_trace_new(inquiry->resolver, true);
    if (inquiry->trace && inquiry_ask(inquiry, view))
        timer_start(loop, &inquiry->limit, loop_now(loop) + INQUIRY_WALL_US);
    else
        inquiry_send_back(inquiry);
}

/* ---- on main's ---- */

void inquiry_send(struct inquiry *inquiry, struct loop *home, const struct control_worker *worker,
                  const struct question *question, const char *view, bool checking_disabled,
                  void (*on_back)(struct inquiry *inquiry))
{
    *inquiry = (struct inquiry){.home = home,
                                .worker = worker,
                                .question = *question,
                                .checking_disabled = checking_disabled,
                                .kind = ANSWER_FAILURE,
                                .on_back = on_back};
    inquiry->mail.run = inquiry_on_arrived;
    inquiry->waiter.on_answer = inquiry_on_answer;
    list_init(&inquiry->waiter.node);
    timer_init(&inquiry->limit, inquiry_on_limit);
    inquiry->question.name = name_copy(question->name, inquiry->wire);
    snprintf(inquiry->view, sizeof(inquiry->view), "%s", view);
    loop_post(worker->loop, &inquiry->mail);
}

void inquiry_clear(struct inquiry *inquiry)
{
    free(inquiry->answer);
    inquiry->answer = NULL;
    inquiry->len = 0;
}
