/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SUPERVISOR_H
#define NAILUP_DAEMON_SUPERVISOR_H

/* The life of the running daemon, on the main thread: from a configuration to a clean end. */

struct config;

/* Starts everything, serves until SIGTERM or SIGINT, takes everything apart. Returns a code of
 * daemon/exit_code.h;
 * of EXIT_CANNOT_START a line on stderr has said why and what to do. signals_block() has been
 * called. config is taken: *config becomes NULL; config_file is the file it was read from, and is
 * read again by a reload. */
int supervisor_run(struct config **config, const char *config_file);

#endif
