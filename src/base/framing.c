/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Cuts a stream into messages (framing.h), without reading them.
 *
 * Invariant: the kept bytes are the beginning of one message and never extend beyond its end.
 */

#include "base/framing.h"

#include "base/check.h"

enum { LENGTH_BYTES = 2 };

void framing_init(struct framing *framing, size_t max_bytes)
{
    buf_init(&framing->partial, LENGTH_BYTES + max_bytes);
    framing->max_bytes = max_bytes;
    framing->skipped = 0;
    framing->is_delivered = false;
}

void framing_deinit(struct framing *framing)
{
    buf_deinit(&framing->partial);
}

/* Returns the length of the first message; while its length bytes are incomplete, a number above
 * bytes.len. */
static size_t framing_whole_len(struct span bytes)
{
    return bytes.len < LENGTH_BYTES ? LENGTH_BYTES : LENGTH_BYTES + (size_t)get_u16(bytes.data);
}

static struct span framing_cut(const struct framing *framing, struct span framed)
{
    return span_of(framed.data + LENGTH_BYTES, MIN(framed.len - LENGTH_BYTES, framing->max_bytes));
}

static enum err framing_keep(struct framing *framing, struct span *bytes, size_t len)
{
    size_t room = framing->partial.max - buf_len(&framing->partial);
    struct span part;

    MUST(span_take(bytes, len, &part));
    framing->skipped += len - MIN(len, room);
    return buf_append(&framing->partial, part.data, MIN(len, room));
}

/* Completes the kept message: first its length, then the rest. */
static bool complete_message(struct framing *framing, struct span *bytes, struct span *message,
                             enum err *err)
{
    for (;;) {
        struct span kept = buf_span(&framing->partial);
        size_t whole = framing_whole_len(kept), got = kept.len + framing->skipped;

        if (got == whole) {
            *message = framing_cut(framing, kept);
            framing->is_delivered = true;
            return true;
        }
        if (bytes->len == 0)
            return false;
        *err = framing_keep(framing, bytes, MIN(whole - got, bytes->len));
        if (*err)
            return false;
    }
}

bool framing_next(struct framing *framing, struct span *bytes, struct span *message, enum err *err)
{
    struct span framed;

    *err = ERR_OK;
    if (framing->is_delivered) {
        buf_clear(&framing->partial);
        framing->skipped = 0;
        framing->is_delivered = false;
    }
    if (buf_len(&framing->partial) > 0)
        return complete_message(framing, bytes, message, err);
    if (bytes->len >= LENGTH_BYTES && span_take(bytes, framing_whole_len(*bytes), &framed)) {
        *message = framing_cut(framing, framed);
        return true;
    }
    *err = framing_keep(framing, bytes, bytes->len);
    return false;
}
