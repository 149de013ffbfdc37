/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Converts names from and to presentation text (RFC 1035 section 5.1). Every name is absolute;
 * there is no origin. Invariant: name_parse() accepts only sound names, and the text of
 * name_format() parses back to the same bytes.
 */
#include "dns/name.h"

#include <string.h>

static inline bool name_text_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Reads the escape after a backslash into *byte. Returns its length in characters, or 0 when it is
 * malformed. */
static size_t read_escape(const char *text, size_t len, uint8_t *byte)
{
    if (len == 0)
        return 0;
    if (!name_text_is_digit(text[0])) {
        *byte = (uint8_t)text[0];
        return 1;
    }
    if (len < 3 || !name_text_is_digit(text[1]) || !name_text_is_digit(text[2]))
        return 0;
    int value = (text[0] - '0') * 100 + (text[1] - '0') * 10 + (text[2] - '0');
    *byte = (uint8_t)value;
    return value <= 255 ? 3 : 0;
}

/* Reads one label to out, its length byte first. Returns its length in characters without the dot,
 * or 0 when it is empty, too long or badly escaped. */
static size_t read_label(const char *text, size_t len, uint8_t out[NAME_LABEL_MAX + 1])
{
    size_t at = 0;
    uint8_t size = 0;
    while (at < len && text[at] != '.') {
        uint8_t byte = (uint8_t)text[at++];
        if (byte == '\\') {
            size_t taken = read_escape(text + at, len - at, &byte);
            if (taken == 0)
                return 0;
            at += taken;
        }
        if (size == NAME_LABEL_MAX)
            return 0;
        out[++size] = byte;
    }
    out[0] = size;
    return size ? at : 0;
}

enum err name_parse(struct name *name, uint8_t out[NAME_WIRE_MAX], const char *text, size_t len)
{
    size_t at = 0, used = 0;
    if (len == 1 && text[0] == '.')
        at = 1;
    else if (len == 0)
        return ERR_INVALID;
    while (at < len) {
        uint8_t label[NAME_LABEL_MAX + 1];
        size_t taken = read_label(text + at, len - at, label);
        size_t size = (size_t)label[0] + 1;
        if (taken == 0 || used + size + 1 > NAME_WIRE_MAX)
            return ERR_INVALID;
        memcpy(out + used, label, size);
        used += size;
        at += taken + 1; /* the dot, or one past the end */
    }
    out[used] = 0;
    *name = (struct name){.wire = out, .len = (uint8_t)(used + 1)};
    return ERR_OK;
}

/* Escapes characters with a meaning in zone files by a backslash, and unprintable ones by their
 * number. */
static char *write_byte(char *out, uint8_t byte)
{
    if (byte <= ' ' || byte > '~') {
        *out++ = '\\';
        *out++ = (char)('0' + byte / 100);
        *out++ = (char)('0' + byte / 10 % 10);
        *out++ = (char)('0' + byte % 10);
        return out;
    }
    if (strchr(".;\\\"()@$", byte))
        *out++ = '\\';
    *out++ = (char)byte;
    return out;
}

const char *name_format(struct name name, char out[NAME_TEXT_MAX])
{
    char *to = out;
    if (name_is_root(name))
        *to++ = '.';
    for (size_t at = 0; name.wire[at];) {
        size_t end = at + name.wire[at] + 1;
        while (++at < end)
            to = write_byte(to, name.wire[at]);
        *to++ = '.';
    }
    *to = '\0';
    return out;
}
