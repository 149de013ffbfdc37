/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Reads any bytes as a capture. The capture is refused, or has queries that the responder can read.
 */

#include "bench/pcap_file.h"
#include "fuzz/bench_queries.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct capture capture;
    size_t packets;
    FILE *in = bench_queries_open(data, size);
    if (!in)
        return 0;
    enum pcap_fault fault = pcap_file_load(&capture, in, &packets);
    MUST(pcap_fault_text(fault));
    bench_capture_check(&capture, fault != PCAP_FINE, packets);
    fclose(in);
    return 0;
}
