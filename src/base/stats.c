/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Sums counters, and keeps histograms with four buckets per octave. Callers print the numbers.
 * Every number is one relaxed atomic, so a sum may be a few events old but is never torn.
 */
#include "base/stats.h"

#include "base/check.h"

const struct stat_row stat_rows[STAT_COUNT] = {
#define METRIC(id, name, kind, labels, sentence) {#id, name, labels, sentence, STAT_KIND_##kind},
#include "nailup/metrics.def"
};

const struct stat_view_row stat_view_rows[] = {
#define PER_VIEW(id, name, labels, sentence)                                                       \
    {name, labels, sentence, offsetof(struct view_stats, id)},
#include "nailup/metrics.def"
};

const size_t stat_view_count = ARRAY_LEN(stat_view_rows);

const struct stat_histogram_row stat_histogram_rows[] = {
#define HISTOGRAM(id, name, sentence) {#id, name, sentence, offsetof(struct stats, id)},
#include "nailup/metrics.def"
};

const size_t stat_histogram_count = ARRAY_LEN(stat_histogram_rows);

/* 0, 1, 2 and 3 have their own buckets. From 4 on, the two bits below the highest select one of an
 * octave's four. */
static size_t stats_bucket_of(uint64_t us)
{
    if (us < 4)
        return (size_t)us;
    if (us >> HISTOGRAM_OCTAVES)
        return HISTOGRAM_BUCKETS - 1;
    unsigned octave = 63U - (unsigned)__builtin_clzll(us);
    return (octave - 1) * 4 + (us >> (octave - 2) & 3);
}

/* Returns the smallest value of bucket i. */
static uint64_t bucket_start(size_t i)
{
    return i < 4 ? i : (uint64_t)(4 + (i & 3)) << (i / 4 - 1);
}

void stats_histogram_add(struct histogram *histogram, uint64_t us)
{
    uint64_t *count = &histogram->counts[stats_bucket_of(us)];
    stats_write(count, stats_read(count) + 1);
    stats_write(&histogram->sum_us, stats_read(&histogram->sum_us) + us);
}

static void sum_histogram(struct histogram *out, const struct histogram *from)
{
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++)
        out->counts[i] += stats_read(&from->counts[i]);
    out->sum_us += stats_read(&from->sum_us);
}

static void sum_view(struct view_stats *out, const struct view_stats *from)
{
#define PER_VIEW(id, name, labels, sentence) out->id += stats_read(&from->id);
#include "nailup/metrics.def"
}

void stats_sum(struct stats *out, const struct stats *from)
{
    for (size_t i = 0; i < STAT_COUNT; i++)
        out->values[i] += stats_read(&from->values[i]);
#define HISTOGRAM(id, name, sentence) sum_histogram(&out->id, &from->id);
#include "nailup/metrics.def"
    for (size_t i = 0; i < ARRAY_LEN(out->views); i++)
        sum_view(&out->views[i], &from->views[i]);
}

uint64_t stats_histogram_limit_us(size_t i)
{
    MUST(i < HISTOGRAM_BUCKETS);
    return i == HISTOGRAM_BUCKETS - 1 ? UINT64_MAX : bucket_start(i + 1) - 1;
}

uint64_t stats_histogram_count_to(const struct histogram *histogram, uint64_t us)
{
    uint64_t count = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS && stats_histogram_limit_us(i) <= us; i++)
        count += stats_read(&histogram->counts[i]);
    return count;
}

uint64_t stats_histogram_count(const struct histogram *histogram)
{
    return stats_histogram_count_to(histogram, UINT64_MAX);
}

uint64_t stats_histogram_quantile_us(const struct histogram *histogram, double q)
{
    double wanted = q * (double)stats_histogram_count(histogram);
    uint64_t seen = 0;
    for (size_t i = 0; i < HISTOGRAM_BUCKETS; i++) {
        seen += stats_read(&histogram->counts[i]);
        if (seen > 0 && (double)seen >= wanted)
            return MIN(stats_histogram_limit_us(i), (uint64_t)1 << HISTOGRAM_OCTAVES);
    }
    return 0;
}
