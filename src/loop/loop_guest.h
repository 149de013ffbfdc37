/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_LOOP_GUEST_H
#define NAILUP_LOOP_LOOP_GUEST_H

/* For src/net alone: a place where the sockets of a loop keep what they share. The loop's thread.
 */

struct loop;

/* State that a layer above keeps for each loop. loop_free() calls free() when all else is closed.
 */
struct loop_guest {
    void (*free)(struct loop_guest *guest);
};

/* NULL when none was set. There is one place, for src/net. */
struct loop_guest *loop_guest(struct loop *loop);
void loop_set_guest(struct loop *loop, struct loop_guest *guest);

#endif
