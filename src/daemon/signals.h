/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SIGNALS_H
#define NAILUP_DAEMON_SIGNALS_H

/* Turns signals into events of the main loop. */

#include "base/err.h"

struct loop;
struct signals;

/* Blocks SIGHUP until signals_open(): a reload that comes during the start takes place after it. */
void signals_block_reload(void);

/* Blocks SIGTERM, SIGINT and SIGHUP until signals_open(), and ignores SIGPIPE. Call it before any
 * thread starts: threads inherit the mask. */
void signals_block(void);

/* Calls on_signal with SIGTERM, SIGINT or SIGHUP on the loop's thread. Signals since
 * signals_block() come first. */
MUST_USE enum err signals_open(struct signals **out, struct loop *loop,
                               void (*on_signal)(void *context, int number), void *context);

/* *signals becomes NULL; NULL is fine. */
void signals_close(struct signals **signals);

#endif
