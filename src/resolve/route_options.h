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
    bool is_of_view; /* a view gives it, so it precedes a zone held here for all clients */
};

struct local_names;

/* Settings that resolution depends on. Views with equal ones share them (resolve/space.h). */
struct space_options {
    uint32_t number;          /* no other space has it; below SPACE_NUMBERS */
    struct route_zone *zones; /* added to those of struct route_options; a zone here replaces one of
                                 the same name */
    size_t zone_count;
    enum validate_mode mode;
    const struct local_names *local; /* names that are never asked for; NULL: none */
};

enum { VIEW_NAME_MAX = 63 /* characters */ };

/* Settings for the clients of one view. */
struct view_options {
    const char *name;
    size_t space;                    /* a place in spaces, counted from 1; 0: the shared space */
    const struct local_names *local; /* NULL: that of the space */
};

struct view_set {
    struct space_options *spaces;
    size_t space_count;
    struct view_options *views; /* their numbers count from 1 */
    size_t view_count;
};

struct route_options {
    struct route_zone *zones;
    size_t zone_count;
    /* Single addresses of tcp-upstream-keepalive with prewarm, dialled at the start. */
    struct route_upstream *prewarmed;
    size_t prewarmed_count;
    uint32_t space; /* the number of the shared space: CACHE_SPACE_SHARED, or one of a portal */
    bool minimal_responses;
    struct recursion_options recursion;
    struct validation_options validation;
    const struct view_set *views; /* NULL: none */
};

#endif
