/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_BUDGET_H
#define NAILUP_RECURSE_BUDGET_H

/*
 * The work that one client question may cause. All tasks that run for it draw from one budget, so
 * no arrangement of zones turns one question into many (NXNSAttack, alias chains through
 * delegations without glue, TsuNAME). A task that several questions wait for draws from the
 * question that started it. Pure except for its memory and a random seed; one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"
#include "dns/name.h"

enum budget_kind {
    BUDGET_QUERIES,   /* questions to servers; BUDGET_ATTEMPTS_MAX bounds their attempts */
    BUDGET_REFERRALS, /* referrals that were followed */
    BUDGET_LOOKUPS,   /* addresses of name servers that were looked up */
    BUDGET_RESTARTS,  /* new starts from a zone above */
    BUDGET_ALIASES,   /* aliases that led to another zone */
    BUDGET_KINDS,
};

enum {
    BUDGET_QUERIES_MAX = 32,
    BUDGET_REFERRALS_MAX = 30,
    BUDGET_LOOKUPS_MAX = 24,
    BUDGET_RESTARTS_MAX = 6,
    BUDGET_ALIASES_MAX = 11,  /* as many as BIND and Unbound follow */
    BUDGET_TASKS_MAX = 16,    /* tasks that run for it at once */
    BUDGET_ATTEMPTS_MAX = 32, /* queries sent for all questions, to all servers */
    /* More of each for questions whose answers are validated: the keys and DS records of the zones
     * of an alias chain through three signed zones, and of the zones above these. */
    BUDGET_VALIDATION_QUERIES = 16,
    BUDGET_VALIDATION_TASKS = 8,
    /* Servers without addresses that were found in look-ups for other servers. Then no look-up
     * begins where others have failed: lists of such servers in two levels would multiply. */
    BUDGET_ABSENT_MAX = 4,
    BUDGET_MINIMISED_MAX = 16, /* minimised QNAMEs; afterwards names are shown whole, so an alias to
                                  many labels costs one question */
};

#define BUDGET_WALL_US (10 * US_PER_S)

struct budget {
    uint32_t refs;    /* tasks that run for it */
    uint64_t ends_at; /* us */
    uint8_t used[BUDGET_KINDS];
    uint8_t attempts_left; /* exchanges decrement it (exchange_question.attempts_left) */
    uint8_t minimised;     /* minimised QNAMEs sent */
    uint64_t absent[BUDGET_ABSENT_MAX]; /* hashes of the names of servers without addresses */
    uint64_t absent_seed;               /* of these hashes */
    uint8_t absent_count;
    uint8_t reached;               /* a bit for each kind that a task asked for in vain */
    uint8_t queries_max;           /* the bound of BUDGET_QUERIES */
    uint8_t tasks_max;             /* tasks that may run for it at once */
    bool allows_validation;        /* budget_allow_validation() was called */
    bool is_recursive;             /* the exchange asks a zone's own servers, not just forwarders */
    unsigned verify_units_left;    /* cost of the signatures that may be verified for it */
    unsigned verify_failures_left; /* wrong ones among them */
};

enum { BUDGET_REACHED_TIME = 1 << BUDGET_KINDS }; /* one more bit: the time ran out */

/* Returns a budget with one reference, the caller's; NULL out of memory. */
struct budget *budget_new(uint64_t now);
struct budget *budget_ref(struct budget *budget);
void budget_unref(struct budget *budget); /* NULL is fine */

/* Adds what a validated question needs: questions about keys, verifications of this cost, and this
 * many wrong signatures. Does so once: later calls change nothing. */
void budget_allow_validation(struct budget *budget, unsigned verify_units,
                             unsigned verify_failures);

/* Draws one. Returns false and draws nothing if the kind is used up or the time has passed.
 * BUDGET_QUERIES also needs an attempt that is left. */
MUST_USE bool budget_take(struct budget *budget, enum budget_kind kind, uint64_t now);

/* Draws one of BUDGET_MINIMISED_MAX. False: show the whole QNAME, which is not a failure. */
MUST_USE bool budget_take_minimised(struct budget *budget);

/* Notes a server without addresses, found in a look-up for another server. Several look-ups may
 * find the same server, which counts once. */
void budget_note_absent(struct budget *budget, struct name server);

/* Whether there were fewer than BUDGET_ABSENT_MAX. */
static inline bool budget_has_absent_left(const struct budget *budget)
{
    return budget->absent_count < BUDGET_ABSENT_MAX;
}

/* Gives back a minimised QNAME that another task has sent. */
void budget_give_back_minimised(struct budget *budget);

/* Gives back one that was drawn (MUST) and not used. */
void budget_give_back(struct budget *budget, enum budget_kind kind);

/* Whether some kind is used up or the time has passed, so that a failure may be due to the budget.
 */
bool budget_is_drained(const struct budget *budget, uint64_t now);

/* Whether half of the queries, tasks and time is left: then a query that is needed later may be
 * sent at once. */
bool budget_is_ample(const struct budget *budget, uint64_t now);

/* Returns the time that is left; at least a microsecond, even after the end. */
uint64_t budget_time_left(const struct budget *budget, uint64_t now);

#endif
