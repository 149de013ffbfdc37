/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Invariant: the bits that a text has beyond its last byte are zero. */
#include "config/base64.h"

#include <string.h>

static int base64_value(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

bool base64_read(const char *text, size_t len, uint8_t *out, size_t max, size_t *out_len)
{
    size_t padding = 0, filled = 0;
    uint32_t bits = 0, bit_count = 0;
    if (len % 4 != 0)
        return false;
    while (padding < 2 && padding < len && text[len - padding - 1] == '=')
        padding++;
    for (size_t i = 0; i < len - padding; i++) {
        int value = base64_value(text[i]);
        if (value < 0)
            return false;
        bits = bits << 6 | (uint32_t)value;
        bit_count += 6;
        if (bit_count < 8)
            continue;
        if (filled == max)
            return false;
        out[filled++] = (uint8_t)(bits >> (bit_count -= 8));
    }
    *out_len = filled;
    return (bits & ((1u << bit_count) - 1)) == 0;
}
