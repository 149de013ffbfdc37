/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A ring of records (ring.h): each is its length and its bytes, up to a place that is a multiple of
 * four, and never goes over the ring's end: where it would, a mark says that it stands at the
 * beginning.
 * Invariant: head <= at <= tail <= head + size.
 */
#include "tap/ring.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum { LEN_BYTES = 4 };

static const uint32_t skip_mark = UINT32_MAX;

enum err ring_init(struct ring *ring, size_t size_bytes)
{
    MUST(size_bytes >= 64 && (size_bytes & (size_bytes - 1)) == 0);
    memset(ring, 0, sizeof(*ring));
    ring->bytes = calloc(1, size_bytes);
    ring->size = size_bytes;
    return ring->bytes ? ERR_OK : ERR_NO_MEMORY;
}

void ring_deinit(struct ring *ring)
{
    free(ring->bytes);
    ring->bytes = NULL;
}

static size_t ring_place_of(const struct ring *ring, size_t position)
{
    return position & (ring->size - 1);
}

static size_t ring_whole_len(size_t len)
{
    return LEN_BYTES + ((len + 3) & ~(size_t)3);
}

/* ---- writing ---- */

static bool ring_has_room(struct ring *ring, size_t tail, size_t len)
{
    if (ring->size - (tail - ring->head_seen) >= len)
        return true;
    ring->head_seen = atomic_load_explicit(&ring->head, memory_order_acquire);
    return ring->size - (tail - ring->head_seen) >= len;
}

uint8_t *ring_reserve(struct ring *ring, size_t max_len)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    size_t need = ring_whole_len(max_len), to_end = ring->size - ring_place_of(ring, tail);
    MUST(max_len <= ring->size / 4);
    ring->skipped = to_end < need ? to_end : 0;
    if (!ring_has_room(ring, tail, ring->skipped + need))
        return NULL;
    return ring->bytes + ring_place_of(ring, tail + ring->skipped) + LEN_BYTES;
}

static void put_len(struct ring *ring, size_t position, uint32_t len)
{
    memcpy(ring->bytes + ring_place_of(ring, position), &len, sizeof(len));
}

void ring_commit(struct ring *ring, size_t len)
{
    size_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
    if (ring->skipped)
        put_len(ring, tail, skip_mark);
    tail += ring->skipped;
    put_len(ring, tail, (uint32_t)len);
    ring->skipped = 0;
    atomic_store_explicit(&ring->tail, tail + ring_whole_len(len), memory_order_release);
}

size_t ring_used(const struct ring *ring)
{
    return atomic_load_explicit(&ring->tail, memory_order_relaxed) - ring->head_seen;
}

/* ---- reading ---- */

bool ring_is_empty(const struct ring *ring)
{
    return ring->at == atomic_load_explicit(&ring->tail, memory_order_acquire);
}

static uint32_t len_at(const struct ring *ring, size_t position)
{
    uint32_t len;
    memcpy(&len, ring->bytes + ring_place_of(ring, position), sizeof(len));
    return len;
}

bool ring_read(struct ring *ring, struct span *record)
{
    if (ring_is_empty(ring))
        return false;
    if (len_at(ring, ring->at) == skip_mark)
        ring->at += ring->size - ring_place_of(ring, ring->at);
    uint32_t len = len_at(ring, ring->at);
    *record = span_of(ring->bytes + ring_place_of(ring, ring->at) + LEN_BYTES, len);
    ring->at += ring_whole_len(len);
    return true;
}

void ring_release(struct ring *ring)
{
    atomic_store_explicit(&ring->head, ring->at, memory_order_release);
}

void ring_rewind(struct ring *ring)
{
    ring->at = atomic_load_explicit(&ring->head, memory_order_relaxed);
}
