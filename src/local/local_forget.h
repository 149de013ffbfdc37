/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_FORGET_H
#define NAILUP_LOCAL_LOCAL_FORGET_H

/* Decides which cached answers local data replaces. They must go, because a hit does not look at
 * local data. */

#include <stdbool.h>

#include "cache/visit.h"
#include "dns/name.h"

struct local_names;

/* Returns whether local data (may be NULL) replaces an answer for the name (lower case): it answers
 * the question itself, or a block list decided the answer, or decides it now because of an alias.
 */
bool local_replaces(const struct local_names *names, struct name name, const struct answer *answer);

/* For cache_walk(), with a const struct local_names as its context: drops the answers that local
 * data replaces. Walk the cache after every worker has the table. */
enum cache_verdict local_forget(void *names, const struct cache_item *item);

#endif
