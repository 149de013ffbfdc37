/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_READABLE_H
#define NAILUP_DAEMON_READABLE_H

/* Whether the user that the daemon has become can read what it will read again. */

struct config;

/* A file that workers read cannot be: the line of the refusal is written and its exit code
 * returned. Of one that only a reload reads a warning is logged. config_file is the configuration's
 * name. */
int readable_check(const struct config *config, const char *config_file);

#endif
