/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TAP_RING_H
#define NAILUP_TAP_RING_H

/*
 * A ring of fixed size that carries records of any length from one thread to one other, in order.
 * No thread waits: a record that finds no room is refused. One thread writes, one reads. The
 * functions are inline because a worker writes a record for each query.
 *
 * A record is its length, its bytes, and padding to a multiple of four. It never crosses the end of
 * the ring: a mark there says that it is at the beginning.
 * Invariant: head <= at <= tail <= head + size.
 */

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/err.h"
#include "base/span.h"

/* Positions only grow; a place is a position modulo the size. Writer and reader are two cache lines
 * apart, because the CPU fetches adjacent lines together. */
struct ring {
    uint8_t *bytes;
    size_t size; /* a power of two */

    alignas(128) atomic_size_t tail; /* set by the writer */
    size_t head_seen;                /* a former value of head */
    size_t skipped;                  /* bytes at the end that the current record leaves out */

    alignas(128) atomic_size_t head; /* set by the reader: everything before is free */
    size_t at;                       /* everything before has been read */
};

#define RING_SKIP_MARK UINT32_MAX

enum { RING_LEN_BYTES = 4 };

/* size_bytes is a power of two (MUST). Memory is used when it is first written. */
MUST_USE static inline enum err ring_init(struct ring *ring, size_t size_bytes)
{
    MUST(size_bytes >= 64 && (size_bytes & (size_bytes - 1)) == 0);
    memset(ring, 0, sizeof(*ring));
    ring->bytes = calloc(1, size_bytes);
    ring->size = size_bytes;
    return ring->bytes ? ERR_OK : ERR_NO_MEMORY;
}

static inline void ring_deinit(struct ring *ring)
{
    free(ring->bytes);
    ring->bytes = NULL;
}

static inline size_t ring_place(const struct ring *ring, size_t position)
{
    return position & (ring->size - 1);
}

static inline size_t ring_record_size(size_t len)
{
    return RING_LEN_BYTES + ((len + 3) & ~(size_t)3);
}

/* ---- the writer's thread ---- */

static inline bool ring_has_room(struct ring *ring, size_t tail, size_t len)
{
    if (ring->size - (tail - ring->head_seen) >= len)
        return true;
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->size - (tail - ring->head_seen) >= len;
}

/* Returns room for a record of at most max_len bytes, a quarter of the ring at most (MUST), or
 * NULL. ring_commit() then adds the record with its final length. */
static inline uint8_t *ring_reserve(struct ring *ring, size_t max_len)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    size_t need = ring_record_size(max_len), to_end = ring->size - ring_place(ring, tail);
    MUST(max_len <= ring->size / 4);
    ring->skipped = to_end < need ? to_end : 0;
    if (!ring_has_room(ring, tail, ring->skipped + need))
        return NULL;
    return ring->bytes + ring_place(ring, tail + ring->skipped) + RING_LEN_BYTES;
}

static inline void ring_put_len(struct ring *ring, size_t position, uint32_t len)
{
    memcpy(ring->bytes + ring_place(ring, position), &len, sizeof(len));
}

static inline void ring_commit(struct ring *ring, size_t len)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (ring->skipped)
        ring_put_len(ring, tail, RING_SKIP_MARK);
    tail += ring->skipped;
    ring_put_len(ring, tail, (uint32_t)len);
    ring->skipped = 0;
    atomic_store_explicit(&ring->tail, tail + ring_record_size(len), memory_order_release);
}

/* Returns the bytes in use, or more. */
static inline size_t ring_used(const struct ring *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_relaxed) - ring->head_seen;
}

/* ---- the reader's thread ---- */

/* Returns whether every record has been read. */
static inline bool ring_is_empty(const struct ring *ring)
{
    return ring->at == atomic_load_explicit(&ring->tail, memory_order_acquire);
}

static inline uint32_t ring_len_at(const struct ring *ring, size_t position)
{
    uint32_t len;
    memcpy(&len, ring->bytes + ring_place(ring, position), sizeof(len));
    return len;
}

/* Gives the next record, or returns false. Records stay until ring_release() frees all that were
 * read. ring_rewind() makes them come again instead. */
static inline bool ring_read(struct ring *ring, struct span *record)
{
    if (ring_is_empty(ring))
        return false;
    if (ring_len_at(ring, ring->at) == RING_SKIP_MARK)
        ring->at += ring->size - ring_place(ring, ring->at);
    uint32_t len = ring_len_at(ring, ring->at);
    *record = span_of(ring->bytes + ring_place(ring, ring->at) + RING_LEN_BYTES, len);
    ring->at += ring_record_size(len);
    return true;
}

static inline void ring_release(struct ring *ring)
{
    atomic_store_explicit(&ring->head, ring->at, memory_order_release);
}

static inline void ring_rewind(struct ring *ring)
{
    ring->at = atomic_load_explicit(&ring->head, memory_order_relaxed);
}

#endif
