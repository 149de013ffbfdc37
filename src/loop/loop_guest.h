/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_LOOP_GUEST_H
#define NAILUP_LOOP_LOOP_GUEST_H

/* For src/net only: a place for the state that the sockets of a loop share. The loop's thread. */

struct loop;

/* The state of a layer above for each loop. loop_free() calls free() when all else is closed. */
struct loop_guest {
    void (*free)(struct loop_guest *guest);
};

/* NULL: none was set. There is one place. */
struct loop_guest *loop_guest(struct loop *loop);
void loop_set_guest(struct loop *loop, struct loop_guest *guest);

#endif
