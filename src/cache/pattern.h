/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_PATTERN_H
#define NAILUP_CACHE_PATTERN_H

/*
 * Decides which cached answers go when an operator flushes a name. An answer may hold a
 * whole alias chain, so answers with the name in the middle or at the end of a chain match too.
 * Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/name.h"

enum { PATTERN_ANY_TYPE = 0 };

struct pattern {
    struct name name; /* in any spelling; borrowed */
    bool is_subtree;  /* include names below it */
    uint16_t type;    /* or PATTERN_ANY_TYPE */
};

/*
 * Returns whether the answer's QNAME is the name, its answer section has a record of the name, or
 * an alias in it leads to the name. With a type: the QTYPE or the type of that record must equal
 * it.
 */
bool pattern_matches(const struct pattern *pattern, const struct answer *answer);

#endif
