/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads any bytes as a capture. It is refused, or gives queries that the responder can read. */

#include <stdio.h>

#include "base/check.h"
#include "bench/pcap_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct query_file file;
    size_t packets;
    FILE *in = size ? fmemopen((void *)data, size, "r") : NULL;
    if (!in)
        return 0;
    enum pcap_fault fault = pcap_file_load(&file, in, &packets);
    MUST(pcap_fault_text(fault));
    MUST(fault ? file.count == 0 && !file.bytes : file.count > 0 && file.count <= packets);
    for (size_t i = 0; i < file.count; i++) {
        struct wire_query query;
        MUST(wire_parse_query(query_file_at(&file, i), &query));
    }
    query_file_deinit(&file);
    fclose(in);
    return 0;
}
