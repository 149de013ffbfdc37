/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_HOLD_H
#define NAILUP_UPSTREAM_HOLD_H

/*
 * Decides about idle connections. A nailed one is held before the peer's idle limit: by a cheap
 * query, or by a successor that is ready before it ends. Others are closed shortly before a limit
 * that the peer announced, so that we close first. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/check.h"
#include "base/units.h"

enum { HOLD_REQUESTS_MIN = 100 }; /* with fewer requests a connection, replacing it is cheaper */

#define HOLD_DISTANCE_US US_PER_S          /* never a query within so long after another one */
#define HOLD_MARGIN_MAX_US (5 * US_PER_S)  /* before the peer's limit; else a quarter of it */
#define HOLD_SHORTEST_US (500 * US_PER_MS) /* a limit below is not worth holding against */
#define HOLD_UNANSWERED_MAX 3              /* hold queries in a row without an answer */
#define HOLD_UNUSED_US                                                                             \
    (600 * US_PER_S) /* RFC 7766 section 6.2.3: how long a server that                             \
                        recursion met is held after its last query */

enum hold_step {
    HOLD_WAIT,    /* look again when it has been idle for again_us */
    HOLD_QUERY,   /* send a hold query */
    HOLD_REPLACE, /* dial its successor; it ends when that is ready */
    HOLD_CLOSE,   /* idle for long enough */
};

struct hold_facts {
    uint64_t idle_us;
    uint64_t limit_us;     /* the peer's; 0: not known */
    uint64_t announced_us; /* the peer's announcement (RFC 7828); 0: none */
    uint64_t own_us;       /* idle-timeout, for connections beyond the kept ones; 0: never */
    uint64_t dial_us;      /* the duration of a dial */
    bool is_kept;          /* one of the connections to keep open */
    bool may_hold;
    bool is_ending;      /* its successor is on the way */
    bool by_replacement; /* a query would be dearer, or is never answered */
};

struct hold_decision {
    enum hold_step step;
    uint64_t again_us; /* HOLD_WAIT; 0: never */
};

/* Decides what to do now. */
struct hold_decision hold_decide(const struct hold_facts *facts);

/* How long a kept connection may idle until it is held; 0: it is not. */
uint64_t hold_after_us(uint64_t limit_us, uint64_t dial_us);

/* The shorter of two times, where 0 means never. */
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
