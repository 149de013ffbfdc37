/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include "unit/dns/sample.h"

#include "transfer/xfr_schedule.h"

#define START (1000 * US_PER_S)

static const struct xfr_times times = {.refresh = 3600, .retry = 600, .expire = 86400};

static void begin(struct xfr_schedule *schedule, uint64_t now)
{
    assert_true(xfr_schedule_begin(schedule, now));
    assert_int_equal(xfr_schedule_wakes_at(schedule), XFR_NEVER);
}

/* Makes a schedule that got version 5 at START. */
static struct xfr_schedule schedule_with_version(unsigned primaries)
{
    struct xfr_schedule schedule;
    xfr_schedule_init(&schedule, primaries, START);
    begin(&schedule, START);
    xfr_schedule_on_version(&schedule, 5, &times, START, 0);
    return schedule;
}

static void test_the_first_round_is_due_at_once(void **state)
{
    (void)state;
    struct xfr_schedule schedule;
    xfr_schedule_init(&schedule, 1, START);
    assert_int_equal(xfr_schedule_wakes_at(&schedule), START);
    assert_int_equal(schedule.expires_at, XFR_NEVER);
    begin(&schedule, START);
    assert_false(xfr_schedule_begin(&schedule, START));
}

static void test_a_round_follows_after_refresh(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    uint64_t due = START + 3600 * US_PER_S;
    assert_int_equal(xfr_schedule_wakes_at(&schedule), due);
    assert_false(xfr_schedule_begin(&schedule, due - 1));
    begin(&schedule, due);
    xfr_schedule_on_current(&schedule, due, UINT64_MAX);
    assert_true(xfr_schedule_wakes_at(&schedule) > due + 3240 * US_PER_S - 2);
    assert_true(xfr_schedule_wakes_at(&schedule) <= due + 3600 * US_PER_S);
    assert_int_equal(schedule.expires_at, due + 86400 * US_PER_S);
}

static void test_jitter_takes_at_most_a_tenth(void **state)
{
    (void)state;
    for (uint64_t i = 0; i < 1000; i++) {
        struct xfr_schedule schedule;
        xfr_schedule_init(&schedule, 1, START);
        begin(&schedule, START);
        xfr_schedule_on_version(&schedule, 5, &times, START, i * UINT64_C(0x9e3779b97f4a7c15));
        uint64_t pause = xfr_schedule_wakes_at(&schedule) - START;
        assert_in_range(pause, 3240 * US_PER_S, 3600 * US_PER_S);
    }
}

static void test_a_failed_round_asks_every_primary_once(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(3);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    begin(&schedule, due);
    assert_int_equal(schedule.primary, 0);
    assert_true(xfr_schedule_on_failure(&schedule, due, 0));
    assert_int_equal(schedule.primary, 1);
    assert_true(xfr_schedule_on_failure(&schedule, due, 0));
    assert_int_equal(schedule.primary, 2);
    assert_false(xfr_schedule_on_failure(&schedule, due, 0));
    assert_int_equal(xfr_schedule_wakes_at(&schedule), due + 600 * US_PER_S);
    assert_int_equal(schedule.expires_at, START + 86400 * US_PER_S);
}

static void test_a_primary_that_works_is_asked_first(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(2);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    begin(&schedule, due);
    assert_true(xfr_schedule_on_failure(&schedule, due, 0));
    xfr_schedule_on_current(&schedule, due, 0);
    begin(&schedule, xfr_schedule_wakes_at(&schedule));
    assert_int_equal(schedule.primary, 1);
}

/* Fails the next round. Returns the pause after it in seconds. */
static uint64_t fail_round(struct xfr_schedule *schedule)
{
    uint64_t due = xfr_schedule_wakes_at(schedule);
    begin(schedule, due);
    assert_false(xfr_schedule_on_failure(schedule, due, 0));
    return (xfr_schedule_wakes_at(schedule) - due) / US_PER_S;
}

static void test_retries_double_up_to_refresh(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    static const uint64_t pauses[] = {600, 1200, 2400, 3600, 3600};
    for (size_t i = 0; i < sizeof(pauses) / sizeof(*pauses); i++)
        assert_int_equal(fail_round(&schedule), pauses[i]);
    begin(&schedule, xfr_schedule_wakes_at(&schedule));
    xfr_schedule_on_current(&schedule, START, 0);
    assert_int_equal(fail_round(&schedule), 600);
}

