/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_STRATEGY_H
#define NAILUP_RESOLVE_STRATEGY_H

/*
 * Strategies decide, tasks act. A strategy gets an event and returns steps. It sends nothing, waits
 * for nothing and allocates nothing, so a test of a whole resolution feeds events and reads steps.
 *
 *   event STARTED   -> step ASK
 *   event ANSWERED  -> step DONE, or ANOTHER, or KEEP and SUBTASK
 *   event SUB_DONE  -> step DONE
 *
 * and down from the root:
 *
 *   event STARTED             -> step CUT
 *   event CUT                 -> step ASK_CUT, or SUBTASK for each missing address
 *   event ANSWERED (referral) -> steps LEARN, ASK_CUT
 *
 * A task ends with DONE or FAIL; until then a question to servers or a subtask is under way.
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

/* ---- what a strategy knows about its task ---- */

/* The memory of the forward strategy. */
struct forward_memory {
    uint16_t ede; /* the last EDE that came with a useless answer */
};

/* The retry of a descent after bogus answers. */
enum bogus_retry {
    BOGUS_RETRY_NONE, /* no answer was bogus */
    BOGUS_RETRY_MORE, /* it looks for servers of the cut that were not asked */
    BOGUS_RETRY_SAME, /* there are no others: all are asked again */
};

/* The search for addresses of servers that are inside their own zone and came without glue. The
 * parent is asked for them once for each question. */
enum parent_search_state {
    PARENT_SEARCH_UNUSED,
    PARENT_SEARCH_ASKS, /* the parent's servers are being asked; memory.cut is theirs */
    PARENT_SEARCH_OVER, /* the search found addresses, or found that there are no addresses */
};

enum { PARENT_SEARCH_SERVERS_MAX = 2 }; /* each costs a query for each IP version */

struct parent_search {
    enum parent_search_state state;
    uint8_t zone_labels; /* of the zone without glue, which is at or above the QNAME */
    uint8_t server_count;
    uint8_t asked;       /* questions so far */
    uint8_t addrs_asked; /* of the zone, before the search */
    bool was_reachable;  /* the zone had other servers, which failed */
    uint64_t ends_at;    /* of the referral without glue */
    uint8_t server_lens[PARENT_SEARCH_SERVERS_MAX];
    uint8_t servers[PARENT_SEARCH_SERVERS_MAX][NAME_WIRE_MAX];
};

/* The memory of the iterate and stub strategies. */
struct iterate_memory {
    struct delegation cut;          /* the cut whose servers get the queries */
    struct qname_min min;           /* how much of the QNAME they see */
    struct question asked;          /* the last question to them */
    struct exchange_failure failed; /* why the last exchange failed */
    uint64_t failed_mark; /* of the addresses that failed before the parent was asked again */
    uint16_t ede;         /* the last EDE that came with a useless answer */
    /* Bits for servers of the cut without glue: looked up, looked up for both IP versions, without
     * addresses of one version, and without any or not to be found. */
    uint16_t looked_up, looked_up_twice, without_some, without_any;
    uint8_t absent_servers; /* servers whose names have no address, as their zones say */
    uint8_t pending;        /* look-ups of addresses under way */
    uint8_t addrs_asked;    /* how many of the cut's addresses were given to an exchange */
    uint8_t refusals;       /* of minimised QNAMEs at this cut */
    uint8_t absent_labels;  /* of a minimised QNAME that was denied; 0: none */
    enum bogus_retry retry;
    struct parent_search parent;
    bool asking;             /* servers are being asked */
    bool from_cache;         /* the cut came from the cache */
    bool primed;             /* the root was asked for its servers, or cannot be */
    bool revisited;          /* the parent was asked again because the cut failed */
    bool saw_recursive;      /* some server of the cut recurses itself */
    bool saw_empty;          /* some server of the cut gave an empty answer */
    bool took_glue;          /* the addresses include glue from zones above the servers */
    bool is_last_hope;       /* empty answers are accepted, because there are no better ones */
    bool lookup_lacked_room; /* a look-up failed for lack of room, not because of its question */
};

union strategy_memory {
    struct forward_memory forward;
    struct iterate_memory iterate;
};

/* The operator's rules for recursion. */
struct iterate_rules {
    bool priming;    /* RFC 9609 */
    bool minimise;   /* RFC 9156 */
    bool ipv4, ipv6; /* IP versions of servers that are useful */
};

