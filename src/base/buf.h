/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_BUF_H
#define NAILUP_BASE_BUF_H

/*
 * A growing byte queue with a bound: bytes are appended at the end and consumed from the front. The
 * first byte allocates memory; a large queue frees it when it runs empty.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/span.h"

struct buf {
    uint8_t *data;
    size_t start, end; /* the bytes held are data[start, end) */
    size_t cap;        /* bytes allocated */
    size_t max;        /* bound of the bytes held; more is ERR_LIMIT */
};

void buf_init(struct buf *buf, size_t max);
void buf_deinit(struct buf *buf);

static inline size_t buf_len(const struct buf *buf)
{
    return buf->end - buf->start;
}

static inline struct span buf_span(const struct buf *buf)
{
    return span_of(buf->data ? buf->data + buf->start : NULL, buf_len(buf));
}

/* Returns room for len more bytes at the end, valid until the next call on this buf, or NULL at the
 * bound or when out of memory. buf_commit() adds the bytes to the queue. */
uint8_t *buf_reserve(struct buf *buf, size_t len);
void buf_commit(struct buf *buf, size_t len);

/* Appends a copy; ERR_LIMIT or ERR_NO_MEMORY leaves the queue as it was. */
MUST_USE enum err buf_append(struct buf *buf, const void *data, size_t len);

/* Drops len bytes (at most buf_len) from the front. */
void buf_consume(struct buf *buf, size_t len);

/* Drops the content, and keeps a small amount of memory for reuse. */
void buf_clear(struct buf *buf);

#endif
