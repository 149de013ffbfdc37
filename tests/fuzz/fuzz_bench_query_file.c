/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads any text as a query file. It is refused, or gives queries that the responder can read. */

#include <stdio.h>

#include "base/check.h"
#include "bench/query_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wire_style style = {.recursion_desired = true, .edns_bytes = 1232};
    struct query_file file;
    size_t line;
    FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!in)
        return 0;
    if (query_file_load(&file, in, &style, &line) == ERR_OK) {
        for (size_t i = 0; i < file.count; i++) {
            struct wire_query query;
            MUST(wire_parse_query(query_file_at(&file, i), &query));
        }
        query_file_deinit(&file);
    }
    fclose(in);
    return 0;
}
