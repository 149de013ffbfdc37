/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_CUT_LOOK_H
#define NAILUP_RESOLVE_CUT_LOOK_H

/* Where the way down to a name would begin, for who only wants to know: nothing is asked or marked.
 * Of the worker's thread. */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"

struct delegation;
struct tasks;
struct zone;

enum cut_look {
    CUT_LOOK_NONE,   /* nothing is known, not even hints */
    CUT_LOOK_CUT,    /* *out is the closest cut known, or the hints */
    CUT_LOOK_ZONE,   /* at the configured zone's own servers */
    CUT_LOOK_ABSENT, /* nowhere: it is known that nothing is there (RFC 8020) */
};

/* For a question of this type that the zone (is_authoritative) takes; name is in lower case. In a
 * read section. */
enum cut_look cut_look(const struct tasks *tasks, const struct zone *zone, struct name name,
                       uint16_t type, struct delegation *out);

#endif
