/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/keepalive.h"

#define MS US_PER_MS
#define S US_PER_S

static void test_keepalive_zero_on_an_old_connection_concerns_only_that_one(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    for (uint64_t i = 1; i < 10; i++) {
        keepalive_heard_zero(&keepalive, 100 * i * S - KEEPALIVE_FRESH_US, 100 * i * S);
        assert_true(keepalive_allows(&keepalive, 100 * i * S));
    }
}

static void test_keepalive_zeros_on_fresh_connections_lengthen_the_pause(void **state)
{
    (void)state;
    static const uint64_t expected[] = {0, 10, 20, 40, 80, 160, 300, 300};
    struct keepalive keepalive = {0};
    uint64_t now = 5 * S;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        keepalive_heard_zero(&keepalive, now - MS, now);
        uint64_t end = now + expected[i] * S;
        assert_true(expected[i] == 0 || !keepalive_allows(&keepalive, end - 1));
        assert_true(keepalive_allows(&keepalive, end));
        now = end + S;
    }
}

/* Four connections with one start get a zero at the same time. */
static void test_keepalive_zeros_of_one_stop_count_once(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    for (int i = 0; i < 4; i++)
        keepalive_heard_zero(&keepalive, 5 * S, 6 * S);
    assert_true(keepalive_allows(&keepalive, 6 * S));
}

static void test_keepalive_a_connection_that_lives_ends_the_pauses(void **state)
{
    (void)state;
    struct keepalive keepalive = {0};
    keepalive_heard_zero(&keepalive, 5 * S, 6 * S);
    keepalive_lived(&keepalive, 7 * S, 8 * S); /* this life is too short to prove anything */
    assert_int_equal(keepalive.zeros, 1);
    keepalive_lived(&keepalive, 7 * S, 7 * S + KEEPALIVE_FRESH_US);
    assert_int_equal(keepalive.zeros, 0);
    keepalive_heard_zero(&keepalive, 25 * S, 26 * S);
    keepalive_heard(&keepalive);
    keepalive_heard_zero(&keepalive, 27 * S, 28 * S);
    assert_true(keepalive_allows(&keepalive, 28 * S));
    keepalive_heard_zero(&keepalive, 28 * S, 29 * S + KEEPALIVE_FORGET_US);
    assert_int_equal(keepalive.zeros, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_keepalive_zero_on_an_old_connection_concerns_only_that_one),
        cmocka_unit_test(test_keepalive_zeros_on_fresh_connections_lengthen_the_pause),
        cmocka_unit_test(test_keepalive_zeros_of_one_stop_count_once),
        cmocka_unit_test(test_keepalive_a_connection_that_lives_ends_the_pauses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
