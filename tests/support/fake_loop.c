/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */

/*
 * The loop in virtual time (fake_loop.h): every symbol of src/loop/loop.c, with the real wheel of
 * timers. loop_free() refers to the fake network, so a program that links this loop gets that
 * network too, and never a mixture of fake and real.
 *
 * Invariant: events are sorted by instant and sequence, and none is earlier than the clock.
 */

#include "support/fake_loop.h"

#include <stdlib.h>

#include "base/check.h"
#include "loop/timer.h"
#include "support/fake_inside.h"

enum { HOOK_ROUNDS_MAX = 10000 }; /* more rounds mean that hooks request each other endlessly */

struct loop {
    struct loop_turn turn; /* first */
    uint64_t turns;
    uint64_t sequence;
    bool stopping;
    struct list events;
    struct list turn_ends;
    struct mail *mail, **mail_end;
    struct timers timers;
    struct fake_net *net;
    int64_t wall_s; /* at the start */
    bool is_saturated;
    uint64_t worked_us; /* fake_loop_work() */
};

struct loop *loop_new(void)
{
    struct loop *loop = calloc(1, sizeof(*loop));

    MUST(loop);
    loop->turn.now_us = FAKE_LOOP_START_US;
    loop->wall_s = FAKE_LOOP_WALL_S;
    loop->mail_end = &loop->mail;
    list_init(&loop->events);
    list_init(&loop->turn_ends);
    timers_init(&loop->timers, loop->turn.now_us);
    return loop;
}

static void run_mail(struct loop *loop)
{
    struct mail *mail = loop->mail;

    loop->mail = NULL;
    loop->mail_end = &loop->mail;
    while (mail) {
        struct mail *next = mail->next;
        mail->run(mail);
        mail = next;
    }
}

void loop_free(struct loop *loop)
{
    run_mail(loop);
    fake_net_free(loop->net);
    free(loop);
}

struct fake_net **fake_loop_net(struct loop *loop)
{
    return &loop->net;
}

uint64_t loop_read_now(struct loop *loop)
{
    return loop->turn.now_us;
}

uint64_t loop_clock(struct loop *loop)
{
    return loop->turn.now_us + loop->worked_us;
}

void fake_loop_work(struct loop *loop, uint64_t us)
{
    loop->worked_us += us;
}

bool loop_is_saturated(struct loop *loop)
{
    return loop->is_saturated;
}

void fake_loop_set_saturated(struct loop *loop, bool is_saturated)
{
    loop->is_saturated = is_saturated;
}

int64_t loop_wall_s(struct loop *loop)
{
    return loop->wall_s + (int64_t)((loop->turn.now_us - FAKE_LOOP_START_US) / US_PER_S);
}

void fake_loop_set_wall(struct loop *loop, int64_t wall_s)
{
    loop->wall_s = wall_s;
}

struct timers *loop_timers(struct loop *loop)
{
    return &loop->timers;
}

void loop_at_turn_end(struct loop *loop, struct turn_end *end)
{
    if (!list_is_linked(&end->node))
        list_append(&loop->turn_ends, &end->node);
}

void turn_end_cancel(struct turn_end *end)
{
    list_remove(&end->node);
}

void loop_post(struct loop *loop, struct mail *mail)
{
    mail->next = NULL;
    *loop->mail_end = mail;
    loop->mail_end = &mail->next;
}

void loop_stop(struct loop *loop)
{
    loop->stopping = true;
}

uint64_t fake_loop_turns(const struct loop *loop)
{
    return loop->turns;
}

/* ---------------------------------------------------------------- events */

void fake_event_schedule(struct loop *loop, struct fake_event *event, uint64_t delay_us)
{
    struct list *at = loop->events.prev;

    list_remove(&event->node);
    event->at_us = loop->turn.now_us + delay_us;
    event->sequence = loop->sequence++;
    /* Most events are later than all others, so the search starts at the end. */
    at = loop->events.prev;
    while (at != &loop->events && LIST_ITEM(at, struct fake_event, node)->at_us > event->at_us)
        at = at->prev;
    list_insert_before(&event->node, at->next);
}

