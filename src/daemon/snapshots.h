/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SNAPSHOTS_H
#define NAILUP_DAEMON_SNAPSHOTS_H

/* The cache over a restart (cache.snapshot): a thread of its own reads it at the start and writes
 * it every so often, since it waits for the disk. What goes wrong is a line in the log and costs
 * answers, no more. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/visit.h"

struct cache;
struct snapshots;

/* What a start waits for the reading; what is left of it then goes on beside the first queries. */
enum { SNAPSHOTS_START_US = 2 * 1000 * 1000 };

/* Begins to read the file; answers that the filter does not take are left out;
 * it is called on another thread, until snapshots_are_read(). NULL when path is NULL
 * or "", or no thread can be had. The caller is no worker. */
struct snapshots *snapshots_open(const char *path, uint32_t interval_s, struct cache *cache,
                                 struct cache_filter filter);

/* Whether the reading is over, as it is a moment after the start, seldom later. NULL is fine. */
bool snapshots_are_read(struct snapshots *snapshots);

/* Ends the thread; with save the cache is written first, unless the reading was not done yet, as
 * the file then has more than the cache. NULL is fine. */
void snapshots_close(struct snapshots **snapshots, bool save);

#endif
