/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TRANSFER_XFR_GATE_H
#define NAILUP_TRANSFER_XFR_GATE_H

/*
 * Bounds the visits to primaries that are under way on one loop. A transfer joins the line, is
 * admitted, visits a primary and leaves. Each zone has one place.
 *
 * Urgent places go before the others, and each group keeps its order of arrival. After
 * XFR_GATE_URGENT_ROW_MAX urgent ones the oldest of the others is admitted, so that NOTIFYs do not
 * hold it up for ever. If a primary already has all its visits, its place waits and the next place
 * goes.
 *
 * Places are admitted at the end of a turn, so no caller is called back inside its call.
 */

#include <stdbool.h>

#include "base/addr.h"
#include "base/list.h"
#include "loop/loop.h"

enum {
    XFR_GATE_VISITS_MAX = 32,        /* under way, each with a descriptor */
    XFR_GATE_PRIMARY_VISITS_MAX = 4, /* the most visits to one address, over all ports */
    XFR_GATE_URGENT_ROW_MAX = 8,     /* admitted in a row while others wait */
};

struct xfr_gate {
    struct loop *loop;
    struct list urgent, usual; /* places that wait, the oldest first */
    struct list inside;
    unsigned max_visits; /* 1 to XFR_GATE_VISITS_MAX */
    unsigned visits;     /* places inside */
    unsigned urgent_row; /* urgent places admitted since the last usual one */
    struct turn_end admission;
};

enum xfr_place_state {
    XFR_PLACE_OUT,
    XFR_PLACE_WAITING,
    XFR_PLACE_INSIDE, /* the visit is under way */
};

/* Embedded in its owner. Read state freely. */
struct xfr_place {
    struct list node;
    struct xfr_gate *gate;
    enum xfr_place_state state;
    bool is_urgent;
    struct addr addr;
    void (*on_admitted)(struct xfr_place *place);
};

/* At most max_visits are under way: 1 to XFR_GATE_VISITS_MAX. */
void xfr_gate_init(struct xfr_gate *gate, struct loop *loop, unsigned max_visits);

/* All places must have left. */
void xfr_gate_deinit(struct xfr_gate *gate);

/* Begins outside. on_admitted comes on the gate's loop, once for each time that the place joins and
 * does not leave. */
void xfr_place_init(struct xfr_place *place, struct xfr_gate *gate,
                    void (*on_admitted)(struct xfr_place *place));

/* Joins the line for a visit to this address. If the place waits already, it changes its address,
 * and keeps its turn unless it becomes urgent. A place that is inside must leave first. */
void xfr_place_join(struct xfr_place *place, const struct addr *addr, bool is_urgent);

/* Leaves the line or ends the visit. Fine outside. */
void xfr_place_leave(struct xfr_place *place);

#endif
