/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* Sources of queries: files repeat, and generated names are new or popular as configured. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "query_source.h"

static struct query_source source;
static uint8_t out[WIRE_QUERY_MAX];

static void init_unique(void)
{
    uint8_t suffix[WIRE_NAME_MAX];
    struct wire_style style = {.recursion_desired = true, .edns_bytes = 1232};
    size_t len = wire_name_from_text(suffix, "bench.example");
    query_source_init_unique(&source, suffix, len, WIRE_TYPE_AAAA, &style);
}

static struct wire_query next(void)
{
    struct wire_query query;
    size_t len = query_source_next(&source, out);
    assert_true(wire_parse_query(span_of(out, len), &query));
    return query;
}

static void test_new_names_differ_and_keep_suffix_and_type(void **state)
{
    (void)state;
    init_unique();
    struct wire_query first = next(), second = next();
    assert_memory_not_equal(first.lower, second.lower, 18);
    assert_memory_equal(second.lower, "\21u", 2);
    assert_memory_equal(second.lower + 18, "\5bench\7example", 15);
    assert_int_equal(second.type, WIRE_TYPE_AAAA);
    assert_true(second.has_edns);
    query_source_deinit(&source);
}

static void test_another_run_has_other_names(void **state)
{
    (void)state;
    init_unique();
    struct wire_query first = next();
    init_unique();
    struct wire_query second = next();
    assert_memory_not_equal(first.lower, second.lower, 18);
}

static void test_a_popular_name_comes_again_and_a_share_is_new(void **state)
{
    (void)state;
    unsigned new_ones = 0, firsts = 0;
    init_unique();
    source.random = 1;
    assert_int_equal(query_source_init_zipf(&source, 100, 1, 30), ERR_OK);
    for (int i = 0; i < 10000; i++) {
        struct wire_query query = next();
        new_ones += query.lower[1] == 'u';
        firsts += memcmp(query.lower + 1, "n0000000000000000", 17) == 0;
    }
    assert_in_range(new_ones, 2700, 3300);
    assert_in_range(firsts, 1100, 1600); /* 19.3 % of the 70 % that are popular */
    query_source_deinit(&source);
}

static void test_a_file_begins_again_at_its_end(void **state)
{
    (void)state;
    struct query_file file;
    struct wire_style style = {.recursion_desired = true};
    size_t line;
    FILE *in = fmemopen((void *)"a A\nb A\n", 8, "r");
    assert_int_equal(query_file_load(&file, in, &style, &line), ERR_OK);
    fclose(in);
    query_source_init_file(&source, &file);
    for (int i = 0; i < 4; i++)
        assert_int_equal(next().lower[1], i % 2 ? 'b' : 'a');
    query_source_deinit(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new_names_differ_and_keep_suffix_and_type),
        cmocka_unit_test(test_another_run_has_other_names),
        cmocka_unit_test(test_a_popular_name_comes_again_and_a_share_is_new),
        cmocka_unit_test(test_a_file_begins_again_at_its_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
