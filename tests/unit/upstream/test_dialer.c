/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include "base/units.h"
#include "loop/loop.h"
#include "support/fake_loop.h"
#include "upstream/dialer.h"

static struct dial_turn *last;
static unsigned started;
static struct loop *loop;

static void on_turn(struct dial_turn *turn)
{
    last = turn;
    started++;
}

static void open_with(struct dialer *dialer, struct dial_turn *turns, size_t count)
{
    last = NULL;
    started = 0;
    loop = loop_new();
    dialer_init(dialer, loop);
    for (size_t i = 0; i < count; i++)
        dial_turn_init(&turns[i], on_turn);
}

static void close_all(struct dialer *dialer, struct dial_turn *turns, size_t count)
{
    for (size_t i = 0; i < count; i++)
        list_remove(&turns[i].node);
    dialer_deinit(dialer);
    loop_free(loop);
}

/* Returns how many dials happen in this time if each fails within a millisecond and is requested
 * again at once. */
static unsigned dials_of_failures(struct dialer *dialer, struct dial_turn *turns, size_t count,
                                  uint64_t us)
{
    for (uint64_t end_at = loop_now(loop) + us; loop_now(loop) < end_at;) {
        for (size_t i = 0; i < count; i++) {
            if (turns[i].state == DIAL_TURN_HELD_AGAIN)
                dialer_leave(dialer, &turns[i]);
            if (turns[i].state == DIAL_TURN_IDLE)
                dialer_ask(dialer, &turns[i], true);
        }
        fake_loop_advance(loop, US_PER_MS);
    }
    return started;
}

static void test_dialer_bounds_the_dials_under_way(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 2];
    open_with(&dialer, turns, DIALER_MAX + 2);
    for (int i = 0; i < DIALER_MAX + 2; i++)
        dialer_ask(&dialer, &turns[i], false);
    assert_int_equal(started, DIALER_MAX);
    dialer_leave(&dialer, &turns[7]);
    assert_ptr_equal(last, &turns[DIALER_MAX]);
    dialer_leave(&dialer, &turns[7]); /* a second call does nothing */
    assert_int_equal(started, DIALER_MAX + 1);
    assert_int_equal(dialer.under_way, DIALER_MAX);
    close_all(&dialer, turns, DIALER_MAX + 2);
}

static void test_dialer_leaving_the_line_takes_no_turn_away(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 2];
    open_with(&dialer, turns, DIALER_MAX + 2);
    for (int i = 0; i < DIALER_MAX + 2; i++)
        dialer_ask(&dialer, &turns[i], false);
    dialer_leave(&dialer, &turns[DIALER_MAX]);
    assert_int_equal(started, DIALER_MAX);
    dialer_leave(&dialer, &turns[0]);
    assert_ptr_equal(last, &turns[DIALER_MAX + 1]);
    close_all(&dialer, turns, DIALER_MAX + 2);
}

static void test_dialer_dials_after_failures_come_last(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 3];
    open_with(&dialer, turns, DIALER_MAX + 3);
    for (int i = 0; i < DIALER_MAX; i++)
        dialer_ask(&dialer, &turns[i], false);
    dialer_ask(&dialer, &turns[DIALER_MAX], true);
    dialer_ask(&dialer, &turns[DIALER_MAX + 1], false);
    dialer_ask(&dialer, &turns[DIALER_MAX + 2], false);
    for (int i = 0; i < 3; i++) {
        static const int order[] = {DIALER_MAX + 1, DIALER_MAX + 2, DIALER_MAX};
        dialer_leave(&dialer, &turns[i]);
        assert_ptr_equal(last, &turns[order[i]]);
    }
    close_all(&dialer, turns, DIALER_MAX + 3);
}

/* Silent dead servers keep their places for all of connect-timeout. */
static void test_dialer_dials_after_failures_leave_places_for_first_ones(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_MAX + 1];
    open_with(&dialer, turns, DIALER_MAX + 1);
    for (int i = 0; i < DIALER_MAX; i++)
        dialer_ask(&dialer, &turns[i], true);
    assert_int_equal(started, DIALER_AGAIN_MAX);
    dialer_ask(&dialer, &turns[DIALER_MAX], false);
    assert_ptr_equal(last, &turns[DIALER_MAX]);
    dialer_leave(&dialer, &turns[0]);
    assert_ptr_equal(last, &turns[DIALER_AGAIN_MAX]);
    close_all(&dialer, turns, DIALER_MAX + 1);
}

