/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Reads windows in order. Ascending windows make each type occur once, so that no second window of
 * the same number can hide a bit. Zero bytes at the end of a window are tolerated: they hide
 * nothing.
 */
#include "validate/type_bitmap.h"

enum { WINDOW_BYTES_MAX = 32 };

struct window {
    uint8_t number;
    struct span bits;
};

/* Takes the next window. Returns false at the end, and at a window that does not fit. */
static bool window_take(struct span *bitmap, struct window *out)
{
    uint8_t len;
    if (!span_take_u8(bitmap, &out->number) || !span_take_u8(bitmap, &len))
        return false;
    return len && len <= WINDOW_BYTES_MAX && span_take(bitmap, len, &out->bits);
}

bool type_bitmap_is_sound(struct span bitmap)
{
    int last = -1;
    while (bitmap.len) {
        struct window window;
        if (!window_take(&bitmap, &window) || window.number <= last)
            return false;
        last = window.number;
    }
    return true;
}

bool type_bitmap_has(struct span bitmap, uint16_t type)
{
    const size_t byte = (type & 0xffu) / 8;
    struct window window;
    while (window_take(&bitmap, &window))
        if (window.number == type >> 8)
            return byte < window.bits.len && window.bits.data[byte] & 0x80 >> (type & 7);
    return false;
}

static bool list_has(const uint16_t *types, size_t count, unsigned type)
{
    for (size_t i = 0; i < count; i++)
        if (types[i] == type)
            return true;
    return false;
}

bool type_bitmap_has_only(struct span bitmap, const uint16_t *types, size_t count)
{
    struct window window;
    while (window_take(&bitmap, &window))
        for (unsigned bit = 0; bit < window.bits.len * 8; bit++)
            if (window.bits.data[bit / 8] & 0x80 >> (bit & 7) &&
                !list_has(types, count, (unsigned)window.number << 8 | bit))
                return false;
    return true;
}
