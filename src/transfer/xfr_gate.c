/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
/*
 * Chooses the next place. At most XFR_GATE_VISITS_MAX places are inside, so their addresses are
 * compared one by one.
 * Invariant: a place is in the list of its state, or in none when it is outside.
 */
#include "transfer/xfr_gate.h"

#include "base/check.h"

/* The visits under way to this address. */
static unsigned gate_visits_to(const struct xfr_gate *gate, const struct addr *addr)
{
    unsigned count = 0;
    LIST_EACH(node, &gate->inside)
    count += addr_equal_ip(&LIST_ITEM(node, struct xfr_place, node)->addr, addr);
    return count;
}

/* The oldest place whose primary takes one more visit; NULL: none. */
static struct xfr_place *gate_find_free(const struct xfr_gate *gate, const struct list *line)
{
    LIST_EACH(node, line)
    {
        struct xfr_place *place = LIST_ITEM(node, struct xfr_place, node);
        if (gate_visits_to(gate, &place->addr) < XFR_GATE_PRIMARY_VISITS_MAX)
            return place;
    }
    return NULL;
}

static struct xfr_place *gate_choose(const struct xfr_gate *gate)
{
    bool is_usual_due = gate->urgent_row >= XFR_GATE_URGENT_ROW_MAX;
    const struct list *first = is_usual_due ? &gate->usual : &gate->urgent;
    struct xfr_place *place = gate_find_free(gate, first);
    return place ? place : gate_find_free(gate, is_usual_due ? &gate->urgent : &gate->usual);
}

static void gate_admit(struct xfr_gate *gate, struct xfr_place *place)
{
    list_remove(&place->node);
    list_append(&gate->inside, &place->node);
    place->state = XFR_PLACE_INSIDE;
    gate->visits++;
    gate->urgent_row = place->is_urgent ? gate->urgent_row + 1 : 0;
    place->on_admitted(place);
}

static void gate_on_turn_end(struct turn_end *end)
{
    struct xfr_gate *gate = CONTAINER_OF(end, struct xfr_gate, admission);
    struct xfr_place *place;
    while (gate->visits < gate->max_visits && (place = gate_choose(gate)))
        gate_admit(gate, place);
}

void xfr_gate_init(struct xfr_gate *gate, struct loop *loop, unsigned max_visits)
{
    MUST(max_visits > 0 && max_visits <= XFR_GATE_VISITS_MAX);
    *gate = (struct xfr_gate){.loop = loop, .max_visits = max_visits};
    list_init(&gate->urgent);
    list_init(&gate->usual);
    list_init(&gate->inside);
    turn_end_init(&gate->admission, gate_on_turn_end);
}

void xfr_gate_deinit(struct xfr_gate *gate)
{
    MUST(gate->visits == 0 && list_is_empty(&gate->urgent) && list_is_empty(&gate->usual));
    turn_end_cancel(&gate->admission);
}

void xfr_place_init(struct xfr_place *place, struct xfr_gate *gate,
                    void (*on_admitted)(struct xfr_place *place))
{
    *place = (struct xfr_place){.gate = gate, .on_admitted = on_admitted};
    list_init(&place->node);
}

void xfr_place_join(struct xfr_place *place, const struct addr *addr, bool is_urgent)
{
    struct xfr_gate *gate = place->gate;
    MUST(place->state != XFR_PLACE_INSIDE);
    place->addr = *addr;
    if (place->state == XFR_PLACE_OUT || (is_urgent && !place->is_urgent)) {
        list_remove(&place->node);
        list_append(is_urgent ? &gate->urgent : &gate->usual, &place->node);
        place->is_urgent = is_urgent;
        place->state = XFR_PLACE_WAITING;
    }
    loop_at_turn_end(gate->loop, &gate->admission);
}

void xfr_place_leave(struct xfr_place *place)
{
    struct xfr_gate *gate = place->gate;
    if (place->state == XFR_PLACE_INSIDE) {
        gate->visits--;
        loop_at_turn_end(gate->loop, &gate->admission);
    }
    list_remove(&place->node);
    place->state = XFR_PLACE_OUT;
}
