/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_RESOLVE_FAKE_UPSTREAMS_H
#define NAILUP_TESTS_RESOLVE_FAKE_UPSTREAMS_H

/* In place of upstream's table: an upstream is the number of its port, and calls are counted. One
 * file of a program includes this. */

#include <limits.h>

#include "unit/resolve/sample.h"

static unsigned upstreams_made;
static int upstreams_wanted, upstreams_held; /* totals over all upstreams */
static unsigned upstreams_settled;
static unsigned upstreams_left = UINT_MAX; /* how many upstreams fit into the memory */
static bool upstreams_are_unproven;        /* true: no upstream has ever answered */

struct upstream *upstreams_want(struct upstreams *upstreams, const struct addr *addr,
                                const struct upstream_options *options)
{
    (void)upstreams;
    (void)options;
    if (upstreams_left == 0)
        return NULL;
    upstreams_left--;
    upstreams_made++;
    upstreams_wanted++;
    upstreams_held++;
    return upstream_number(addr_port(addr));
}

void upstreams_set_host(struct upstream *upstream, const char *host)
{
    (void)upstream;
    (void)host;
}

void upstreams_set_hold_zone(struct upstream *upstream, struct name zone)
{
    assert_non_null(upstream);
    assert_non_null(zone.wire);
}

void upstreams_unwant(struct upstream *upstream)
{
    assert_non_null(upstream);
    upstreams_wanted--;
}

void upstreams_drop(struct upstream *upstream)
{
    assert_non_null(upstream);
    upstreams_held--;
}

const struct addr *upstreams_addr(const struct upstream *upstream)
{
    static struct addr addr; /* the last byte is the upstream's number */
    addr =
        (struct addr){.in = {.sin_family = AF_INET,
                             .sin_addr.s_addr = htonl(0xc0000000 | (uint8_t)(uintptr_t)upstream)}};
    return &addr;
}

bool upstreams_lacks_family(const struct upstreams *upstreams, int family)
{
    (void)upstreams;
    (void)family;
    return false;
}

bool upstreams_are_full(const struct upstreams *upstreams)
{
    (void)upstreams;
    return false;
}

bool upstreams_is_proven(const struct upstream *upstream)
{
    assert_non_null(upstream);
    return !upstreams_are_unproven;
}

bool upstreams_has_answered(const struct upstreams *upstreams, const struct addr *addr,
                            const struct upstream_options *options)
{
    (void)upstreams;
    (void)addr;
    (void)options;
    return !upstreams_are_unproven;
}

void upstreams_settle(struct upstreams *upstreams, upstreams_keeps keeps, void *context)
{
    (void)upstreams;
    (void)context;
    (void)keeps;
    upstreams_settled++;
}

struct upstream *upstreams_discover(struct upstreams *upstreams, const struct addr *addr,
                                    const struct upstream_options *options)
{
    (void)upstreams;
    (void)options;
    if (upstreams_left == 0)
        return NULL;
    upstreams_left--;
    upstreams_held++;
    return (struct upstream *)(uintptr_t)(addr_port(addr) + 1u);
}

#endif
