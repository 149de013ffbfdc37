/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_LOOP_H
#define NAILUP_TESTS_FAKE_LOOP_H

/*
 * A loop in virtual time, linked in the place of src/loop/loop.c. loop_new() makes one; the code
 * under test sees nothing of it. The clock stands still but for the functions below.
 *
 * A turn is what a real loop does between two waits: the clock moves to the earliest instant at
 * which something is due, all events of that instant run in the order in which they were
 * scheduled, then the timers due, then the mail, then the turn-end hooks until none is asked for.
 * What the turn itself schedules for the same instant runs in the next turn. All of it is
 * deterministic.
 *
 * loop_run() runs turns until loop_stop() or until nothing is left to happen.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/loop.h"

/* Where each new loop's clock starts: an odd instant, so that nothing is round by luck. */
#define FAKE_LOOP_START_US UINT64_C(1234567891)
/* And the system's clock: an instant in 2019. */
#define FAKE_LOOP_WALL_S 1559731985

/* One turn. Returns false when nothing is left: no event, no timer, no mail, no hook. */
bool fake_loop_step(struct loop *loop);

/* Runs all that is due now, without moving the clock. Hooks asked for by the test's own calls run
 * too: call it after every direct call of the code under test that should "end the turn". */
void fake_loop_settle(struct loop *loop);

/* Runs everything up to the instant now + us in order, and leaves the clock there. */
void fake_loop_advance(struct loop *loop, uint64_t us);
void fake_loop_advance_to(struct loop *loop, uint64_t at_us);

/* Turns until done(arg) or until limit_us have passed; returns what done() says last. */
bool fake_loop_run_until(struct loop *loop, bool (*done)(void *arg), void *arg, uint64_t limit_us);

/* Turns until no network event, mail or hook is left and no timer is armed (true), or until
 * limit_us have passed (false; the clock is there then). */
bool fake_loop_run_until_idle(struct loop *loop, uint64_t limit_us);

/* The clock jumps as after a suspend: nothing runs in between; what fell due meanwhile runs in
 * the next turn, all at once. */
void fake_loop_jump(struct loop *loop, uint64_t us);

/* Turns run so far. */
uint64_t fake_loop_turns(const struct loop *loop);

/* An event of the simulated world. The owner embeds it; run() is called once, at its instant, and
 * may free it or schedule it again. */
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

/* At loop_now() + delay_us; an event that waits already is moved. */
void fake_event_schedule(struct loop *loop, struct fake_event *event, uint64_t delay_us);
void fake_event_cancel(struct fake_event *event);

#endif
