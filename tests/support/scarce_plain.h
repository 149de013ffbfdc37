/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SUPPORT_SCARCE_PLAIN_H
#define NAILUP_TESTS_SUPPORT_SCARCE_PLAIN_H

/*
 * The compiler includes this before each source of the fakes and of the stage when a worker has
 * scarce memory: the world around the worker has all the memory that it wants.
 */

#include <stdlib.h>

#include "base/buf.h"
#include "base/framing.h"
#include "support/scarce.h"

static inline __attribute__((unused)) enum err plain_append(struct buf *buf, const void *bytes,
                                                            size_t len)
{
    bool was = scarce_begin_plain();
    enum err err = buf_append(buf, bytes, len);
    scarce_end_plain(was);
    return err;
}

static inline __attribute__((unused)) bool
plain_framing_next(struct framing *framing, struct span *bytes, struct span *message, enum err *err)
{
    bool was = scarce_begin_plain();
    bool has_message = framing_next(framing, bytes, message, err);
    scarce_end_plain(was);
    return has_message;
}

#define malloc __real_malloc
#define calloc __real_calloc
#define realloc __real_realloc
#define buf_append plain_append
#define framing_next plain_framing_next

#endif
