/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads any bytes as a dnstap file. The file is refused, or has queries that the responder can
 * read. */

#include "bench/dnstap_file.h"
#include "fuzz/bench_queries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct capture capture;
    size_t frames;
    FILE *in = bench_queries_open(data, size);
    if (!in)
        return 0;
    enum dnstap_fault fault = dnstap_file_load(&capture, in, &frames);
    MUST(dnstap_fault_text(fault));
    bench_capture_check(&capture, fault != DNSTAP_FINE, frames);
    fclose(in);
    return 0;
}
