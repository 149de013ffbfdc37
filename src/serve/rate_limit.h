/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_RATE_LIMIT_H
#define NAILUP_SERVE_RATE_LIMIT_H

/*
 * Limits the queries a second of each client: a table of fixed size, shared by all workers, that
 * reads one cache line for each query. Knows nothing about addresses or clocks. Any thread.
 *
 * A client may send a second's worth of queries at once, and then queries at the rate. Only queries
 * within the limit write to the table, so the rate also bounds the writes of a flood. When more
 * clients ask than the table holds, the table forgets the client that has used the least of its
 * second.
 */

#include <stdbool.h>
#include <stdint.h>

struct rate_limit;

enum {
    RATE_LIMIT_QPS_MAX = 1000000,
    RATE_LIMIT_CLIENTS_MIN = 8, /* one cache line */
    RATE_LIMIT_CLIENTS_MAX = 1 << 24,
};

/* Makes a limit of 1 to RATE_LIMIT_QPS_MAX (MUST) queries per second. The table holds this many
 * clients, rounded up to a power of two, in eight bytes each. before is the predecessor, which may
 * still be in use, or NULL. A table of the same size is shared with it, so its counts go on; else
 * each client begins again with a second's worth of queries. NULL: out of memory. */
struct rate_limit *rate_limit_new(uint32_t queries_per_second, uint32_t clients,
                                  const struct rate_limit *before);
void rate_limit_free(struct rate_limit *limit);

/* Whether a query of this client is within the limit; if so, counts it. client is a hash with a
 * secret seed. now_us may differ between threads by less than a second. */
bool rate_limit_take(struct rate_limit *limit, uint64_t client, uint64_t now_us);

#endif
