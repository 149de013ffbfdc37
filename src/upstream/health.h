/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_HEALTH_H
#define NAILUP_UPSTREAM_HEALTH_H

/*
 * What is known of how an upstream answers over one transport: the smoothed answer time of RFC 6298
 * and the silences in a row. Kept apart from whether its connections can be dialled (struct
 * backoff): an outage must not turn into a retransmission time of minutes. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define HEALTH_RTO_FIRST_US (400 * US_PER_MS) /* before anything was measured */
#define HEALTH_RTO_MIN_US (50 * US_PER_MS)
#define HEALTH_HEDGE_MIN_US (400 * US_PER_MS)

enum { HEALTH_ILL_SILENCES = 3 }; /* in a row, until a server counts as ill */

struct health {
    uint64_t srtt_us; /* 0: not measured */
    uint64_t rttvar_us;
    uint32_t silences; /* attempts in a row that stayed unanswered or were refused over UDP */
    uint64_t probe_at; /* ill: not asked before, save in a probe */
};

void health_answered(struct health *health, uint64_t rtt_us);

/* An attempt was not answered in its time, or nothing listens; random spreads the probes. */
void health_silent(struct health *health, uint64_t now, uint64_t random);

static inline bool health_is_ill(const struct health *health)
{
    return health->silences >= HEALTH_ILL_SILENCES;
}

/* Ill, and it is time to see whether that still holds: true once per probing interval. */
bool health_take_probe(struct health *health, uint64_t now, uint64_t random);

/* The retransmission time of the n-th attempt (0: the first) at this server, at most ceiling_us. */
uint64_t health_rto_us(const struct health *health, unsigned nth, uint64_t ceiling_us);

/* After how long a silent connection makes its query go another way too: the larger of three
 * smoothed answer times and 400 ms. */
uint64_t health_hedge_us(const struct health *health);

#endif
