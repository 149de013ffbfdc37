/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The wheel behind timer.h. The loop runs it.
 *
 * A timer's level is the highest base-64 digit in which its tick differs from the last tick that
 * was run, its slot is the value of that digit. So all timers of a level are due before those of
 * the next level, and the first occupied slot of the lowest occupied level comes next. The top
 * level is a ring: a timer beyond its reach waits in the last slot and is sorted again there.
 *
 * Invariant: every slot except one holds timers whose slot begins after the last tick. The
 * exception is level 0's slot of the last tick, which no future timer can have: it holds timers
 * that were started too late, for the next run.
 */

#include "loop/timer.h"

#include "base/units.h"

enum {
    DIGIT_BITS = 6,
    DIGIT_MASK = TIMER_SLOTS - 1,
    TOP = TIMER_LEVELS - 1,
    TOP_SHIFT = DIGIT_BITS * TOP,
};

void timers_init(struct timers *timers, uint64_t now_us)
{
    timers->tick = now_us / US_PER_MS;
    for (int level = 0; level < TIMER_LEVELS; level++) {
        timers->occupied[level] = 0;
        for (int slot = 0; slot < TIMER_SLOTS; slot++)
            list_init(&timers->slots[level][slot]);
    }
}

/* The first tick at which the timer may fire: never before its instant, so rounded up. */
static uint64_t due_tick(const struct timer *timer)
{
    return timer->due_at / US_PER_MS + (timer->due_at % US_PER_MS != 0);
}

static unsigned digit(uint64_t tick, int level)
{
    return (unsigned)(tick >> (DIGIT_BITS * level)) & DIGIT_MASK;
}

/* The slot of the top ring for a tick that differs from now in the top digit or above. */
static unsigned top_slot(uint64_t now, uint64_t due)
{
    uint64_t ahead = (due >> TOP_SHIFT) - (now >> TOP_SHIFT);
    return (unsigned)((now >> TOP_SHIFT) + MIN(ahead, TIMER_SLOTS - 1)) & DIGIT_MASK;
}

static void timer_place(struct timers *timers, struct timer *timer)
{
    uint64_t due = MAX(due_tick(timer), timers->tick);
    uint64_t differs = due ^ timers->tick;
    int level = differs == 0 ? 0 : (63 - __builtin_clzll(differs)) / DIGIT_BITS;
    unsigned slot = digit(due, level < TOP ? level : 0);

    if (level >= TOP) {
        level = TOP;
        slot = top_slot(timers->tick, due);
    }
    list_append(&timers->slots[level][slot], &timer->node);
    timers->occupied[level] |= UINT64_C(1) << slot;
}

void timers_start(struct timers *timers, struct timer *timer, uint64_t at_us)
{
    list_remove(&timer->node);
    timer->due_at = at_us;
    timer_place(timers, timer);
}

void timer_start(struct loop *loop, struct timer *timer, uint64_t at_us)
{
    timers_start(loop_timers(loop), timer, at_us);
}

void timer_stop(struct timer *timer)
{
    list_remove(&timer->node);
}

/* How many slots after the current one the level's first occupied slot comes; -1: none. Stopping
 * a timer leaves the bit of its slot behind; it is cleared here. */
static int first_occupied(struct timers *timers, int level)
{
    unsigned now = digit(timers->tick, level);

    while (timers->occupied[level]) {
        uint64_t bits = timers->occupied[level];
        uint64_t rotated = now ? bits >> now | bits << (TIMER_SLOTS - now) : bits;
        int ahead = __builtin_ctzll(rotated);
        unsigned slot = (now + (unsigned)ahead) & DIGIT_MASK;

        if (!list_is_empty(&timers->slots[level][slot]))
            return ahead;
        timers->occupied[level] &= ~(UINT64_C(1) << slot);
    }
    return -1;
}

/* The tick at which the next occupied slot begins; UINT64_MAX: none. */
static uint64_t next_tick(struct timers *timers)
{
    for (int level = 0; level < TIMER_LEVELS; level++) {
        int ahead = first_occupied(timers, level);
        if (ahead >= 0)
            return ((timers->tick >> (DIGIT_BITS * level)) + (uint64_t)ahead)
                   << (DIGIT_BITS * level);
    }
    return UINT64_MAX;
}

uint64_t timers_next(struct timers *timers)
{
    uint64_t tick = next_tick(timers);
    return tick > UINT64_MAX / US_PER_MS ? UINT64_MAX : tick * US_PER_MS;
}

static void take_slot(struct timers *timers, int level, struct list *out)
{
    unsigned slot = digit(timers->tick, level);
    timers->occupied[level] &= ~(UINT64_C(1) << slot);
    list_splice(out, &timers->slots[level][slot]);
}

/* Moves the timers of upper levels down when the tick reaches the beginning of their slots. */
static void cascade(struct timers *timers)
{
    for (int level = TOP; level > 0; level--) {
        struct list moved;
        list_init(&moved);
        if ((timers->tick & ((UINT64_C(1) << (DIGIT_BITS * level)) - 1)) != 0)
            continue;
        take_slot(timers, level, &moved);
        for (struct list *node; (node = list_take_first(&moved)) != NULL;)
            timer_place(timers, LIST_ITEM(node, struct timer, node));
    }
}

/* Fires the timers of the current tick. Timers that callbacks start for past ticks go to late. */
static void fire(struct timers *timers, struct list *late)
{
    struct list due;

    list_init(&due);
    take_slot(timers, 0, &due);
    for (struct list *node; (node = list_take_first(&due)) != NULL;) {
        struct timer *timer = LIST_ITEM(node, struct timer, node);
        timer->on_due(timer);
    }
    take_slot(timers, 0, late);
}

void timers_run(struct timers *timers, uint64_t now_us)
{
    uint64_t target = MAX(now_us / US_PER_MS, timers->tick);
    struct list late;

    list_init(&late);
    fire(timers, &late);
    for (;;) {
        uint64_t next = next_tick(timers);
        if (next > target)
            break;
        timers->tick = next;
        cascade(timers);
        fire(timers, &late);
    }
    timers->tick = target;
    for (struct list *node; (node = list_take_first(&late)) != NULL;)
        timer_place(timers, LIST_ITEM(node, struct timer, node));
}
