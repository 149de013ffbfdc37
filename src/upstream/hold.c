/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The decision of hold.h; pool_hold.c acts on it. */

#include "upstream/hold.h"

#include "base/check.h"

/* The peer's idle clock starts with its last byte and stops when our query arrives. The margin
 * covers that delay, which is longer for a successor. */
uint64_t hold_after_us(uint64_t limit_us, uint64_t dial_us)
{
    if (limit_us < HOLD_SHORTEST_US)
        return 0;
    uint64_t margin = MIN(limit_us / 4, HOLD_MARGIN_MAX_US);
    margin = MAX(margin, MIN(2 * dial_us, limit_us / 2));
    return limit_us - margin;
}

static struct hold_decision wait_until(const struct hold_facts *facts, uint64_t due_us,
                                       enum hold_step then)
{
    if (due_us == 0)
        return (struct hold_decision){HOLD_WAIT, 0};
    if (facts->idle_us < due_us)
        return (struct hold_decision){HOLD_WAIT, due_us};
    return (struct hold_decision){then, 0};
}

struct hold_decision hold_decide(const struct hold_facts *facts)
{
    uint64_t close_us = hold_close_us(facts->announced_us);
    if (!facts->is_kept)
        return wait_until(facts, hold_sooner(facts->own_us, close_us), HOLD_CLOSE);
    if (!facts->may_hold)
        return wait_until(facts, close_us, HOLD_CLOSE);
    if (facts->is_ending)
        return (struct hold_decision){HOLD_WAIT, 0};
    uint64_t after_us = hold_after_us(facts->limit_us, facts->dial_us);
    bool is_query = !facts->by_replacement && after_us >= HOLD_DISTANCE_US;
    return wait_until(facts, after_us, is_query ? HOLD_QUERY : HOLD_REPLACE);
}
