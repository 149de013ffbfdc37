/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_STREAM_H
#define NAILUP_CTL_STREAM_H

/* Replies and requests that are too long to be held: text that goes through line by line. Blocks.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* How a reply begins that is a text. */
#define STREAM_BEGIN "ok\ntext\n"

struct stream {
    FILE *out;
    bool json;    /* an object with a list of strings instead of the lines */
    bool is_over; /* the last line has come */
    size_t count; /* lines printed */
    size_t len;   /* of the line that is not whole */
    char *line;   /* CONTROL_TEXT_LINE_MAX + 1 bytes */
};

/* ERR_NO_MEMORY. */
MUST_USE enum err stream_begin(struct stream *stream, FILE *out, bool json);

/* The next bytes behind STREAM_BEGIN. False: the daemon says what is no text. */
MUST_USE bool stream_take(struct stream *stream, const char *bytes, size_t len);

/* No more come; false when the text was not whole. Frees what it has. */
MUST_USE bool stream_end(struct stream *stream);

#endif
