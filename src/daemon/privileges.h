/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_PRIVILEGES_H
#define NAILUP_DAEMON_PRIVILEGES_H

/*
 * Root's rights are given away for good: of all capabilities only CAP_NET_BIND_SERVICE is kept, so
 * that listeners can be added while the daemon runs.
 *
 * Capabilities belong to a thread and are inherited by those it starts: main calls this while it is
 * the only one.
 */

#include "base/err.h"
#include "config/config.h"

enum { PRIVILEGES_WHY_MAX = 160 };

/* Whether the process could do what it likes to the machine. */
bool privileges_is_root(void);

/*
 * Becomes the user, with its group and, where it has a name, its other groups. A process that is
 * that user already only loses what capabilities it has too many. On error (ERR_PERMISSION) why is
 * a sentence, and the process must end: it may be half of each.
 */
MUST_USE enum err privileges_drop(const struct config_account *user, char why[PRIVILEGES_WHY_MAX]);

#endif
