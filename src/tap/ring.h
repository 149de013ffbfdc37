/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_RING_H
#define NAILUP_TAP_RING_H

/*
 * Records of any length on their way from one thread to one other, in a ring of a fixed size, in
 * order. Nobody waits: a record that has no room is not taken. One thread writes, one reads.
 */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

/* The positions only grow; a place is a position modulo the size. Two cache lines apart, as those
 * beside are fetched together. */
struct ring {
    uint8_t *bytes;
    size_t size; /* a power of two */

    alignas(128) atomic_size_t tail; /* the writer's */
    size_t head_seen;                /* at most the head */
    size_t skipped;                  /* bytes at the end that the record being written leaves out */

    alignas(128) atomic_size_t head; /* the reader's: what is before it is free */
    size_t at;                       /* what is before it was read */
};

/* size_bytes: a power of two (MUST). Memory is used as it is first written. */
MUST_USE enum err ring_init(struct ring *ring, size_t size_bytes);
void ring_deinit(struct ring *ring);

/* The writer's: room for a record of at most max_len bytes, a quarter of the ring at most (MUST);
 * NULL: there is none. Then what it is, of len bytes. */
uint8_t *ring_reserve(struct ring *ring, size_t max_len);
void ring_commit(struct ring *ring, size_t len);
/* The writer's: bytes in use, or more. */
size_t ring_used(const struct ring *ring);

/* The reader's: the next record; false: there is none. It stays until ring_release(), which frees
 * all that were read; ring_rewind() makes those come again. */
bool ring_read(struct ring *ring, struct span *record);
void ring_release(struct ring *ring);
void ring_rewind(struct ring *ring);
/* The reader's: nothing is there to be read. */
bool ring_is_empty(const struct ring *ring);

#endif
