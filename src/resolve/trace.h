/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_TRACE_H
#define NAILUP_RESOLVE_TRACE_H

/*
 * What was done for one question, step by step, for a person who asks to see it. The task of the
 * question carries it, and so do the tasks that are started for that; almost all others carry NULL.
 * A bounded record: what does not fit is counted. Pure but for the memory; one thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/question.h"

enum {
    TRACE_STEPS_MAX = 512,
    TRACE_NAME_BYTES = 32 * 1024, /* of all names of one trace; later ones are left out */
    TRACES_MAX = 8,               /* of one worker at a time, those included that only tasks hold */
};

enum trace_kind {
    TRACE_BEGUN,    /* asked: a question that is resolved now; zone: of the configuration */
    TRACE_CACHE,    /* asked: its answer is in the cache; word: of which kind */
    TRACE_LOCAL,    /* asked: it is answered here */
    TRACE_JOINED,   /* asked: somebody else's question already, whose answer is waited for */
    TRACE_CUT,      /* zone: the closest cut that is known; word: how that is known */
    TRACE_ANSWERED, /* asked of a server of zone, us: how long it took; word: what it said */
    TRACE_LOST,     /* the same without an answer; word: why */
    TRACE_GIVEN_UP, /* zone: nobody is left to ask; word: why */
    TRACE_PASSED,   /* zone (first: yes) is passed over; word: how it goes on */
    TRACE_REFUSED,  /* asked: it is not resolved; word: why */
    TRACE_ENDED,    /* asked: the end of what began with TRACE_BEGUN; word: of which kind */
    TRACE_KINDS,
};

/* A name of a step: trace_name(). */
struct trace_name {
    uint16_t at;
    uint8_t len; /* 0: none */
};

struct trace_step {
    enum trace_kind kind;
    uint8_t depth; /* of the task: 0 for the question itself */
    bool has_question, has_rcode;
    bool nailed;           /* over a connection that is kept open */
    uint16_t type;         /* of the question */
    uint16_t rcode, ede;   /* ede: EDE_NONE where there is none */
    uint64_t at_us;        /* since the trace began */
    uint64_t us;           /* how long it took; 0: not known */
    struct addr addr;      /* of the server; AF_UNSPEC: none */
    const char *transport; /* static, or "" */
    const char *word;      /* static, or "" */
    struct trace_name asked, zone, server;
    struct trace_name leads_to; /* the zone of a referral, the target of aliases */
};

struct trace {
    unsigned refs;
    unsigned *running; /* how many there are: the count that this one is part of */
    bool closed;       /* nobody reads it any more */
    bool fresh;        /* of the cache only what was stored since it began is used */
    uint64_t began_at;
    size_t count, missing; /* steps; those that did not fit */
    size_t bytes;          /* of names */
    struct trace_step steps[TRACE_STEPS_MAX];
    uint8_t names[TRACE_NAME_BYTES];
};

/* With one reference, the caller's. NULL: TRACES_MAX run, or memory is out. running outlives it. */
struct trace *trace_new(unsigned *running, bool fresh, uint64_t now);
struct trace *trace_ref(struct trace *trace);
void trace_unref(struct trace *trace); /* NULL is fine */

/* The reader has gone: nothing is recorded any more. Gives back his reference; NULL is fine. */
void trace_close(struct trace *trace);

/* A new step, empty but for kind, depth and time; NULL: closed or full. */
struct trace_step *trace_add(struct trace *trace, enum trace_kind kind, unsigned depth,
                             uint64_t now);

/* Copies; empty when there is no room. */
struct trace_name trace_keep(struct trace *trace, struct name name);

/* Its name and type become what the step is about. */
void trace_set_question(struct trace *trace, struct trace_step *step,
                        const struct question *question);

/* Borrowed from the trace; len 0: none. */
struct name trace_name(const struct trace *trace, struct trace_name at);

/* Whether what the cache stored at this instant may be used. */
static inline bool trace_allows(const struct trace *trace, uint64_t stored_at)
{
    return !trace->fresh || stored_at >= trace->began_at;
}

/* "asked", "begun" ...; static. */
const char *trace_kind_name(enum trace_kind kind);

#endif
