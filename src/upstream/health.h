/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_HEALTH_H
#define NAILUP_UPSTREAM_HEALTH_H

/*
 * How an upstream answers over one transport: the smoothed answer time of RFC 6298 and the silences
 * in a row. Failed dials do not count here (struct backoff): an outage must not lead to a
 * retransmission time of minutes. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define HEALTH_RTO_FIRST_US (400 * US_PER_MS) /* before the first measurement */
#define HEALTH_RTO_MIN_US (50 * US_PER_MS)
#define HEALTH_HEDGE_MIN_US (400 * US_PER_MS)

enum { HEALTH_ILL_SILENCES = 3 }; /* in a row, after which a server counts as ill */

struct health {
    uint64_t srtt_us; /* 0: not measured */
    uint64_t rttvar_us;
    uint32_t silences; /* attempts in a row that were unanswered, or refused over UDP */
    uint64_t probe_at; /* ill: the next probe is due */
};

void health_answered(struct health *health, uint64_t rtt_us);

/* Notes an attempt that got no answer in time, or whose port is closed; random spreads the
 * probes. */
void health_silent(struct health *health, uint64_t now, uint64_t random);

static inline bool health_is_ill(const struct health *health)
{
    return health->silences >= HEALTH_ILL_SILENCES;
}

/* Whether the server is ill and a probe is due: true once per probing interval. */
bool health_take_probe(struct health *health, uint64_t now, uint64_t random);

/* The retransmission time of the nth attempt (0: the first) at this server, at most ceiling_us. */
uint64_t health_rto_us(const struct health *health, unsigned nth, uint64_t ceiling_us);

/* The silence of a connection after which its query also goes another way: three smoothed answer
 * times, at least 400 ms. */
uint64_t health_hedge_us(const struct health *health);

#endif
