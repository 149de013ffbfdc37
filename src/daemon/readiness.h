/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_READINESS_H
#define NAILUP_DAEMON_READINESS_H

/*
 * Messages to the service manager, and the sockets that it passes: sd_notify(3),
 * sd_watchdog_enabled(3) and sd_listen_fds(3). Without a service manager that listens, or in a
 * build without libsystemd, messages go nowhere and there are no sockets. Main thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Whether this is a build with libsystemd. */
bool readiness_is_built(void);

/* Whether a service manager listens. */
bool readiness_is_wanted(void);

/* Says that every listener is served: at the start, and after a reload, whatever its result. */
void readiness_ready(void);
/* Says that a reload begins. readiness_ready() must follow, or the service manager takes it for a
 * hang. */
void readiness_reloading(void);
/* Says that the daemon stops. */
void readiness_stopping(void);

/* Sets the status line that `systemctl status` shows. */
void readiness_status(const char *format, ...) PRINTF_LIKE(1, 2);

/* The longest time between two readiness_ping() before the service manager ends the process; 0: no
 * limit. */
uint64_t readiness_watchdog_us(void);
void readiness_ping(void);

/* Returns the number of sockets that the service manager opened for us, and fills fds with their
 * descriptors, which are close-on-exec; at most room of them. The caller owns them. A second call
 * returns none. */
size_t readiness_take_sockets(int *fds, size_t room);

#endif
