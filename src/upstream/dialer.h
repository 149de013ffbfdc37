/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_DIALER_H
#define NAILUP_UPSTREAM_DIALER_H

/*
 * The pacing of dials: a worker has at most DIALER_MAX under way, the others wait in line. So a
 * start with ten thousand nailed addresses, or an outage that ends, is no burst of handshakes.
 * Those that try again after a failure come last: dead servers cannot hold up those that are well.
 */

#include <stdbool.h>

#include "base/list.h"

enum { DIALER_MAX = 64 };

struct dialer {
    struct list line;
    struct list again; /* after a failure: when the line is empty */
    unsigned under_way;
};

/* A place in the line; embedded in the connection. on_turn dials; it may come inside a call of
 * another's dialer_leave() and must not give the turn back before it returns. */
struct dial_turn {
    struct list node;
    bool held;
    void (*on_turn)(struct dial_turn *turn);
};

void dialer_init(struct dialer *dialer);
void dial_turn_init(struct dial_turn *turn, void (*on_turn)(struct dial_turn *turn));

/* Asks for a turn: on_turn is called now, or when one comes free. */
void dialer_ask(struct dialer *dialer, struct dial_turn *turn, bool after_failure);

/* The dial is over, or is no longer wanted: leaves the line, or lets the next one dial. */
void dialer_leave(struct dialer *dialer, struct dial_turn *turn);

#endif
