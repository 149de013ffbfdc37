/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Requires several failures in a row, because a single destination may lack a route. */

#include "upstream/reach.h"

#include <sys/socket.h>

static struct reach_family *reach_find(struct reach *reach, int family)
{
    return family == AF_INET6 ? &reach->v6 : &reach->v4;
}

void reach_failed(struct reach *reach, int family, uint64_t now)
{
    struct reach_family *at = reach_find(reach, family);
    if (at->failures < REACH_STRIKES)
        at->failures++;
    if (at->failures >= REACH_STRIKES)
        at->until_at = now + REACH_REST_US;
}

void reach_worked(struct reach *reach, int family)
{
    struct reach_family *at = reach_find(reach, family);
    if (at->failures)
        *at = (struct reach_family){0};
}

bool reach_is_missing(const struct reach *reach, int family, uint64_t now)
{
    const struct reach_family *at = family == AF_INET6 ? &reach->v6 : &reach->v4;
    return now < at->until_at;
}
