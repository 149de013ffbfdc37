/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Resolves a name now and shows how: a letter to the first worker, which asks itself as a client
 * would, waits for the answer on its own loop and sends the letter back with the reply written.
 *
 * Invariant: the call and the letter belong to one thread at a time: main's, the worker's, main's
 * again. A client that leaves meanwhile changes nothing; TRACE_WALL_US after the start it is over.
 */

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
#include "resolve/trace.h"
#include "upstream/exchange.h"

/* A question ends by itself before that (TASK_WALL_US of resolve/tasks.h). */
#define TRACE_WALL_US (2 * EXCHANGE_WALL_US + 2 * US_PER_S)

struct tracing {
    struct mail mail;
    struct call *call;
    struct control_worker *worker;
    struct resolver *resolver; /* the worker's; set while it waits */
    struct trace *trace;
    struct waiter waiter;
    struct timer limit;
    struct question question; /* its name lies in wire */
    bool fresh;
    uint8_t wire[NAME_WIRE_MAX];
};

/* ---- on the worker's thread ---- */

static void command_trace_on_back(struct mail *mail);

/* The reply is written. */
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
    trace_reply(&tracing->call->reply, tracing->trace, &end);
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
    command_trace_end(tracing, NULL, "no end in time");
}

/* What upstreams say is to be seen: a stale answer would hide it. */
static void wait_for_answer(struct tracing *tracing, const struct cache_key *key)
{
    struct loop *loop = tracing->worker->loop;
    enum resolver_result result =
        resolver_trace_ask(tracing->resolver, key, tracing->trace, &tracing->waiter);

    if (result == RESOLVER_WAITING)
        timer_start(loop, &tracing->limit, loop_now(loop) + TRACE_WALL_US);
    else
        command_trace_end(tracing, NULL,
                          result == RESOLVER_NO_ROUTE ? "refused, no zone takes it"
                                                      : "too many questions wait");
}

static void command_trace_begin(struct tracing *tracing)
{
    struct cache_key key;
    struct answer answer;

    cache_read_begin();
    resolver_key(tracing->resolver, &key, &tracing->question, false, false);
    if (resolver_trace_find(tracing->resolver, &key, tracing->trace, &answer))
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
        command_trace_refuse(tracing, "the daemon stops");
        return;
    }
    tracing->trace = resolver_trace_new(tracing->resolver, tracing->fresh);
    if (tracing->trace)
        command_trace_begin(tracing);
    else
        command_trace_refuse(tracing,
                             "too many names are being traced, or memory is out; try again");
}

/* ---- on main's ---- */

static void command_trace_on_back(struct mail *mail)
{
    struct tracing *tracing = CONTAINER_OF(mail, struct tracing, mail);
    struct call *call = tracing->call;

    free(tracing);
    call_done(call);
}

static bool is_fresh(const char *word)
{
    return strcmp(word, "fresh") == 0;
}

static bool is_how(const char *word)
{
    return is_fresh(word) || strcmp(word, "known") == 0;
}

/* NAME [TYPE] [known|fresh]. False: refused. */
static bool read_words(struct call *call, struct tracing *out)
{
    int count = call->argc;
    const char *name = call->argv[0], *type = "A", *how = "known";

    if (count > 1 && is_how(call->argv[count - 1]))
        how = call->argv[--count];
    if (count > 1)
        type = call->argv[1];
    out->fresh = is_fresh(how);
    out->question.cls = RRCLASS_IN;
    if (count > 2)
        reply_refuse(&call->reply, "'%.64s' is neither known nor fresh", call->argv[2]);
    else if (name_parse(&out->question.name, out->wire, name, strlen(name)))
        reply_refuse(&call->reply, "'%.64s' is no name; write it as www.example.com", name);
    else if (rrtype_parse(&out->question.type, type))
        reply_refuse(&call->reply, "'%.64s' is no type; write it as AAAA or TYPE28", type);
    else if (rrtype_is_meta(out->question.type) && out->question.type != RRTYPE_ANY)
        reply_refuse(&call->reply, "'%.64s' is never asked of anybody; name a type of records",
                     type);
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
