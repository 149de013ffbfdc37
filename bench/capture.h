/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_CAPTURE_H
#define NAILUP_BENCH_CAPTURE_H

/*
 * The queries of a capture, each with its time and its client. pcap_file and dnstap_file fill it. A
 * client is an address without its port, because a stub resolver uses another port for each query.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "query_file.h"

#define CAPTURE_NO_TIME UINT64_MAX

struct capture_event {
    uint64_t at_ns;         /* nanoseconds since 1970 */
    uint32_t query, client; /* indexes into queries and clients */
};

/* A new capture is {0}. */
struct capture {
    struct query_file queries;
    struct capture_event *events; /* queries.count events, in the order of the file */
    size_t events_cap;
    struct addr *clients; /* with port 0, in the order of their first queries */
    size_t client_count, clients_cap;
    uint32_t *table; /* of clients by address: index + 1, or 0; at most half full */
    size_t table_size;
    bool lacks_times; /* at least one query came with CAPTURE_NO_TIME */
};

void capture_deinit(struct capture *capture);

/* Adds the query in a message: its name in lower case, type, RD, CD, EDNS size and DO. Other EDNS
 * options are left out: a cookie of the past is wrong. A message that is no query of class IN with
 * one question is skipped. ERR_LIMIT: more than 4 GiB; ERR_NO_MEMORY. */
MUST_USE enum err capture_add(struct capture *capture, struct span message,
                              const struct addr *client, uint64_t at_ns);

/* Sorts the events by time. A capture on several interfaces, or by a server with several threads,
 * may have another order. */
void capture_sort(struct capture *capture);

#endif
