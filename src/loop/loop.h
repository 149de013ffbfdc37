/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_LOOP_H
#define NAILUP_LOOP_LOOP_H

/*
 * One event loop: one thread's time, timers, mail and the end of its turns. Everything except
 * loop_post() and loop_stop() belongs to the thread that runs the loop.
 *
 * A turn waits for the kernel, handles the ready sockets, the due timers and the mail, and then
 * runs the turn-end hooks. Writes collect during a turn and leave in the hooks: one write for each
 * connection.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/list.h"
#include "base/units.h"

struct loop;

/* NULL: out of memory or files. The same thread frees it with loop_free(), after it has closed
 * everything that it opened on the loop; loop_free() waits for closes that are under way. */
struct loop *loop_new(void);
void loop_free(struct loop *loop);

/* Runs turns until loop_stop(). */
void loop_run(struct loop *loop);

/* Makes loop_run() return at the end of the turn. Any thread. */
void loop_stop(struct loop *loop);

/* The first member of every struct loop, for loop_now(): a query asks for the time forty times. */
struct loop_turn {
    uint64_t now_us; /* 0: not read yet */
};

/* Reads the clock for this turn; for loop_now() only. */
uint64_t loop_read_now(struct loop *loop);

/* The instant of this turn in microseconds of base/clock.h, which counts while a laptop sleeps. It
 * is read at most once a turn, after the wait. For deadlines and TTLs. */
static inline uint64_t loop_now(struct loop *loop)
{
    uint64_t now_us = ((const struct loop_turn *)loop)->now_us;
    return now_us ? now_us : loop_read_now(loop);
}

/* Reads the same clock now, to measure round trips and work. */
uint64_t loop_clock(struct loop *loop);

/* Seconds since 1970 by the system's clock, which may be wrong and may jump. For values that other
 * machines read, never for deadlines. */
int64_t loop_wall_s(struct loop *loop);

/* Whether the loop's thread had the CPU for most of the time since the last measurement, which is
 * LOOP_LOAD_US old at least. Only the code that asks pays for it. */
#define LOOP_LOAD_US (500 * US_PER_MS)
bool loop_is_saturated(struct loop *loop);

/* Work for the end of the turn. The owner embeds one, initialises it once with turn_end_init() and
 * asks with loop_at_turn_end(). However often it asks, the work runs once, at the end of this turn,
 * before the loop waits again. */
struct turn_end {
    struct list node;
    void (*run)(struct turn_end *end);
};

static inline void turn_end_init(struct turn_end *end, void (*run)(struct turn_end *end))
{
    list_init(&end->node);
    end->run = run;
}

void loop_at_turn_end(struct loop *loop, struct turn_end *end);

/* Takes the request back, if there is one. */
void turn_end_cancel(struct turn_end *end);

/* A message to the loop's thread. The poster owns the memory. run() is called once on the loop's
 * thread and may free it. Any thread may post; the messages of one thread keep their order. */
struct mail {
    struct mail *next;
    void (*run)(struct mail *mail);
};

void loop_post(struct loop *loop, struct mail *mail);

#endif
