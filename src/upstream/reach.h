/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_REACH_H
#define NAILUP_UPSTREAM_REACH_H

/*
 * Which IP versions this machine can reach. A query without a route or source address fails at once
 * and costs little. But a zone may have a dozen such servers, which would stay unmeasured and so
 * come first for ever. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { REACH_STRIKES = 3 }; /* queries in a row that could not be sent */

#define REACH_REST_US (10 * US_PER_S) /* until the next try */

struct reach_family {
    uint32_t failures; /* in a row */
    uint64_t until_at; /* probably no route */
};

struct reach {
    struct reach_family v4, v6;
};

/* A query lacked a route. family: AF_INET or AF_INET6. */
void reach_failed(struct reach *reach, int family, uint64_t now);

/* A query left, or an answer came, over a stream too. */
void reach_worked(struct reach *reach, int family);

/* The last REACH_STRIKES queries to this family lacked a route, so its servers come after all
 * others. */
bool reach_is_missing(const struct reach *reach, int family, uint64_t now);

#endif
