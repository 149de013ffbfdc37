/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_READINESS_H
#define NAILUP_DAEMON_READINESS_H

/*
 * What the service manager is told, and what it gives: sd_notify(3), sd_watchdog_enabled(3) and
 * sd_listen_fds(3). Without a service manager that listens, or built without libsystemd, nothing is
 * told and nothing given. Main thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/* Whether this was built with libsystemd. */
bool readiness_is_built(void);

/* Whether a service manager wants to be told. */
bool readiness_is_wanted(void);

/* Every listener is served: at the start, and when a reload is over, however it went. */
void readiness_ready(void);
/* A reload begins. readiness_ready() must follow, or the service manager takes it for a hang. */
void readiness_reloading(void);
/* The end begins. */
void readiness_stopping(void);

/* A line for who asks how the service is. */
void readiness_status(const char *format, ...) PRINTF_LIKE(1, 2);

/* How often the service manager must hear readiness_ping() at least, or it ends the process; 0: not
 * at all. */
uint64_t readiness_watchdog_us(void);
void readiness_ping(void);

/* Descriptors of sockets that were opened for us, close-on-exec, and their number; with more than
 * there is room for, the first ones. The caller owns them. What is told once is not told again. */
size_t readiness_take_sockets(int *fds, size_t room);

#endif
