/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <sys/socket.h>

#include "upstream/reach.h"

enum { NOW = 1000000 };

static void strike(struct reach *reach, int family, unsigned times, uint64_t now)
{
    while (times--)
        reach_failed(reach, family, now);
}

static void test_reach_survives_a_few_unreachable_destinations(void **state)
{
    (void)state;
    struct reach reach = {0};
    for (int i = 0; i < 100; i++) {
        strike(&reach, AF_INET6, REACH_STRIKES - 1, NOW);
        assert_false(reach_is_missing(&reach, AF_INET6, NOW));
        reach_worked(&reach, AF_INET6);
    }
}

static void test_reach_is_missing_after_failures_in_a_row_and_tried_again_later(void **state)
{
    (void)state;
    struct reach reach = {0};
    strike(&reach, AF_INET6, REACH_STRIKES, NOW);
    assert_true(reach_is_missing(&reach, AF_INET6, NOW));
    assert_true(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US - 1));
    assert_false(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
    strike(&reach, AF_INET6, 1, NOW + REACH_REST_US); /* one is enough now */
    assert_true(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
    reach_worked(&reach, AF_INET6);
    assert_false(reach_is_missing(&reach, AF_INET6, NOW + REACH_REST_US));
}

static void test_reach_of_one_family_does_not_affect_the_other(void **state)
{
    (void)state;
    struct reach reach = {0};
    strike(&reach, AF_INET, 10, NOW);
    assert_true(reach_is_missing(&reach, AF_INET, NOW));
    assert_false(reach_is_missing(&reach, AF_INET6, NOW));
    reach_worked(&reach, AF_INET6);
    assert_true(reach_is_missing(&reach, AF_INET, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reach_survives_a_few_unreachable_destinations),
        cmocka_unit_test(test_reach_is_missing_after_failures_in_a_row_and_tried_again_later),
        cmocka_unit_test(test_reach_of_one_family_does_not_affect_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
