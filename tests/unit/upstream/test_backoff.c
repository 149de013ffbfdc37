/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/backoff.h"

static void test_backoff_first_retry_is_within_a_second(void **state)
{
    (void)state;
    for (uint64_t random = 0; random < 3000; random++) {
        struct backoff backoff = {0};
        uint64_t until = backoff_fail(&backoff, 1000, random * UINT64_C(0x9e3779b97f4a7c15));
        assert_in_range(until, 1000 + BACKOFF_FLOOR_US, 1000 + BACKOFF_FIRST_US);
    }
}

static void test_backoff_window_doubles_up_to_its_cap(void **state)
{
    (void)state;
    uint64_t most[8] = {0};
    for (uint64_t draw = 0; draw < 2000; draw++) {
        struct backoff backoff = {0};
        for (int i = 0; i < 8; i++) {
            uint64_t rest = backoff_fail(&backoff, 0, draw * UINT64_C(0x9e3779b97f4a7c15) >> 3);
            most[i] = rest > most[i] ? rest : most[i];
        }
    }
    assert_in_range(most[0], BACKOFF_FIRST_US * 9 / 10, BACKOFF_FIRST_US);
    assert_in_range(most[1], 2 * BACKOFF_FIRST_US * 9 / 10, 2 * BACKOFF_FIRST_US);
    for (int i = 2; i < 8; i++)
        assert_in_range(most[i], BACKOFF_CAP_US * 9 / 10, BACKOFF_CAP_US);
}

static void test_backoff_never_overflows(void **state)
{
    (void)state;
    struct backoff backoff = {.failures = UINT32_MAX - 1};
    assert_in_range(backoff_fail(&backoff, 5, UINT64_MAX), 5, 5 + BACKOFF_CAP_US);
}

static void test_backoff_forgets_after_success(void **state)
{
    (void)state;
    struct backoff backoff = {0};
    backoff_fail(&backoff, 0, 7);
    assert_true(backoff_is_resting(&backoff, 1));
    backoff_reset(&backoff);
    assert_false(backoff_is_resting(&backoff, 1));
    assert_int_equal(backoff.failures, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_backoff_first_retry_is_within_a_second),
        cmocka_unit_test(test_backoff_window_doubles_up_to_its_cap),
        cmocka_unit_test(test_backoff_never_overflows),
        cmocka_unit_test(test_backoff_forgets_after_success),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
