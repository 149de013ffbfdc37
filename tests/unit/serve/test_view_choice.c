/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "serve/view_choice.h"

static struct addr addr_of(const char *text, uint16_t port)
{
    struct addr addr;
    assert_int_equal(addr_parse(&addr, text, port), ERR_OK);
    return addr;
}

/* Makes a set in which 192.0.2.0/24 has this number. */
static struct prefix_set *set_of(int number)
{
    struct prefix prefix;
    struct prefix_set *set = prefix_set_new();
    assert_non_null(set);
    assert_int_equal(prefix_parse(&prefix, "192.0.2.0/24"), ERR_OK);
    assert_int_equal(prefix_set_add(set, &prefix, number), ERR_OK);
    assert_int_equal(prefix_set_freeze(set), ERR_OK);
    return set;
}

static void test_a_listener_has_its_own_views_or_those_of_all(void **state)
{
    (void)state;
    struct server_view_listener listeners[] = {
        {.views = set_of(1)}, {.listen = addr_of("127.0.0.2", 53), .views = set_of(2)}};
    struct server_options options = {.view_listeners = listeners, .view_listener_count = 2};
    struct addr named = addr_of("127.0.0.2", 53), other = addr_of("127.0.0.2", 54);
    struct addr client = addr_of("192.0.2.7", 999), outside = addr_of("198.51.100.1", 999);
    assert_int_equal(view_choice_find(view_choice_at(&options, &named), &client), 2);
    assert_int_equal(view_choice_find(view_choice_at(&options, &other), &client), 1);
    assert_int_equal(view_choice_find(view_choice_at(&options, &named), &outside), 0);
    assert_int_equal(view_choice_find(NULL, &client), 0);
    prefix_set_free(listeners[0].views);
    prefix_set_free(listeners[1].views);
}

/* The resolver has one view, and the file already has two. No client gets the number 2. */
static void test_options_with_former_views_choose_by_these_alone(void **state)
{
    (void)state;
    struct server_view former_views[] = {{.name = "lab", .limits_rate = true, .rate_limit_qps = 5}};
    struct server_view next_views[] = {{.name = "shop"}, {.name = "lab"}};
    struct server_view_listener former_at[] = {{.views = set_of(1)}},
                                next_at[] = {{.views = set_of(2)}};
    struct server_options former = {.max_waiting = 1,
                                    .views = former_views,
                                    .view_count = 1,
                                    .view_listeners = former_at,
                                    .view_listener_count = 1};
    struct server_options next = {.max_waiting = 2,
                                  .rate_limit_qps = 7,
                                  .views = next_views,
                                  .view_count = 2,
                                  .view_listeners = next_at,
                                  .view_listener_count = 1};
    struct addr listener = addr_of("127.0.0.1", 53), client = addr_of("192.0.2.7", 999);
    struct server_options mixed;
    view_choice_mix(&mixed, &next, &former);
    assert_int_equal(mixed.max_waiting, 2);
    assert_int_equal(mixed.view_count, 1);
    assert_int_equal(view_choice_find(view_choice_at(&next, &listener), &client), 2);
    assert_int_equal(view_choice_find(view_choice_at(&mixed, &listener), &client), 1);
    assert_int_equal(view_choice_rate(&mixed, 1), 5);
    assert_int_equal(view_choice_rate(&mixed, 0), 7);
    prefix_set_free(former_at[0].views);
    prefix_set_free(next_at[0].views);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_listener_has_its_own_views_or_those_of_all),
        cmocka_unit_test(test_options_with_former_views_choose_by_these_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
