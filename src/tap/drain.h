/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DRAIN_H
#define NAILUP_TAP_DRAIN_H

/*
 * A thread that carries records from the rings of workers, one ring each, to a slow place: a pipe,
 * or a reader that comes and goes. Workers never wait for it. A record that finds its ring full is
 * lost, and the worker counts it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tap/ring.h"

struct drain;

struct drain_options {
    const char *name; /* the thread's name, at most 15 bytes */
    size_t rings;
    size_t ring_bytes;
    unsigned retry_ms; /* the pause after carry() returns false */
    /* Takes all records from the rings. Called on the thread, at its start and when there are
     * records. Returns false when they could not be written; records that were not released come
     * again. */
    bool (*carry)(void *owner);
    void *owner;
};

enum { DRAIN_STOP_MS = 1000 }; /* the time for the last records */

/* Allocates no rings yet. Returns NULL when out of memory. */
struct drain *drain_new(const struct drain_options *options);
/* Allocates the rings and starts the thread; a second call does nothing. Call it from the thread
 * that calls drain_free(). ERR_NO_MEMORY, ERR_NO_FILES. */
MUST_USE enum err drain_start(struct drain *drain);
/* Makes the thread call carry() soon, also without records. Any thread, after
 * drain_start(). */
void drain_wake(struct drain *drain);
/* Carries the last records for at most DRAIN_STOP_MS and ends the thread. All workers must have
 * stopped writing. NULL is fine. */
void drain_free(struct drain *drain);

/* Writes a record to a worker's ring, as in ring.h. Only that worker's thread calls these. */
uint8_t *drain_reserve(struct drain *drain, size_t which, size_t max_len);
void drain_commit(struct drain *drain, size_t which, size_t len);

/* ---- in carry() ---- */

struct ring *drain_ring(struct drain *drain, size_t ring);
size_t drain_rings(const struct drain *drain);
/* Waits until poll(2) reports one of these events for fd, or for ms with fd -1. Returns false after
 * ms, or when the drain ends and DRAIN_STOP_MS have passed. ms < 0: waits without a limit until the
 * drain ends. */
bool drain_wait(struct drain *drain, int fd, short events, int ms);
/* Returns whether drain_free() was called. */
bool drain_is_ending(const struct drain *drain);

#endif