struct strategy_view {
    const struct question *question; /* in lower case */
    const struct zone *zone;
    uint64_t now;
    union strategy_memory *memory;     /* the strategy's own; it sets it up when STARTED */
    const struct iterate_rules *rules; /* of recursion */
    bool is_sub;    /* another task waits for it, and the budget belongs to another question */
    bool is_lookup; /* the question is a server's address, which another task needs */
    struct budget *budget; /* of the client's question; the strategy draws from it */
};

/* ---- events ---- */

enum event_kind {
    EVENT_STARTED,
    EVENT_ALIAS,      /* replaces STARTED: the head of the answer is at hand, target comes next */
    EVENT_ANSWERED,   /* response: of an upstream, already scrubbed */
    EVENT_FAILED,     /* exchange: no upstream of the group is left */
    EVENT_BOGUS,      /* the answers of all upstreams of the group were bogus; a FAIL that follows
                         reports why they were bogus, and not its own reason */
    EVENT_SUB_DONE,   /* answer: of the subtask; its kind is never a failure */
    EVENT_SUB_FAILED, /* failure: of the subtask */
    EVENT_FOLLOWED,   /* a task that sent the same query has its result, or was too slow */
    EVENT_GLUE,       /* delegation: the servers with their known addresses */
    EVENT_CUT, /* delegation: the closest known cut, NULL: none; or answer: the name does not exist
                */
};

/* Borrowed for the call. */
struct event {
    enum event_kind kind;
    uint16_t tag;   /* of the subtask's step */
    uint8_t passed; /* CUT: labels of the QNAME known to exist in the cut's own zone */
    /* CUT; ANSWERED by an authoritative server: the cut of a referral, or what a useful response
     * says about the asked zone. NULL: nothing that is believed. */
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
    STEP_ASK,     /* ask: a question to a group; one at a time */
    STEP_ANOTHER, /* after ANSWERED: the answer is useless, ask the next server of the group */
    STEP_KEEP,    /* after ANSWERED, ALIAS: the answer is the head, and more follows */
    STEP_SUBTASK, /* question: resolved by its own zone, together with others that ask it */
    STEP_CUT,     /* name: find the closest cut at or above it; EVENT_CUT comes at once */
    STEP_HINTS,   /* start at the root hints, even if the root is known; EVENT_CUT comes at once */
    STEP_GLUE,    /* cut: find what known cuts say about its servers; EVENT_GLUE comes at once */
    STEP_ASK_CUT, /* cut: a question to its addresses; EVENT_FAILED comes later if none may be asked
                   */
    STEP_LEARN,   /* after ANSWERED: keep the delegation that came with it */
    STEP_LOST,    /* cut: keep for a moment that no server of the zone can be reached */
    STEP_PASSED,  /* after ANSWERED: name exists and is no cut, by this response */
    STEP_ABSENT,  /* after ANSWERED with NXDOMAIN: name and all below do not exist (RFC 8020) */
    STEP_LEAVE,   /* wait for subtasks no longer */
    STEP_DONE,    /* end with the kept head, if any, and the event's answer */
    STEP_FAIL,    /* end with failure */
    STEP_ABOVE, /* failure: the zone's servers are useless; the zone's substitute gets STARTED, and
                   without one this is FAIL */
};

struct step_ask {
    struct upstream *const *group;
    uint16_t group_len;
    bool recursion_desired;
    struct question question; /* its name lives as long as the task */
};

struct step_ask_cut {
    const struct delegation *cut; /* in the strategy's memory, for as long as the task asks */
    uint8_t first;                /* of its addresses; the earlier ones were asked */
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

/* The task does them in this order. No step follows DONE, FAIL or ABOVE. */
struct steps {
    size_t count;
    struct step at[STEPS_MAX];
};

/* Adds one step of this kind; there must be room (MUST). */
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

/* Keeps the alias at hand and asks for its target. */
static inline void steps_follow(struct steps *steps, const struct strategy_view *view,
                                struct name target)
{
    steps_add(steps, STEP_KEEP);
    steps_add(steps, STEP_SUBTASK)->question =
        (struct question){.name = target, .type = view->question->type, .cls = view->question->cls};
}

#endif
