/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Converts pins between text and bytes. Invariant: pin_parse(pin_format(x)) is x. */
#include "config/pin.h"

#include <string.h>

#include "config/base64.h"

enum { PIN_CHARS = PIN_TEXT_MAX - 1 };

/* Strips the decoration of other programs: curl, and RFC 7469. Returns the start and length of the
 * base64. */
static const char *strip_pin(const char *text, size_t *len)
{
    static const char curl[] = "sha256//", header[] = "pin-sha256=\"";
    *len = strlen(text);
    if (strncmp(text, curl, strlen(curl)) == 0) {
        *len -= strlen(curl);
        return text + strlen(curl);
    }
    if (strncmp(text, header, strlen(header)) == 0 && text[*len - 1] == '"') {
        *len -= strlen(header) + (*len > strlen(header));
        return text + strlen(header);
    }
    return text;
}

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

bool pin_parse(const char *text, uint8_t out[TLS_PIN_BYTES])
{
    size_t len, filled;
    text = strip_pin(text, &len);
    return len == PIN_CHARS && base64_read(text, len, out, TLS_PIN_BYTES, &filled) &&
           filled == TLS_PIN_BYTES;
}

const char *pin_format(const uint8_t pin[TLS_PIN_BYTES], char out[PIN_TEXT_MAX])
{
    size_t len = 0;
    uint32_t bits = 0, bit_count = 0;
    for (size_t i = 0; i < TLS_PIN_BYTES; i++) {
        bits = bits << 8 | pin[i];
        for (bit_count += 8; bit_count >= 6; bit_count -= 6)
            out[len++] = digits[bits >> (bit_count - 6) & 63];
    }
    out[len++] = digits[bits << (6 - bit_count) & 63];
    strcpy(out + len, "=");
    return out;
}
