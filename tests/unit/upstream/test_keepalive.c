/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/keepalive.h"

#define S UINT64_C(1000000)

static void test_keepalive_idle_ends_wait_longer_each_time(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    const uint64_t expected[] = {0, 1, 2, 4, 8, 16, 32, 60, 60, 60};
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_int_equal(keepalive_idle_end(&keepalive), expected[i] * S);
}

static void test_keepalive_a_query_starts_the_count_anew(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    keepalive_idle_end(&keepalive);
    keepalive_idle_end(&keepalive);
    keepalive_query(&keepalive);
    assert_int_equal(keepalive_idle_end(&keepalive), 0);
}

static void test_keepalive_zero_bans_nailing_for_ten_minutes(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    assert_true(keepalive_allows(&keepalive, 5 * S));
    keepalive_heard(&keepalive, 0, 5 * S);
    assert_false(keepalive_allows(&keepalive, 604 * S));
    assert_true(keepalive_allows(&keepalive, 605 * S));
}

static void test_keepalive_counts_in_tenths_of_a_second(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    keepalive_heard(&keepalive, 25, 0);
    assert_int_equal(keepalive.peer_idle_us, 25 * S / 10);
    keepalive_heard(&keepalive, UINT16_MAX, 0);
    assert_int_equal(keepalive.peer_idle_us, UINT16_MAX * S / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keepalive_idle_ends_wait_longer_each_time),
        cmocka_unit_test(test_keepalive_a_query_starts_the_count_anew),
        cmocka_unit_test(test_keepalive_zero_bans_nailing_for_ten_minutes),
        cmocka_unit_test(test_keepalive_counts_in_tenths_of_a_second),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
