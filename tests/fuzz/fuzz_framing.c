/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The first byte chooses the pieces in which the rest arrives. The messages must be the same as
 * those of the whole stream.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/check.h"
#include "base/framing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A second cursor over the whole stream serves as the oracle. */
static void expect(struct span *whole, struct span message)
{
    struct span expected;
    uint16_t len;

    MUST(span_take_u16(whole, &len) && span_take(whole, len, &expected));
    MUST(span_equal(expected, message));
}

static void feed(struct framing *framing, struct span piece, struct span *whole)
{
    uint8_t *copy = malloc(piece.len);
    struct span bytes = span_of(copy, piece.len), message;
    enum err err;

    memcpy(copy, piece.data, piece.len);
    while (framing_next(framing, &bytes, &message, &err))
        expect(whole, message);
    MUST(err == ERR_OK && bytes.len == 0);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct framing framing;
    struct span rest, whole, piece;

    if (size == 0)
        return 0;
    rest = whole = span_of(data + 1, size - 1);
    framing_init(&framing, UINT16_MAX);
    while (rest.len > 0) {
        size_t len = data[0] ? 1 + (rest.data[0] ^ data[0]) % data[0] : rest.len;
        MUST(span_take(&rest, MIN(len, rest.len), &piece));
        feed(&framing, piece, &whole);
    }
    MUST(framing_partial(&framing) == whole.len);
    framing_deinit(&framing);
    return 0;
}
