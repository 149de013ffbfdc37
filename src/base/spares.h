/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_SPARES_H
#define NAILUP_BASE_SPARES_H

/*
 * Free blocks of one size, which are kept for the next use: malloc() and free() take hundreds of
 * instructions for some sizes. All zeros is an empty list. One thread.
 */

#include <stddef.h>
#include <stdlib.h>

struct spare {
    struct spare *next;
};

struct spares {
    struct spare *first;
    size_t count;
};

/* AddressSanitizer sees a use after free only if no block is kept. */
#ifdef __has_feature
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#ifdef __SANITIZE_ADDRESS__
enum { SPARES_ARE_KEPT = 0 };
#else
enum { SPARES_ARE_KEPT = 1 };
#endif

/* Returns a block that the caller owns, or NULL: out of memory. size is the same in all calls, and
 * a pointer fits into it. */
static inline void *spares_take(struct spares *spares, size_t size)
{
    struct spare *spare = spares->first;
    if (!spare)
        return malloc(size);
    spares->first = spare->next;
    spares->count--;
    return spare;
}

/* Takes a block from malloc() back. Frees it if max blocks are kept. */
static inline void spares_give(struct spares *spares, void *block, size_t max)
{
    struct spare *spare = block;
    if (!SPARES_ARE_KEPT || spares->count >= max) {
        free(block);
        return;
    }
    spare->next = spares->first;
    spares->first = spare;
    spares->count++;
}

/* Frees the blocks that are kept. */
static inline void spares_clear(struct spares *spares)
{
    while (spares->first) {
        struct spare *spare = spares->first;
        spares->first = spare->next;
        free(spare);
    }
    spares->count = 0;
}

#endif
