/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_OUTLOOK_H
#define NAILUP_RESOLVE_OUTLOOK_H

/* Describes for people what would happen to a question now: resolver_look(). */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "local/local_names.h"
#include "resolve/cut_cache.h"
#include "recurse/delegation.h"
#include "resolve/recursion_options.h"

struct anchor;
struct zone;

enum outlook_way {
    OUTLOOK_CACHE,     /* the cache has the answer */
    OUTLOOK_LOCAL,     /* local data or a zone held here has the answer */
    OUTLOOK_DROPPED,   /* local data drops the query */
    OUTLOOK_SPANS,     /* spans of its zone have the answer */
    OUTLOOK_UPSTREAMS, /* the zone's upstreams are asked */
    OUTLOOK_RECURSION, /* recursion, which starts at cut */
    OUTLOOK_NOBODY,    /* no zone takes it: REFUSED */
};

struct outlook {
    enum outlook_way way;
    bool is_asked;               /* a task asks it already, and the next client would join */
    uint16_t rcode;              /* OUTLOOK_LOCAL, OUTLOOK_SPANS */
    bool has_alias;              /* OUTLOOK_LOCAL: the answer may have an alias */
    bool has_local;              /* local data has something about it: */
    struct local_view local;     /* borrows from the key */
    struct name target;          /* the target of such an alias; len 0: none */
    const struct zone *zone;     /* that takes the name or the target; NULL: none */
    const struct anchor *anchor; /* the closest, which decides about validation; NULL: none */
    enum cut_look from;          /* for recursion and a stub zone: where the descent starts */
    struct delegation cut;       /* CUT_LOOK_CUT */
    const struct recursion_options *recursion; /* how its servers would be asked */
    uint8_t wire[NAME_WIRE_MAX];               /* of target */
};

#endif
