/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_DRAIN_H
#define NAILUP_TAP_DRAIN_H

/*
 * A thread that carries what workers leave in their rings, one a worker, to where it may take its
 * time: a slow pipe, a reader that comes and goes. Workers never wait for it: what finds its ring
 * full is lost, and the worker counts it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "tap/ring.h"

struct drain;

struct drain_options {
    const char *name; /* of the thread, 15 bytes at most */
    size_t rings;
    size_t ring_bytes;
    unsigned retry_ms; /* after carry() said false */
    /* On the thread, at its start and when there are records: takes all that is in the rings.
     * False: the world did not take it; what was not released comes again. */
    bool (*carry)(void *owner);
    void *owner;
};

enum { DRAIN_STOP_MS = 1000 }; /* for what is left at the end */

/* Takes no memory for rings yet. NULL: out of memory. */
struct drain *drain_new(const struct drain_options *options);
/* The rings are there and the thread begins; again: nothing. ERR_NO_MEMORY, ERR_NO_FILES. Of one
 * thread, as drain_free().
 */
MUST_USE enum err drain_start(struct drain *drain);
/* Carries what is left for DRAIN_STOP_MS at most and ends the thread. No worker writes any more.
 * NULL is fine. */
void drain_free(struct drain *drain);

/* A worker's ring is its own thread's to write: room and then the record, as in ring.h. */
uint8_t *drain_reserve(struct drain *drain, size_t ring, size_t max_len);
void drain_commit(struct drain *drain, size_t ring, size_t len);

/* ---- in carry() ---- */

struct ring *drain_ring(struct drain *drain, size_t ring);
size_t drain_rings(const struct drain *drain);
/* Waits until poll(2) says one of these events of fd (-1: until the time is over). False: the time
 * is over, or the drain ends and its time is. ms < 0: no limit but that. */
bool drain_wait(struct drain *drain, int fd, short events, int ms);
/* Whether drain_free() was called. */
bool drain_is_ending(const struct drain *drain);

#endif
