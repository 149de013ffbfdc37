/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The blocks of one region; their contents do not matter here. Invariants: the blocks from
 * heap_first() to the end mark fill the region without a gap, no two free blocks are neighbours,
 * and each free block is in the list of its class. */
#include "cache/heap.h"

#include "base/check.h"

enum {
    BLOCK_MIN = 2,       /* granules: the header and the two links of a free block */
    OWN_CLASS_TRIES = 4, /* blocks of the same class to try before larger classes */
};
#define BIT_USED (1u << 31)
#define BIT_LEAVING (1u << 30)
#define SIZE_MASK (BIT_LEAVING - 1)

struct block {
    uint32_t size_flags; /* granules and BIT_*; size 0 is the end mark */
    uint32_t before;     /* granules of the previous block if it is free, else 0 */
    uint32_t next, prev; /* refs in the free list; payload while the block is used */
};

static struct block *block_of(const struct heap *heap, uint32_t ref)
{
    return heap_at(heap->base, ref - 1);
}

static uint32_t block_granules(const struct block *block)
{
    return block->size_flags & SIZE_MASK;
}

static unsigned size_class(uint32_t granules)
{
    if (granules < HEAP_EXACT)
        return granules;
    unsigned log2 = 31 - (unsigned)__builtin_clz(granules);
    return HEAP_EXACT + (log2 - 6) * 8 + (granules >> (log2 - 3) & 7);
}

static uint32_t granules_for(size_t bytes)
{
    size_t granules = (bytes + HEAP_GRANULE - 1) / HEAP_GRANULE + 1;
    return (uint32_t)MAX(granules, (size_t)BLOCK_MIN);
}

uint32_t heap_run_for(size_t bytes)
{
    /* A class is an eighth of a power of two wide, so a block an eighth larger is in a higher
     * class. */
    uint32_t granules = granules_for(bytes);
    return granules + granules / 8 + 1;
}

static void list_add(struct heap *heap, uint32_t ref)
{
    struct block *block = block_of(heap, ref);
    unsigned c = size_class(block_granules(block));
    block->next = heap->lists[c];
    block->prev = 0;
    if (block->next)
        block_of(heap, block->next)->prev = ref;
    heap->lists[c] = ref;
    heap->class_bits[c / 64] |= UINT64_C(1) << c % 64;
}

static void list_remove(struct heap *heap, uint32_t ref)
{
    struct block *block = block_of(heap, ref);
    if (block->next)
        block_of(heap, block->next)->prev = block->prev;
    if (block->prev) {
        block_of(heap, block->prev)->next = block->next;
        return;
    }
    unsigned c = size_class(block_granules(block));
    heap->lists[c] = block->next;
    if (!block->next)
        heap->class_bits[c / 64] &= ~(UINT64_C(1) << c % 64);
}

/* Sets a block's size and state, and the next block's note about it. */
static void set_block(struct heap *heap, uint32_t ref, uint32_t granules, bool is_free)
{
    block_of(heap, ref)->size_flags = granules | (is_free ? 0 : BIT_USED);
    block_of(heap, ref + granules)->before = is_free ? granules : 0;
}

void heap_init(struct heap *heap, void *base, size_t bytes)
{
    MUST(bytes >= 64 && bytes <= HEAP_BYTES_MAX);
    MUST((uintptr_t)base % HEAP_GRANULE == 0);
    *heap = (struct heap){.base = base};
    /* The end mark takes the last granule. The header of the first block takes granule 0, so no
     * payload has ref 0. */
    heap->granules = (uint32_t)(bytes / HEAP_GRANULE) - 1;
    block_of(heap, 1)->before = 0;
    set_block(heap, 1, heap->granules, true);
    block_of(heap, 1 + heap->granules)->size_flags = BIT_USED;
    list_add(heap, 1);
}

/* Returns the first class from c on whose list is not empty, or HEAP_CLASSES. */
static unsigned class_with_blocks(const struct heap *heap, unsigned c)
{
    unsigned word = c / 64;
    uint64_t bits = word < HEAP_CLASS_WORDS ? heap->class_bits[word] & ~UINT64_C(0) << c % 64 : 0;
    while (bits == 0) {
        if (++word >= HEAP_CLASS_WORDS)
            return HEAP_CLASSES;
        bits = heap->class_bits[word];
    }
    return word * 64 + (unsigned)__builtin_ctzll(bits);
}

static uint32_t find_fit(const struct heap *heap, uint32_t granules)
{
    unsigned c = size_class(granules);
    if (c >= HEAP_EXACT) {
        uint32_t ref = heap->lists[c];
        for (int tries = 0; ref && tries < OWN_CLASS_TRIES; tries++) {
            if (block_granules(block_of(heap, ref)) >= granules)
                return ref;
            ref = block_of(heap, ref)->next;
        }
        c++;
    }
    c = class_with_blocks(heap, c);
    return c < HEAP_CLASSES ? heap->lists[c] : 0;
}

uint32_t heap_take(struct heap *heap, size_t bytes)
{
    if (bytes > (size_t)heap->granules * HEAP_GRANULE)
        return 0;
    uint32_t granules = granules_for(bytes);
    uint32_t ref = find_fit(heap, granules);
    if (!ref)
        return 0;
    list_remove(heap, ref);
    uint32_t rest = block_granules(block_of(heap, ref)) - granules;
    if (rest < BLOCK_MIN) {
        granules += rest;
    } else {
        set_block(heap, ref + granules, rest, true);
        list_add(heap, ref + granules);
    }
    set_block(heap, ref, granules, false);
    heap->used += granules;
    return ref;
}

void heap_give(struct heap *heap, uint32_t ref)
{
    struct block *block = block_of(heap, ref);
    MUST(block->size_flags & BIT_USED);
    uint32_t granules = block_granules(block);
    heap->used -= granules;
    struct block *after = block_of(heap, ref + granules);
    if (!(after->size_flags & BIT_USED)) {
        list_remove(heap, ref + granules);
        granules += block_granules(after);
    }
    if (block->before) {
        ref -= block->before;
        list_remove(heap, ref);
        granules += block_granules(block_of(heap, ref));
    }
    set_block(heap, ref, granules, true);
    list_add(heap, ref);
}

uint32_t heap_block_granules(const struct heap *heap, uint32_t ref)
{
    return block_granules(block_of(heap, ref));
}

uint32_t heap_first(const struct heap *heap)
{
    (void)heap;
    return 1;
}

uint32_t heap_next(const struct heap *heap, uint32_t ref)
{
    return ref + block_granules(block_of(heap, ref));
}

enum heap_block heap_state(const struct heap *heap, uint32_t ref)
{
    uint32_t flags = block_of(heap, ref)->size_flags;
    if ((flags & SIZE_MASK) == 0)
        return HEAP_END;
    if (flags & BIT_LEAVING)
        return HEAP_LEAVING;
    return flags & BIT_USED ? HEAP_USED : HEAP_FREE;
}

void heap_set_leaving(struct heap *heap, uint32_t ref)
{
    MUST(heap_state(heap, ref) == HEAP_USED);
    block_of(heap, ref)->size_flags |= BIT_LEAVING;
}
