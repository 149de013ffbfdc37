/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_SNAPSHOT_H
#define NAILUP_CACHE_SNAPSHOT_H

/*
 * The cache as a file, so that a restart is not cold. Answers go into it with what they have left
 * to live, and come out with that less the time since. Those that ended go with how long ago, as
 * long as they may serve as stale ones (the option serve_stale_s), and never come out live.
 * Failures stay away. The calls block on the disk, but hold up no reader and no writer: they are
 * for a thread of their own, which is registered (cache_thread_begin()).
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "cache/visit.h"

struct cache;

/* The same instant on the loop's clock and on the wall's. */
struct snapshot_now {
    uint64_t us;
    uint64_t wall_s;
};

/* A clock may be set back a little between writing and reading; a snapshot from later than that is
 * not believed, as nobody knows how old it is. */
enum { SNAPSHOT_AHEAD_MAX_S = 60 };

/* Whether there is a file at path that is no snapshot of any version: it is never written over. */
bool snapshot_is_foreign(const char *path);

/* Writes all these answers to the file at path, as in base/private_file.h, whose errors it has;
 * ERR_FOREIGN as snapshot_is_foreign(), ERR_CLOSED when *stop became true meanwhile (any thread may
 * set it): then the old file stays.
 * *count: how many. */
MUST_USE enum err snapshot_save(struct cache *cache, const char *path, struct snapshot_now now,
                                const bool *stop, uint64_t *count);

/* Stores the answers of a file that are still live, or may serve as stale, and pass the filter;
 * *count is how many. What the cache has already stays. The whole file is checked before anything
 * is taken from it. ERR_NOT_FOUND: there is none. ERR_INVALID: torn, not a snapshot, of another
 * version, from the future, or no plain file. ERR_PERMISSION as in base/private_file.h. ERR_CLOSED
 * when *stop became true; ERR_NO_MEMORY. */
MUST_USE enum err snapshot_load(struct cache *cache, const char *path, struct snapshot_now now,
                                struct cache_filter filter, const bool *stop, uint64_t *count);

/* The same from an open stream, which must be seekable. */
MUST_USE enum err snapshot_load_from(struct cache *cache, FILE *file, struct snapshot_now now,
                                     struct cache_filter filter, const bool *stop, uint64_t *count);

#endif