void fake_event_cancel(struct fake_event *event)
{
    list_remove(&event->node);
}

static struct fake_event *first_event(const struct loop *loop)
{
    struct list *first = list_first(&loop->events);
    return first ? LIST_ITEM(first, struct fake_event, node) : NULL;
}

/* Returns the instant of the next turn, or UINT64_MAX without one. */
static uint64_t next_turn_at(struct loop *loop)
{
    struct fake_event *event = first_event(loop);
    uint64_t at = timers_next(&loop->timers);

    if (loop->mail || !list_is_empty(&loop->turn_ends))
        return loop->turn.now_us;
    if (event)
        at = MIN(at, event->at_us);
    return MAX(at, loop->turn.now_us);
}

static void run_events(struct loop *loop)
{
    struct list due;
    struct fake_event *event;

    list_init(&due);
    while ((event = first_event(loop)) && event->at_us <= loop->turn.now_us) {
        list_remove(&event->node);
        list_append(&due, &event->node);
    }
    for (struct list *node; (node = list_take_first(&due)) != NULL;) {
        event = LIST_ITEM(node, struct fake_event, node);
        event->run(event);
    }
}

static void run_hooks(struct loop *loop)
{
    for (int round = 0; !list_is_empty(&loop->turn_ends); round++) {
        struct list asked;

        MUST(round < HOOK_ROUNDS_MAX);
        list_init(&asked);
        list_splice(&asked, &loop->turn_ends);
        for (struct list *node; (node = list_take_first(&asked)) != NULL;) {
            struct turn_end *end = LIST_ITEM(node, struct turn_end, node);
            end->run(end);
        }
    }
}

static void run_turn(struct loop *loop, uint64_t at_us)
{
    loop->turn.now_us = at_us;
    loop->worked_us = 0;
    loop->turns++;
    run_events(loop);
    timers_run(&loop->timers, loop->turn.now_us);
    run_mail(loop);
    run_hooks(loop);
}

bool fake_loop_step(struct loop *loop)
{
    uint64_t at = next_turn_at(loop);

    if (at == UINT64_MAX)
        return false;
    run_turn(loop, at);
    return true;
}

void fake_loop_advance_to(struct loop *loop, uint64_t at_us)
{
    MUST(at_us >= loop->turn.now_us);
    for (;;) {
        uint64_t at = next_turn_at(loop);
        if (at > at_us)
            break;
        run_turn(loop, at);
    }
    loop->turn.now_us = at_us;
}

void fake_loop_settle(struct loop *loop)
{
    fake_loop_advance_to(loop, loop->turn.now_us);
}

void fake_loop_advance(struct loop *loop, uint64_t us)
{
    fake_loop_advance_to(loop, loop->turn.now_us + us);
}

bool fake_loop_run_until(struct loop *loop, bool (*done)(void *arg), void *arg, uint64_t limit_us)
{
    uint64_t limit_at = loop->turn.now_us + limit_us;

    while (!done(arg)) {
        uint64_t at = next_turn_at(loop);
        if (at > limit_at) {
            loop->turn.now_us = limit_at;
            return done(arg);
        }
        run_turn(loop, at);
    }
    return true;
}

bool fake_loop_run_until_idle(struct loop *loop, uint64_t limit_us)
{
    uint64_t limit_at = loop->turn.now_us + limit_us;

    for (;;) {
        uint64_t at = next_turn_at(loop);
        if (at == UINT64_MAX)
            return true;
        if (at > limit_at) {
            loop->turn.now_us = limit_at;
            return false;
        }
        run_turn(loop, at);
    }
}

void fake_loop_jump(struct loop *loop, uint64_t us)
{
    loop->turn.now_us += us;
}

void loop_run(struct loop *loop)
{
    while (!loop->stopping && fake_loop_step(loop))
        ;
    loop->stopping = false;
}
