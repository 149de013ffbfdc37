/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads any text as a query file. The file is refused, or has queries that the responder can read.
 */

#include "bench/query_file.h"
#include "fuzz/bench_queries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_style style = {.recursion_desired = true, .edns_bytes = 1232};
    struct query_file file;
    size_t line;
    FILE *in = bench_queries_open(data, size);
    if (!in)
        return 0;
    if (query_file_load(&file, in, &style, &line) == ERR_OK)
        bench_queries_check(&file);
    fclose(in);
    return 0;
}
