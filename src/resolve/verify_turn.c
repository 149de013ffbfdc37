/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* The timer is due in the next turn of the loop, and not a tick of its clock later. */
#include "resolve/verify_turn.h"

#include "base/check.h"
#include "base/units.h"
#include "loop/loop.h"

void verify_turn_init(struct verify_turn *turn, struct loop *loop)
{
    turn->loop = loop;
    turn->began_at = turn->used_us = 0;
    list_init(&turn->put_off);
    timer_init(&turn->next, NULL);
}

void verify_turn_deinit(struct verify_turn *turn)
{
    MUST(list_is_empty(&turn->put_off));
    timer_stop(&turn->next);
}

void verify_turn_begin(struct verify_turn *turn)
{
    turn->began_at = loop_now(turn->loop);
    turn->used_us = 0;
}

static bool is_used_up(struct verify_turn *turn)
{
    if (turn->began_at != loop_now(turn->loop))
        verify_turn_begin(turn);
    return turn->used_us >= VERIFY_TURN_US;
}

bool verify_turn_has_time(struct verify_turn *turn, bool was_put_off)
{
    return !is_used_up(turn) && (was_put_off || list_is_empty(&turn->put_off));
}

void verify_turn_add(struct verify_turn *turn, uint64_t us)
{
    turn->used_us += us;
}

static void await_next(struct verify_turn *turn)
{
    uint64_t now = loop_now(turn->loop);
    timer_start(turn->loop, &turn->next, now - now % US_PER_MS);
}

void verify_turn_put_off(struct verify_turn *turn, struct list *node,
                         void (*on_due)(struct timer *timer))
{
    list_append(&turn->put_off, node);
    turn->next.on_due = on_due;
    await_next(turn);
}

struct list *verify_turn_take(struct verify_turn *turn)
{
    if (list_is_empty(&turn->put_off))
        return NULL;
    if (!is_used_up(turn))
        return list_take_first(&turn->put_off);
    await_next(turn);
    return NULL;
}
