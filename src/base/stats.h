/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BASE_STATS_H
#define NAILUP_BASE_STATS_H

/*
 * The numbers of include/nailup/metrics.def. A struct stats has one writer, its worker's thread,
 * and any thread may read it at any time. Writing is a plain load, add and store: no lock prefix,
 * and no shared cache line while each worker has its own struct. Numbers of the whole process
 * (cache_bytes, cache_entries) are written with STATS_SET into a separate struct. A gauge may go
 * below zero in one worker; the sum over workers is right.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    STATS_VIEWS_MAX = 64,   /* views with separate rows */
    HISTOGRAM_OCTAVES = 24, /* values of 2^24 us (16.8 s) and more share the last bucket */
    HISTOGRAM_BUCKETS = (HISTOGRAM_OCTAVES - 1) * 4 + 1,
};

/* Four buckets per octave: a quantile is at most a quarter too large. */
struct histogram {
    uint64_t counts[HISTOGRAM_BUCKETS];
    uint64_t sum_us;
};

/* stat_<id>, in the order of the rows: the index into values of struct stats and stat_rows. */
enum stat {
#define METRIC(id, name, kind, labels, sentence) stat_##id,
#include "nailup/metrics.def"
    STAT_COUNT
};

/* The counters of a view. */
struct view_stats {
#define PER_VIEW(id, name, labels, sentence) uint64_t id;
#include "nailup/metrics.def"
};

struct stats {
    union {
        uint64_t values[STAT_COUNT];
        struct {
#define METRIC(id, name, kind, labels, sentence) uint64_t id;
#include "nailup/metrics.def"
        };
    };
#define HISTOGRAM(id, name, sentence) struct histogram id;
#include "nailup/metrics.def"
    struct view_stats views[STATS_VIEWS_MAX + 1]; /* the last row counts all other views */
    uint64_t anchor_dates, anchor_zone; /* validate/anchor_dates.h has their meaning; no sums */
};

static inline uint64_t stats_read(const uint64_t *value)
{
    return __atomic_load_n(value, __ATOMIC_RELAXED);
}

static inline void stats_write(uint64_t *value, uint64_t now)
{
    __atomic_store_n(value, now, __ATOMIC_RELAXED);
}

/* Only the writer's thread. */
#define STATS_ADD(stats, id, n) stats_write(&(stats)->id, stats_read(&(stats)->id) + (uint64_t)(n))
#define STATS_INC(stats, id) STATS_ADD(stats, id, 1)
#define STATS_DEC(stats, id) stats_write(&(stats)->id, stats_read(&(stats)->id) - 1)
#define STATS_SET(stats, id, n) stats_write(&(stats)->id, (uint64_t)(n))

/* Adds to a row chosen by number, for an enum that follows the order of its rows:
 * stats_add_at(stats, stat_upstream_closes_peer_idle + reason, 1). n may be negative for gauges.
 * Only the writer's thread. */
static inline void stats_add_at(struct stats *stats, enum stat at, int64_t n)
{
    stats_write(&stats->values[at], stats_read(&stats->values[at]) + (uint64_t)n);
}

/* Adds one value of us microseconds. Only the writer's thread. */
void stats_histogram_add(struct histogram *histogram, uint64_t us);

/* Adds each number in `from` to `out`. Only the caller may use `out`. Any thread. */
void stats_sum(struct stats *out, const struct stats *from);

/* Counts the values. Any thread, like the next three. */
uint64_t stats_histogram_count(const struct histogram *histogram);

/* Counts the values up to us: exact for a bucket's limit, else only the buckets below. */
uint64_t stats_histogram_count_to(const struct histogram *histogram, uint64_t us);

/* Returns the largest value of bucket i; UINT64_MAX for the last. */
uint64_t stats_histogram_limit_us(size_t i);

/* Returns the limit of the bucket with the q quantile (0..1); 0 without values, 2^24 us for the
 * last bucket. */
uint64_t stats_histogram_quantile_us(const struct histogram *histogram, double q);

enum stat_kind { STAT_KIND_COUNTER, STAT_KIND_GAUGE };

/* A row of metrics.def as data, for printing. */
struct stat_row {
    const char *id;     /* "queries_udp" */
    const char *name;   /* without the prefix nailup_ */
    const char *labels; /* "" or "protocol=\"udp\"" */
    const char *sentence;
    enum stat_kind kind;
};

extern const struct stat_row stat_rows[STAT_COUNT];

/* A row of PER_VIEW. */
struct stat_view_row {
    const char *name, *labels, *sentence; /* labels: without the label of the view */
    size_t offset;                        /* the counter's offset in struct view_stats */
};

extern const struct stat_view_row stat_view_rows[];
extern const size_t stat_view_count;

static inline uint64_t stats_view_at(const struct view_stats *stats, size_t row)
{
    return *(const uint64_t *)((const char *)stats + stat_view_rows[row].offset);
}

struct stat_histogram_row {
    const char *id, *name, *sentence;
    size_t offset; /* the histogram's offset in struct stats */
};

extern const struct stat_histogram_row stat_histogram_rows[];
extern const size_t stat_histogram_count;

static inline const struct histogram *stats_histogram_at(const struct stats *stats, size_t row)
{
    return (const struct histogram *)((const char *)stats + stat_histogram_rows[row].offset);
}

#endif
