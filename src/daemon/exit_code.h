/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_EXIT_CODE_H
#define NAILUP_DAEMON_EXIT_CODE_H

/* The exit codes of nailupd(8). */
enum exit_code { EXIT_STOPPED = 0, EXIT_CONFIG = 1, EXIT_USAGE = 2, EXIT_CANNOT_START = 3 };

#endif
