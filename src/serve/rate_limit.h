/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_SERVE_RATE_LIMIT_H
#define NAILUP_SERVE_RATE_LIMIT_H

/*
 * How many queries a second each client may ask: a table of fixed size, shared by all workers, that
 * looks at one cache line a query. Knows neither addresses nor clocks. Any thread.
 *
 * A client may ask a second's worth at once and then as fast as the rate. The table is written for
 * queries within the limit alone, so a flood is judged by reading: what it makes workers write is
 * bounded by the rate. Where more clients than the table holds ask at once, the one that has used
 * the least of its second is forgotten.
 */

#include <stdbool.h>
#include <stdint.h>

struct rate_limit;

enum {
    RATE_LIMIT_QPS_MAX = 1000000,
    RATE_LIMIT_CLIENTS_MIN = 8, /* of the table: one cache line */
    RATE_LIMIT_CLIENTS_MAX = 1 << 24,
};

/* For queries_per_second of 1 to RATE_LIMIT_QPS_MAX (MUST) and so many clients at once, rounded up
 * to a power of two: eight bytes each, and never more. The limit before this one, NULL
 * for none, may still be in use: where it holds as many clients its table is shared, so that what
 * they have used goes on counting; else all begin anew, with a second's worth. NULL out of memory.
 */
struct rate_limit *rate_limit_new(uint32_t queries_per_second, uint32_t clients,
                                  const struct rate_limit *before);
void rate_limit_free(struct rate_limit *limit);

/* Whether a query of this client is within the limit; if so it is counted. client is a hash with a
 * seed that clients do not know. now_us may differ between threads by less than a second. */
bool rate_limit_take(struct rate_limit *limit, uint64_t client, uint64_t now_us);

#endif
