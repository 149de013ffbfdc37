/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Requires failures of several servers, because a single destination may have no route. */

#include "upstream/reach.h"

#include <sys/socket.h>

static struct reach_family *reach_find(struct reach *reach, int family)
{
    return family == AF_INET6 ? &reach->v6 : &reach->v4;
}

static bool has_failed(const struct reach_family *at, const struct addr *to)
{
    for (unsigned i = 0; i < at->failures; i++)
        if (addr_equal(&at->failed[i], to))
            return true;
    return false;
}

void reach_failed(struct reach *reach, const struct addr *to, uint64_t now)
{
    struct reach_family *at = reach_find(reach, addr_family(to));
    if (at->failures < REACH_STRIKES && !has_failed(at, to))
        at->failed[at->failures++] = *to;
    if (at->failures == REACH_STRIKES && now >= at->works_until_at)
        at->until_at = now + REACH_REST_US;
}

void reach_worked(struct reach *reach, int family, uint64_t now)
{
    struct reach_family *at = reach_find(reach, family);
    at->failures = 0;
    at->until_at = 0;
    at->works_until_at = now + REACH_REST_US;
}

bool reach_is_missing(const struct reach *reach, int family, uint64_t now)
{
    const struct reach_family *at = family == AF_INET6 ? &reach->v6 : &reach->v4;
    return now < at->until_at;
}
