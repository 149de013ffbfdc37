/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Counts. Invariant: no count exceeds its bound. */
#include "recurse/budget.h"

#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"

static const uint8_t bounds[] = {
    [BUDGET_QUERIES] = 0, /* budget.queries_max */
    [BUDGET_REFERRALS] = BUDGET_REFERRALS_MAX,
    [BUDGET_LOOKUPS] = BUDGET_LOOKUPS_MAX,
    [BUDGET_RESTARTS] = BUDGET_RESTARTS_MAX,
    [BUDGET_ALIASES] = BUDGET_ALIASES_MAX,
};

_Static_assert(BUDGET_REACHED_TIME <= UINT8_MAX, "a kind has no bit");
_Static_assert(ARRAY_LEN(bounds) == BUDGET_KINDS, "a kind has no bound");

struct budget *budget_new(uint64_t now)
{
    struct budget *budget = malloc(sizeof(*budget));
    if (budget)
        *budget = (struct budget){.refs = 1,
                                  .ends_at = now + BUDGET_WALL_US,
                                  .attempts_left = BUDGET_ATTEMPTS_MAX,
                                  .queries_max = BUDGET_QUERIES_MAX,
                                  .tasks_max = BUDGET_TASKS_MAX};
    return budget;
}

void budget_allow_validation(struct budget *budget, unsigned verify_units, unsigned verify_failures)
{
    if (budget->allows_validation)
        return;
    budget->allows_validation = true;
    budget->queries_max += BUDGET_VALIDATION_QUERIES;
    budget->attempts_left += BUDGET_VALIDATION_QUERIES;
    budget->tasks_max += BUDGET_VALIDATION_TASKS;
    budget->verify_units_left = verify_units;
    budget->verify_failures_left = verify_failures;
}

struct budget *budget_ref(struct budget *budget)
{
    budget->refs++;
    return budget;
}

void budget_unref(struct budget *budget)
{
    if (!budget)
        return;
    MUST(budget->refs > 0);
    if (--budget->refs == 0)
        free(budget);
}

static bool budget_is_used_up(const struct budget *budget, enum budget_kind kind)
{
    if (kind == BUDGET_QUERIES)
        return budget->used[kind] >= budget->queries_max || budget->attempts_left == 0;
    return budget->used[kind] == bounds[kind];
}

bool budget_take(struct budget *budget, enum budget_kind kind, uint64_t now)
{
    if (budget_is_used_up(budget, kind)) {
        budget->reached |= (uint8_t)(1u << kind);
        return false;
    }
    if (now >= budget->ends_at) {
        budget->reached |= BUDGET_REACHED_TIME;
        return false;
    }
    budget->used[kind]++;
    return true;
}

bool budget_take_minimised(struct budget *budget)
{
    bool is_left = budget->minimised < BUDGET_MINIMISED_MAX;
    budget->minimised += is_left;
    return is_left;
}

/* The seed is secret: without it, the owner of a zone can choose names with one hash. */
void budget_note_absent(struct budget *budget, struct name server)
{
    if (budget->absent_count == 0)
        budget->absent_seed = rand_u64();
    uint64_t hash = name_hash(server, budget->absent_seed);
    for (unsigned i = 0; i < budget->absent_count; i++)
        if (budget->absent[i] == hash)
            return;
    if (budget_has_absent_left(budget))
        budget->absent[budget->absent_count++] = hash;
}

void budget_give_back_minimised(struct budget *budget)
{
    if (budget->minimised)
        budget->minimised--;
}

void budget_give_back(struct budget *budget, enum budget_kind kind)
{
    MUST(budget->used[kind] > 0);
    budget->used[kind]--;
}

bool budget_is_drained(const struct budget *budget, uint64_t now)
{
    for (unsigned kind = 0; kind < BUDGET_KINDS; kind++)
        if (budget_is_used_up(budget, kind))
            return true;
    return now >= budget->ends_at;
}

bool budget_is_ample(const struct budget *budget, uint64_t now)
{
    return !budget->reached && 2 * budget->used[BUDGET_QUERIES] <= budget->queries_max &&
           2 * budget->attempts_left >= budget->queries_max &&
           2 * budget->refs <= budget->tasks_max && now + BUDGET_WALL_US / 2 <= budget->ends_at;
}

uint64_t budget_time_left(const struct budget *budget, uint64_t now)
{
    return now < budget->ends_at ? budget->ends_at - now : 1;
}
