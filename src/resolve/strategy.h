/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_H
#define NAILUP_RESOLVE_STRATEGY_H

/*
 * Strategies decide, tasks act. A strategy is told what happened (struct event) and says what is to
 * be done (struct steps). It sends nothing, waits for nothing and allocates nothing, so a whole
 * resolution is tested by feeding events and reading steps.
 *
 *   event STARTED   -> step ASK
 *   event ANSWERED  -> step DONE, or ANOTHER, or KEEP and SUBTASK
 *   event SUB_DONE  -> step DONE
 *
 * A task ends with DONE or FAIL; until then some ask, subtask or wait of it is under way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "cache/answer.h"
#include "dns/question.h"
#include "resolve/classify.h"
#include "resolve/route.h"
#include "upstream/exchange.h"

enum {
    STEPS_MAX = 8, /* of one decision */
    FAILURE_EDE_MAX = 2,
};

/* What a failed question tells its client. */
struct failure {
    uint16_t rcode;
    uint8_t ede_count;
    bool cache; /* RFC 9520: remembered. Not what is our own lack of room. */
    uint16_t ede[FAILURE_EDE_MAX];
    enum err error; /* an ERR_TLS_* that an upstream failed with, or ERR_OK */
};

/* ---- what a strategy may know of its task ---- */

/* What the forward strategy remembers. */
struct forward_memory {
    uint16_t ede; /* the last that an upstream gave with an answer not taken */
};

union strategy_memory {
    struct forward_memory forward;
};

struct strategy_view {
    const struct question *question; /* in lower case */
    const struct zone *zone;
    uint64_t now;
    union strategy_memory *memory; /* the strategy's own; set up by it when STARTED */
};

/* ---- events ---- */

enum event_kind {
    EVENT_STARTED,
    EVENT_ALIAS,    /* in place of STARTED: the head of the answer is at hand, target comes next */
    EVENT_ANSWERED, /* response: what an upstream said, already scrubbed */
    EVENT_FAILED,   /* exchange: no upstream of the group is left */
    EVENT_SUB_DONE, /* answer: of the subtask, of any kind but a failure */
    EVENT_SUB_FAILED, /* failure: of the subtask */
    EVENT_TIME,       /* the instant of a WAIT came */
};

/* Borrowed for the call. */
struct event {
    enum event_kind kind;
    union {
        const struct response *response;
        const struct exchange_failure *exchange;
        const struct answer *answer;
        const struct failure *failure;
        struct name target;
    };
};

/* ---- steps ---- */

enum step_kind {
    STEP_ASK,     /* ask: a question to a group. One at a time. */
    STEP_ANOTHER, /* after ANSWERED: the server was of no use, ask the next of the group */
    STEP_KEEP,    /* after ANSWERED, ALIAS: what it gave is the head of the answer, more comes */
    STEP_SUBTASK, /* question: resolve it by its own zone, joined with whoever asks it too */
    STEP_WAIT,    /* until: EVENT_TIME then; a later one replaces it */
    STEP_DONE,    /* the answer is what was kept, if anything, and the event's answer */
    STEP_FAIL,    /* failure */
};

struct step_ask {
    struct upstream *const *group;
    uint16_t group_len;
    bool recursion_desired;
    struct question question; /* its name lives as long as the task */
};

struct step {
    enum step_kind kind;
    union {
        struct step_ask ask;
        struct question question; /* its name lives as long as the event */
        uint64_t until;
        struct failure failure;
    };
};

/* In the order in which they are acted upon. Nothing may follow DONE or FAIL. */
struct steps {
    size_t count;
    struct step at[STEPS_MAX];
};

/* Room for one more step (MUST) of this kind. */
static inline struct step *steps_add(struct steps *steps, enum step_kind kind)
{
    MUST(steps->count < STEPS_MAX);
    struct step *step = &steps->at[steps->count++];
    step->kind = kind;
    return step;
}

/* ---- a strategy ---- */

struct strategy {
    const char *name;
    /* Appends to *out, which is empty. */
    void (*next)(const struct strategy_view *view, const struct event *event, struct steps *out);
};

#endif
