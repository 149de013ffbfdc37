/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Concurrent readers and writers of spans: a reader always finds whole RRsets, in order. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "cache/cache.h"
#include "dns/rrtype.h"
#include "unit/cache/spans_zones.h"

enum {
    READERS = 2,
    WRITERS = 2,
    STORES = 20000,
    ZONES = 40,
    OWNERS = 60,
    NOW = 1,
    BYTES_MAX = 4 * 1024 * 1024
};

static struct spans *spans;
static atomic_int writers_left;

static uint32_t step(uint32_t *random)
{
    *random = *random * 1664525 + 1013904223;
    return *random >> 8;
}

/* Each RRset has its owner's text as its RDATA and as its signature. */
static void *run_writer(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg;
    uintptr_t stored = 0;
    cache_thread_begin();
    for (int i = 0; i < STORES; i++) {
        char zone[32], owner[64], chain[2] = {(char)('a' + (step(&random) % 50 == 0)), '\0'};
        uint8_t wire[NAME_WIRE_MAX];
        snprintf(zone, sizeof(zone), "z%u.example", step(&random) % ZONES);
        snprintf(owner, sizeof(owner), "n%02u.%s", step(&random) % OWNERS, zone);
        stored += spans_put(spans, zone, SPANS_NAMES, chain, owner, RRTYPE_NSEC, owner, NOW);
        if (step(&random) % 100 == 0)
            spans_forget(spans, spans_name(wire, zone));
    }
    cache_thread_end();
    atomic_fetch_sub(&writers_left, 1);
    return (void *)stored;
}

static bool is_whole(const struct spans_item *item, struct name name)
{
    char text[NAME_TEXT_MAX];
    struct span records = item->records, rdata;
    name_format(item->owner, text);
    struct span wanted = span_of(text, strlen(text) - 1); /* without the final dot */
    return spans_next(&records, &rdata) && span_equal(rdata, wanted) &&
           span_equal(item->signature, wanted) && item->type == RRTYPE_NSEC &&
           name_compare(item->owner, name) <= 0;
}

static void *run_reader(void *arg)
{
    uint32_t random = (uint32_t)(uintptr_t)arg;
    uintptr_t torn = 0;
    cache_thread_begin();
    while (atomic_load(&writers_left) > 0) {
        char text[64];
        uint8_t wire[NAME_WIRE_MAX];
        snprintf(text, sizeof(text), "n99.z%u.example", step(&random) % ZONES);
        struct name name = spans_name(wire, text);
        cache_read_begin();
        const struct spans_zone *zone = spans_zone_above(spans, 0, name);
        const struct spans_item *item = zone ? spans_before(zone, SPANS_NAMES, name, NOW) : NULL;
        torn += item && !is_whole(item, name);
        if (zone)
            spans_touch(zone, NOW + UINT64_C(2000000) * (step(&random) % 10));
        cache_read_end();
    }
    cache_thread_end();
    return (void *)torn;
}

static void test_readers_find_whole_rrsets_while_others_write(void **state)
{
    pthread_t readers[READERS], writers[WRITERS];
    struct spans_usage usage;
    (void)state;
    spans = spans_new(BYTES_MAX);
    atomic_store(&writers_left, WRITERS);
    for (uintptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&writers[i], NULL, run_writer, (void *)(i + 1)), 0);
    for (uintptr_t i = 0; i < READERS; i++)
        assert_int_equal(pthread_create(&readers[i], NULL, run_reader, (void *)(i + 9)), 0);
    for (unsigned i = 0; i < WRITERS; i++) {
        void *stored;
        assert_int_equal(pthread_join(writers[i], &stored), 0);
        assert_true((uintptr_t)stored > 0);
    }
    for (unsigned i = 0; i < READERS; i++) {
        void *torn;
        assert_int_equal(pthread_join(readers[i], &torn), 0);
        assert_int_equal((uintptr_t)torn, 0);
    }
    spans_usage(spans, &usage);
    assert_true(usage.bytes <= BYTES_MAX);
    spans_free(spans);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readers_find_whole_rrsets_while_others_write),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
