/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_WAY_H
#define NAILUP_UPSTREAM_WAY_H

/* By which way one attempt goes to its upstream: a connection, its sibling in plain text, UDP, or a
 * place in the queue for a connection. Of the worker's thread. */

#include <stdbool.h>

#include "upstream/attempt.h"

/* Which ways of asking are open to one attempt. */
enum way {
    WAY_ANY,       /* as the upstream prefers, with its fallback */
    WAY_STREAM,    /* over a stream only: truncated or untrusted over UDP */
    WAY_OWN,       /* over the upstream's own stream, waiting for it: all else is closed */
    WAY_ELSEWHERE, /* a hedge: not on the silent connection, but on the next one where UDP may not
                      take its place */
    WAY_DATAGRAM   /* not over the upstream's streams: they have their share of the question */
};

/* Sends by the best way that is open; not over the connection to be avoided (may be NULL). True:
 * under way, or ended already by a call back. False: it was not sent. *full becomes true where that
 * was for lack of room. Counts fallbacks and cold queries. */
bool way_send(struct attempt *attempt, enum way way, const struct conn *avoid, bool *full);

#endif
