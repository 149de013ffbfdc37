/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/socket.h>

#include "upstream/reach.h"

enum { NOW = 1000000 };

static struct addr server(int family, unsigned number)
{
    struct addr addr;
    char text[32];
    snprintf(text, sizeof(text), family == AF_INET6 ? "2001:db8::%u" : "192.0.2.%u", number);
    assert_int_equal(addr_parse(&addr, text, 53), ERR_OK);
    return addr;
}

/* Lets this many servers fail, one by one. */
static void strike(struct reach *reach, int family, unsigned times, uint64_t now)
{
    for (unsigned i = 1; i <= times; i++) {
        struct addr to = server(family, i);
        reach_failed(reach, &to, now);
    }
}

static void test_reach_survives_a_few_unreachable_destinations(void **state)
{
    (void)state;
    struct reach reach = {0};
    uint64_t now = NOW;
    for (int i = 0; i < 100; i++, now += 2 * REACH_REST_US) {
        strike(&reach, AF_INET6, REACH_STRIKES - 1, now);
        assert_false(reach_is_missing(&reach, AF_INET6, now));
        reach_worked(&reach, AF_INET6, now);
    }
}

static void test_one_unreachable_server_says_nothing_about_others(void **state)
{
    (void)state;
    struct reach reach = {0};
    struct addr one = server(AF_INET, 1), other = server(AF_INET, 2), third = server(AF_INET, 3);
    for (int i = 0; i < 100; i++)
        reach_failed(&reach, &one, NOW);
    assert_false(reach_is_missing(&reach, AF_INET, NOW));
    for (int i = 0; i < 100; i++)
        reach_failed(&reach, i % 2 ? &one : &other, NOW);
    assert_false(reach_is_missing(&reach, AF_INET, NOW));
    reach_failed(&reach, &third, NOW);
    assert_true(reach_is_missing(&reach, AF_INET, NOW));
}

/* Several servers are unreachable, but a query to another server left a moment ago. */
static void test_a_version_that_worked_lately_is_not_missing(void **state)
{
    (void)state;
    struct reach reach = {0};
    reach_worked(&reach, AF_INET, NOW);
    strike(&reach, AF_INET, 10, NOW);
    assert_false(reach_is_missing(&reach, AF_INET, NOW));
    strike(&reach, AF_INET, 10, NOW + REACH_REST_US - 1);
    assert_false(reach_is_missing(&reach, AF_INET, NOW + REACH_REST_US - 1));
    strike(&reach, AF_INET, 1, NOW + REACH_REST_US);
    assert_true(reach_is_missing(&reach, AF_INET, NOW + REACH_REST_US));
}

static void test_reach_is_missing_after_failures_in_a_row_and_tried_again_later(void **state)
{
    (void)state;
    struct reach reach = {0};
    strike(&reach, AF_INET6, REACH_STRIKES, NOW);
    assert_true(reach_is_missing(&reach, AF_INET6, NOW));
    assert_true(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US - 1));
    assert_false(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
    strike(&reach, AF_INET6, 1, NOW + REACH_REST_US); /* now one failure is enough */
    assert_true(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
    reach_worked(&reach, AF_INET6, NOW + REACH_REST_US);
    assert_false(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
}

static void test_reach_of_one_family_does_not_affect_the_other(void **state)
{
    (void)state;
    struct reach reach = {0};
    strike(&reach, AF_INET, 10, NOW);
    assert_true(reach_is_missing(&reach, AF_INET, NOW));
    assert_false(reach_is_missing(&reach, AF_INET6, NOW));
    reach_worked(&reach, AF_INET6, NOW);
    assert_true(reach_is_missing(&reach, AF_INET, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach_survives_a_few_unreachable_destinations),
        cmocka_unit_test(test_one_unreachable_server_says_nothing_about_others),
        cmocka_unit_test(test_a_version_that_worked_lately_is_not_missing),
        cmocka_unit_test(test_reach_is_missing_after_failures_in_a_row_and_tried_again_later),
        cmocka_unit_test(test_reach_of_one_family_does_not_affect_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
