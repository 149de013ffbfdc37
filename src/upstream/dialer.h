/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_DIALER_H
#define NAILUP_UPSTREAM_DIALER_H

/*
 * The pacing of dials: a worker has at most DIALER_MAX under way, the others wait in line. A start
 * with ten thousand nailed addresses, or the end of an outage, is therefore no burst of handshakes.
 *
 * Dials after a failure come last, use at most DIALER_AGAIN_MAX of the places, and begin at a rate
 * of at most DIALER_AGAIN_PER_S: ten thousand addresses that refuse cost no more than that, and
 * dead servers cannot hold up the others. A dial that succeeds gives its token back, so the rate
 * bounds failures and not the recovery from an outage.
 */

#include <stdbool.h>

#include "base/list.h"
#include "loop/timer.h"
#include "upstream/pace.h"

enum {
    DIALER_MAX = 64,
    DIALER_AGAIN_MAX = 48,    /* of these, after a failure */
    DIALER_AGAIN_PER_S = 200, /* dials after a failure, in a burst as many as one second may have */
};

struct loop;

struct dialer {
    struct loop *loop;
    struct list line;
    struct list again; /* after a failure: when the line is empty */
    unsigned under_way;
    unsigned again_under_way; /* of these */
    struct pace again_pace;
    struct timer again_later; /* armed while `again` waits for a token */
};

enum dial_turn_state {
    DIAL_TURN_IDLE,
    DIAL_TURN_WAITS,       /* in the line */
    DIAL_TURN_WAITS_AGAIN, /* in the line after a failure */
    DIAL_TURN_HELD,        /* the dial is under way */
    DIAL_TURN_HELD_AGAIN,  /* the same, after a failure */
};

/* A place in the line; embedded in the connection. on_turn dials; it may come inside a call of
 * another's dialer_leave() and must not give the turn back before it returns. */
struct dial_turn {
    struct list node;
    enum dial_turn_state state;
    bool has_paid; /* it took a token */
    void (*on_turn)(struct dial_turn *turn);
};

/* loop is borrowed. */
void dialer_init(struct dialer *dialer, struct loop *loop);
void dialer_deinit(struct dialer *dialer); /* all turns have left */
void dial_turn_init(struct dial_turn *turn, void (*on_turn)(struct dial_turn *turn));

/* Asks for a turn: on_turn is called now, or when one comes free. */
void dialer_ask(struct dialer *dialer, struct dial_turn *turn, bool after_failure);

/* A turn that waits after a failure: a query waits for this dial, so it needs no token and queues
 * with the first dials. Calls on_turn at once when there is a place. Other turns are left alone. */
void dialer_hurry(struct dialer *dialer, struct dial_turn *turn);

/* A turn that waits after a failure: a query was sent to this server by another way, so it comes
 * first of those after a failure. Other turns are left alone. */
void dialer_prefer(struct dialer *dialer, struct dial_turn *turn);

/* The dial is over, or is no longer wanted: leaves the line, or lets the next one dial. */
void dialer_leave(struct dialer *dialer, struct dial_turn *turn);

/* The dial succeeded: its token may be used by the next one. Once per dial. */
void dialer_refund(struct dialer *dialer, struct dial_turn *turn);

#endif
