/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/acks.h"

#define MS US_PER_MS

static uint64_t wait_at(const struct acks *acks, uint64_t srtt_us, uint64_t now)
{
    struct health health = {.srtt_us = srtt_us};
    return acks_wait_us(acks, &health, now);
}

static void test_acks_wait_grows_with_the_answer_time(void **state)
{
    (void)state;
    struct acks acks = {0};
    assert_int_equal(wait_at(&acks, 10 * MS, 0), 70 * MS);
    assert_int_equal(wait_at(&acks, 30 * MS, 0), 90 * MS);
    assert_int_equal(wait_at(&acks, 100 * MS, 0), 300 * MS);
}

/* A wait never exceeds the wait without acknowledgements. */
static void test_acks_wait_is_bounded_by_the_hedge(void **state)
{
    (void)state;
    struct acks acks = {0};
    assert_int_equal(wait_at(&acks, 0, 0), HEALTH_HEDGE_MIN_US);
    assert_int_equal(wait_at(&acks, 200 * MS, 0), 600 * MS);
    for (int i = 0; i < 10; i++)
        acks_was_late(&acks, 1);
    assert_int_equal(acks.slack_us, HEALTH_HEDGE_MIN_US);
    assert_int_equal(wait_at(&acks, 10 * MS, 1), HEALTH_HEDGE_MIN_US);
}

static void test_acks_that_are_late_double_the_slack_until_it_is_forgotten(void **state)
{
    (void)state;
    struct acks acks = {0};
    uint64_t now = 5 * US_PER_S;
    acks_was_late(&acks, now);
    assert_int_equal(wait_at(&acks, 10 * MS, now), 130 * MS);
    acks_was_late(&acks, now);
    assert_int_equal(wait_at(&acks, 10 * MS, now), 250 * MS);
    assert_int_equal(wait_at(&acks, 10 * MS, now + ACKS_FORGET_US - 1), 250 * MS);
    assert_int_equal(wait_at(&acks, 10 * MS, now + ACKS_FORGET_US), 70 * MS);
    acks_was_late(&acks, now + ACKS_FORGET_US);
    assert_int_equal(wait_at(&acks, 10 * MS, now + ACKS_FORGET_US), 130 * MS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_acks_wait_grows_with_the_answer_time),
        cmocka_unit_test(test_acks_wait_is_bounded_by_the_hedge),
        cmocka_unit_test(test_acks_that_are_late_double_the_slack_until_it_is_forgotten),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
