/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The arithmetic of pool_plan.h. pool.c gathers the facts and dials. */

#include "upstream/pool_plan.h"

#include "base/check.h"

bool plan_ends_soon(uint32_t requests_left, uint32_t max_requests, uint32_t lead)
{
    /* With few requests per connection every connection would end soon. Half its life is the limit,
     * and the sum of requests left (below) covers the rest. */
    return requests_left <= MIN(lead, max_requests / 2);
}

uint32_t plan_lead(uint32_t burst, uint64_t queries_per_s, uint64_t dial_us)
{
    uint64_t coming = queries_per_s * dial_us * 2 / 1000000;
    return (uint32_t)MIN(PLAN_LEAD_MIN + burst + coming, (uint64_t)PLAN_LEAD_MAX);
}

/* Wanted connections that do not end soon. */
static uint32_t wanted(const struct plan_facts *facts)
{
    uint32_t want = MAX(facts->kept, facts->demanded ? 1u : 0u);
    /* Another one under load, before the connections reach their in-flight limit. */
    if (facts->full && facts->lasting >= want && facts->lasting < facts->max_connections)
        want = facts->lasting + 1;
    return MAX(want, MIN(facts->width, facts->max_connections));
}

/* Spares keep the requests left above the lead. Connections with few requests need several. */
static uint32_t spares(const struct plan_facts *facts)
{
    uint64_t left = facts->requests_left + (uint64_t)facts->coming * facts->max_requests;
    if (left > facts->lead || facts->max_requests == 0)
        return 0;
    uint64_t missing = facts->lead + 1 - left;
    return (uint32_t)MIN((missing + facts->max_requests - 1) / facts->max_requests,
                         (uint64_t)PLAN_SPARES_MAX);
}

uint32_t plan_dials(const struct plan_facts *facts)
{
    uint32_t want = wanted(facts);
    uint32_t have = facts->lasting + facts->coming;
    uint32_t dials = want > have ? want - have : 0;

    if (facts->kept || facts->demanded)
        dials = MAX(dials, spares(facts));
    uint32_t open = facts->lasting + facts->ending + facts->coming;
    uint32_t most = facts->max_connections + PLAN_SPARES_MAX;
    return MIN(dials, most > open ? most - open : 0);
}
