/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_BENCH_POLLER_H
#define NAILUP_BENCH_POLLER_H

/*
 * The bench's own event loop: level-triggered epoll and nothing else, as a measuring tool must
 * cost less than what it measures. The watch is owned by the caller and must live until the end
 * of the turn in which it was removed, since the kernel may have reported it already.
 */

#include <stdint.h>
#include <sys/epoll.h>

#include "base/err.h"

struct watch {
    int fd;
    void (*on_ready)(struct watch *watch, uint32_t events);
};

enum { POLLER_NEVER_US = -1 };

/* An epoll descriptor; also makes the kernel's timers of this thread exact. */
MUST_USE enum err poller_open(int *out);

MUST_USE enum err poller_add(int poller, struct watch *watch, uint32_t events);
void poller_change(int poller, struct watch *watch, uint32_t events);

/* Waits until something is ready, at most wait_us (POLLER_NEVER_US: without end), sets *now_us to
 * the clock, then calls on_ready of each that is. */
void poller_turn(int poller, int64_t wait_us, uint64_t *now_us);

#endif
