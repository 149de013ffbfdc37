/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_FAKE_FD_WATCH_H
#define NAILUP_TESTS_FAKE_FD_WATCH_H

/*
 * Watches of real descriptors on a loop in virtual time: linked in the place of
 * src/loop/fd_watch.c. Nothing is called but by the functions below.
 */

#include <stdbool.h>
#include <stddef.h>

/* Calls whoever is ready now, once each; false when nobody is. */
bool fake_fd_watch_poll(void);

/* Until nobody is ready any more. */
void fake_fd_watch_settle(void);

/* Watches that are not stopped. */
size_t fake_fd_watch_count(void);

#endif
