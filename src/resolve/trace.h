/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TRACE_H
#define NAILUP_RESOLVE_TRACE_H

/*
 * The steps of one question, for a person who wants to see them. The question's task carries the
 * trace, and so do the tasks that it starts; almost all others carry NULL. The record is bounded:
 * steps that do not fit are counted. Pure except for its memory; one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/question.h"

enum {
    TRACE_STEPS_MAX = 512,
    TRACE_NAME_BYTES = 32 * 1024, /* of all names of one trace; later ones are left out */
    TRACES_MAX = 8, /* of one worker at a time, including the traces that only tasks hold */
};

enum trace_kind {
    TRACE_BEGUN,    /* asked: a question that a task resolves; zone: of the configuration */
    TRACE_CACHE,    /* asked: the cache has the answer; word: its kind */
    TRACE_LOCAL,    /* asked: local data or a zone held here has the answer */
    TRACE_SPANS,    /* asked: spans of its zone have the answer; word: its kind */
    TRACE_JOINED,   /* asked: another task resolves it already, and its answer is awaited */
    TRACE_CUT,      /* zone: the closest known cut; word: where it is known from */
    TRACE_ANSWERED, /* asked of a server of zone, in us; word: the kind of response */
    TRACE_LOST,     /* the same without an answer; word: why */
    TRACE_GIVEN_UP, /* zone: no server is left to ask; word: why */
    TRACE_PASSED,   /* zone (first: yes) is passed over; word: the strategy that continues */
    TRACE_NEEDED,   /* asked: keys or DS records for a validation; word: where they come from */
    TRACE_VERIFIED, /* asked: the RRset; zone: whose key; word: whether its signature is right; in
                       us; algorithm */
    TRACE_VERDICT,  /* asked: about its answer; word: the verdict, or the fault; zone: at fault */
    TRACE_REFUSED,  /* asked: the question is not resolved; word: why */
    TRACE_ENDED,    /* asked: the question that began with TRACE_BEGUN has its answer, us after
                       it; word: its kind */
    TRACE_KINDS,
};

/* A name of a step: trace_name(). */
struct trace_name {
    uint16_t at;
    uint8_t len; /* 0: none */
};

struct trace_step {
    enum trace_kind kind;
    uint8_t depth; /* of the task: 0 for the client's question */
    bool has_question, has_rcode;
    bool nailed;           /* over a connection that nailup keeps open */
    uint16_t type;         /* of the question */
    uint16_t rcode, ede;   /* ede: or EDE_NONE */
    uint64_t at_us;        /* since the trace began */
    uint64_t us;           /* how long it took; 0: unknown */
    struct addr addr;      /* of the server; AF_UNSPEC: none */
    const char *transport; /* static, or "" */
    const char *state;     /* of the task, when this step came; static, or "" */
    const char *word;      /* static, or "" */
    uint8_t algorithm;     /* of a verification; 0: none */
    struct trace_name asked, zone, server;
    struct trace_name leads_to; /* the zone of a referral, the target of aliases */
};

struct trace {
    unsigned refs;
    unsigned *running; /* the count that this trace is part of */
    bool closed;       /* its reader has gone */
    bool fresh;        /* nothing that was cached before the trace began is used */
    uint64_t began_at;
    size_t count, missing; /* steps; steps that did not fit */
    size_t bytes;          /* of names */
    struct trace_step steps[TRACE_STEPS_MAX];
    uint8_t names[TRACE_NAME_BYTES];
};

/* Returns a trace with one reference, the caller's. NULL: TRACES_MAX run, or out of memory. running
 * outlives the trace. */
struct trace *trace_new(unsigned *running, bool fresh, uint64_t now);
struct trace *trace_ref(struct trace *trace);
void trace_unref(struct trace *trace); /* NULL is fine */

/* Ends the recording when the reader leaves. Drops its reference; NULL is fine. */
void trace_close(struct trace *trace);

/* Adds a step with kind, depth and time; NULL: closed or full. */
struct trace_step *trace_add(struct trace *trace, enum trace_kind kind, unsigned depth,
                             uint64_t now);

/* Copies a name. The copy is empty if there is no room. */
struct trace_name trace_keep(struct trace *trace, struct name name);

/* Sets the question of a step. */
void trace_set_question(struct trace *trace, struct trace_step *step,
                        const struct question *question);

/* Borrowed from the trace; len 0: none. */
struct name trace_name(const struct trace *trace, struct trace_name at);

/* Whether an entry that was cached at this instant may be used. */
static inline bool trace_allows(const struct trace *trace, uint64_t stored_at)
{
    return !trace->fresh || stored_at >= trace->began_at;
}

/* Static storage. */
const char *trace_kind_name(enum trace_kind kind);

#endif
