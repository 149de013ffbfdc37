/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_PLAN_H
#define NAILUP_UPSTREAM_POOL_PLAN_H

/*
 * How many connections an upstream should have: kept ones, spares for those that end soon (make
 * before break), more under load, one for those who wait. Pure: facts in, number of dials out.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    PLAN_SPARES_MAX = 16, /* spares kept or dialled for one upstream at once */
    PLAN_LEAD_MIN = 1,    /* requests left, in all, at which a spare is dialled */
    PLAN_LEAD_MAX = 8192,
};

struct plan_facts {
    uint32_t kept; /* connections to keep open: 0 when not nailed */
    uint32_t max_connections;
    uint32_t max_requests; /* of a fresh connection */
    uint32_t lead;         /* queries expected while a dial takes place (plan_lead) */
    uint32_t lasting;      /* ready, not suspect, with no end in sight */
    uint32_t ending; /* ready, but to be replaced: age, recycling, few requests left, suspect */
    uint32_t coming; /* parked, resting or being dialled */
    uint64_t requests_left; /* of all that are ready, not suspect */
    bool full;              /* each lasting one is filled to three quarters */
    bool demanded;          /* queries wait, or came lately */
    uint32_t width;         /* see spread_width(); 0: the load needs no more than one */
};

/* How many to dial in addition to those that are coming. */
uint32_t plan_dials(const struct plan_facts *facts);

/* Whether a connection with so many requests left counts as ending. */
bool plan_ends_soon(uint32_t requests_left, uint32_t max_requests, uint32_t lead);

/* Requests that may come while a dial takes place: what came at once at most, plus the rate. */
uint32_t plan_lead(uint32_t burst, uint64_t queries_per_s, uint64_t dial_us);

#endif
