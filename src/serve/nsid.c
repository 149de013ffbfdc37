/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Reads the two forms of an NSID. Few queries ask for one, so each reply reads the text again. */
#include "serve/nsid.h"

#include <string.h>

static const char ascii_prefix[] = "ascii_";

/* Returns the text after the prefix, or NULL if the text is hexadecimal. */
static const char *ascii_of(const char *text)
{
    size_t len = sizeof(ascii_prefix) - 1;
    return strncmp(text, ascii_prefix, len) == 0 ? text + len : NULL;
}

/* Returns the value of a hexadecimal digit, or -1. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

bool nsid_is_sound(const char *text)
{
    const char *ascii = ascii_of(text);
    if (ascii)
        return *ascii != 0;
    size_t digits = 0;
    for (; text[digits]; digits++)
        if (digit_of(text[digits]) < 0)
            return false;
    return digits > 0 && digits % 2 == 0;
}

size_t nsid_len(const char *text)
{
    const char *ascii = ascii_of(text);
    return ascii ? strlen(ascii) : strlen(text) / 2;
}

void nsid_write(const char *text, uint8_t *out)
{
    const char *ascii = ascii_of(text);
    size_t len = nsid_len(text);
    if (ascii) {
        memcpy(out, ascii, len);
        return;
    }
    for (size_t i = 0; i < len; i++)
        out[i] = (uint8_t)(digit_of(text[2 * i]) << 4 | digit_of(text[2 * i + 1]));
}
