/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Popular names survive names that are asked for once: more hits than LRU of the same size. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "unit/cache/made_answers.h"

enum { NAMES = 200000, ASKED = 600000, ONCE = 1000000000 };

/* One question in three is for a name never seen before or again; the rest follow Zipf. */
static uint32_t *make_workload(void)
{
    uint32_t *asked = malloc(ASKED * sizeof(*asked));
    double *up_to = malloc(NAMES * sizeof(*up_to)), sum = 0;
    for (int i = 0; i < NAMES; i++)
        up_to[i] = sum += 1.0 / (i + 1);
    uint64_t random = 1;
    for (uint32_t n = 0; n < ASKED; n++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        double at = (double)(random >> 11) / 9007199254740992.0 * sum;
        uint32_t low = 0, high = NAMES - 1;
        while (low < high) {
            uint32_t middle = (low + high) / 2;
            if (up_to[middle] < at)
                low = middle + 1;
            else
                high = middle;
        }
        random = random * 6364136223846793005u + 1442695040888963407u;
        asked[n] = (random >> 33) % 10 < 3 ? ONCE + n : low;
    }
    free(up_to);
    return asked;
}

/* LRU of so many entries, exact: a list through arrays, numbers above ONCE folded behind NAMES. */
static unsigned lru_hits(const uint32_t *asked, uint32_t size)
{
    uint32_t all = NAMES + ASKED + 1, end = all - 1, held = 0;
    uint32_t *next = calloc(all, sizeof(*next)), *prev = calloc(all, sizeof(*prev));
    bool *has = calloc(all, sizeof(*has));
    unsigned hits = 0;
    next[end] = prev[end] = end;
    for (uint32_t n = 0; n < ASKED; n++) {
        uint32_t name = asked[n] >= ONCE ? NAMES + asked[n] - ONCE : asked[n];
        if (has[name]) {
            hits++;
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

static unsigned cache_hits(struct cache *cache, const uint32_t *asked)
{
    unsigned hits = 0;
    for (uint32_t n = 0; n < ASKED; n++) {
        if (find_number(cache, asked[n], 0))
            hits++;
        else
            assert_true(store_number(cache, asked[n], 0));
    }
    return hits;
}

static void test_more_is_found_than_lru_of_the_same_size_would(void **state)
{
    (void)state;
    uint32_t *asked = make_workload();
    const uint64_t sizes[] = {1 << 20, 4 << 20, 12 << 20};
    cache_thread_begin();
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct cache *cache = made_cache(sizes[i]);
        unsigned hits = cache_hits(cache, asked);
        struct cache_usage usage;
        cache_usage(cache, &usage);
        unsigned of_lru = lru_hits(asked, (uint32_t)usage.entries);
        print_message("%llu entries: %.2f %% found, LRU %.2f %%\n",
                      (unsigned long long)usage.entries, 100.0 * hits / ASKED,
                      100.0 * of_lru / ASKED);
        assert_true(hits > of_lru);
        cache_free(cache);
    }
    cache_thread_end();
    free(asked);
}

static void test_a_scan_of_new_names_does_not_push_out_popular_ones(void **state)
{
    (void)state;
    cache_thread_begin();
    struct cache *cache = made_cache(2 << 20);
    uint64_t next = ONCE;
    for (int round = 0; round < 40; round++) {
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
        cmocka_unit_test(test_more_is_found_than_lru_of_the_same_size_would),
        cmocka_unit_test(test_a_scan_of_new_names_does_not_push_out_popular_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
