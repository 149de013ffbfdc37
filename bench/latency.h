/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_LATENCY_H
#define NAILUP_BENCH_LATENCY_H

/*
 * A histogram of durations in any unit. It is exact below 64 units, and above that its relative
 * error is below 1/64, because each power of two is divided into 64 equal parts. Its size is fixed,
 * and it allocates nothing.
 */

#include <stdint.h>

enum {
    LATENCY_PARTS = 64,  /* parts of a power of two */
    LATENCY_POWERS = 36, /* 2^41: a longer duration counts as this one */
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

/* Returns the value that this percentage of the recorded values does not exceed: the highest value
 * of its bucket, but at most max. Returns 0 for an empty histogram. */
uint64_t latency_percentile(const struct latency *latency, double percent);

double latency_mean(const struct latency *latency);

#endif
