/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_LOOP_H
#define NAILUP_TESTS_FAKE_LOOP_H

/*
 * A loop in virtual time that replaces src/loop/loop.c. loop_new() makes one; the code under test
 * cannot tell the difference. Only the functions below move the clock.
 *
 * A turn is the work of a real loop between two waits: the clock moves to the earliest instant with
 * an event, all events of that instant run in the order of their scheduling, then the timers that
 * are due, then the mail, then the turn-end hooks until none is requested. Events that the turn
 * schedules for the same instant run in the next turn. Everything is deterministic.
 *
 * loop_run() runs turns until loop_stop() or until no event is left.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/loop.h"

/* The start of each new loop's clock. The instant is odd, so that no value is round by chance. */
#define FAKE_LOOP_START_US UINT64_C(1234567891)
/* The start of the wall clock: an instant in 2019. */
#define FAKE_LOOP_WALL_S 1559731985

/* Sets the wall clock: the time that it shows when the loop's clock starts. */
void fake_loop_set_wall(struct loop *loop, int64_t wall_s);

/* The result of loop_is_saturated(); false at first. */
void fake_loop_set_saturated(struct loop *loop, bool is_saturated);

/* Advances loop_clock() within a turn, as work on the CPU does. */
void fake_loop_work(struct loop *loop, uint64_t us);

/* Runs one turn. Returns false if no event, timer, mail or hook is left. */
bool fake_loop_step(struct loop *loop);

/* Runs everything that is due, without moving the clock. Call it after a direct call of the code
 * under test to end the turn: hooks requested by the test run too. */
void fake_loop_settle(struct loop *loop);

/* Runs everything up to the instant now + us in order, and leaves the clock there. */
void fake_loop_advance(struct loop *loop, uint64_t us);
void fake_loop_advance_to(struct loop *loop, uint64_t at_us);

/* Runs turns until done(arg) or until limit_us have passed; returns the last result of done(). */
bool fake_loop_run_until(struct loop *loop, bool (*done)(void *arg), void *arg, uint64_t limit_us);

/* Runs turns until no network event, mail or hook is left and no timer is armed (true), or until
 * limit_us have passed (false). */
bool fake_loop_run_until_idle(struct loop *loop, uint64_t limit_us);

/* Moves the clock as a suspend does: events that fell due meanwhile all run in the next turn. */
void fake_loop_jump(struct loop *loop, uint64_t us);

/* Turns run so far. */
uint64_t fake_loop_turns(const struct loop *loop);

/* An event of the simulated world, embedded in its owner. run() runs once, at its instant, and may
 * free the event or schedule it again. */
struct fake_event {
    struct list node;
    uint64_t at_us;
    uint64_t sequence; /* events of one instant run in this order */
    void (*run)(struct fake_event *event);
};

static inline void fake_event_init(struct fake_event *event, void (*run)(struct fake_event *event))
{
    list_init(&event->node);
    event->run = run;
}

/* Schedules the event for loop_now() + delay_us, or moves it there if it is already scheduled. */
void fake_event_schedule(struct loop *loop, struct fake_event *event, uint64_t delay_us);
void fake_event_cancel(struct fake_event *event);

#endif
