/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/resolve/sample.h"

#include "local/name_map.h"

static struct name_map *map;

static int set_up(void **state)
{
    (void)state;
    map = name_map_new();
    return !map;
}

static int tear_down(void **state)
{
    (void)state;
    name_map_free(map);
    return 0;
}

static void put(const char *name, uint32_t value)
{
    uint32_t *number;
    assert_int_equal(name_map_put(map, NAME(name), value, &number), ERR_OK);
}

/* Returns the number of the longest suffix in the map, or 0. Asserts that it is `suffix`. */
static uint32_t suffix_of(const char *name, const char *suffix)
{
    uint8_t len = 0;
    const uint32_t *number = name_map_find_suffix(map, NAME(name), &len);
    if (number)
        assert_int_equal(len, NAME(suffix).len);
    return number ? *number : 0;
}

static void test_an_empty_map_has_nothing(void **state)
{
    (void)state;
    uint8_t len;
    assert_null(name_map_find(map, NAME("example")));
    assert_null(name_map_find_suffix(map, NAME("www.example"), &len));
    assert_null(name_map_find_suffix(map, name_root(), &len));
    name_map_trim(map);
}

static void test_a_name_is_added_once_and_keeps_its_number(void **state)
{
    (void)state;
    uint32_t *number;
    put("www.example", 7);
    assert_int_equal(name_map_put(map, NAME("www.example"), 8, &number), ERR_OK);
    assert_int_equal(*number, 7);
    *number = 9;
    assert_int_equal(*name_map_find(map, NAME("www.example")), 9);
    assert_int_equal(name_map_count(map), 1);
    assert_null(name_map_find(map, NAME("example")));
    assert_null(name_map_find(map, NAME("a.www.example")));
}

static void test_the_longest_suffix_is_found(void **state)
{
    (void)state;
    put("example", 1);
    put("b.c.example", 2);
    assert_int_equal(suffix_of("example", "example"), 1);
    assert_int_equal(suffix_of("c.example", "example"), 1);
    assert_int_equal(suffix_of("b.c.example", "b.c.example"), 2);
    assert_int_equal(suffix_of("x.a.b.c.example", "b.c.example"), 2);
    assert_int_equal(suffix_of("other", ""), 0);
    put(".", 3);
    assert_int_equal(suffix_of("other", "."), 3);
    assert_int_equal(suffix_of(".", "."), 3);
}

/* The text "ab.example" ends in "b.example", but the name does not. */
static void test_suffixes_begin_at_labels(void **state)
{
    (void)state;
    put("b.example", 1);
    assert_int_equal(suffix_of("ab.example", ""), 0);
    assert_int_equal(suffix_of("\\001b.example", ""), 0);
    assert_int_equal(suffix_of("a.b.example", "b.example"), 1);
}

/* If the filter rules a name out, the map must not have it. */
static void test_the_last_label_rules_out_most_names(void **state)
{
    (void)state;
    assert_false(name_map_may_have(map, NAME("www.example")));
    assert_false(name_map_may_have(map, NAME(".")));
    put("b.example", 1);
    assert_true(name_map_may_have(map, NAME("b.example")));
    assert_true(name_map_may_have(map, NAME("a.b.example")));
    put("label", 3);
    assert_true(name_map_may_have(map, NAME("label")));
    assert_true(name_map_may_have(map, NAME("a.b.label")));
    assert_false(name_map_may_have(map, NAME("www.example.com")));
    assert_false(name_map_may_have(map, NAME("e")));
    assert_false(name_map_may_have(map, NAME(".")));
    put(".", 2);
    assert_true(name_map_may_have(map, NAME("www.example.com")));
    assert_true(name_map_may_have(map, NAME(".")));
}

static void test_two_labels_rule_out_most_names_under_a_common_label(void **state)
{
    (void)state;
    enum { MANY = 4000 };
    char text[64];
    unsigned count = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "ads.n%u.example", i);
        put(text, i);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "www.n%u.example", i);
        assert_true(name_map_may_have(map, NAME(text)));
        snprintf(text, sizeof(text), "www.m%u.example", i);
        count += name_map_may_have(map, NAME(text));
    }
    assert_true(count < MANY / 8); /* at most a sixteenth is expected */
}

static void test_the_longest_possible_name_fits(void **state)
{
    (void)state;
    char text[NAME_TEXT_MAX] = "";
    for (int i = 0; i < 127; i++)
        strcat(text, "a.");
    put(text, 5);
    assert_int_equal(suffix_of(text, text), 5);
    put("a", 6);
    assert_int_equal(suffix_of("b.a", "a"), 6);
}

static void count(void *context, struct name name, uint32_t *number)
{
    size_t *next = context;
    (void)name;
    assert_int_equal(*number, (*next)++);
}

static void test_many_names_are_found_and_visited_in_order(void **state)
{
    (void)state;
    enum { MANY = 20000 };
    char text[64];
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "n%u.%u.example", i, i % 7);
        put(text, i);
    }
    name_map_trim(map);
    for (uint32_t i = 0; i < MANY; i++) {
        snprintf(text, sizeof(text), "www.n%u.%u.example", i, i % 7);
        uint8_t len;
        const uint32_t *number = name_map_find_suffix(map, NAME(text), &len);
        assert_non_null(number);
        assert_int_equal(*number, i);
    }
    assert_int_equal(suffix_of("n20000.0.example", ""), 0);
    size_t next = 0;
    name_map_each(map, count, &next);
    assert_int_equal(next, MANY);
    assert_true(name_map_bytes(map) < MANY * 60);
    put("one.more", 1); /* added after the map was trimmed */
    assert_int_equal(suffix_of("one.more", "one.more"), 1);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_an_empty_map_has_nothing),
        TEST(test_a_name_is_added_once_and_keeps_its_number),
        TEST(test_the_longest_suffix_is_found),
        TEST(test_suffixes_begin_at_labels),
        TEST(test_the_last_label_rules_out_most_names),
        TEST(test_two_labels_rule_out_most_names_under_a_common_label),
        TEST(test_the_longest_possible_name_fits),
        TEST(test_many_names_are_found_and_visited_in_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
