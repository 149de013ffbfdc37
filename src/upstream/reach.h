/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_REACH_H
#define NAILUP_UPSTREAM_REACH_H

/*
 * Which IP versions this machine can reach. A query without a route or source address fails at once
 * and costs little. But a zone may have a dozen such servers, which would stay unmeasured and so
 * come first for ever. A single server may lack a route too, and many queries may go to it in a
 * row: that says nothing about the others. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/units.h"

enum { REACH_STRIKES = 3 }; /* servers in a row to which no query could be sent */

/* Until the next try. A version that worked within this time is not missing, whatever fails. */
#define REACH_REST_US (10 * US_PER_S)

struct reach_family {
    struct addr failed[REACH_STRIKES]; /* different ones, with no success between them */
    unsigned failures;                 /* of these, in use */
    uint64_t works_until_at;           /* REACH_REST_US after its last success */
    uint64_t until_at;                 /* probably no route */
};

struct reach {
    struct reach_family v4, v6;
};

/* Notes that a query to this server lacked a route. */
void reach_failed(struct reach *reach, const struct addr *to, uint64_t now);

/* Notes that a query left or an answer came; a stream counts too. family: AF_INET or AF_INET6. */
void reach_worked(struct reach *reach, int family, uint64_t now);

/* REACH_STRIKES servers of this family in a row lacked a route, and none had one recently, so its
 * servers come after all others. */
bool reach_is_missing(const struct reach *reach, int family, uint64_t now);

#endif
