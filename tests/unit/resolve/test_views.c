/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/check.h"
#include "resolve/views.h"

/* Three views: the first has the shared space, and the others have separate spaces. */
static struct route_options options_of(enum validate_mode shared, enum validate_mode first,
                                       enum validate_mode second)
{
    static struct space_options spaces[2];
    static struct view_options views[] = {
        {.name = "shared"}, {.name = "first", .space = 1}, {.name = "second", .space = 2}};
    static const struct view_set set = {.spaces = spaces,
                                        .space_count = ARRAY_LEN(spaces),
                                        .views = views,
                                        .view_count = ARRAY_LEN(views)};
    spaces[0].mode = first;
    spaces[1].mode = second;
    return (struct route_options){.validation = {.mode = shared}, .views = &set};
}

static void test_clients_without_a_view_come_first(void **state)
{
    (void)state;
    struct route_options options = options_of(VALIDATE_LOG, VALIDATE_YES, VALIDATE_YES);
    assert_string_equal(views_validating(&options), "");
    options.views = NULL;
    assert_string_equal(views_validating(&options), "");
}

static void test_the_first_view_that_validates_is_named(void **state)
{
    (void)state;
    struct route_options options = options_of(VALIDATE_NO, VALIDATE_NO, VALIDATE_LOG);
    assert_string_equal(views_validating(&options), "second");
    options = options_of(VALIDATE_NO, VALIDATE_YES, VALIDATE_YES);
    assert_string_equal(views_validating(&options), "first");
    options = options_of(VALIDATE_NO, VALIDATE_NO, VALIDATE_NO);
    assert_null(views_validating(&options));
    options.views = NULL;
    assert_null(views_validating(&options));
}

static void test_one_view_suffices_to_validate_and_to_enforce(void **state)
{
    (void)state;
    struct route_options options = options_of(VALIDATE_NO, VALIDATE_NO, VALIDATE_LOG);
    assert_true(views_validate(&options));
    assert_false(views_enforce(&options));
    options = options_of(VALIDATE_NO, VALIDATE_NO, VALIDATE_YES);
    assert_true(views_enforce(&options));
    options = options_of(VALIDATE_YES, VALIDATE_NO, VALIDATE_NO);
    assert_true(views_enforce(&options));
    options = options_of(VALIDATE_NO, VALIDATE_NO, VALIDATE_NO);
    assert_false(views_validate(&options));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clients_without_a_view_come_first),
        cmocka_unit_test(test_the_first_view_that_validates_is_named),
        cmocka_unit_test(test_one_view_suffices_to_validate_and_to_enforce),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
