/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "config/options.h"

static void test_paths_are_unique(void **state)
{
    (void)state;
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        assert_ptr_equal(options_find(rows[i].path), &rows[i]);
        assert_int_equal(option_index(&rows[i]), i);
    }
}

static void test_every_row_is_a_sentence(void **state)
{
    (void)state;
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        size_t len = strlen(rows[i].sentence);
        assert_true(len > 10);
        assert_int_equal(rows[i].sentence[len - 1], '.');
        assert_null(strstr(rows[i].sentence, "  "));
    }
}

static void test_every_default_lies_within_its_bounds(void **state)
{
    (void)state;
    size_t count;
    const struct option *rows = options_all(&count);
    for (size_t i = 0; i < count; i++) {
        uint64_t value, min, max;
        if (!kind_is_number(rows[i].kind))
            continue;
        assert_true(kind_parse_number(rows[i].kind, rows[i].default_text, &value));
        assert_true(kind_parse_number(rows[i].kind, rows[i].min, &min));
        assert_true(kind_parse_number(rows[i].kind, rows[i].max, &max));
        assert_true(min < max);
        assert_true(strcmp(rows[i].default_text, "never") == 0 || (value >= min && value <= max));
    }
}

static void test_sections_are_the_starts_of_paths(void **state)
{
    (void)state;
    assert_true(options_is_section("server"));
    assert_true(options_is_section("upstream.tcp-keepalive"));
    assert_true(options_is_section("metrics"));
    assert_false(options_is_section("server.listen"));
    assert_false(options_is_section("serve"));
    assert_false(options_is_section(""));
}

static void test_only_rows_of_upstream_may_be_layered(void **state)
{
    (void)state;
    assert_true(option_is_layered(options_find("upstream.transport")));
    assert_true(option_is_layered(options_find("upstream.tcp-keepalive.count")));
    assert_false(option_is_layered(options_find("upstream.max-nailed")));
    assert_false(option_is_layered(options_find("recursion.cookies")));
    assert_false(option_is_layered(options_find("cache.size")));
}

static void test_a_layer_overlays_only_its_own_rows(void **state)
{
    (void)state;
    struct upstream_options options = {.connections = 1, .max_requests = 2};
    struct config_layer layer = {.values = {.connections = 7, .max_requests = 8}};
    const struct option *connections = options_find("upstream.connections");
    options_overlay(&layer, &options);
    assert_int_equal(options.connections, 1);
    option_mark_layer(connections, &layer);
    assert_true(option_in_layer(connections, &layer));
    assert_false(option_in_layer(options_find("upstream.max-requests"), &layer));
    options_overlay(&layer, &options);
    assert_int_equal(options.connections, 7);
    assert_int_equal(options.max_requests, 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_are_unique),
        cmocka_unit_test(test_every_row_is_a_sentence),
        cmocka_unit_test(test_every_default_lies_within_its_bounds),
        cmocka_unit_test(test_sections_are_the_starts_of_paths),
        cmocka_unit_test(test_only_rows_of_upstream_may_be_layered),
        cmocka_unit_test(test_a_layer_overlays_only_its_own_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
