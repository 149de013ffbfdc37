/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOCAL_LOCAL_FORGET_H
#define NAILUP_LOCAL_LOCAL_FORGET_H

/* What a cache has of names that are answered here: hits would not look at the table. */

#include "cache/visit.h"

/* For cache_walk(), with a const struct local_names as its context: drops the answers to
 * names in the table (local_names_has()), and the answers that block lists decided, or decide now
 * because of an alias. Walk the cache when every worker has the table. */
enum cache_verdict local_forget(void *names, const struct cache_item *item);

#endif
