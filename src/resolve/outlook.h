/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_OUTLOOK_H
#define NAILUP_RESOLVE_OUTLOOK_H

/* What a resolver would do with a question now, for people who want to know: resolver_look(). */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "local/local_names.h"
#include "resolve/cut_cache.h"
#include "recurse/delegation.h"
#include "resolve/recursion_options.h"

struct zone;

enum outlook_way {
    OUTLOOK_CACHE,     /* the answer is at hand */
    OUTLOOK_LOCAL,     /* answered here */
    OUTLOOK_UPSTREAMS, /* asked of the zone's upstreams */
    OUTLOOK_RECURSION, /* by recursion, which goes down from cut */
    OUTLOOK_NOBODY,    /* no zone takes it: REFUSED */
};

struct outlook {
    enum outlook_way way;
    bool is_asked;           /* it is being asked already: who comes now waits for that answer */
    uint16_t rcode;          /* OUTLOOK_LOCAL */
    bool has_local;          /* the names answered here say something about it: */
    struct local_view local; /* borrows from the key */
    struct name target;      /* an alias answered here leads to this name; else its len is 0 */
    const struct zone *zone; /* that takes the name, or the target; NULL: none */
    enum cut_look from;      /* OUTLOOK_RECURSION, and of a stub zone: where it begins */
    struct delegation cut;   /* CUT_LOOK_CUT */
    const struct recursion_options *recursion; /* how its servers would be asked */
    uint8_t wire[NAME_WIRE_MAX];               /* of target */
};

#endif
