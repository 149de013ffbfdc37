/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* A record of steps. Invariant: names point into the bytes that are in use. */
#include "resolve/trace.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "dns/edns.h"

_Static_assert(TRACE_NAME_BYTES <= UINT16_MAX, "a name's place has 16 bits");

/* The steps and names need not be cleared. */
struct trace *trace_new(unsigned *running, bool fresh, uint64_t now)
{
    struct trace *trace = *running < TRACES_MAX ? malloc(sizeof(*trace)) : NULL;
    if (!trace)
        return NULL;
    trace->refs = 1;
    trace->running = running;
    trace->closed = false;
    trace->fresh = fresh;
    trace->began_at = now;
    trace->count = trace->missing = trace->bytes = 0;
    ++*running;
    return trace;
}

struct trace *trace_ref(struct trace *trace)
{
    trace->refs++;
    return trace;
}

void trace_unref(struct trace *trace)
{
    if (!trace)
        return;
    MUST(trace->refs > 0);
    if (--trace->refs > 0)
        return;
    --*trace->running;
    free(trace);
}

void trace_close(struct trace *trace)
{
    if (!trace)
        return;
    trace->closed = true;
    trace_unref(trace);
}

struct trace_step *trace_add(struct trace *trace, enum trace_kind kind, unsigned depth,
                             uint64_t now)
{
    if (trace->closed)
        return NULL;
    if (trace->count == TRACE_STEPS_MAX) {
        trace->missing++;
        return NULL;
    }
    struct trace_step *step = &trace->steps[trace->count++];
    *step = (struct trace_step){
        .kind = kind,
        .depth = (uint8_t)depth,
        .ede = EDE_NONE,
        .at_us = now > trace->began_at ? now - trace->began_at : 0,
        .transport = "",
        .state = "",
        .word = "",
    };
    step->addr.sa.sa_family = AF_UNSPEC;
    return step;
}

struct trace_name trace_keep(struct trace *trace, struct name name)
{
    struct trace_name kept = {.at = (uint16_t)trace->bytes, .len = name.len};
    if (trace->bytes + name.len > TRACE_NAME_BYTES)
        return (struct trace_name){0};
    memcpy(trace->names + trace->bytes, name.wire, name.len);
    trace->bytes += name.len;
    return kept;
}

void trace_set_question(struct trace *trace, struct trace_step *step,
                        const struct question *question)
{
    step->asked = trace_keep(trace, question->name);
    step->type = question->type;
    step->has_question = step->asked.len > 0;
}

struct name trace_name(const struct trace *trace, struct trace_name at)
{
    return (struct name){trace->names + at.at, at.len};
}

const char *trace_kind_name(enum trace_kind kind)
{
    static const char *const names[TRACE_KINDS] = {
        [TRACE_BEGUN] = "question",
        [TRACE_CACHE] = "from the cache",
        [TRACE_LOCAL] = "here",
        [TRACE_SPANS] = "spans",
        [TRACE_JOINED] = "waits for another's question",
        [TRACE_CUT] = "zone cut",
        [TRACE_ANSWERED] = "answer",
        [TRACE_LOST] = "no answer",
        [TRACE_GIVEN_UP] = "given up",
        [TRACE_PASSED] = "zone passed over",
        [TRACE_NEEDED] = "needed to validate",
        [TRACE_VERIFIED] = "signature",
        [TRACE_VERDICT] = "verdict",
        [TRACE_REFUSED] = "refused",
        [TRACE_ENDED] = "end",
    };
    return names[kind];
}
