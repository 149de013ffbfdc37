/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_LATENCY_H
#define NAILUP_BENCH_LATENCY_H

/*
 * A histogram of durations with a relative error below 1/64 from 64 units up and none below:
 * each power of two is cut into 64 equal parts. Fixed size, no allocation, any unit.
 */

#include <stdint.h>

enum {
    LATENCY_PARTS = 64,  /* parts of a power of two */
    LATENCY_POWERS = 36, /* 2^41: longer durations count as that */
    LATENCY_BUCKETS = LATENCY_PARTS * LATENCY_POWERS,
};

struct latency {
    uint64_t count, sum, min, max;
    uint64_t buckets[LATENCY_BUCKETS];
};

void latency_init(struct latency *latency);
void latency_record(struct latency *latency, uint64_t value);

/* Adds what the other one holds. */
void latency_merge(struct latency *into, const struct latency *from);

/* The value that percent of all recorded ones do not exceed (the highest value that its bucket
 * stands for, never more than max); 0 of an empty histogram. */
uint64_t latency_percentile(const struct latency *latency, double percent);

double latency_mean(const struct latency *latency);

#endif
