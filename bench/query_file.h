/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_QUERY_FILE_H
#define NAILUP_BENCH_QUERY_FILE_H

/*
 * Query files as dnsperf reads them: "NAME TYPE" a line, empty lines and those that begin with
 * ';' or '#' passed over. Loaded whole, as messages ready to send but for their id.
 */

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"
#include "base/span.h"
#include "wire.h"

struct query_file {
    uint8_t *bytes; /* the messages, each with a length of two bytes in front */
    size_t len, cap;
    uint32_t *offsets; /* of each message's length */
    size_t count, offsets_cap;
};

/* Reads all of in. ERR_INVALID of a line that is no query, with *line its number from 1; ERR_LIMIT
 * of more than 4 GiB; ERR_NOT_FOUND when there is no query at all. On an error nothing is kept. */
MUST_USE enum err query_file_load(struct query_file *file, FILE *in, const struct wire_style *style,
                                  size_t *line);
void query_file_deinit(struct query_file *file);

/* Message index, which is below count, with id 0. Borrowed from file. */
struct span query_file_at(const struct query_file *file, size_t index);

#endif
