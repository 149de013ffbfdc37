/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_IDLE_LIMIT_H
#define NAILUP_UPSTREAM_IDLE_LIMIT_H

/*
 * How long does this peer let a connection idle? The peer announces a limit (RFC 7828), or its
 * closes of idle connections show it. The estimate is the shortest idle time before such a close.
 * It recovers upward: after a number of held idle times it grows by a quarter, so a wrong estimate
 * (the server restarted) does not last. Each growth that hits the limit doubles the number, so
 * probing gets rare. Some servers check for idle connections only every few seconds: their limit
 * varies, and the shortest idle time counts. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum {
    IDLE_LIMIT_PATIENCE = 4,            /* held idle times until the estimate grows */
    IDLE_LIMIT_PATIENCE_CONFIRMED = 64, /* the same, after a growth hit the limit */
    IDLE_LIMIT_PATIENCE_MAX = 4096,
    IDLE_LIMIT_EARLY =
        2, /* closes in a row after less idle time than the connection survived before */
};

#define IDLE_LIMIT_UNKNOWN_US (3600 * US_PER_S) /* a longer estimate is dropped */

struct idle_limit {
    uint64_t announced_us; /* the last timeout of RFC 7828; 0: none */
    uint64_t observed_us;  /* the estimate; 0: none */
    uint32_t held;         /* idle times in a row that nearly reached the estimate */
    uint32_t early;        /* closes in a row that came too early to count */
    uint32_t patience;     /* held idle times until the estimate grows; 0: IDLE_LIMIT_PATIENCE */
    bool has_grown;        /* since the peer's last close */
};

/* Notes that the peer announced this limit, above 0. */
static inline void idle_limit_announced(struct idle_limit *limit, uint64_t us)
{
    limit->announced_us = us;
}

/* Notes that the peer closed a connection after this idle time. survived_us: the longest idle time
 * after which this connection still answered. One much shorter idle time does not prove a limit,
 * IDLE_LIMIT_EARLY in a row do. Returns true if the estimate changed. */
bool idle_limit_closed(struct idle_limit *limit, uint64_t idle_us, uint64_t survived_us);

/* Notes that a connection answered after this idle time. */
void idle_limit_held(struct idle_limit *limit, uint64_t idle_us);

/* The limit to use; 0: unknown. */
uint64_t idle_limit_us(const struct idle_limit *limit);

#endif
