/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_VERIFY_TURN_H
#define NAILUP_RESOLVE_VERIFY_TURN_H

/*
 * The time for verifications in one turn of the loop, and the tasks that wait for the next turn.
 * One for each worker.
 *
 * Invariant: the timer is armed while a task waits.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/list.h"
#include "loop/timer.h"

struct loop;

/* Verifications in one turn of the loop; another one begins only below this bound. Other clients
 * wait that long for their hits. */
#define VERIFY_TURN_US 500

struct verify_turn {
    struct loop *loop;
    uint64_t began_at, used_us;
    struct list put_off; /* the nodes of tasks, the oldest first */
    struct timer next;   /* due in the next turn */
};

void verify_turn_init(struct verify_turn *turn, struct loop *loop);

/* No task may wait (MUST). */
void verify_turn_deinit(struct verify_turn *turn);

/* Notes that a turn begins, which the clock may not show. */
void verify_turn_begin(struct verify_turn *turn);

/* Whether another verification may begin in this turn. Tasks that were put off have precedence. */
bool verify_turn_has_time(struct verify_turn *turn, bool was_put_off);

/* Bills a verification. */
void verify_turn_add(struct verify_turn *turn, uint64_t us);

/* Lets a task wait for the next turn, when on_due is called. The node may leave at any time. */
void verify_turn_put_off(struct verify_turn *turn, struct list *node,
                         void (*on_due)(struct timer *timer));

/* Returns the node of the task that has waited longest, or NULL where none waits or the turn has no
 * more time. A task may use the time up and be put off again. */
struct list *verify_turn_take(struct verify_turn *turn);

#endif
