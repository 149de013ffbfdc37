/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_MATCH_H
#define NAILUP_TESTS_SCENARIO_MATCH_H

/* Compares a message with an entry, in the parts that the entry's MATCH line names. */

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"
#include "scenario/entry.h"

enum { MATCH_WHY_MAX = 64 };

/* why (of MATCH_WHY_MAX bytes) gets the first difference. */
bool match_message(const struct entry *entry, struct span bytes, bool over_tcp,
                   char why[MATCH_WHY_MAX]);

/* Returns the message in dig's format, even if it is broken. The static storage stays valid until
 * the call after next. */
const char *match_text(struct span bytes);

#endif
