/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/single_use.h"

#define NOW (5 * US_PER_S)

static void test_single_use_is_proved_by_two_in_a_row(void **state)
{
    (void)state;
    struct single_use single = {0};
    assert_false(single_use_note(&single, 3, 1, CONN_END_OWED, NOW));
    assert_false(single_use_is_known(&single, NOW));
    assert_true(single_use_note(&single, 2, 1, CONN_END_PEER_BUSY, NOW));
    assert_true(single_use_is_known(&single, NOW + SINGLE_USE_US - 1));
    assert_false(single_use_is_known(&single, NOW + SINGLE_USE_US));
}

static void test_single_use_a_second_answer_is_proof_against(void **state)
{
    (void)state;
    struct single_use single = {0};
    assert_false(single_use_note(&single, 3, 1, CONN_END_OWED, NOW));
    assert_false(single_use_note(&single, 9, 2, CONN_END_RESET, NOW));
    assert_false(single_use_note(&single, 3, 1, CONN_END_OWED, NOW));
    assert_false(single_use_is_known(&single, NOW));
}

/* One request and one answer, an idle end, a recycling, a death before any answer: no strikes. */
static void test_single_use_other_ends_say_nothing(void **state)
{
    (void)state;
    struct single_use single = {0};
    for (int i = 0; i < 10; i++) {
        assert_false(single_use_note(&single, 1, 1, CONN_END_PEER_BUSY, NOW));
        assert_false(single_use_note(&single, 2, 1, CONN_END_PEER_IDLE, NOW));
        assert_false(single_use_note(&single, 5, 1, CONN_END_RECYCLED, NOW));
        assert_false(single_use_note(&single, 5, 0, CONN_END_RESET, NOW));
    }
    assert_false(single_use_is_known(&single, NOW));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_use_is_proved_by_two_in_a_row),
        cmocka_unit_test(test_single_use_a_second_answer_is_proof_against),
        cmocka_unit_test(test_single_use_other_ends_say_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
