/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_FUZZ_BENCH_QUERIES_H
#define NAILUP_FUZZ_BENCH_QUERIES_H

/* Shared by the targets for the files of queries that nailup-bench reads. */

#include <stdio.h>

#include "base/check.h"
#include "bench/capture.h"

/* Opens the input as a file. Returns NULL if the input is empty. */
static inline FILE *bench_queries_open(const uint8_t *data, size_t size)
{
    return size ? fmemopen((void *)data, size, "r") : NULL;
}

/* Checks the file and frees it. The responder must be able to read each of its queries. */
static inline void bench_queries_check(struct query_file *file)
{
    for (size_t i = 0; i < file->count; i++) {
        struct wire_query query;
        MUST(wire_parse_query(query_file_at(file, i), &query));
    }
    query_file_deinit(file);
}

/* Checks the capture and frees it. Each query has an event and a client, and each client has a
 * query. */
static inline void bench_capture_check(struct capture *capture, bool is_fault, size_t packets)
{
    size_t count = capture->queries.count, clients = 0;
    MUST(is_fault ? count == 0 && !capture->queries.bytes : count > 0 && count <= packets);
    for (size_t i = 0; i < count; i++) {
        MUST(capture->events[i].query == i && capture->events[i].client <= clients);
        clients += capture->events[i].client == clients;
    }
    MUST(clients == capture->client_count);
    capture_sort(capture);
    for (size_t i = 1; i < count; i++)
        MUST(capture->events[i - 1].at_ns <= capture->events[i].at_ns);
    bench_queries_check(&capture->queries);
    capture_deinit(capture);
}

#endif
