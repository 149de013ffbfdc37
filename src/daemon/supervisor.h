/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SUPERVISOR_H
#define NAILUP_DAEMON_SUPERVISOR_H

/* The life of the running daemon on the main thread, from a configuration to a clean end. */

struct config;

/* Starts everything, serves until SIGTERM or SIGINT, and takes everything apart. Returns a code of
 * daemon/exit_code.h; before EXIT_CANNOT_START a line on stderr says why and what to do. The caller
 * has called signals_block(). Takes config: *config becomes NULL. config_file is the file it came
 * from; a reload reads it again. */
int supervisor_run(struct config **config, const char *config_file);

#endif
