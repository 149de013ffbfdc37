/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CACHE_HEAP_H
#define NAILUP_CACHE_HEAP_H

/*
 * Blocks of any size in one fixed region of memory (two-level segregated fit: constant time, free
 * neighbours join). The region never grows, so its byte bound always holds. No memory is reserved
 * for one size: a large block may take the place of small ones.
 *
 * A ref names a block: the distance of its payload from the start of the region, in granules; 0
 * names none. Each block has a header of one granule. Not thread-safe: the owner locks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    HEAP_GRANULE = 8, /* bytes; payloads are aligned to it */
    HEAP_EXACT = 64,  /* each size below this many granules has its own free list */
    HEAP_CLASSES = 64 + 26 * 8,
    HEAP_CLASS_WORDS = (HEAP_CLASSES + 63) / 64,
};

#define HEAP_BYTES_MAX ((size_t)HEAP_GRANULE << 30)

struct heap {
    uint8_t *base;
    uint32_t granules;                     /* the capacity, headers included */
    uint32_t used;                         /* bytes in used blocks, headers included */
    uint64_t class_bits[HEAP_CLASS_WORDS]; /* a bit for each list that is not empty */
    uint32_t lists[HEAP_CLASSES];
};

/* base is aligned to HEAP_GRANULE and borrowed for the life of the heap. bytes: 64 to
 * HEAP_BYTES_MAX. */
void heap_init(struct heap *heap, void *base, size_t bytes);

/* Returns a block with room for `bytes` bytes, or 0 if no free block is large enough. */
uint32_t heap_take(struct heap *heap, size_t bytes);

/* Gives back a block from heap_take(). */
void heap_give(struct heap *heap, uint32_t ref);

static inline void *heap_at(const uint8_t *base, uint32_t ref)
{
    return (void *)(uintptr_t)(base + (size_t)ref * HEAP_GRANULE);
}

/* Returns the granules of a block, its header included. */
uint32_t heap_block_granules(const struct heap *heap, uint32_t ref);

/* Returns how many adjacent free granules make heap_take(bytes) succeed for certain. */
uint32_t heap_run_for(size_t bytes);

/* ---- a walk over all blocks of the region, free ones included ---- */

enum heap_block { HEAP_FREE, HEAP_USED, HEAP_LEAVING, HEAP_END };

uint32_t heap_first(const struct heap *heap);
uint32_t heap_next(const struct heap *heap, uint32_t ref);
enum heap_block heap_state(const struct heap *heap, uint32_t ref);

/* Marks a used block that its owner will give back soon. */
void heap_set_leaving(struct heap *heap, uint32_t ref);

#endif
