/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The slack that a peer needs for its acknowledgements (acks.h). */

#include "upstream/acks.h"

#include "base/check.h"

static uint64_t slack_us(const struct acks *acks, uint64_t now)
{
    if (!acks->slack_us || now - acks->was_late_at >= ACKS_FORGET_US)
        return ACKS_SLACK_US;
    return acks->slack_us;
}

uint64_t acks_wait_us(const struct acks *acks, const struct health *health, uint64_t now)
{
    uint64_t hedge_us = health_hedge_us(health);
    if (!health->srtt_us) /* the distance is unknown */
        return hedge_us;
    return MIN(MAX(3 * health->srtt_us, health->srtt_us + slack_us(acks, now)), hedge_us);
}

void acks_was_late(struct acks *acks, uint64_t now)
{
    acks->slack_us = MIN(2 * slack_us(acks, now), HEALTH_HEDGE_MIN_US);
    acks->was_late_at = now;
}
