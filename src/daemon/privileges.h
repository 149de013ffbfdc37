/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_PRIVILEGES_H
#define NAILUP_DAEMON_PRIVILEGES_H

/*
 * Gives root's privileges up for good. Keeps only the capability CAP_NET_BIND_SERVICE, so that a
 * reload can add listeners.
 *
 * Capabilities belong to a thread, and threads that it starts inherit them: main calls this while
 * it is the only thread.
 */

#include "base/err.h"
#include "config/config.h"

enum { PRIVILEGES_WHY_MAX = 160 };

/* Whether the process runs as root. */
bool privileges_is_root(void);

/*
 * Becomes the user, with its group and, if the user has a name, its other groups. A process that is
 * that user already only drops its surplus capabilities. On error (ERR_PERMISSION) why is a
 * sentence, and the process must end, because the change may be incomplete.
 */
MUST_USE enum err privileges_drop(const struct config_account *user, char why[PRIVILEGES_WHY_MAX]);

#endif
