/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "upstream/health.h"

#define MS UINT64_C(1000)

static void test_health_before_any_measurement_waits_400_ms(void **state)
{
    (void)state;
    struct health health = {0};
    assert_int_equal(health_rto_us(&health, 0, 2000 * MS), 400 * MS);
    assert_int_equal(health_hedge_us(&health), 400 * MS);
}

static void test_health_retransmission_doubles_up_to_the_ceiling(void **state)
{
    (void)state;
    struct health health = {0};
    assert_int_equal(health_rto_us(&health, 1, 2000 * MS), 800 * MS);
    assert_int_equal(health_rto_us(&health, 2, 2000 * MS), 1600 * MS);
    assert_int_equal(health_rto_us(&health, 3, 2000 * MS), 2000 * MS);
    assert_int_equal(health_rto_us(&health, 255, 2000 * MS), 2000 * MS);
}

static void test_health_follows_rfc_6298(void **state)
{
    (void)state;
    struct health health = {0};
    health_answered(&health, 100 * MS);
    assert_int_equal(health.srtt_us, 100 * MS);
    assert_int_equal(health.rttvar_us, 50 * MS);
    health_answered(&health, 180 * MS);
    assert_int_equal(health.rttvar_us, (3 * 50 + 80) * MS / 4);
    assert_int_equal(health.srtt_us, (7 * 100 + 180) * MS / 8);
}

static void test_health_of_a_near_server_has_a_floor(void **state)
{
    (void)state;
    struct health health = {0};
    for (int i = 0; i < 50; i++)
        health_answered(&health, 0);
    assert_int_equal(health_rto_us(&health, 0, 2000 * MS), HEALTH_RTO_MIN_US);
    assert_int_equal(health_hedge_us(&health), HEALTH_HEDGE_MIN_US);
}

static void test_health_hedges_after_three_answer_times(void **state)
{
    (void)state;
    struct health health = {0};
    health_answered(&health, 300 * MS);
    assert_int_equal(health_hedge_us(&health), 900 * MS);
}

static void test_health_silences_make_a_server_ill_and_an_answer_heals_it(void **state)
{
    (void)state;
    struct health health = {0};
    for (int i = 0; i < HEALTH_ILL_SILENCES; i++) {
        assert_false(health_is_ill(&health));
        health_silent(&health, 0, 0);
    }
    assert_true(health_is_ill(&health));
    health_answered(&health, MS);
    assert_false(health_is_ill(&health));
}

static void test_health_silence_leaves_the_answer_time_alone(void **state)
{
    (void)state;
    struct health health = {0};
    health_answered(&health, 10 * MS);
    uint64_t before = health_rto_us(&health, 0, 120000 * MS);
    for (int i = 0; i < 1000; i++)
        health_silent(&health, 0, 0);
    assert_int_equal(health_rto_us(&health, 0, 120000 * MS), before);
}

static void test_health_lets_one_probe_through_every_few_seconds(void **state)
{
    (void)state;
    struct health health = {0};
    for (int i = 0; i < 30; i++)
        health_silent(&health, 0, 12345);
    assert_false(health_take_probe(&health, 0, 12345));
    unsigned probes = 0;
    for (uint64_t now = 0; now < 60000 * MS; now += 10 * MS)
        probes += health_take_probe(&health, now, 12345);
    assert_in_range(probes, 60 / 9, 60 / 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_health_before_any_measurement_waits_400_ms),
        cmocka_unit_test(test_health_retransmission_doubles_up_to_the_ceiling),
        cmocka_unit_test(test_health_follows_rfc_6298),
        cmocka_unit_test(test_health_of_a_near_server_has_a_floor),
        cmocka_unit_test(test_health_hedges_after_three_answer_times),
        cmocka_unit_test(test_health_silences_make_a_server_ill_and_an_answer_heals_it),
        cmocka_unit_test(test_health_silence_leaves_the_answer_time_alone),
        cmocka_unit_test(test_health_lets_one_probe_through_every_few_seconds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
