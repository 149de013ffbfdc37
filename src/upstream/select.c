/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Chooses among the upstreams of a group. The criteria in order: not bad, not doubtful, least tried
 * for this question, with signatures, healthy, of the preferred IP version, fast. Tries count
 * before health: when no healthy server has answered, the ill ones are the best hope left.
 */

#include "upstream/select.h"

#include "base/check.h"

enum { DOUBTS = 2 }; /* a doubtful server counts as if it had been tried this often */

/* Smaller is better. The answer time decides among equals. A second try of an ill server hardly
 * helps, so a doubtful server waits for only one try of an ill one. */
static uint32_t rank(const struct select_facts *facts)
{
    uint32_t tried = facts->tried + (facts->doubtful ? DOUBTS : 0);
    if (facts->ill && facts->tried)
        tried++;
    return tried * 8 + (facts->strips ? 4 : 0) + (facts->ill ? 2 : 0) + (facts->second ? 1 : 0);
}

static bool best_rank(const struct select_facts *facts, size_t count, uint32_t *best)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        if (facts[i].bad || (any && rank(&facts[i]) >= *best))
            continue;
        *best = rank(&facts[i]);
        any = true;
    }
    return any;
}

static uint64_t fastest(const struct select_facts *facts, size_t count, uint32_t wanted)
{
    uint64_t best = UINT64_MAX;
    for (size_t i = 0; i < count; i++) {
        if (!facts[i].bad && rank(&facts[i]) == wanted)
            best = MIN(best, facts[i].srtt_us);
    }
    return best;
}

int select_next(const struct select_facts *facts, size_t count, uint64_t random)
{
    uint32_t wanted = 0;
    if (!best_rank(facts, count, &wanted))
        return -1;

    bool exploring = random % SELECT_EXPLORE == 0;
    uint64_t limit = fastest(facts, count, wanted);
    limit = exploring ? UINT64_MAX : limit + SELECT_BAND_US;
    random /= SELECT_EXPLORE;

    /* Draws one of the qualified servers with equal chances (a reservoir of one). */
    int chosen = -1;
    uint64_t seen = 0;
    for (size_t i = 0; i < count; i++) {
        if (facts[i].bad || rank(&facts[i]) != wanted || facts[i].srtt_us > limit)
            continue;
        seen++;
        if (random % seen == 0)
            chosen = (int)i;
        random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        random ^= random >> 29;
    }
    return chosen;
}

/* The best rank without a place yet. False: all have one. */
static bool best_left(const struct select_facts *facts, const uint32_t *order, size_t count,
                      uint32_t *wanted, uint64_t *fastest_us)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t own = rank(&facts[i]);
        if (facts[i].bad || order[i] || (any && own > *wanted))
            continue;
        *fastest_us = any && own == *wanted ? MIN(*fastest_us, facts[i].srtt_us) : facts[i].srtt_us;
        *wanted = own;
        any = true;
    }
    return any;
}

void select_order(const struct select_facts *facts, size_t count, uint32_t *order)
{
    uint32_t wanted = 0;
    uint64_t fastest_us = 0;
    for (size_t i = 0; i < count; i++)
        order[i] = 0;
    for (uint32_t place = 1; best_left(facts, order, count, &wanted, &fastest_us); place++) {
        for (size_t i = 0; i < count; i++) {
            if (!facts[i].bad && !order[i] && rank(&facts[i]) == wanted &&
                facts[i].srtt_us <= fastest_us + SELECT_BAND_US)
                order[i] = place;
        }
    }
}
