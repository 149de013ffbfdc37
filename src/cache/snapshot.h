/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SNAPSHOT_H
#define NAILUP_CACHE_SNAPSHOT_H

/*
 * The cache as a file, so that a restart is not cold. The file says how long each answer still
 * lives or how long ago it expired; loading subtracts the time since. Expired answers are in it as
 * long as they may serve as stale (the option serve_stale_s), and stay expired. Failures are left
 * out. No answer comes back secure. One that was insecure comes back so only under the same rules
 * (cache_set_rules()); else it needs a new verdict. The calls block on the disk but never hold up
 * readers or writers: they need a separate thread that is registered with cache_thread_begin().
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cache/visit.h"

struct cache;

/* One instant on the loop's clock and on the wall clock. */
struct snapshot_now {
    uint64_t us;
    uint64_t wall_s;
};

/* A clock may be set back a little between writing and reading. A snapshot from further ahead is
 * refused, because its age is unknown. */
enum { SNAPSHOT_AHEAD_MAX_S = 60 };

/* Returns whether the file at path exists and is not a snapshot of any version. Such a file is
 * never overwritten. */
bool snapshot_is_foreign(const char *path);

/* Writes the cache's answers to the file at path and sets *count to their number. Errors are those
 * of base/private_file.h; ERR_FOREIGN as in snapshot_is_foreign(); ERR_CLOSED when another thread
 * sets *stop meanwhile: the old file then stays. */
MUST_USE enum err snapshot_save(struct cache *cache, const char *path, struct snapshot_now now,
                                const bool *stop, uint64_t *count);

/* Stores the answers of a file that are still live or may serve as stale, and that pass the filter;
 * *count is their number. Answers that the cache already has stay. The whole file is checked before
 * any answer is stored. Errors:
 *  - ERR_NOT_FOUND: there is no file;
 *  - ERR_INVALID: truncated, no snapshot, an unknown version, from the future, or no plain file;
 *  - ERR_PERMISSION: as in base/private_file.h;
 *  - ERR_CLOSED: *stop became true;
 *  - ERR_NO_MEMORY. */
MUST_USE enum err snapshot_load(struct cache *cache, const char *path, struct snapshot_now now,
                                struct cache_filter filter, const bool *stop, uint64_t *count);

/* Does the same with an open stream, which must be seekable. */
MUST_USE enum err snapshot_load_from(struct cache *cache, FILE *file, struct snapshot_now now,
                                     struct cache_filter filter, const bool *stop, uint64_t *count);

#endif
