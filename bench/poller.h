/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_POLLER_H
#define NAILUP_BENCH_POLLER_H

/*
 * The bench's own event loop: level-triggered epoll and nothing else, because a measuring tool must
 * cost less than the server that it measures. The caller owns the watch. It must live until the end
 * of the turn in which it was removed, because the kernel may have reported it already.
 */

#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

struct watch {
    int fd;
    void (*on_ready)(struct watch *watch, uint32_t events);
};

enum { POLLER_NEVER_US = -1 };

/* Opens an epoll descriptor, and makes the kernel's timers exact for this thread. */
MUST_USE enum err poller_open(int *out);

MUST_USE enum err poller_add(int poller, struct watch *watch, uint32_t events);
void poller_change(int poller, struct watch *watch, uint32_t events);

/* Waits until a watch is ready, for at most wait_us (POLLER_NEVER_US: without limit). Sets *now_us
 * to the clock, then calls on_ready of each ready watch. */
void poller_turn(int poller, int64_t wait_us, uint64_t *now_us);

#endif
