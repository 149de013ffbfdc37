/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_WAY_H
#define NAILUP_UPSTREAM_WAY_H

/* Picks the way of one attempt to its upstream: a connection, the sibling for plain text, UDP, or
 * the queue for a connection. Worker's thread only. */

#include <stdbool.h>

#include "upstream/attempt.h"

/* The ways that an attempt may take. */
enum way {
    WAY_ANY,       /* the upstream's preference, with its fallback */
    WAY_STREAM,    /* a stream only: UDP brought a truncated or untrusted answer */
    WAY_OWN,       /* the upstream's own stream, for which the query waits: no other way is left */
    WAY_ELSEWHERE, /* a hedge: not the silent connection, but another one if UDP may not replace
                      it */
    WAY_DATAGRAM   /* no stream: enough of them carry the question */
};

/* Sends by the best open way, never over the connection avoid (may be NULL). Returns true if the
 * attempt is on its way or already ended by a callback, false if it was not sent. Sets *full if
 * there was no room. Counts fallbacks and cold queries. */
bool way_send(struct attempt *attempt, enum way way, const struct conn *avoid, bool *full);

#endif
