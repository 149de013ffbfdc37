/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_KEEPALIVE_H
#define NAILUP_UPSTREAM_KEEPALIVE_H

/*
 * May this address be nailed after a timeout of 0 (RFC 7828)? idle_limit.h uses timeouts above 0.
 *
 * A timeout of 0 is about the connection on which it comes: a server that stops or is full sends
 * it. Only zeros on fresh connections, one after the other, say that this address wants no
 * connections to be kept. Then it is left alone for a pause that grows, and one connection that
 * lives ends all of it. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { KEEPALIVE_ZEROS = 2 }; /* on fresh connections in a row, until the address is left alone */

#define KEEPALIVE_FRESH_US (10 * US_PER_S) /* a connection is fresh when it is younger */
#define KEEPALIVE_PAUSE_US (10 * US_PER_S) /* the first pause; each further one doubles */
#define KEEPALIVE_PAUSE_MAX_US (300 * US_PER_S)
#define KEEPALIVE_FORGET_US (900 * US_PER_S) /* after the last zero, until it is forgotten */

struct keepalive {
    uint32_t zeros;   /* on fresh connections in a row */
    uint64_t zero_at; /* the last zero that counted */
    uint64_t left_alone_until_at;
};

/* The peer announced a timeout above 0. */
void keepalive_heard(struct keepalive *keepalive);

/* The peer sent 0 on a connection that became ready at that instant. */
void keepalive_heard_zero(struct keepalive *keepalive, uint64_t ready_at, uint64_t now);

/* A connection that was answered has ended, and the peer never sent 0 on it. */
void keepalive_lived(struct keepalive *keepalive, uint64_t ready_at, uint64_t now);

/* May this address be nailed? */
static inline bool keepalive_allows(const struct keepalive *keepalive, uint64_t now)
{
    return now >= keepalive->left_alone_until_at;
}

#endif
