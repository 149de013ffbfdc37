/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/* First come, first dialled; after them those that failed before. */

#include "upstream/dialer.h"

void dialer_init(struct dialer *dialer)
{
    list_init(&dialer->line);
    list_init(&dialer->again);
    dialer->under_way = 0;
}

void dial_turn_init(struct dial_turn *turn, void (*on_turn)(struct dial_turn *turn))
{
    list_init(&turn->node);
    turn->held = false;
    turn->on_turn = on_turn;
}

static void start(struct dialer *dialer, struct dial_turn *turn)
{
    dialer->under_way++;
    turn->held = true;
    turn->on_turn(turn);
}

void dialer_ask(struct dialer *dialer, struct dial_turn *turn, bool after_failure)
{
    MUST(!turn->held && !list_is_linked(&turn->node));
    if (dialer->under_way < DIALER_MAX)
        start(dialer, turn);
    else
        list_append(after_failure ? &dialer->again : &dialer->line, &turn->node);
}

void dialer_leave(struct dialer *dialer, struct dial_turn *turn)
{
    list_remove(&turn->node);
    if (!turn->held)
        return;
    turn->held = false;
    dialer->under_way--;
    while (dialer->under_way < DIALER_MAX) {
        struct list *node = list_take_first(&dialer->line);
        if (!node)
            node = list_take_first(&dialer->again);
        if (!node)
            return;
        start(dialer, LIST_ITEM(node, struct dial_turn, node));
    }
}
