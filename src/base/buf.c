/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * A byte queue (buf.h). Invariant: start <= end <= cap, and the queue holds at most max bytes.
 * Moves are amortised: bytes move only when at least half of the memory is free, so each byte moves
 * a constant number of times. A queue that has grown to its bound moves them more often.
 */
#include "base/buf.h"

#include <stdlib.h>
#include <string.h>

#include "base/check.h"

enum {
    FIRST_BYTES = 512, /* the first allocation: a few queries */
    KEEP_BYTES = 8192, /* kept by an empty queue: thousands of idle clients have one */
};

void buf_init(struct buf *buf, size_t max)
{
    *buf = (struct buf){.max = max};
}

static void drop_memory(struct buf *buf)
{
    free(buf->data);
    buf->data = NULL;
    buf->cap = 0;
}

void buf_deinit(struct buf *buf)
{
    drop_memory(buf);
    buf->start = buf->end = 0;
}

static bool buf_grow(struct buf *buf, size_t need)
{
    size_t cap = MAX(buf->cap, FIRST_BYTES);
    while (cap < need)
        cap *= 2;
    cap = MIN(cap, buf->max); /* a full queue costs exactly its bound */
    uint8_t *data = malloc(cap);
    if (!data)
        return false;
    size_t held = buf_len(buf);
    if (held)
        memcpy(data, buf->data + buf->start, held);
    free(buf->data);
    buf->data = data;
    buf->cap = cap;
    buf->start = 0;
    buf->end = held;
    return true;
}

static void move_to_front(struct buf *buf)
{
    size_t held = buf_len(buf);
    if (held)
        memmove(buf->data, buf->data + buf->start, held);
    buf->start = 0;
    buf->end = held;
}

static bool fits_bound(const struct buf *buf, size_t len)
{
    size_t held = buf_len(buf);
    return held <= buf->max && len <= buf->max - held;
}

uint8_t *buf_reserve(struct buf *buf, size_t len)
{
    if (!fits_bound(buf, len))
        return NULL;
    if (buf->data && buf->cap - buf->end >= len)
        return buf->data + buf->end;
    size_t need = buf_len(buf) + len;
    size_t wanted = need <= buf->cap ? MIN(buf->cap * 2, buf->max) : need;
    if (buf->data && (need <= buf->cap / 2 || wanted <= buf->cap))
        move_to_front(buf);
    else if (!buf_grow(buf, wanted))
        return NULL;
    return buf->data + buf->end;
}

void buf_commit(struct buf *buf, size_t len)
{
    MUST(len <= buf->cap - buf->end);
    buf->end += len;
}

enum err buf_append(struct buf *buf, const void *data, size_t len)
{
    if (len == 0)
        return ERR_OK;
    if (!fits_bound(buf, len))
        return ERR_LIMIT;
    uint8_t *room = buf_reserve(buf, len);
    if (!room)
        return ERR_NO_MEMORY;
    memcpy(room, data, len);
    buf_commit(buf, len);
    return ERR_OK;
}

void buf_consume(struct buf *buf, size_t len)
{
    MUST(len <= buf_len(buf));
    buf->start += len;
    if (buf->start == buf->end)
        buf_clear(buf);
}

void buf_clear(struct buf *buf)
{
    buf->start = buf->end = 0;
    if (buf->cap > KEEP_BYTES)
        drop_memory(buf);
}
