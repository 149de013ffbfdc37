/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* When a server counts as one that answers a single query per connection. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/single_use.h"

#define NOW (1000 * US_PER_S)

/* Only an end of this kind counts. */
static const struct single_use_end proof = {
    .requests = 3, .answers = 1, .why = CONN_END_PEER_BUSY, .is_acknowledged = true};

static void test_single_use_is_proved_by_two_connections_in_a_row(void **state)
{
    (void)state;
    struct single_use single = {0};
    assert_int_equal(single_use_note(&single, &proof, NOW), SINGLE_USE_NO_NEWS);
    assert_false(single.is_known);
    assert_int_equal(single_use_note(&single, &proof, NOW + US_PER_S), SINGLE_USE_CONCLUDED);
    assert_true(single.is_known);
    assert_int_equal(single.strikes, SINGLE_USE_STRIKES);
}

/* A stall, a reset, a fault of the network, a silent server and a query that never arrived prove
 * nothing. */
static void test_single_use_other_ends_prove_nothing(void **state)
{
    (void)state;
    struct single_use single = {0};
    static const enum conn_end others[] = {
        CONN_END_PEER_IDLE, CONN_END_RESET, CONN_END_STALLED,  CONN_END_OWED,
        CONN_END_NETWORK,   CONN_END_ERROR, CONN_END_RECYCLED, CONN_END_GARBAGE,
    };
    for (int round = 0; round < 3; round++) {
        for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
            struct single_use_end end = proof;
            end.why = others[i];
            assert_int_equal(single_use_note(&single, &end, NOW), SINGLE_USE_NO_NEWS);
        }
        struct single_use_end end = proof;
        end.is_acknowledged = false;
        assert_int_equal(single_use_note(&single, &end, NOW), SINGLE_USE_NO_NEWS);
        end = proof;
        end.requests = 1;
        assert_int_equal(single_use_note(&single, &end, NOW), SINGLE_USE_NO_NEWS);
        end = proof;
        end.answers = 0;
        assert_int_equal(single_use_note(&single, &end, NOW), SINGLE_USE_NO_NEWS);
    }
    assert_false(single.is_known);
    assert_int_equal(single.strikes, 0);
}

static void test_single_use_two_answers_on_one_connection_disprove_it_for_ever(void **state)
{
    (void)state;
    struct single_use single = {0};
    struct single_use_end two = proof;
    two.answers = 2;
    assert_int_equal(single_use_note(&single, &two, NOW), SINGLE_USE_NO_NEWS);
    for (int i = 0; i < 10; i++)
        assert_int_equal(single_use_note(&single, &proof, NOW), SINGLE_USE_NO_NEWS);
    assert_false(single.is_known);
}

static void test_single_use_strikes_far_apart_do_not_add_up(void **state)
{
    (void)state;
    struct single_use single = {0};
    for (uint64_t i = 0; i < 5; i++)
        assert_int_equal(single_use_note(&single, &proof, NOW + i * (SINGLE_USE_RETEST_US + 1)),
                         SINGLE_USE_NO_NEWS);
}

static void test_single_use_is_retested_by_one_connection(void **state)
{
    (void)state;
    struct single_use single = {0};
    assert_false(single_use_take_retest(&single, NOW));
    single_use_note(&single, &proof, NOW);
    single_use_note(&single, &proof, NOW);
    uint64_t due = NOW + SINGLE_USE_RETEST_US;
    assert_false(single_use_take_retest(&single, due - 1));
    assert_true(single_use_take_retest(&single, due));
    assert_false(single_use_take_retest(&single, due + 1));
    assert_true(single.is_known); /* as every other connection sees it */

    /* A retest that proves nothing is repeated. One that proves single use again renews the
     * verdict. */
    due += SINGLE_USE_TRIAL_US;
    assert_true(single_use_take_retest(&single, due));
    assert_int_equal(single_use_note(&single, &proof, due), SINGLE_USE_NO_NEWS);
    assert_true(single.is_known);
    assert_false(single_use_take_retest(&single, due + SINGLE_USE_RETEST_US - 1));

    assert_true(single_use_take_retest(&single, due + SINGLE_USE_RETEST_US));
    assert_int_equal(single_use_answered_two(&single), SINGLE_USE_WITHDRAWN);
    assert_false(single.is_known);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_single_use_is_proved_by_two_connections_in_a_row),
        cmocka_unit_test(test_single_use_other_ends_prove_nothing),
        cmocka_unit_test(test_single_use_two_answers_on_one_connection_disprove_it_for_ever),
        cmocka_unit_test(test_single_use_strikes_far_apart_do_not_add_up),
        cmocka_unit_test(test_single_use_is_retested_by_one_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
