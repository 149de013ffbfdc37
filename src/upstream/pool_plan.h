/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_PLAN_H
#define NAILUP_UPSTREAM_POOL_PLAN_H

/*
 * How many connections an upstream should have: kept ones, spares for connections that end soon
 * (make before break), more under load, one for queries that wait. Pure: facts in, number of dials
 * out.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    PLAN_SPARES_MAX = 16, /* spares of one upstream, ready or on their way */
    PLAN_LEAD_MIN = 1,    /* total requests left at which the pool dials a spare */
    PLAN_LEAD_MAX = 8192,
};

struct plan_facts {
    uint32_t kept; /* connections to keep open: 0 when not nailed */
    uint32_t max_connections;
    uint32_t max_requests; /* the queries that a fresh connection may carry */
    uint32_t lead;         /* queries expected during a dial (plan_lead) */
    uint32_t lasting;      /* ready, not suspect, without a planned end */
    uint32_t
        ending; /* ready, but about to be replaced: age, recycling, few requests left, suspect */
    uint32_t coming;        /* parked, resting or dialling */
    uint64_t requests_left; /* the sum over ready connections that are not suspect */
    bool full;              /* each lasting one is filled to three quarters */
    bool demanded;          /* queries wait, or came recently */
    uint32_t width;         /* see spread_width(); 0: the load needs no more than one */
};

/* How many connections to dial in addition to the ones that are coming. */
uint32_t plan_dials(const struct plan_facts *facts);

/* Whether a connection with requests_left requests left counts as ending. */
bool plan_ends_soon(uint32_t requests_left, uint32_t max_requests, uint32_t lead);

/* Requests that may come during a dial: the largest burst plus the rate. */
uint32_t plan_lead(uint32_t burst, uint64_t queries_per_s, uint64_t dial_us);

#endif
