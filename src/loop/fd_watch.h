/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_LOOP_FD_WATCH_H
#define NAILUP_LOOP_FD_WATCH_H

/*
 * Reports when a descriptor can be read or written. For the few descriptors that are not network
 * sockets: signals, the control socket. src/net watches its own sockets. One thread.
 * tests/support/fake_fd_watch.c replaces it in tests.
 */

#include <stdbool.h>

#include "base/err.h"

struct fd_watch;
struct loop;

struct fd_events {
    bool readable; /* wanted: bytes to read; reported: also the end and errors */
    bool writable;
};

/* May stop this watch. */
typedef void (*fd_watch_fn)(void *owner, struct fd_events events);

/* The caller keeps the descriptor, which must be non-blocking. ERR_NO_MEMORY, ERR_IO. */
MUST_USE enum err fd_watch_start(struct fd_watch **out, struct loop *loop, int fd,
                                 struct fd_events wanted, fd_watch_fn on_ready, void *owner);

/* Changes the wanted events; none of them pauses the watch. */
void fd_watch_set(struct fd_watch *watch, struct fd_events wanted);

/* Stops the callbacks; the caller may close the descriptor at once. *watch becomes NULL; NULL is
 * fine. */
void fd_watch_stop(struct fd_watch **watch);

#endif
