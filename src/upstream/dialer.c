/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* Two lines of turns: new dials in order, then dials after a failure at a bounded rate. */

#include "upstream/dialer.h"

#include "loop/loop.h"

static void dialer_advance(struct dialer *dialer);

static void dialer_on_again_later(struct timer *timer)
{
    dialer_advance(CONTAINER_OF(timer, struct dialer, again_later));
}

void dialer_init(struct dialer *dialer, struct loop *loop)
{
    *dialer = (struct dialer){.loop = loop};
    list_init(&dialer->line);
    list_init(&dialer->again);
    timer_init(&dialer->again_later, dialer_on_again_later);
}

void dialer_deinit(struct dialer *dialer)
{
    timer_stop(&dialer->again_later);
}

void dial_turn_init(struct dial_turn *turn, void (*on_turn)(struct dial_turn *turn))
{
    list_init(&turn->node);
    turn->state = DIAL_TURN_IDLE;
    turn->has_paid = false;
    turn->on_turn = on_turn;
}

static bool has_token(struct dialer *dialer)
{
    uint64_t now = loop_now(dialer->loop);
    uint64_t at = pace_take(&dialer->again_pace, now, DIALER_AGAIN_PER_S);
    if (at > now)
        timer_start(dialer->loop, &dialer->again_later, at);
    return at == now;
}

/* The next turn. NULL: nothing is queued, or no place or token is free. */
static struct dial_turn *dialer_take_next(struct dialer *dialer)
{
    struct dial_turn *turn;
    if (dialer->under_way >= DIALER_MAX)
        return NULL;
    if (!list_is_empty(&dialer->line)) {
        turn = LIST_ITEM(list_take_first(&dialer->line), struct dial_turn, node);
        turn->state = DIAL_TURN_HELD;
        return turn;
    }
    if (list_is_empty(&dialer->again) || dialer->again_under_way >= DIALER_AGAIN_MAX ||
        !has_token(dialer))
        return NULL;
    turn = LIST_ITEM(list_take_first(&dialer->again), struct dial_turn, node);
    turn->state = DIAL_TURN_HELD_AGAIN;
    turn->has_paid = true;
    dialer->again_under_way++;
    return turn;
}

static void dialer_advance(struct dialer *dialer)
{
    for (struct dial_turn *turn; (turn = dialer_take_next(dialer));) {
        dialer->under_way++;
        turn->on_turn(turn);
    }
}

void dialer_ask(struct dialer *dialer, struct dial_turn *turn, bool after_failure)
{
    MUST(turn->state == DIAL_TURN_IDLE);
    turn->has_paid = false;
    turn->state = after_failure ? DIAL_TURN_WAITS_AGAIN : DIAL_TURN_WAITS;
    list_append(after_failure ? &dialer->again : &dialer->line, &turn->node);
    dialer_advance(dialer);
}

void dialer_hurry(struct dialer *dialer, struct dial_turn *turn)
{
    if (turn->state != DIAL_TURN_WAITS_AGAIN)
        return;
    list_remove(&turn->node);
    turn->state = DIAL_TURN_IDLE;
    dialer_ask(dialer, turn, false);
}

void dialer_prefer(struct dialer *dialer, struct dial_turn *turn)
{
    if (turn->state != DIAL_TURN_WAITS_AGAIN)
        return;
    list_remove(&turn->node);
    list_prepend(&dialer->again, &turn->node);
}

void dialer_leave(struct dialer *dialer, struct dial_turn *turn)
{
    bool was_held = turn->state == DIAL_TURN_HELD || turn->state == DIAL_TURN_HELD_AGAIN;
    dialer->under_way -= was_held;
    dialer->again_under_way -= turn->state == DIAL_TURN_HELD_AGAIN;
    turn->state = DIAL_TURN_IDLE;
    list_remove(&turn->node);
    if (was_held)
        dialer_advance(dialer);
}

void dialer_refund(struct dialer *dialer, struct dial_turn *turn)
{
    if (turn->has_paid)
        pace_give(&dialer->again_pace, DIALER_AGAIN_PER_S);
    turn->has_paid = false;
    dialer_advance(dialer);
}
