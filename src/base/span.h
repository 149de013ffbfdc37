/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_SPAN_H
#define NAILUP_BASE_SPAN_H

/*
 * A borrowed run of bytes, also used as a bounds-checked cursor. Reads take from the front in
 * network byte order. A read that does not fit returns false and leaves the span unchanged.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct span {
    const uint8_t *data;
    size_t len;
};

static inline struct span span_of(const void *data, size_t len)
{
    return (struct span){.data = data, .len = len};
}

static inline uint16_t get_u16(const uint8_t *p)
{
    return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t get_u32(const uint8_t *p)
{
    return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static inline void put_u16(uint8_t *p, uint16_t value)
{
    p[0] = (uint8_t)(value >> 8);
    p[1] = (uint8_t)value;
}

static inline void put_u32(uint8_t *p, uint32_t value)
{
    put_u16(p, (uint16_t)(value >> 16));
    put_u16(p + 2, (uint16_t)value);
}

/* Takes len bytes from the front into *out. */
static inline bool span_take(struct span *span, size_t len, struct span *out)
{
    if (len > span->len)
        return false;
    *out = span_of(span->data, len);
    span->data += len;
    span->len -= len;
    return true;
}

static inline bool span_take_u8(struct span *span, uint8_t *out)
{
    struct span part;
    if (!span_take(span, 1, &part))
        return false;
    *out = part.data[0];
    return true;
}

static inline bool span_take_u16(struct span *span, uint16_t *out)
{
    struct span part;
    if (!span_take(span, 2, &part))
        return false;
    *out = get_u16(part.data);
    return true;
}

static inline bool span_take_u32(struct span *span, uint32_t *out)
{
    struct span part;
    if (!span_take(span, 4, &part))
        return false;
    *out = get_u32(part.data);
    return true;
}

static inline bool span_equal(struct span a, struct span b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

#endif
