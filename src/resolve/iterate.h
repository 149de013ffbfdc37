/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ITERATE_H
#define NAILUP_RESOLVE_ITERATE_H

/*
 * Recursion: from the closest zone cut that is known down to the zone that has the name, asking
 * servers that have zones and following what they refer to. iterate begins at the servers of the
 * root, stub at those of a zone of the configuration; the way down is the same.
 */

#include "resolve/strategy.h"

enum {
    ITERATE_REFUSALS_MAX = 4, /* of parts of the name at one cut: the whole is asked for then */
};

/* Tags of its subtasks, beside DESCENT_TAG_ADDRESS. */
enum {
    ITERATE_TAG_ALIAS,   /* where an alias leads */
    ITERATE_TAG_PRIMING, /* the servers of the root */
};

extern const struct strategy iterate_strategy;
extern const struct strategy stub_strategy;

#endif
