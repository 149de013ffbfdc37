/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SNAPSHOTS_H
#define NAILUP_DAEMON_SNAPSHOTS_H

/* Keeps the cache over a restart (cache.snapshot). A thread reads the file at the start and writes
 * it at intervals, because it waits for the disk. A failure is a log line and costs only cached
 * answers. */

#include <stdbool.h>
#include <stdint.h>

#include "cache/visit.h"

struct cache;
struct snapshots;

/* How long a start waits for the snapshot. After that, reading continues while the first queries
 * are answered. */
enum { SNAPSHOTS_START_US = 2 * 1000 * 1000 };

/* Begins to read the file. Leaves out answers that the filter rejects; it runs on another thread,
 * until snapshots_are_read(). NULL: path is NULL or "", or there is no thread. A worker must not
 * call this. */
struct snapshots *snapshots_open(const char *path, uint32_t interval_s, struct cache *cache,
                                 struct cache_filter filter);

/* Whether the file has been read: usually true a moment after the start. NULL is fine.
 */
bool snapshots_are_read(struct snapshots *snapshots);

/* Ends the thread. With save, writes the cache first, unless the file has not been read completely:
 * then it holds more than the cache. NULL is fine. */
void snapshots_close(struct snapshots **snapshots, bool save);

#endif
