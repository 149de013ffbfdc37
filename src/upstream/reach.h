/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_REACH_H
#define NAILUP_UPSTREAM_REACH_H

/*
 * Which IP versions lead anywhere from this machine. A query for which it has no route or no source
 * address fails at once and costs little, but a zone may have a dozen such servers, each of which
 * would be unmeasured for ever and so be tried first. Pure: the instant is an argument.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/units.h"

enum { REACH_STRIKES = 3 }; /* queries in a row that could not even be sent */

#define REACH_REST_US (10 * US_PER_S) /* until the next one is tried */

struct reach_family {
    uint32_t failures; /* in a row */
    uint64_t until_at; /* no route, as far as is known */
};

struct reach {
    struct reach_family v4, v6;
};

/* It could not be sent for lack of a route. family: AF_INET or AF_INET6. */
void reach_failed(struct reach *reach, int family, uint64_t now);

/* It was sent. */
void reach_worked(struct reach *reach, int family);

/* Servers of this family are asked after all others: the last REACH_STRIKES could not be sent to,
 * and none could since. */
bool reach_is_missing(const struct reach *reach, int family, uint64_t now);

#endif
