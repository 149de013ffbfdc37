/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_FRAMING_H
#define NAILUP_BASE_FRAMING_H

/*
 * Cuts a stream into messages by their two-byte lengths (RFC 1035 section 4.2.2). Whole messages
 * are handed out from the reader's bytes without a copy; only a piece that is cut off is kept. A
 * message that is longer than the bound is handed out without its end, which is never kept. Pure:
 * no socket, no time.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/span.h"

struct framing {
    struct buf partial; /* the begun message with its length bytes, without what is skipped */
    size_t max_bytes;   /* of a message that are handed out */
    size_t skipped;     /* bytes of the begun message beyond these */
    bool handed_out;    /* it was completed and handed out: forgotten at the next call */
};

void framing_init(struct framing *framing, size_t max_bytes);
void framing_deinit(struct framing *framing);

/* Takes the next whole message from what is kept and *bytes (moved on by what was used). Returns
 * true with *message (borrowed until the next call), false when more bytes are needed: then all of
 * *bytes has been kept. *err is ERR_NO_MEMORY when keeping failed, else ERR_OK. */
bool framing_next(struct framing *framing, struct span *bytes, struct span *message, enum err *err);

/* Bytes of the first whole message with its length; all bytes when no message is whole. */
static inline size_t framing_first(struct span bytes)
{
    size_t len = bytes.len < 2 ? bytes.len : 2 + (size_t)get_u16(bytes.data);

    return len < bytes.len ? len : bytes.len;
}

/* Bytes that came of a message that has begun but not ended. */
static inline size_t framing_partial(const struct framing *framing)
{
    return framing->handed_out ? 0 : buf_len(&framing->partial) + framing->skipped;
}

#endif
