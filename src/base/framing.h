/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_FRAMING_H
#define NAILUP_BASE_FRAMING_H

/*
 * Cuts a stream into messages by their two-byte lengths (RFC 1035 section 4.2.2). Returns whole
 * messages from the reader's bytes without a copy, and keeps only an incomplete one. Truncates a
 * message that exceeds the bound, and never keeps the part beyond it. Pure: no socket, no time.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

struct framing {
    struct buf partial; /* the incomplete message with its length, without skipped bytes */
    size_t max_bytes;   /* longer messages are cut */
    size_t skipped;     /* bytes of the incomplete message beyond max_bytes */
    bool is_delivered;  /* the message in partial was returned: the next call drops it */
};

void framing_init(struct framing *framing, size_t max_bytes);
void framing_deinit(struct framing *framing);

/* Takes the next whole message from the kept bytes and *bytes, which moves on. Returns true with
 * *message, borrowed until the next call, or false if it needs more bytes; it has then kept all of
 * *bytes. *err is ERR_NO_MEMORY if that failed, else ERR_OK. */
bool framing_next(struct framing *framing, struct span *bytes, struct span *message, enum err *err);

/* Returns the length of the first whole message, its length bytes included, or the length of all
 * bytes if no message is whole. */
static inline size_t framing_first(struct span bytes)
{
    size_t len = bytes.len < 2 ? bytes.len : 2 + (size_t)get_u16(bytes.data);

    return len < bytes.len ? len : bytes.len;
}

/* Bytes of an incomplete message so far. */
static inline size_t framing_partial(const struct framing *framing)
{
    return framing->is_delivered ? 0 : buf_len(&framing->partial) + framing->skipped;
}

#endif
