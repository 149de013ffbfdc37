/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ACKS_H
#define NAILUP_UPSTREAM_ACKS_H

/*
 * Is the path dead or the server slow? The peer's kernel acknowledges a query within a round trip,
 * however long its program takes. So we check an unanswered query early: without an acknowledgement
 * the path is dead, with one the server is slow and gets health_hedge_us(). This module decides
 * when to check. Peers that delay acknowledgements get more time. Pure.
 */

#include <stdint.h>

#include "base/units.h"
#include "upstream/health.h"

/* Added to the answer time. Linux delays an acknowledgement by 40 ms, or a round trip if that is
 * longer. */
#define ACKS_SLACK_US (60 * US_PER_MS)
#define ACKS_FORGET_US (10 * 60 * US_PER_S)

struct acks {             /* the facts about one upstream; zeroed: none */
    uint64_t slack_us;    /* learned; 0: ACKS_SLACK_US */
    uint64_t was_late_at; /* when the slack last grew */
};

/* The silence of a connection after which we check its query: three answer times, at least one
 * answer time plus the slack, and at most health_hedge_us(). */
uint64_t acks_wait_us(const struct acks *acks, const struct health *health, uint64_t now);

/* Notes a query that had arrived although its acknowledgement was missing: doubles the slack, up to
 * HEALTH_HEDGE_MIN_US. Without another case within ACKS_FORGET_US the slack is forgotten. */
void acks_was_late(struct acks *acks, uint64_t now);

#endif
