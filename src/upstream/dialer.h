/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_DIALER_H
#define NAILUP_UPSTREAM_DIALER_H

/*
 * Paces dials: a worker has at most DIALER_MAX at once, and the others queue. So a start with ten
 * thousand nailed addresses causes no burst of handshakes, and the end of an outage causes none
 * either.
 *
 * Dials after a failure come last, use at most DIALER_AGAIN_MAX places, and begin at a rate of at
 * most DIALER_AGAIN_PER_S. This bounds the cost of ten thousand addresses that refuse, and dead
 * servers cannot delay the others. A successful dial returns its token, so the rate bounds failures
 * and not the recovery from an outage.
 */

#include <stdbool.h>

#include "base/list.h"
#include "loop/timer.h"
#include "upstream/pace.h"

enum {
    DIALER_MAX = 64,
    DIALER_AGAIN_MAX = 48,    /* of them after a failure */
    DIALER_AGAIN_PER_S = 200, /* dials after a failure; a burst may use the tokens of one second */
};

struct loop;

struct dialer {
    struct loop *loop;
    struct list line;
    struct list again; /* after a failure: served when the line is empty */
    unsigned under_way;
    unsigned again_under_way; /* of them after a failure */
    struct pace again_pace;
    struct timer again_later; /* armed while `again` waits for a token */
};

enum dial_turn_state {
    DIAL_TURN_IDLE,
    DIAL_TURN_WAITS,       /* queues */
    DIAL_TURN_WAITS_AGAIN, /* queues after a failure */
    DIAL_TURN_HELD,        /* dials */
    DIAL_TURN_HELD_AGAIN,  /* dials after a failure */
};

/* A connection's turn to dial, embedded in the connection. on_turn dials. It may come inside
 * another turn's dialer_leave() and must not give its turn back before it returns. */
struct dial_turn {
    struct list node;
    enum dial_turn_state state;
    bool has_paid; /* the dial has taken a token */
    void (*on_turn)(struct dial_turn *turn);
};

/* Borrows loop. */
void dialer_init(struct dialer *dialer, struct loop *loop);
void dialer_deinit(struct dialer *dialer); /* all turns have left */
void dial_turn_init(struct dial_turn *turn, void (*on_turn)(struct dial_turn *turn));

/* Asks for a turn: on_turn comes now or when a place is free. */
void dialer_ask(struct dialer *dialer, struct dial_turn *turn, bool after_failure);

/* Moves a turn that is queued after a failure to the line of new dials, where it needs no token,
 * because a query waits for it. Calls on_turn at once if there is a place. Ignores other turns.
 */
void dialer_hurry(struct dialer *dialer, struct dial_turn *turn);

/* Moves the turn to the front of the line of dials after a failure, because a query went to this
 * server another way. Ignores other turns. */
void dialer_prefer(struct dialer *dialer, struct dial_turn *turn);

/* Leaves the line, or lets the next turn dial, when the dial has ended or is no longer wanted. */
void dialer_leave(struct dialer *dialer, struct dial_turn *turn);

/* Returns the token of a successful dial. Once per dial. */
void dialer_refund(struct dialer *dialer, struct dial_turn *turn);

#endif
