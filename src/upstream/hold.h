/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_HOLD_H
#define NAILUP_UPSTREAM_HOLD_H

/*
 * Decides about idle connections. A nailed connection is held before the peer's idle limit: a cheap
 * query resets the limit, or a successor replaces the connection. Others close shortly before a
 * limit that the peer announced, so that we close first. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "base/units.h"

enum { HOLD_REQUESTS_MIN = 100 }; /* with fewer requests per connection, replacement is cheaper */

#define HOLD_DISTANCE_US US_PER_S /* the shortest time from a query to a hold query */
#define HOLD_MARGIN_MAX_US                                                                         \
    (5 * US_PER_S) /* ahead of the peer's limit; a quarter of it if that is less */
#define HOLD_SHORTEST_US (500 * US_PER_MS) /* connections with a shorter limit are not held */
#define HOLD_UNANSWERED_MAX 3              /* hold queries in a row without an answer */
/* How long after its last query a discovered server is held (RFC 7766 section 6.2.3). */
#define HOLD_UNUSED_US (600 * US_PER_S)

enum hold_step {
    HOLD_WAIT,    /* look again after an idle time of again_us */
    HOLD_QUERY,   /* send a hold query */
    HOLD_REPLACE, /* dial a successor; the connection ends when the successor is ready */
    HOLD_CLOSE,   /* close it */
};

struct hold_facts {
    uint64_t idle_us;
    uint64_t limit_us;     /* the peer's; 0: unknown */
    uint64_t announced_us; /* the peer's announcement (RFC 7828); 0: none */
    uint64_t own_us;       /* idle-timeout, for connections beyond the kept ones; 0: never */
    uint64_t dial_us;      /* the duration of a dial */
    bool is_kept;          /* the connection has a nailed place */
    bool may_hold;
    bool is_ending;      /* the successor is being dialled */
    bool by_replacement; /* a hold query would cost more than a dial, or never gets an answer */
};

struct hold_decision {
    enum hold_step step;
    uint64_t again_us; /* HOLD_WAIT; 0: never */
};

/* Decides what to do now. */
struct hold_decision hold_decide(const struct hold_facts *facts);

/* How long a kept connection may idle before it is held; 0: it is not held. */
uint64_t hold_after_us(uint64_t limit_us, uint64_t dial_us);

/* The shorter of two times; 0 means never. */
static inline uint64_t hold_sooner(uint64_t a, uint64_t b)
{
    return a && b ? MIN(a, b) : MAX(a, b);
}

/* The idle time after which we close a connection that is not held: nine tenths of the announced
 * limit. */
static inline uint64_t hold_close_us(uint64_t announced_us)
{
    return announced_us - announced_us / 10;
}

#endif
