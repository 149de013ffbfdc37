/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_KEEPALIVE_H
#define NAILUP_UPSTREAM_KEEPALIVE_H

/*
 * How long a peer lets connections idle, and what to do when one ends idle: RFC 7828 and our rules
 * of choice. An idle end is no failure. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

#define KEEPALIVE_BAN_US (600 * US_PER_S)       /* after a timeout of 0 */
#define KEEPALIVE_REDIAL_MAX_US (60 * US_PER_S) /* between idle ends without a query */

struct keepalive {
    uint64_t peer_idle_us; /* the last answer of RFC 7828; 0: none heard */
    uint64_t banned_until_at;
    uint32_t idle_ends; /* in a row, with no query in between */
};

/* The peer's answer, in units of 100 ms. 0 bans nailing for ten minutes. */
void keepalive_heard(struct keepalive *keepalive, uint16_t timeout_100ms, uint64_t now);

/* May this address be nailed? */
static inline bool keepalive_allows(const struct keepalive *keepalive, uint64_t now)
{
    return now >= keepalive->banned_until_at;
}

/* A nailed connection ended idle: how long to wait before the next dial: 0, 1 s, 2 s, 4 s ... */
uint64_t keepalive_idle_end(struct keepalive *keepalive);

/* A query was sent: the count of idle ends begins anew. */
static inline void keepalive_query(struct keepalive *keepalive)
{
    keepalive->idle_ends = 0;
}

#endif
