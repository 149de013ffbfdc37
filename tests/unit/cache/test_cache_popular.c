/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Popular names survive a flood of names that are queried only once: the cache has more hits than
 * LRU. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "unit/cache/made_answers.h"

/* In the course of QUERIES, twice as many names are stored as the largest cache here holds. */
enum { ONCE = 1000000000, BYTES_OF_10000 = 1100 * 1024, QUERIES = 160000 };

/* Queries for names by rank, with a probability proportional to 1 / rank^exponent (Zipf). */
struct workload {
    unsigned tenths; /* the exponent in tenths */
    uint32_t names, count;
    uint32_t *asked;
};

static double power(double x, unsigned n)
{
    double product = 1;
    for (; n > 0; n--)
        product *= x;
    return product;
}

/* Newton's method, from the previous number's root. It makes libm unnecessary. */
static double tenth_root(double x, double near)
{
    for (int step = 0; step < 6; step++)
        near -= (near - x / power(near, 9)) / 10;
    return near;
}

static const double *sums_of(const struct workload *work)
{
    double *up_to = malloc(work->names * sizeof(*up_to)), sum = 0;
    assert_non_null(up_to);
    double root = 1;
    for (uint32_t i = 0; i < work->names; i++) {
        root = tenth_root(i + 1, root);
        up_to[i] = sum += 1 / power(root, work->tenths);
    }
    return up_to;
}

/* Returns the first rank whose cumulative weight reaches `at`. */
static uint32_t rank_at(const double *up_to, uint32_t names, double at)
{
    uint32_t low = 0, high = names - 1;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (up_to[middle] < at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Three queries in ten are for a name that occurs once; the rest follow Zipf. */
static void workload_begin(struct workload *work)
{
    const double *up_to = sums_of(work);
    uint64_t random = 1;
    work->asked = malloc(work->count * sizeof(*work->asked));
    assert_non_null(work->asked);
    for (uint32_t n = 0; n < work->count; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double at = (double)(random >> 11) / 9007199254740992.0 * up_to[work->names - 1];
        random = random * 6364136223846793005u + 1442695040888963407u;
        work->asked[n] = (random >> 33) % 10 < 3 ? ONCE + n : rank_at(up_to, work->names, at);
    }
    free((void *)(uintptr_t)up_to);
}

static void workload_end(struct workload *work)
{
    free(work->asked);
}

/* The first queries fill the cache and do not count. */
static uint32_t warm_up(const struct workload *work)
{
    return work->count / 2;
}

static double percent(unsigned hits, const struct workload *work)
{
    return 100.0 * hits / (work->count - warm_up(work));
}

/* Returns the hits of an exact LRU of this size, with its list in arrays. The names that occur once
 * are numbered after the others. */
static unsigned lru_hits(const struct workload *work, uint32_t size)
{
    uint32_t all = work->names + work->count + 1, end = all - 1, held = 0;
    uint32_t *next = calloc(all, sizeof(*next)), *prev = calloc(all, sizeof(*prev));
    bool *has = calloc(all, sizeof(*has));
    unsigned hits = 0;
    assert_true(next && prev && has);
    next[end] = prev[end] = end;
    for (uint32_t n = 0; n < work->count; n++) {
        uint32_t name = work->asked[n] >= ONCE ? work->names + n : work->asked[n];
        if (has[name]) {
            hits += n >= warm_up(work);
            next[prev[name]] = next[name];
            prev[next[name]] = prev[name];
        } else if (held == size) {
            uint32_t oldest = prev[end];
            has[oldest] = false;
            next[prev[oldest]] = end;
            prev[end] = prev[oldest];
        } else {
            held++;
        }
        has[name] = true;
        next[name] = next[end];
        prev[name] = end;
        prev[next[end]] = name;
        next[end] = name;
    }
    free(next);
    free(prev);
    free(has);
    return hits;
}

static unsigned cache_hits(struct cache *cache, const struct workload *work)
{
    unsigned hits = 0;
    for (uint32_t n = 0; n < work->count; n++) {
        if (find_number(cache, work->asked[n], 0))
            hits += n >= warm_up(work);
        else
            assert_true(store_number(cache, work->asked[n], 0));
    }
    return hits;
}

struct found {
    uint64_t entries;
    double percent, percent_of_lru;
};

/* Compares a cache of this size with an LRU that holds as many entries as the cache does at the
 * end. */
static struct found compare(const struct workload *work, uint64_t size_bytes)
{
    struct cache *cache = made_cache(size_bytes);
    struct cache_usage usage;
    struct found found = {.percent = percent(cache_hits(cache, work), work)};
    cache_usage(cache, &usage);
    found.entries = usage.entries;
    found.percent_of_lru = percent(lru_hits(work, (uint32_t)usage.entries), work);
    print_message("Zipf %.1f of %u names, %llu entries: %.2f %% found, LRU %.2f %%, %+.2f\n",
                  work->tenths / 10.0, work->names, (unsigned long long)found.entries,
                  found.percent, found.percent_of_lru, found.percent - found.percent_of_lru);
    cache_free(cache);
    return found;
}

static void test_the_cache_finds_more_than_lru_at_any_size(void **state)
{
    (void)state;
    struct workload work = {.tenths = 10, .names = 200000, .count = QUERIES};
    const uint64_t sizes[] = {1 << 20, 4 << 20}; /* these sizes give one shard and two shards */
    workload_begin(&work);
    cache_thread_begin();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct found found = compare(&work, sizes[i]);
        assert_true(found.percent > found.percent_of_lru);
    }
    cache_thread_end();
    workload_end(&work);
}

/* Under a sanitizer one exponent is enough, because the test is slow there. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SLOW = 1 };
#else
enum { SLOW = 0 };
#endif

/* Measurements at resolvers found these exponents. */
static void test_with_10000_entries_the_cache_finds_many_more_than_lru(void **state)
{
    (void)state;
    const unsigned tenths[] = {8, 9, 10, 11};
    const double points[] = {5, 5, 5, 4}; /* how many percentage points more than LRU, at least */
    cache_thread_begin();
    for (size_t i = SLOW ? 2 : 0; i < (SLOW ? 3 : sizeof(tenths) / sizeof(tenths[0])); i++) {
        struct workload work = {.tenths = tenths[i], .names = 2000000, .count = 5 * QUERIES};
        workload_begin(&work);
        struct found found = compare(&work, BYTES_OF_10000);
        assert_in_range(found.entries, 9000, 11000);
        assert_true(found.percent - found.percent_of_lru >= points[i]);
        workload_end(&work);
    }
    cache_thread_end();
}

static void test_a_scan_of_new_names_does_not_evict_popular_ones(void **state)
{
    (void)state;
    cache_thread_begin();
    struct cache *cache = made_cache(2 << 20);
    uint64_t next = ONCE;
    for (int round = 0; round < 12; round++) {
        for (uint64_t n = 0; n < 2000; n++)
            if (!find_number(cache, n, 0))
                store_number(cache, n, 0);
        for (int i = 0; i < 5000; i++)
            store_number(cache, next++, 0);
    }
    unsigned left = 0;
    for (uint64_t n = 0; n < 2000; n++)
        left += find_number(cache, n, 0);
    assert_true(left > 1950);
    cache_free(cache);
    cache_thread_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_cache_finds_more_than_lru_at_any_size),
        cmocka_unit_test(test_with_10000_entries_the_cache_finds_many_more_than_lru),
        cmocka_unit_test(test_a_scan_of_new_names_does_not_evict_popular_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
