/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Answer times and silences of one upstream over one transport (health.h). */

#include "upstream/health.h"

#include "base/check.h"

#define PROBE_FIRST_US US_PER_S
#define PROBE_CAP_US (8 * US_PER_S)

void health_answered(struct health *health, uint64_t rtt_us)
{
    rtt_us = MAX(rtt_us, 1u);
    if (health->srtt_us == 0) { /* RFC 6298 section 2.2 */
        health->srtt_us = rtt_us;
        health->rttvar_us = rtt_us / 2;
    } else { /* section 2.3: beta 1/4, alpha 1/8 */
        uint64_t off =
            rtt_us > health->srtt_us ? rtt_us - health->srtt_us : health->srtt_us - rtt_us;
        health->rttvar_us = (3 * health->rttvar_us + off) / 4;
        health->srtt_us = MAX((7 * health->srtt_us + rtt_us) / 8, 1u);
    }
    health->silences = 0;
    health->probe_at = 0;
}

static uint64_t probe_interval(const struct health *health, uint64_t random)
{
    uint32_t beyond = health->silences - HEALTH_ILL_SILENCES;
    uint64_t window = MIN(PROBE_FIRST_US << MIN(beyond, 10u), PROBE_CAP_US);
    return window / 2 + random % (window / 2 + 1);
}

void health_silent(struct health *health, uint64_t now, uint64_t random)
{
    if (health->silences < UINT32_MAX)
        health->silences++;
    if (health_is_ill(health))
        health->probe_at = now + probe_interval(health, random);
}

bool health_take_probe(struct health *health, uint64_t now, uint64_t random)
{
    if (!health_is_ill(health) || now < health->probe_at)
        return false;
    health->probe_at = now + probe_interval(health, random);
    return true;
}

uint64_t health_rto_us(const struct health *health, unsigned nth, uint64_t ceiling_us)
{
    uint64_t rto = HEALTH_RTO_FIRST_US;
    if (health->srtt_us)
        rto = MAX(health->srtt_us + 4 * health->rttvar_us, HEALTH_RTO_MIN_US);
    return MIN(rto << MIN(nth, 6u), ceiling_us);
}

uint64_t health_hedge_us(const struct health *health)
{
    return MAX(3 * health->srtt_us, HEALTH_HEDGE_MIN_US);
}
