/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_LATENCY_H
#define NAILUP_BENCH_LATENCY_H

/*
 * A histogram of durations in any unit. It is exact below 64 units and has a relative error below
 * 1/64 above: each power of two is cut into 64 equal parts. Its size is fixed, and it does not
 * allocate.
 */

#include <stdint.h>

enum {
    LATENCY_PARTS = 64,  /* parts of a power of two */
    LATENCY_POWERS = 36, /* 2^41: longer durations count as this */
    LATENCY_BUCKETS = LATENCY_PARTS * LATENCY_POWERS,
};

struct latency {
    uint64_t count, sum, min, max;
    uint64_t buckets[LATENCY_BUCKETS];
};

void latency_init(struct latency *latency);
void latency_record(struct latency *latency, uint64_t value);

/* Adds the values of another histogram. */
void latency_merge(struct latency *into, const struct latency *from);

/* The value that this percentage of the recorded values does not exceed: the highest value of
 * its bucket, at most max. An empty histogram has 0. */
uint64_t latency_percentile(const struct latency *latency, double percent);

double latency_mean(const struct latency *latency);

#endif
