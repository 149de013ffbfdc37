/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_FD_WATCH_H
#define NAILUP_TESTS_FAKE_FD_WATCH_H

/*
 * Watches of real descriptors on a loop in virtual time; replaces src/loop/fd_watch.c. Callbacks
 * run only inside the functions below.
 */

#include <stdbool.h>
#include <stddef.h>

/* Calls each ready watch once; returns false if none is ready. */
bool fake_fd_watch_poll(void);

/* Polls until no watch is ready. */
void fake_fd_watch_settle(void);

/* Counts the active watches. */
size_t fake_fd_watch_count(void);

#endif