static void test_retries_without_a_version_double_up_to_an_hour(void **state)
{
    (void)state;
    struct xfr_schedule schedule;
    xfr_schedule_init(&schedule, 1, START);
    assert_int_equal(fail_round(&schedule), XFR_NO_ZONE_RETRY_S);
    assert_int_equal(fail_round(&schedule), 2 * XFR_NO_ZONE_RETRY_S);
    for (int i = 0; i < 40; i++)
        (void)fail_round(&schedule);
    assert_int_equal(fail_round(&schedule), XFR_NO_ZONE_RETRY_MAX_S);
}

/* With these intervals a primary would make us ask without pause, or never again. */
static void test_odd_intervals_have_bounds(void **state)
{
    (void)state;
    static const struct {
        struct xfr_times times;
        uint64_t refresh, retry;
    } rows[] = {
        {{0, 0, 86400}, XFR_INTERVAL_MIN_S, XFR_INTERVAL_MIN_S},
        {{UINT32_MAX, UINT32_MAX, UINT32_MAX}, XFR_INTERVAL_MAX_S, XFR_INTERVAL_MAX_S},
        {{3600, 7200, 86400}, 3600, 3600},
        {{3600, 600, 1000}, 500, 500}, /* the zone must not expire between two rounds */
        {{3600, 600, 0}, XFR_EXPIRE_MIN_S / 2, XFR_EXPIRE_MIN_S / 2},
        {{3600, 600, 1}, XFR_EXPIRE_MIN_S / 2, XFR_EXPIRE_MIN_S / 2},
        {{0, 0, 0}, XFR_INTERVAL_MIN_S, XFR_INTERVAL_MIN_S},
        {{0, 0, 1}, XFR_INTERVAL_MIN_S, XFR_INTERVAL_MIN_S},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct xfr_schedule schedule;
        xfr_schedule_init(&schedule, 1, START);
        begin(&schedule, START);
        xfr_schedule_on_version(&schedule, 5, &rows[i].times, START, 0);
        assert_int_equal(xfr_schedule_wakes_at(&schedule), START + rows[i].refresh * US_PER_S);
        assert_int_equal(fail_round(&schedule), rows[i].retry);
    }
}

static void test_a_short_expire_counts_as_the_minimum(void **state)
{
    (void)state;
    for (uint32_t expire = 0; expire <= XFR_EXPIRE_MIN_S + 1; expire++) {
        struct xfr_times odd = {.refresh = 3600, .retry = 600, .expire = expire};
        uint32_t counts_as = expire > XFR_EXPIRE_MIN_S ? expire : XFR_EXPIRE_MIN_S;
        struct xfr_schedule schedule;
        xfr_schedule_init(&schedule, 1, START);
        begin(&schedule, START);
        xfr_schedule_on_version(&schedule, 5, &odd, START, 0);
        assert_int_equal(xfr_expire_s(&odd), counts_as);
        assert_int_equal(schedule.expires_at, START + counts_as * US_PER_S);
    }
}

static void test_a_held_version_keeps_its_age(void **state)
{
    (void)state;
    struct xfr_schedule schedule;
    xfr_schedule_init(&schedule, 1, START);
    xfr_schedule_hold(&schedule, 5, &times, START + 6400 * US_PER_S);
    assert_int_equal(schedule.expires_at, START + 6400 * US_PER_S);
    assert_int_equal(xfr_schedule_wakes_at(&schedule), START);
}

/* ---- NOTIFY ---- */

static void test_a_notify_begins_a_round_with_its_sender(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(3);
    uint64_t now = START + 100 * US_PER_S;
    uint32_t serial = 6;
    assert_true(xfr_schedule_on_notify(&schedule, 2, &serial, now));
    begin(&schedule, now);
    assert_int_equal(schedule.primary, 2);
}

static void test_a_notify_of_no_newer_version_does_nothing(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    static const uint32_t serials[] = {5, 4, 0x80000005, 0xfffffff0};
    for (size_t i = 0; i < sizeof(serials) / sizeof(*serials); i++)
        assert_false(xfr_schedule_on_notify(&schedule, 0, &serials[i], START + 1));
    assert_int_equal(xfr_schedule_wakes_at(&schedule), due);
}

static void test_a_notify_without_serial_or_from_another_source_counts(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(2);
    uint64_t now = START + 100 * US_PER_S;
    assert_true(xfr_schedule_on_notify(&schedule, UINT32_MAX, NULL, now));
    begin(&schedule, now);
    assert_int_equal(schedule.primary, 0);
}

