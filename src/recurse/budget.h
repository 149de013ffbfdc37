/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_BUDGET_H
#define NAILUP_RECURSE_BUDGET_H

/*
 * What one question of a client may cost in all: every task that runs for it draws from one budget,
 * so that no arrangement of zones makes a question into many (NXNSAttack, chains of aliases through
 * delegations without glue, TsuNAME). A task that several questions wait for draws from the one it
 * was started for. Pure but for the memory; one thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/units.h"

enum budget_kind {
    BUDGET_QUERIES,   /* questions to servers, each of as many attempts as it takes (below) */
    BUDGET_REFERRALS, /* cuts that were gone down */
    BUDGET_LOOKUPS,   /* addresses of name servers that were looked up */
    BUDGET_RESTARTS,  /* begun anew from a zone above */
    BUDGET_ALIASES,   /* aliases that led to another zone */
    BUDGET_KINDS,
};

enum {
    BUDGET_QUERIES_MAX = 32,
    BUDGET_REFERRALS_MAX = 30,
    BUDGET_LOOKUPS_MAX = 24,
    BUDGET_RESTARTS_MAX = 6,
    BUDGET_ALIASES_MAX = 12,
    BUDGET_TASKS_MAX = 16,     /* that run for it at once */
    BUDGET_ATTEMPTS_MAX = 32,  /* queries sent for all questions, to all servers */
    BUDGET_MINIMISED_MAX = 16, /* questions that show a part of a name; then names are
                                  shown whole, so that an alias to many labels costs one question */
};

#define BUDGET_WALL_US (10 * US_PER_S)

struct budget {
    uint32_t refs;    /* tasks that run for it */
    uint64_t ends_at; /* us */
    uint8_t used[BUDGET_KINDS];
    uint8_t attempts_left; /* exchanges count it down (exchange_question.attempts_left) */
    uint8_t minimised;     /* questions for a part of a name */
    uint8_t reached;       /* a bit for each kind that was wanted when it was used up */
};

enum { BUDGET_REACHED_TIME = 1 << BUDGET_KINDS }; /* one bit more: its time was over */

/* One reference is the caller's; NULL out of memory. */
struct budget *budget_new(uint64_t now);
struct budget *budget_ref(struct budget *budget);
void budget_unref(struct budget *budget); /* NULL is fine */

/* In place, without memory of its own. */
void budget_init(struct budget *budget, uint64_t now);

/* Draws one. False, and nothing is drawn: it is used up, or its time is over; of questions, also
 * when no attempts are left. */
MUST_USE bool budget_take(struct budget *budget, enum budget_kind kind, uint64_t now);

/* Draws one of BUDGET_MINIMISED_MAX. False: show the whole name. That is no failure. */
MUST_USE bool budget_take_minimised(struct budget *budget);

/* One that was drawn was not needed (MUST be so). */
void budget_give_back(struct budget *budget, enum budget_kind kind);

/* Whether some kind is used up, or its time over: what fails now may fail because of that. */
bool budget_is_drained(const struct budget *budget, uint64_t now);

/* How long it lasts from now on; at least a microsecond, where it is over. */
uint64_t budget_time_left(const struct budget *budget, uint64_t now);

/* How many are left of the kind, however late it is. */
unsigned budget_left(const struct budget *budget, enum budget_kind kind);

#endif
