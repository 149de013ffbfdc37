/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_LOOP_UV_H
#define NAILUP_LOOP_LOOP_UV_H

/*
 * What only src/net may know of a loop: that it is libuv's, and a place where the sockets of a
 * loop keep what they share. The loop's thread alone.
 */

#include <uv.h>

struct loop;

uv_loop_t *loop_uv(struct loop *loop);

/* State that a layer above keeps for each loop. loop_free() calls close(), waits until libuv has
 * let go of the handles, and then calls free(). */
struct loop_guest {
    void (*close)(struct loop_guest *guest); /* close your handles */
    void (*free)(struct loop_guest *guest);  /* all handles are closed: free your memory */
};

/* NULL when none was set. There is one place, for src/net. */
struct loop_guest *loop_guest(struct loop *loop);
void loop_set_guest(struct loop *loop, struct loop_guest *guest);

#endif
