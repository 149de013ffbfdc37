/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_REFUSAL_H
#define NAILUP_DAEMON_REFUSAL_H

/* Why the daemon does not start: one line on stderr that says what to do, in every log level. */

#include "base/addr.h"
#include "base/err.h"

/* "nailupd: " and the sentence; returns EXIT_CANNOT_START. */
int refusal(const char *format, ...) PRINTF_LIKE(1, 2);

/* That this address cannot be listened on. */
int refusal_listen(const struct addr *addr, enum err err);

#endif
