/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/* The wheel of timers: first alone, then compared with a plain array of instants. */

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>

#include "base/check.h"
#include "base/rand.h"
#include "loop/loop.h"
#include "loop/timer.h"

struct alarm {
    struct timer timer;
    struct timers *timers;
    unsigned fired;
    uint64_t order;
    uint64_t again_at; /* the instant to start for again when the timer fires; 0: none */
    struct alarm *stops;
};

static uint64_t order;

static void on_due(struct timer *timer)
{
    struct alarm *alarm = CONTAINER_OF(timer, struct alarm, timer);

    assert_false(timer_is_armed(timer));
    alarm->fired++;
    alarm->order = ++order;
    if (alarm->again_at)
        timers_start(alarm->timers, timer, alarm->again_at);
    if (alarm->stops)
        timer_stop(&alarm->stops->timer);
}

#define ALARM(name, wheel)                                                                         \
    struct alarm name = {.timers = (wheel)};                                                       \
    timer_init(&name.timer, on_due)

static uint64_t tick_of(uint64_t at_us)
{
    return at_us / US_PER_MS + (at_us % US_PER_MS != 0);
}

static void test_a_timer_fires_not_before_its_instant_and_within_a_tick(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 5000);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, 7001);
    timers_run(&timers, 7001);
    assert_int_equal(alarm.fired, 0);
    timers_run(&timers, 7999);
    assert_int_equal(alarm.fired, 0);
    timers_run(&timers, 8000);
    assert_int_equal(alarm.fired, 1);
    timers_run(&timers, 80000000);
    assert_int_equal(alarm.fired, 1);
}

static void test_a_past_instant_fires_in_the_next_run(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 1000000);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, 3);
    assert_true(timers_next(&timers) <= 1000000);
    timers_run(&timers, 1000000); /* the clock has not moved */
    assert_int_equal(alarm.fired, 1);
    assert_int_equal(timers_next(&timers), UINT64_MAX);
}

static void test_a_timer_that_starts_itself_in_the_past_does_not_hold_the_run(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 1000000);
    ALARM(alarm, &timers);
    alarm.again_at = 1;
    timers_start(&timers, &alarm.timer, 1500000);
    timers_run(&timers, 2000000);
    assert_int_equal(alarm.fired, 1);
    timers_run(&timers, 2000000);
    assert_int_equal(alarm.fired, 2);
    timers_run(&timers, 90000000);
    assert_int_equal(alarm.fired, 3);
    timer_stop(&alarm.timer);
}

static void test_a_stopped_timer_never_fires(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 0);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, 5000);
    assert_true(timer_is_armed(&alarm.timer));
    timer_stop(&alarm.timer);
    timer_stop(&alarm.timer);
    assert_false(timer_is_armed(&alarm.timer));
    assert_int_equal(timers_next(&timers), UINT64_MAX);
    timers_run(&timers, 1000000);
    assert_int_equal(alarm.fired, 0);
}

static void test_a_moved_timer_fires_once(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 0);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, 5000);
    timers_start(&timers, &alarm.timer, 900000);
    timers_run(&timers, 800000);
    assert_int_equal(alarm.fired, 0);
    timers_run(&timers, 2000000);
    assert_int_equal(alarm.fired, 1);
}

static void test_a_callback_may_stop_its_neighbour_of_the_same_tick(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 0);
    ALARM(first, &timers);
    ALARM(second, &timers);
    first.stops = &second;
    timers_start(&timers, &first.timer, 5000);
    timers_start(&timers, &second.timer, 5000);
    timers_run(&timers, 10000);
    assert_int_equal(first.fired, 1);
    assert_int_equal(second.fired, 0);
}

static void test_timers_fire_in_the_order_of_their_ticks(void **state)
{
    enum { COUNT = 500 };
    struct timers timers;
    struct alarm *alarms = calloc(COUNT, sizeof(*alarms));
    (void)state;

    timers_init(&timers, 123456789);
    for (int i = 0; i < COUNT; i++) {
        alarms[i].timers = &timers;
        timer_init(&alarms[i].timer, on_due);
        timers_start(&timers, &alarms[i].timer, 123456789 + rand_below(100000000));
    }
    timers_run(&timers, 123456789 + 200000000);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(alarms[i].fired, 1);
        for (int j = 0; j < COUNT; j++) {
            if (tick_of(alarms[i].timer.due_at) < tick_of(alarms[j].timer.due_at))
                assert_true(alarms[i].order < alarms[j].order);
        }
    }
    free(alarms);
}

/* Around each power of 64 ticks, timers move down the levels. The clock starts just before it. */
static void test_every_boundary_of_the_levels_is_crossed(void **state)
{
    (void)state;
    for (int level = 1; level <= TIMER_LEVELS; level++) {
        uint64_t boundary = UINT64_C(1) << (6 * level);
        for (uint64_t begin = boundary - 2; begin <= boundary + 1; begin++) {
            for (uint64_t ahead = boundary - 2; ahead <= boundary + 2; ahead++) {
                struct timers timers;
                uint64_t due_us = (begin + ahead) * US_PER_MS;

                timers_init(&timers, begin * US_PER_MS);
                ALARM(alarm, &timers);
                timers_start(&timers, &alarm.timer, due_us);
                for (int hop = 0; hop < 200 && timers_next(&timers) < due_us; hop++) {
                    uint64_t next = timers_next(&timers);
                    timers_run(&timers, next);
                    assert_int_equal(alarm.fired, 0);
                    assert_true(timers_next(&timers) > next);
                }
                timers_run(&timers, due_us - 1);
                assert_int_equal(alarm.fired, 0);
                timers_run(&timers, due_us);
                assert_int_equal(alarm.fired, 1);
            }
        }
    }
}

