/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_IDLE_LIMIT_H
#define NAILUP_UPSTREAM_IDLE_LIMIT_H

/*
 * How long does this peer let a connection idle? It announces a limit (RFC 7828), or it is learned
 * from the connections that the peer closes while they idle. The estimate is the shortest such idle
 * time. It recovers upward: after a number of held idle times it grows by a quarter, so a wrong
 * estimate (a server that restarted) does not last. Each growth that meets the limit doubles the
 * number, so probing gets rare. Some servers look for idle connections every few seconds only:
 * their limit varies, and the shortest idle time counts. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum {
    IDLE_LIMIT_PATIENCE = 4,            /* held idle times until the estimate grows */
    IDLE_LIMIT_PATIENCE_CONFIRMED = 64, /* the same, once a growth has met the limit */
    IDLE_LIMIT_PATIENCE_MAX = 4096,
    IDLE_LIMIT_EARLY = 2, /* closes in a row after less than a connection survived before */
};

#define IDLE_LIMIT_UNKNOWN_US (3600 * US_PER_S) /* an estimate that has grown so far is dropped */

struct idle_limit {
    uint64_t announced_us; /* the last timeout of RFC 7828; 0: none */
    uint64_t observed_us;  /* the estimate; 0: none */
    uint32_t held;         /* idle times in a row that nearly reached the estimate */
    uint32_t early;        /* closes in a row that came too early to count */
    uint32_t patience;     /* the estimate grows after so many; 0: IDLE_LIMIT_PATIENCE */
    bool has_grown;        /* since the peer closed a connection last */
};

/* The peer announced this limit, above 0. */
static inline void idle_limit_announced(struct idle_limit *limit, uint64_t us)
{
    limit->announced_us = us;
}

/* The peer closed a connection that had been idle for so long. survived_us: the longest idle time
 * after which this connection still answered; one much shorter idle time is no proof of an idle
 * limit, IDLE_LIMIT_EARLY in a row are. True when something was learned. */
bool idle_limit_closed(struct idle_limit *limit, uint64_t idle_us, uint64_t survived_us);

/* A connection answered after it had been idle for so long. */
void idle_limit_held(struct idle_limit *limit, uint64_t idle_us);

/* The limit to use; 0: unknown. */
uint64_t idle_limit_us(const struct idle_limit *limit);

#endif
