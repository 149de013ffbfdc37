/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_ARENA_H
#define NAILUP_BASE_ARENA_H

/*
 * Memory that is freed whole: one arena a task. Chunks come from malloc; the bound is on the
 * sum of bytes asked for. Alignment is that of max_align_t. One thread.
 */

#include <stddef.h>

struct arena_chunk;

struct arena {
    struct arena_chunk *chunks;
    size_t left; /* bytes left in the newest chunk */
    size_t used; /* bytes handed out in all */
    size_t max;
};

void arena_init(struct arena *arena, size_t max);
void arena_deinit(struct arena *arena);

/* Uninitialised memory that lives until arena_deinit(), or NULL at the bound or out of memory. */
void *arena_take(struct arena *arena, size_t size);
void *arena_copy(struct arena *arena, const void *data, size_t size);

#endif
