/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_CTL_STREAM_H
#define NAILUP_CTL_STREAM_H

/* Prints a reply that is a text, line by line, because it may be too long for memory. Blocks. */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"

/* The first lines of a reply that is a text. */
#define STREAM_BEGIN "ok\ntext\n"

struct stream {
    FILE *out;
    bool json;    /* prints an object with a list of strings instead of lines */
    bool is_over; /* the last line has come */
    size_t count; /* lines printed */
    size_t len;   /* the length of the incomplete line */
    char *line;   /* CONTROL_TEXT_LINE_MAX + 1 bytes */
};

/* ERR_NO_MEMORY. */
MUST_USE enum err stream_begin(struct stream *stream, FILE *out, bool json);

/* Takes the next bytes after STREAM_BEGIN. False: the daemon sent something other than a text. */
MUST_USE bool stream_take(struct stream *stream, const char *bytes, size_t len);

/* Ends the text and frees the memory. False: the text was incomplete. */
MUST_USE bool stream_end(struct stream *stream);

#endif
