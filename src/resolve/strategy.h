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
 * and down from the root:
 *
 *   event STARTED             -> step CUT
 *   event CUT                 -> step ASK_CUT, or SUBTASK for each address that is missing
 *   event ANSWERED (referral) -> steps LEARN, ASK_CUT
 *
 * A task ends with DONE or FAIL; until then some ask, subtask or wait of it is under way.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/check.h"
#include "cache/answer.h"
#include "dns/question.h"
#include "recurse/budget.h"
#include "resolve/classify.h"
#include "recurse/delegation.h"
#include "resolve/failure.h"
#include "recurse/qname_min.h"
#include "resolve/route.h"
#include "upstream/exchange.h"

enum {
    STEPS_MAX = 8, /* of one decision */
};

/* ---- what a strategy may know of its task ---- */

/* What the forward strategy remembers. */
struct forward_memory {
    uint16_t ede; /* the last that an upstream gave with an answer not taken */
};

/* What the iterate and stub strategies remember. */
struct iterate_memory {
    struct delegation cut;          /* whose servers are asked */
    struct qname_min min;           /* how much of the name they are shown */
    struct question asked;          /* the last question to them */
    struct exchange_failure failed; /* why that failed, if it did */
    uint64_t failed_mark;    /* of the addresses that failed before the parent was revisited */
    uint16_t ede;            /* the last that a server gave with an answer not taken */
    uint16_t looked_up;      /* a bit for each server whose addresses were looked up */
    uint8_t pending;         /* look-ups of addresses that are under way */
    uint8_t addrs_asked;     /* so many of the cut's addresses were given to ask */
    uint8_t refusals;        /* of parts of the name, at this cut */
    uint8_t absent_labels;   /* of a minimised name that was said not to exist; 0: none */
    bool asking;             /* servers are being asked */
    bool from_cache;         /* the cut was known before */
    bool primed;             /* the root was asked for its servers, or cannot be */
    bool revisited;          /* the parent was asked again because the cut failed */
    bool saw_recursive;      /* some server of the cut asks others itself */
    bool saw_empty;          /* some server of the cut had an answer with nothing in it */
    bool took_glue;          /* what zones above the servers say of them is among the addresses */
    bool is_last_hope;       /* such answers are taken now: there are no better */
    bool lookup_lacked_room; /* a look-up failed for lack of room, not because of its question */
};

union strategy_memory {
    struct forward_memory forward;
    struct iterate_memory iterate;
};

/* What the operator says of recursion. */
struct iterate_rules {
    bool priming;    /* RFC 9609 */
    bool minimise;   /* RFC 9156 */
    bool ipv4, ipv6; /* which addresses of servers are of use */
};

struct strategy_view {
    const struct question *question; /* in lower case */
    const struct zone *zone;
    uint64_t now;
    union strategy_memory *memory;     /* the strategy's own; set up by it when STARTED */
    const struct iterate_rules *rules; /* of recursion */
    bool is_sub;                       /* another task's question: its budget is not its own */
    struct budget *budget;             /* of the client's question: drawn from by the strategy */
};

/* ---- events ---- */

enum event_kind {
    EVENT_STARTED,
    EVENT_ALIAS,    /* in place of STARTED: the head of the answer is at hand, target comes next */
    EVENT_ANSWERED, /* response: what an upstream said, already scrubbed */
    EVENT_FAILED,   /* exchange: no upstream of the group is left */
    EVENT_SUB_DONE, /* answer: of the subtask, of any kind but a failure */
    EVENT_SUB_FAILED, /* failure: of the subtask */
    EVENT_FOLLOWED,   /* a task that sent the same query has its result, or was too slow */
    EVENT_GLUE,       /* delegation: the servers asked for, with the addresses that are known */
    EVENT_CUT, /* delegation: the closest cut known, NULL: none; or answer: nothing is below it */
};

/* Borrowed for the call. */
struct event {
    enum event_kind kind;
    uint16_t tag;   /* of the subtask's step */
    uint8_t passed; /* CUT: so many labels of the question's name are known to be there, in the
                       cut's own zone */
    /* CUT; ANSWERED by who has a zone: the cut that a referral gives, or what a useful response
     * says of the zone that was asked. NULL: nothing that is believed. */
    const struct delegation *delegation;
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
    STEP_CUT,     /* name: find the closest cut at or above it; EVENT_CUT comes at once */
    STEP_HINTS,   /* begin at the root hints, whatever is known of the root; EVENT_CUT comes at once
                   */
    STEP_GLUE, /* cut: what do cuts that are known say of its servers? EVENT_GLUE comes at once */
    STEP_ASK_CUT, /* cut: a question to its addresses; EVENT_FAILED, later, when none may be asked
                   */
    STEP_LEARN,   /* after ANSWERED: the delegation that came with it is kept */
    STEP_PASSED,  /* after ANSWERED: name is there and is no cut, as this response says */
    STEP_ABSENT,  /* after ANSWERED with NXDOMAIN: it holds for name and all below (RFC 8020) */
    STEP_LEAVE,   /* no subtask is waited for any more */
    STEP_DONE,    /* the answer is what was kept, if anything, and the event's answer */
    STEP_FAIL,    /* failure */
    STEP_ABOVE,   /* failure: the zone's servers are of no use; STARTED comes for the zone that
                     stands in for it, and where there is none, this is FAIL */
};

struct step_ask {
    struct upstream *const *group;
    uint16_t group_len;
    bool recursion_desired;
    struct question question; /* its name lives as long as the task */
};

struct step_ask_cut {
    const struct delegation *cut; /* in the strategy's memory, for as long as the task asks */
    uint8_t first;                /* of its addresses: those before were asked */
    bool recursion_desired;
    struct question question; /* its name lives as long as the task */
};

struct step {
    enum step_kind kind;
    uint16_t tag; /* of a subtask, for its events */
    union {
        struct step_ask ask;
        struct step_ask_cut ask_cut;
        const struct delegation *cut;
        struct name name;         /* in the task's question, or the strategy's memory */
        struct question question; /* its name lives as long as the event */
        struct failure failure;
    };
};

/* In the order in which they are acted upon. Nothing may follow DONE, FAIL or ABOVE. */
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
    step->tag = 0;
    return step;
}

/* ---- a strategy ---- */

struct strategy {
    const char *name;
    /* Appends to *out, which is empty. */
    void (*next)(const struct strategy_view *view, const struct event *event, struct steps *out);
};

#endif
