/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_FUZZ_BENCH_QUERIES_H
#define NAILUP_FUZZ_BENCH_QUERIES_H

/* The targets of nailup-bench's two kinds of query files share this. */

#include <stdio.h>

#include "base/check.h"
#include "bench/query_file.h"

/* Opens the input as a file. NULL: it is empty. */
static inline FILE *bench_queries_open(const uint8_t *data, size_t size)
{
    return size ? fmemopen((void *)data, size, "r") : NULL;
}

/* Ends with the file. The responder must be able to read each of its queries. */
static inline void bench_queries_check(struct query_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        struct wire_query query;
        MUST(wire_parse_query(query_file_at(file, i), &query));
    }
    query_file_deinit(file);
}

#endif
