/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_MATCH_H
#define NAILUP_TESTS_SCENARIO_MATCH_H

/* Does a message say what an entry says, as far as the entry's MATCH line asks? */

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "scenario/entry.h"

enum { MATCH_WHY_MAX = 64 };

/* why (of MATCH_WHY_MAX bytes) names the first thing that differs. */
bool match_message(const struct entry *entry, struct span bytes, bool over_tcp,
                   char why[MATCH_WHY_MAX]);

/* The message in text like dig's, also when it is not sound. Static storage until the next two
 * calls. */
const char *match_text(struct span bytes);

#endif