static void test_dialer_dials_after_failures_keep_a_rate(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_AGAIN_MAX];
    open_with(&dialer, turns, DIALER_AGAIN_MAX);
    unsigned dials = dials_of_failures(&dialer, turns, DIALER_AGAIN_MAX, 60 * US_PER_S);
    assert_in_range(dials, 60 * DIALER_AGAIN_PER_S, 61 * DIALER_AGAIN_PER_S);
    close_all(&dialer, turns, DIALER_AGAIN_MAX);
}

static void test_dialer_few_failures_wait_for_no_token(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[10];
    open_with(&dialer, turns, 10);
    for (unsigned round = 1; round <= 100; round++) {
        for (int i = 0; i < 10; i++)
            dialer_ask(&dialer, &turns[i], true);
        assert_int_equal(started, 10 * round);
        for (int i = 0; i < 10; i++)
            dialer_leave(&dialer, &turns[i]);
        fake_loop_advance(loop, 100 * US_PER_MS);
    }
    close_all(&dialer, turns, 10);
}

/* All tokens are spent. A dial with a waiting query still begins, and so does a first dial. */
static void test_dialer_a_dial_with_a_waiting_query_needs_no_token(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_AGAIN_MAX + 1];
    open_with(&dialer, turns, DIALER_AGAIN_MAX + 1);
    dials_of_failures(&dialer, turns, DIALER_AGAIN_MAX, 10 * US_PER_S);
    struct dial_turn *waits = LIST_ITEM(dialer.again.prev, struct dial_turn, node);
    dialer_hurry(&dialer, waits);
    assert_int_equal(waits->state, DIAL_TURN_HELD);
    dialer_hurry(&dialer, waits); /* a second call does nothing */
    assert_int_equal(waits->state, DIAL_TURN_HELD);
    dialer_ask(&dialer, &turns[DIALER_AGAIN_MAX], false);
    assert_int_equal(turns[DIALER_AGAIN_MAX].state, DIAL_TURN_HELD);
    close_all(&dialer, turns, DIALER_AGAIN_MAX + 1);
}

static void test_dialer_a_preferred_dial_is_next_after_failures(void **state)
{
    (void)state;
    struct dialer dialer;
    struct dial_turn turns[DIALER_AGAIN_MAX];
    open_with(&dialer, turns, DIALER_AGAIN_MAX);
    dials_of_failures(&dialer, turns, DIALER_AGAIN_MAX, 10 * US_PER_S);
    struct dial_turn *asked = LIST_ITEM(dialer.again.prev, struct dial_turn, node);
    unsigned before = started;
    dialer_prefer(&dialer, asked);
    assert_int_equal(started, before);
    while (started == before)
        fake_loop_advance(loop, US_PER_MS);
    assert_int_not_equal(asked->state, DIAL_TURN_WAITS_AGAIN);
    close_all(&dialer, turns, DIALER_AGAIN_MAX);
}

/* When an outage ends, the servers that are back are not delayed. */
static void test_dialer_success_returns_its_token(void **state)
{
    (void)state;
    enum { MANY = 10 * DIALER_AGAIN_PER_S };
    static struct dial_turn turns[MANY];
    struct dialer dialer;
    open_with(&dialer, turns, MANY);
    for (int i = 0; i < MANY; i++)
        dialer_ask(&dialer, &turns[i], true);
    for (int i = 0; i < MANY; i++) {
        assert_int_equal(turns[i].state, DIAL_TURN_HELD_AGAIN);
        dialer_leave(&dialer, &turns[i]);
        dialer_refund(&dialer, &turns[i]);
        dialer_refund(&dialer, &turns[i]); /* a second call does nothing */
    }
    assert_int_equal(started, MANY);
    close_all(&dialer, turns, MANY);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dialer_bounds_the_dials_under_way),
        cmocka_unit_test(test_dialer_leaving_the_line_takes_no_turn_away),
        cmocka_unit_test(test_dialer_dials_after_failures_come_last),
        cmocka_unit_test(test_dialer_dials_after_failures_leave_places_for_first_ones),
        cmocka_unit_test(test_dialer_dials_after_failures_keep_a_rate),
        cmocka_unit_test(test_dialer_few_failures_wait_for_no_token),
        cmocka_unit_test(test_dialer_a_dial_with_a_waiting_query_needs_no_token),
        cmocka_unit_test(test_dialer_a_preferred_dial_is_next_after_failures),
        cmocka_unit_test(test_dialer_success_returns_its_token),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
