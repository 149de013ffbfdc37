/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * A ring for items that come in order, and a binary heap for others. It reads only the due time of
 * an item.
 */

#include "delay_line.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CAP = 1024 }; /* a power of two, because the ring wraps by a mask */

void delay_line_init(struct delay_line *line)
{
    memset(line, 0, sizeof(*line));
}

void delay_line_deinit(struct delay_line *line)
{
    free(line->ring.items);
    free(line->heap.items);
    delay_line_init(line);
}

static struct delayed **ring_at(const struct delay_queue *ring, size_t index)
{
    return &ring->items[(ring->start + index) & (ring->cap - 1)];
}

/* Doubles the room. This unrolls the ring; a heap starts at 0 anyway. */
static enum err queue_grow(struct delay_queue *queue)
{
    size_t cap = queue->cap ? queue->cap * 2 : FIRST_CAP;
    struct delayed **items = malloc(cap * sizeof(*items));
    if (!items)
        return ERR_NO_MEMORY;
    for (size_t i = 0; i < queue->count; i++)
        items[i] = *ring_at(queue, i);
    free(queue->items);
    *queue = (struct delay_queue){.items = items, .count = queue->count, .cap = cap};
    return ERR_OK;
}

static void heap_up(struct delayed **items, size_t at)
{
    struct delayed *item = items[at];
    while (at && items[(at - 1) / 2]->due_us > item->due_us) {
        items[at] = items[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    items[at] = item;
}

static void heap_down(struct delayed **items, size_t count)
{
    struct delayed *item = items[0];
    size_t at = 0;
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && items[child + 1]->due_us < items[child]->due_us)
            child++;
        if (items[child]->due_us >= item->due_us)
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = item;
}

enum err delay_line_add(struct delay_line *line, struct delayed *item)
{
    struct delay_queue *ring = &line->ring;
    if (delay_line_count(line) >= DELAY_LINE_MAX)
        return ERR_LIMIT;
    bool in_order = ring->count == 0 || (*ring_at(ring, ring->count - 1))->due_us <= item->due_us;
    struct delay_queue *queue = in_order ? ring : &line->heap;
    if (queue->count == queue->cap) {
        enum err err = queue_grow(queue);
        if (err)
            return err;
    }
    *ring_at(queue, queue->count++) = item;
    if (!in_order)
        heap_up(queue->items, queue->count - 1);
    return ERR_OK;
}

static uint64_t queue_next_us(const struct delay_queue *queue)
{
    return queue->count ? queue->items[queue->start]->due_us : UINT64_MAX;
}

uint64_t delay_line_next_us(const struct delay_line *line)
{
    uint64_t ring = queue_next_us(&line->ring), heap = queue_next_us(&line->heap);
    return ring < heap ? ring : heap;
}

static struct delayed *ring_take(struct delay_queue *ring)
{
    struct delayed *item = ring->items[ring->start];
    ring->start = (ring->start + 1) & (ring->cap - 1);
    ring->count--;
    return item;
}

static struct delayed *heap_take(struct delay_queue *heap)
{
    struct delayed *item = heap->items[0];
    heap->items[0] = heap->items[--heap->count];
    if (heap->count)
        heap_down(heap->items, heap->count);
    return item;
}

struct delayed *delay_line_take(struct delay_line *line, uint64_t now_us)
{
    uint64_t ring = queue_next_us(&line->ring), heap = queue_next_us(&line->heap);
    if (ring <= heap && line->ring.count && ring <= now_us)
        return ring_take(&line->ring);
    if (line->heap.count && heap <= now_us)
        return heap_take(&line->heap);
    return NULL;
}

size_t delay_line_count(const struct delay_line *line)
{
    return line->ring.count + line->heap.count;
}