static void test_the_end_of_time_is_never_reached(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 1);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, UINT64_MAX);
    assert_true(timers_next(&timers) < UINT64_MAX);
    timers_run(&timers, UINT64_C(10) * 365 * 86400 * US_PER_S);
    assert_int_equal(alarm.fired, 0);
    assert_true(timer_is_armed(&alarm.timer));
    timer_stop(&alarm.timer);
}

static void test_a_clock_that_stops_or_goes_back_loses_nothing(void **state)
{
    struct timers timers;
    (void)state;

    timers_init(&timers, 1000000);
    ALARM(alarm, &timers);
    timers_start(&timers, &alarm.timer, 1005000);
    timers_run(&timers, 500000);
    timers_run(&timers, 1000000);
    assert_int_equal(alarm.fired, 0);
    timers_run(&timers, 1005000);
    assert_int_equal(alarm.fired, 1);
}

/* ---------------------------------------------------------------- the oracle */

enum { ORACLE_TIMERS = 200, ORACLE_STEPS = 20000 };

struct oracle {
    struct timers timers;
    struct alarm alarms[ORACLE_TIMERS];
    bool armed[ORACLE_TIMERS];
    uint64_t due_tick[ORACLE_TIMERS];
    unsigned fired[ORACLE_TIMERS];
    uint64_t now_us;
};

static uint64_t random_distance(void)
{
    /* every magnitude is equally likely, up to 200 days */
    return rand_below(UINT64_C(1) << rand_below(44));
}

static void start_or_stop(struct oracle *oracle)
{
    size_t i = rand_below(ORACLE_TIMERS);

    if (rand_below(4) == 0) {
        timer_stop(&oracle->alarms[i].timer);
        oracle->armed[i] = false;
        return;
    }
    uint64_t at = oracle->now_us + random_distance();
    if (rand_below(10) == 0)
        at = oracle->now_us - rand_below(5000);
    timers_start(&oracle->timers, &oracle->alarms[i].timer, at);
    oracle->armed[i] = true;
    oracle->due_tick[i] = tick_of(at);
}

static void run_both(struct oracle *oracle)
{
    oracle->now_us += random_distance() >> rand_below(20);
    timers_run(&oracle->timers, oracle->now_us);
    for (size_t i = 0; i < ORACLE_TIMERS; i++) {
        if (oracle->armed[i] && oracle->due_tick[i] <= oracle->now_us / US_PER_MS) {
            oracle->armed[i] = false;
            oracle->fired[i]++;
        }
        assert_int_equal(oracle->alarms[i].fired, oracle->fired[i]);
        assert_int_equal(timer_is_armed(&oracle->alarms[i].timer), oracle->armed[i]);
    }
}

static void check_next(struct oracle *oracle)
{
    uint64_t earliest = UINT64_MAX, next = timers_next(&oracle->timers);

    for (size_t i = 0; i < ORACLE_TIMERS; i++) {
        if (oracle->armed[i] && oracle->due_tick[i] < earliest)
            earliest = oracle->due_tick[i];
    }
    if (earliest == UINT64_MAX)
        assert_int_equal(next, UINT64_MAX);
    else
        assert_true(next <= MAX(earliest * US_PER_MS, oracle->now_us));
}

static void test_the_wheel_agrees_with_a_plain_array(void **state)
{
    struct oracle *oracle = calloc(1, sizeof(*oracle));
    (void)state;

    rand_seed_for_tests(20261120);
    oracle->now_us = 987654321987;
    timers_init(&oracle->timers, oracle->now_us);
    for (size_t i = 0; i < ORACLE_TIMERS; i++) {
        oracle->alarms[i].timers = &oracle->timers;
        timer_init(&oracle->alarms[i].timer, on_due);
    }
    for (int step = 0; step < ORACLE_STEPS; step++) {
        if (rand_below(3) == 0)
            run_both(oracle);
        else
            start_or_stop(oracle);
        check_next(oracle);
    }
    free(oracle);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_timer_fires_not_before_its_instant_and_within_a_tick),
        cmocka_unit_test(test_a_past_instant_fires_in_the_next_run),
        cmocka_unit_test(test_a_timer_that_starts_itself_in_the_past_does_not_hold_the_run),
        cmocka_unit_test(test_a_stopped_timer_never_fires),
        cmocka_unit_test(test_a_moved_timer_fires_once),
        cmocka_unit_test(test_a_callback_may_stop_its_neighbour_of_the_same_tick),
        cmocka_unit_test(test_timers_fire_in_the_order_of_their_ticks),
        cmocka_unit_test(test_every_boundary_of_the_levels_is_crossed),
        cmocka_unit_test(test_the_end_of_time_is_never_reached),
        cmocka_unit_test(test_a_clock_that_stops_or_goes_back_loses_nothing),
        cmocka_unit_test(test_the_wheel_agrees_with_a_plain_array),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
