/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Resolves a name now and shows each step. A letter goes to the first worker, which asks its own
 * resolver like a client, waits for the answer on its own loop, and sends the letter back with the
 * reply.
 *
 * Invariant: the call and the letter belong to one thread at a time: main, the worker, main again.
 * A client that leaves meanwhile changes nothing. The trace ends TRACE_WALL_US after its start.
 */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "cache/cache.h"
#include "control/call.h"
#include "control/commands.h"
#include "control/trace_reply.h"
#include "dns/edns.h"
#include "dns/rrtype.h"
#include "loop/loop.h"
#include "loop/timer.h"
#include "resolve/resolver.h"
#include "resolve/route_options.h"
#include "resolve/trace.h"
#include "upstream/exchange.h"

/* A task ends before that (TASK_WALL_US of resolve/tasks.h). */
#define TRACE_WALL_US (2 * EXCHANGE_WALL_US + 2 * US_PER_S)

enum { TRACE_WORDS_MAX = 4 /* the last one is a view */ };

struct tracing {
    struct mail mail;
    struct call *call;
    struct control_worker *worker;
    struct resolver *resolver; /* the worker's; set while the trace waits */
    struct trace *trace;
    struct waiter waiter;
    struct timer limit;
    struct question question; /* its name points into wire */
    bool is_fresh;
    char view[VIEW_NAME_MAX + 1]; /* "": clients without a view */
    unsigned view_number;         /* of the resolver */
    uint8_t wire[NAME_WIRE_MAX];
};

/* ---- on the worker's thread ---- */

static void command_trace_on_back(struct mail *mail);

/* Returns the letter with the complete reply. */
static void send_back(struct tracing *tracing)
{
    trace_close(tracing->trace);
    tracing->trace = NULL;
    tracing->mail.run = command_trace_on_back;
    loop_post(tracing->call->loop, &tracing->mail);
}

static void command_trace_end(struct tracing *tracing, const struct answer *answer, const char *why)
{
    struct trace_end end = {
        .question = &tracing->question,
        .answer = answer,
        .why = why,
        .now = loop_now(tracing->worker->loop),
    };
    timer_stop(&tracing->limit);
    trace_reply_write(&tracing->call->reply, tracing->trace, &end);
    send_back(tracing);
}

static void command_trace_refuse(struct tracing *tracing, const char *why)
{
    reply_refuse(&tracing->call->reply, "%s", why);
    send_back(tracing);
}

static void command_trace_on_answer(struct waiter *waiter, const struct answer *answer)
{
    command_trace_end(CONTAINER_OF(waiter, struct tracing, waiter), answer, "");
}

static void command_trace_on_limit(struct timer *timer)
{
    struct tracing *tracing = CONTAINER_OF(timer, struct tracing, limit);
    resolver_leave(tracing->resolver, &tracing->waiter);
    command_trace_end(tracing, NULL, "no answer in time");
}

/* Ignores stale answers: they would hide what upstreams answer. */
static void wait_for_answer(struct tracing *tracing, const struct cache_key *key)
{
    struct loop *loop = tracing->worker->loop;
    enum resolver_result result = resolver_trace_ask(tracing->resolver, tracing->view_number, key,
                                                     tracing->trace, &tracing->waiter);

    if (result == RESOLVER_WAITING)
        timer_start(loop, &tracing->limit, loop_now(loop) + TRACE_WALL_US);
    else if (resolver_drops(tracing->resolver, key))
        command_trace_end(tracing, NULL, "dropped by local data");
    else
        command_trace_end(tracing, NULL,
                          result == RESOLVER_NO_ROUTE ? "refused: no zone matches"
                                                      : "too many queries wait");
}

static void command_trace_begin(struct tracing *tracing)
{
    struct cache_key key;
    struct answer answer;

    cache_read_begin();
    resolver_key(tracing->resolver, tracing->view_number, &key, &tracing->question, false, false);
    if (resolver_trace_find(tracing->resolver, tracing->view_number, &key, tracing->trace, &answer))
        command_trace_end(tracing, &answer, "");
    else
        wait_for_answer(tracing, &key);
    cache_read_end();
}

static void command_trace_on_arrived(struct mail *mail)
{
    struct tracing *tracing = CONTAINER_OF(mail, struct tracing, mail);

    tracing->resolver = tracing->worker->resolver;
    if (!tracing->resolver) {
        command_trace_refuse(tracing, "nailupd is stopping");
        return;
    }
    if (!resolver_find_view(tracing->resolver, tracing->view, &tracing->view_number)) {
        command_trace_refuse(tracing, "no view has this name");
        return;
    }
    tracing->trace = resolver_trace_new(tracing->resolver, tracing->is_fresh);
    if (tracing->trace)
        command_trace_begin(tracing);
    else
        command_trace_refuse(tracing, "too many traces are running, or out of memory; try again");
}

/* ---- on main's ---- */

static void command_trace_on_back(struct mail *mail)
{
    struct tracing *tracing = CONTAINER_OF(mail, struct tracing, mail);
    struct call *call = tracing->call;

    free(tracing);
    call_done(call);
}

static bool is_trace_fresh(const char *word)
{
    return strcmp(word, "fresh") == 0;
}

static bool is_trace_mode(const char *word)
{
    return is_trace_fresh(word) || strcmp(word, "known") == 0;
}

/* Reads NAME [TYPE] [known|fresh] [VIEW]. False: the call has been refused. */
static bool read_words(struct call *call, struct tracing *out)
{
    int count = call->argc;
    const char *name = call->argv[0], *type = "A", *how = "known";

    if (count == TRACE_WORDS_MAX)
        snprintf(out->view, sizeof(out->view), "%s", call->argv[--count]);
    if (count > 1 && is_trace_mode(call->argv[count - 1]))
        how = call->argv[--count];
    if (count > 1)
        type = call->argv[1];
    out->is_fresh = is_trace_fresh(how);
    out->question.cls = RRCLASS_IN;
    if (count > 2)
        reply_refuse(&call->reply, "'%.64s' is neither known nor fresh", call->argv[2]);
    else if (name_parse(&out->question.name, out->wire, name, strlen(name)))
        reply_refuse(&call->reply, "'%.64s' is not a name; write it like www.example.com", name);
    else if (rrtype_parse(&out->question.type, type))
        reply_refuse(&call->reply, "'%.64s' is not a type; write it like AAAA or TYPE28", type);
    else if (rrtype_is_meta(out->question.type) && out->question.type != RRTYPE_ANY)
        reply_refuse(&call->reply, "'%.64s' is never queried; name a type of records", type);
    else
        name_fold(out->question.name, out->wire);
    return !call->reply.refused;
}

static struct tracing *tracing_new(struct call *call)
{
    struct tracing *tracing = calloc(1, sizeof(*tracing));

    if (!tracing) {
        reply_refuse(&call->reply, "out of memory; try again");
        return NULL;
    }
    if (!read_words(call, tracing)) {
        free(tracing);
        return NULL;
    }
    return tracing;
}

void command_trace(struct call *call)
{
    struct tracing *tracing = tracing_new(call);

    if (!tracing) {
        call_done(call);
        return;
    }
    tracing->call = call;
    tracing->worker = call->view->workers[0];
    tracing->mail.run = command_trace_on_arrived;
    tracing->waiter.on_answer = command_trace_on_answer;
    list_init(&tracing->waiter.node);
    timer_init(&tracing->limit, command_trace_on_limit);
    loop_post(tracing->worker->loop, &tracing->mail);
}
