/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_TIMER_H
#define NAILUP_LOOP_TIMER_H

/*
 * Intrusive timers on a hierarchical wheel with ticks of one millisecond: start and stop are O(1)
 * and synchronous, so the owner of a timer may free it at once after timer_stop(). A timer never
 * fires before its instant, and fires at most a tick after the turn that follows it. One thread.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"

struct loop;
struct timers;

struct timer {
    struct list node;
    uint64_t due_at; /* us */
    void (*on_due)(struct timer *timer);
};

static inline void timer_init(struct timer *timer, void (*on_due)(struct timer *timer))
{
    list_init(&timer->node);
    timer->due_at = 0;
    timer->on_due = on_due;
}

/* Arms the timer for an instant of loop_now(), or moves an armed one. A timer for a past instant
 * fires in the next run. on_due may start, stop or free this and any other timer. */
void timer_start(struct loop *loop, struct timer *timer, uint64_t at_us);
void timer_stop(struct timer *timer);

static inline bool timer_is_armed(const struct timer *timer)
{
    return list_is_linked(&timer->node);
}

/* The wheel of this loop. The fake loop has one too. */
struct timers *loop_timers(struct loop *loop);

/* The wheel itself, pure: loop.c and tests/support/fake_loop.c drive it. */
enum { TIMER_SLOTS = 64, TIMER_LEVELS = 6 }; /* 2^36 ms: two years */

struct timers {
    uint64_t tick;                   /* the last tick that was run, in ms */
    uint64_t occupied[TIMER_LEVELS]; /* a bit per slot that may hold timers */
    struct list slots[TIMER_LEVELS][TIMER_SLOTS];
};

void timers_init(struct timers *timers, uint64_t now_us);
void timers_start(struct timers *timers, struct timer *timer, uint64_t at_us);

/* An instant not later than the earliest timer, or UINT64_MAX when no timer is armed. It may
 * precede the first timer, and a run then only sorts. Forgets empty slots on the way. */
uint64_t timers_next(struct timers *timers);

/* Fires all timers due at now_us, in order of ticks. A timer that is started meanwhile for a past
 * instant waits for the next run, so a run always ends. */
void timers_run(struct timers *timers, uint64_t now_us);

#endif
