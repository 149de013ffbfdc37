/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_QUERY_FILE_H
#define NAILUP_BENCH_QUERY_FILE_H

/*
 * Query files as dnsperf reads them: "NAME TYPE" on each line. Empty lines and lines that begin
 * with ';' or '#' are skipped. A file is loaded whole, as messages that are ready to send except
 * for their id.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/span.h"
#include "wire.h"

struct query_file {
    uint8_t *bytes; /* the messages, each after a length of two bytes */
    size_t len, cap;
    uint32_t *offsets; /* the offset of each message's length */
    size_t count, offsets_cap;
};

/* Reads all of `in`. ERR_INVALID: the line with the number *line (from 1) is not a query.
 * ERR_LIMIT: more than 4 GiB. ERR_NOT_FOUND: no query at all. After an error the file is empty. */
MUST_USE enum err query_file_load(struct query_file *file, FILE *in, const struct wire_style *style,
                                  size_t *line);
/* Adds a query for a name in wire form. A new file is {0}. ERR_LIMIT: more than 4 GiB. */
MUST_USE enum err query_file_add(struct query_file *file, const uint8_t *name, size_t name_len,
                                 uint16_t type, const struct wire_style *style);

void query_file_deinit(struct query_file *file);

/* Returns the message with this index, which must be below count. Its id is 0. Borrowed from the
 * file. */
struct span query_file_at(const struct query_file *file, size_t index);

#endif
