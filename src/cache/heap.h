/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_HEAP_H
#define NAILUP_CACHE_HEAP_H

/*
 * Blocks of any size within one given region of memory (two-level segregated fit: constant time,
 * neighbours join when freed). The region never grows, so a byte bound on it holds by itself, and
 * no block belongs to a size: what small blocks leave, a large one may take.
 *
 * A block is named by a ref, its payload's distance from the region's start in granules; 0 names
 * none. Each block has a header of one granule. Not thread-safe: the owner locks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEAP_GRANULE = 8, /* bytes; payloads are aligned to it */
    HEAP_EXACT = 64,  /* below so many granules every size has a free list of its own */
    HEAP_CLASSES = 64 + 26 * 8,
    HEAP_CLASS_WORDS = (HEAP_CLASSES + 63) / 64,
};

#define HEAP_BYTES_MAX ((size_t)HEAP_GRANULE << 30)

struct heap {
    uint8_t *base;
    uint32_t granules;                     /* that can be in blocks */
    uint32_t used;                         /* that are, headers included */
    uint64_t class_bits[HEAP_CLASS_WORDS]; /* which lists are not empty */
    uint32_t lists[HEAP_CLASSES];
};

/* base: aligned to HEAP_GRANULE, lent for the heap's life. bytes: 64 to HEAP_BYTES_MAX. */
void heap_init(struct heap *heap, void *base, size_t bytes);

/* A block for bytes, or 0 when none fits. */
uint32_t heap_take(struct heap *heap, size_t bytes);

/* Gives back what heap_take() gave. */
void heap_give(struct heap *heap, uint32_t ref);

static inline void *heap_at(const uint8_t *base, uint32_t ref)
{
    return (void *)(uintptr_t)(base + (size_t)ref * HEAP_GRANULE);
}

/* Granules of a block, its header included. */
uint32_t heap_block_granules(const struct heap *heap, uint32_t ref);

/* So many granules side by side, once free, serve heap_take(bytes) for certain. */
uint32_t heap_run_for(size_t bytes);

/* ---- walking through the region, block by block, free ones included ---- */

enum heap_block { HEAP_FREE, HEAP_USED, HEAP_LEAVING, HEAP_END };

uint32_t heap_first(const struct heap *heap);
uint32_t heap_next(const struct heap *heap, uint32_t ref);
enum heap_block heap_state(const struct heap *heap, uint32_t ref);

/* Marks a used block: its owner has promised to give it back. */
void heap_set_leaving(struct heap *heap, uint32_t ref);

#endif
