/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "base/stats.h"
#include "serve/view_rows.h"

enum { MANY = STATS_VIEWS_MAX + 6 };

static struct view_rows *rows_of(const char *const *names, size_t count,
                                 const struct view_rows *before)
{
    static struct server_view views[MANY];
    assert_true(count <= MANY);
    for (size_t i = 0; i < count; i++)
        views[i].name = names[i];
    struct view_rows *rows =
        view_rows_new(&(struct server_options){.views = views, .view_count = count}, before);
    assert_non_null(rows);
    return rows;
}

static void test_a_name_keeps_its_row(void **state)
{
    (void)state;
    static const char *const first[] = {"a", "b"}, *const second[] = {"c", "b"};
    struct view_rows *before = rows_of(first, 2, NULL), *after = rows_of(second, 2, before);
    view_rows_free(before);
    assert_int_equal(view_rows_count(after), 3);
    assert_int_equal(view_rows_find(after, 2), 1);
    assert_string_equal(view_rows_name(after, view_rows_find(after, 1)), "c");
    /* the counters of the old name stay visible */
    assert_string_equal(view_rows_name(after, 0), "a");
    assert_false(view_rows_has_others(after));
    view_rows_free(after);
}

static void test_names_above_the_bound_share_the_last_row(void **state)
{
    (void)state;
    static char texts[MANY][8];
    const char *names[MANY];
    for (size_t i = 0; i < MANY; i++) {
        snprintf(texts[i], sizeof(texts[i]), "v%zu", i);
        names[i] = texts[i];
    }
    struct view_rows *rows = rows_of(names, MANY, NULL);
    assert_int_equal(view_rows_count(rows), STATS_VIEWS_MAX);
    assert_int_equal(view_rows_find(rows, STATS_VIEWS_MAX), STATS_VIEWS_MAX - 1);
    assert_int_equal(view_rows_find(rows, STATS_VIEWS_MAX + 1), STATS_VIEWS_MAX);
    assert_int_equal(view_rows_find(rows, MANY), STATS_VIEWS_MAX);
    assert_true(view_rows_has_others(rows));
    struct view_rows *later = rows_of(names, 1, rows);
    assert_true(view_rows_has_others(later)); /* the shared row has counts */
    view_rows_free(rows);
    view_rows_free(later);
}

/* A worker whose reload has no memory keeps its former views, so a number may be unknown. */
static void test_an_unknown_number_has_the_last_row(void **state)
{
    (void)state;
    static const char *const names[] = {"a"};
    struct view_rows *rows = rows_of(names, 1, NULL);
    assert_int_equal(view_rows_find(rows, 1), 0);
    assert_int_equal(view_rows_find(rows, 2), STATS_VIEWS_MAX);
    assert_int_equal(view_rows_find(rows, 0), STATS_VIEWS_MAX);
    view_rows_free(rows);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_name_keeps_its_row),
        cmocka_unit_test(test_names_above_the_bound_share_the_last_row),
        cmocka_unit_test(test_an_unknown_number_has_the_last_row),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
