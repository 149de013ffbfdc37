/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_ARENA_H
#define NAILUP_BASE_ARENA_H

/*
 * Memory that is freed whole: each task has one arena. Chunks come from malloc. The bound applies
 * to the sum of requested bytes. The alignment fits every type (max_align_t). One thread.
 */

#include <stdbool.h>
#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t left; /* bytes left in the newest chunk */
    size_t used; /* bytes taken so far */
    size_t max;
    bool has_failed; /* arena_take() has returned NULL */
};

void arena_init(struct arena *arena, size_t max);
void arena_deinit(struct arena *arena);

/* Returns uninitialised memory that lives until arena_deinit(), or NULL at the bound or when out of
 * memory. */
void *arena_take(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t size);

#endif
