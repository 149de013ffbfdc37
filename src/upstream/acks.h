/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_ACKS_H
#define NAILUP_UPSTREAM_ACKS_H

/*
 * Dead path or slow server? The peer's kernel acknowledges a query within a round trip, however
 * long its program thinks. So a query without an answer is looked at early: without an
 * acknowledgement the path is dead, with one the server is slow and gets health_hedge_us(). This
 * module says when to look. Peers that delay acknowledgements are given more time. Pure.
 */

#include <stdint.h>

#include "base/units.h"
#include "upstream/health.h"

/* Added to the answer time. Linux delays an acknowledgement by 40 ms, or a round trip if that is
 * longer. */
#define ACKS_SLACK_US (60 * US_PER_MS)
#define ACKS_FORGET_US (10 * 60 * US_PER_S)

struct acks {             /* of one upstream; zeroed: nothing is known */
    uint64_t slack_us;    /* learned; 0: ACKS_SLACK_US */
    uint64_t was_late_at; /* when it was learned */
};

/* How long a connection must be silent until its query is looked at: three answer times, but at
 * least one and the slack, and at most health_hedge_us(). */
uint64_t acks_wait_us(const struct acks *acks, const struct health *health, uint64_t now);

/* A query without an acknowledgement had arrived after all, without being sent again: the slack
 * doubles, up to HEALTH_HEDGE_MIN_US. It is forgotten when this does not recur within
 * ACKS_FORGET_US. */
void acks_was_late(struct acks *acks, uint64_t now);

#endif
