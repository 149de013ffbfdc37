/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_FD_WATCH_H
#define NAILUP_LOOP_FD_WATCH_H

/*
 * Tells when a descriptor can be read or written: for the few that are not sockets of the network
 * (signals, the control socket). Sockets that come and go with queries belong to src/net. One
 * thread. tests/support/fake_fd_watch.c takes its place in tests.
 */

#include <stdbool.h>

#include "base/err.h"

struct fd_watch;
struct loop;

struct fd_events {
    bool readable; /* asked: when there is something to read; told: also at the end and at errors */
    bool writable;
};

/* May stop this watch. */
typedef void (*fd_watch_fn)(void *owner, struct fd_events events);

/* The descriptor stays the caller's and must be non-blocking. ERR_NO_MEMORY, ERR_IO. */
MUST_USE enum err fd_watch_start(struct fd_watch **out, struct loop *loop, int fd,
                                 struct fd_events wanted, fd_watch_fn on_ready, void *owner);

/* Changes what is asked for; neither pauses it. */
void fd_watch_set(struct fd_watch *watch, struct fd_events wanted);

/* Nothing is called any more and the descriptor may be closed at once. *watch becomes NULL; NULL
 * is fine. */
void fd_watch_stop(struct fd_watch **watch);

#endif
