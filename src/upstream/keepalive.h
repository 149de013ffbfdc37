/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_KEEPALIVE_H
#define NAILUP_UPSTREAM_KEEPALIVE_H

/*
 * May this address be nailed after a timeout of 0 (RFC 7828)? idle_limit.h uses timeouts above 0.
 *
 * A timeout of 0 concerns the connection that carries it: a server that stops or is full sends it.
 * Only zeros on fresh connections in a row show that the server does not want kept connections.
 * Then the pool does not nail the address for a pause that grows each time. One connection that
 * lives ends this. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { KEEPALIVE_ZEROS = 2 }; /* on fresh connections in a row, before the pause */

#define KEEPALIVE_FRESH_US (10 * US_PER_S) /* a younger connection is fresh */
#define KEEPALIVE_PAUSE_US (10 * US_PER_S) /* the first pause; each later one doubles */
#define KEEPALIVE_PAUSE_MAX_US (300 * US_PER_S)
#define KEEPALIVE_FORGET_US (900 * US_PER_S) /* when the last zero is forgotten */

struct keepalive {
    uint32_t zeros;   /* on fresh connections in a row */
    uint64_t zero_at; /* the last zero that counted */
    uint64_t left_alone_until_at;
};

/* Notes that the peer announced a timeout above 0. */
void keepalive_heard(struct keepalive *keepalive);

/* Notes that the peer sent 0 on a connection that became ready at ready_at. */
void keepalive_heard_zero(struct keepalive *keepalive, uint64_t ready_at, uint64_t now);

/* Notes that a connection with answers ended, and that the peer never sent 0 on it. */
void keepalive_lived(struct keepalive *keepalive, uint64_t ready_at, uint64_t now);

/* Whether this address may be nailed. */
static inline bool keepalive_allows(const struct keepalive *keepalive, uint64_t now)
{
    return now >= keepalive->left_alone_until_at;
}

#endif
