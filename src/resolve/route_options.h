/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ROUTE_OPTIONS_H
#define NAILUP_RESOLVE_ROUTE_OPTIONS_H

/* The zones and their servers: filled by config, immutable, shared by all workers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "dns/name.h"
#include "resolve/recursion_options.h"
#include "resolve/validation_options.h"
#include "upstream/upstream_options.h"

/* The kind of a zone's servers. */
enum route_kind {
    ROUTE_FORWARD, /* recursive, asked with RD */
    ROUTE_STUB,    /* authoritative: recursion starts there */
};

struct route_zone {
    uint8_t wire[NAME_WIRE_MAX]; /* the zone's name in lower case */
    uint8_t name_len;
    enum route_kind kind;
    bool first;      /* recursion is the substitute where they fail */
    bool trust_ad;   /* clients may see the AD of these upstreams */
    bool cache;      /* answers of this zone are cached */
    bool validate;   /* answers of this zone are validated, if any are */
    bool aggressive; /* its secure records answer for other names too, where those of any zone do */
    struct route_upstream *upstreams;
    size_t upstream_count;
    /* It has servers by name only, and none of their addresses is known yet: its questions fail. */
    bool awaits_hosts;
};

struct route_options {
    struct route_zone *zones;
    size_t zone_count;
    /* Single addresses of tcp-upstream-keepalive with prewarm, dialled at the start. */
    struct route_upstream *prewarmed;
    size_t prewarmed_count;
    bool minimal_responses;
    struct recursion_options recursion;
    struct validation_options validation;
};

#endif
