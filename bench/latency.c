/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * Log-linear buckets. The highest bit of a value gives its power, and the six bits below it give
 * the part, so recording is a shift and an addition.
 */

#include "latency.h"

#include <math.h>
#include <string.h>

#include "base/check.h"

enum { PART_BITS = 6 };

static const uint64_t VALUE_MAX = (1ULL << (PART_BITS + LATENCY_POWERS - 1)) - 1;

static unsigned bucket_of(uint64_t value)
{
    if (value < LATENCY_PARTS)
        return (unsigned)value;
    if (value > VALUE_MAX)
        value = VALUE_MAX;
    unsigned power = 63 - (unsigned)__builtin_clzll(value); /* >= PART_BITS */
    unsigned part = (unsigned)(value >> (power - PART_BITS)) & (LATENCY_PARTS - 1);
    return (power - PART_BITS + 1) * LATENCY_PARTS + part;
}

/* Returns the highest value that falls into the bucket. */
static uint64_t bucket_end(unsigned bucket)
{
    if (bucket < LATENCY_PARTS)
        return bucket;
    unsigned shift = bucket / LATENCY_PARTS - 1;
    uint64_t part = bucket % LATENCY_PARTS + LATENCY_PARTS;
    return ((part + 1) << shift) - 1;
}

void latency_init(struct latency *latency)
{
    memset(latency, 0, sizeof(*latency));
    latency->min = UINT64_MAX;
}

void latency_record(struct latency *latency, uint64_t value)
{
    latency->buckets[bucket_of(value)]++;
    latency->count++;
    latency->sum += value;
    latency->min = MIN(latency->min, value);
    latency->max = MAX(latency->max, value);
}

void latency_merge(struct latency *into, const struct latency *from)
{
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++)
        into->buckets[i] += from->buckets[i];
    into->count += from->count;
    into->sum += from->sum;
    into->min = MIN(into->min, from->min);
    into->max = MAX(into->max, from->max);
}

uint64_t latency_percentile(const struct latency *latency, double percent)
{
    if (latency->count == 0)
        return 0;
    uint64_t wanted = (uint64_t)ceil(percent / 100 * (double)latency->count);
    uint64_t seen = 0;
    for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
        seen += latency->buckets[i];
        if (seen >= wanted && seen > 0)
            return MIN(bucket_end(i), latency->max);
    }
    return latency->max;
}

double latency_mean(const struct latency *latency)
{
    return latency->count ? (double)latency->sum / (double)latency->count : 0;
}
