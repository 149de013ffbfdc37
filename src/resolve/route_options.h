/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ROUTE_OPTIONS_H
#define NAILUP_RESOLVE_ROUTE_OPTIONS_H

/* Which zone is asked of whom: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/name.h"
#include "resolve/recursion_options.h"
#include "upstream/upstream_options.h"

struct route_upstream {
    struct addr addr;
    struct upstream_options options;
};

/* What the servers of a zone are. */
enum route_kind {
    ROUTE_FORWARD, /* recursive ones, asked with RD */
    ROUTE_STUB,    /* authoritative ones, where recursion begins */
};

struct route_zone {
    uint8_t wire[NAME_WIRE_MAX]; /* the zone's name in lower case */
    uint8_t name_len;
    enum route_kind kind;
    bool first;    /* recursion where they fail */
    bool trust_ad; /* AD of these upstreams may go to clients */
    bool cache;    /* answers of this zone are kept */
    struct route_upstream *upstreams;
    size_t upstream_count;
};

struct route_options {
    struct route_zone *zones;
    size_t zone_count;
    /* Single addresses of tcp-upstream-keepalive with prewarm: dialled at start. */
    struct route_upstream *prewarmed;
    size_t prewarmed_count;
    bool minimal_responses;
    struct recursion_options recursion;
};

#endif
