/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Bump allocation in chunks. Invariant: the newest chunk is first in the list, and `left` counts
 * the free bytes at its end. A large piece gets a separate chunk behind the newest, which stays in
 * use.
 */
#include "base/arena.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHUNK_BYTES = 2032, /* two kilobytes including the header and malloc's bookkeeping */
    LARGE_BYTES = CHUNK_BYTES / 2,
    ALIGN = _Alignof(max_align_t),
};

struct arena_chunk {
    struct arena_chunk *next;
    _Alignas(max_align_t) uint8_t data[];
};

void arena_init(struct arena *arena, size_t max)
{
    *arena = (struct arena){.max = max};
}

void arena_deinit(struct arena *arena)
{
    struct arena_chunk *next;
    for (struct arena_chunk *chunk = arena->chunks; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    arena_init(arena, arena->max);
}

static void *take_large(struct arena *arena, size_t size)
{
    struct arena_chunk *chunk = malloc(sizeof(*chunk) + size);
    if (!chunk)
        return NULL;
    struct arena_chunk **at = arena->chunks ? &arena->chunks->next : &arena->chunks;
    chunk->next = *at;
    *at = chunk;
    return chunk->data;
}

static bool add_chunk(struct arena *arena)
{
    struct arena_chunk *chunk = malloc(sizeof(*chunk) + CHUNK_BYTES);
    if (!chunk)
        return false;
    chunk->next = arena->chunks;
    arena->chunks = chunk;
    arena->left = CHUNK_BYTES;
    return true;
}

static void *take_small(struct arena *arena, size_t size)
{
    if (arena->left < size && !add_chunk(arena))
        return NULL;
    void *out = arena->chunks->data + CHUNK_BYTES - arena->left;
    arena->left -= size;
    return out;
}

void *arena_take(struct arena *arena, size_t size)
{
    size_t asked = size ? size : 1; /* bounds empty pieces too */
    void *out;
    if (asked > arena->max - arena->used)
        out = NULL;
    else if (asked > LARGE_BYTES)
        out = take_large(arena, asked);
    else
        out = take_small(arena, (asked + ALIGN - 1) / ALIGN * ALIGN);
    if (out)
        arena->used += asked;
    else
        arena->has_failed = true;
    return out;
}

void *arena_copy(struct arena *arena, const void *data, size_t size)
{
    void *out = arena_take(arena, size);
    if (out && size)
        memcpy(out, data, size);
    return out;
}