static void test_a_notify_during_a_round_makes_one_more(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    begin(&schedule, due);
    for (int i = 0; i < 100; i++)
        assert_true(xfr_schedule_on_notify(&schedule, 0, NULL, due));
    assert_false(xfr_schedule_begin(&schedule, due));
    xfr_schedule_on_current(&schedule, due, 0);
    assert_int_equal(xfr_schedule_wakes_at(&schedule), due + XFR_NOTIFY_PAUSE_US);
    begin(&schedule, due + XFR_NOTIFY_PAUSE_US);
    xfr_schedule_on_current(&schedule, due, 0);
    assert_true(xfr_schedule_wakes_at(&schedule) > due + 10 * XFR_NOTIFY_PAUSE_US);
}

/* A flood of NOTIFYs costs one round a second. */
static void test_rounds_by_notify_have_a_pause(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    unsigned rounds = 0;
    for (uint64_t now = START; now < START + 10 * US_PER_S; now += US_PER_MS) {
        assert_true(xfr_schedule_on_notify(&schedule, 0, NULL, now));
        if (xfr_schedule_begin(&schedule, now)) {
            rounds++;
            xfr_schedule_on_current(&schedule, now, 0);
        }
    }
    assert_in_range(rounds, 9, 10);
}

/* ---- urgency ---- */

static void test_a_notify_makes_its_round_urgent(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(2);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    assert_false(xfr_schedule_is_urgent(&schedule, due));
    assert_true(xfr_schedule_on_notify(&schedule, 0, NULL, due));
    assert_true(xfr_schedule_is_urgent(&schedule, due));
    begin(&schedule, due);
    assert_true(xfr_schedule_on_failure(&schedule, due, 0));
    assert_true(xfr_schedule_is_urgent(&schedule, due)); /* also at the second primary */
    xfr_schedule_on_current(&schedule, due, 0);
    assert_false(xfr_schedule_is_urgent(&schedule, due));
}

static void test_a_notify_during_a_round_makes_the_next_one_urgent(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    uint64_t due = xfr_schedule_wakes_at(&schedule);
    begin(&schedule, due);
    assert_true(xfr_schedule_on_notify(&schedule, 0, NULL, due));
    xfr_schedule_on_current(&schedule, due, 0);
    assert_true(xfr_schedule_is_urgent(&schedule, due));
}

static void test_a_version_near_its_expiry_is_urgent(void **state)
{
    (void)state;
    struct xfr_schedule schedule = schedule_with_version(1);
    uint64_t expires_at = schedule.expires_at, last_us = 86400 * US_PER_S / XFR_LAST_SHARE;
    assert_false(xfr_schedule_is_urgent(&schedule, expires_at - last_us - 1));
    assert_true(xfr_schedule_is_urgent(&schedule, expires_at - last_us));
    assert_true(xfr_schedule_is_urgent(&schedule, expires_at + 1));
    xfr_schedule_init(&schedule, 1, START);
    assert_false(xfr_schedule_is_urgent(&schedule, expires_at)); /* the zone has no version */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_the_first_round_is_due_at_once),
        cmocka_unit_test(test_a_round_follows_after_refresh),
        cmocka_unit_test(test_jitter_takes_at_most_a_tenth),
        cmocka_unit_test(test_a_failed_round_asks_every_primary_once),
        cmocka_unit_test(test_a_primary_that_works_is_asked_first),
        cmocka_unit_test(test_retries_double_up_to_refresh),
        cmocka_unit_test(test_retries_without_a_version_double_up_to_an_hour),
        cmocka_unit_test(test_odd_intervals_have_bounds),
        cmocka_unit_test(test_a_short_expire_counts_as_the_minimum),
        cmocka_unit_test(test_a_held_version_keeps_its_age),
        cmocka_unit_test(test_a_notify_begins_a_round_with_its_sender),
        cmocka_unit_test(test_a_notify_of_no_newer_version_does_nothing),
        cmocka_unit_test(test_a_notify_without_serial_or_from_another_source_counts),
        cmocka_unit_test(test_a_notify_during_a_round_makes_one_more),
        cmocka_unit_test(test_rounds_by_notify_have_a_pause),
        cmocka_unit_test(test_a_notify_makes_its_round_urgent),
        cmocka_unit_test(test_a_notify_during_a_round_makes_the_next_one_urgent),
        cmocka_unit_test(test_a_version_near_its_expiry_is_urgent),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
