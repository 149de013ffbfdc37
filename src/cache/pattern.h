/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_PATTERN_H
#define NAILUP_CACHE_PATTERN_H

/*
 * Which answers an operator means who wants a name forgotten. Not only those to questions for the
 * name: one cached answer holds a whole chain of aliases, and what is believed of the name in the
 * middle or at the end of it has to go too. Pure.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cache/answer.h"
#include "dns/name.h"

enum { PATTERN_ANY_TYPE = 0 };

struct pattern {
    struct name name; /* of any case; borrowed */
    bool below;       /* names below it too */
    uint16_t type;    /* PATTERN_ANY_TYPE: whatever was asked for */
};

/*
 * Whether the answer is to a question for the name, has a record of it in its answer section, or an
 * alias that leads there. With a type: one to a question for this type, or whose records of the
 * name are of this type.
 */
bool pattern_matches(const struct pattern *pattern, const struct answer *answer);

#endif
