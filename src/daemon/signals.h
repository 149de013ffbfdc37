/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_SIGNALS_H
#define NAILUP_DAEMON_SIGNALS_H

/* Signals as events of the main loop. */

#include "base/err.h"

struct loop;
struct signals;

/* Holds SIGTERM, SIGINT and SIGHUP back until they are listened to, and ignores SIGPIPE. Before
 * any thread is started: threads inherit it. */
void signals_block(void);

/* on_signal gets SIGTERM, SIGINT or SIGHUP on the loop's thread. Those that came since
 * signals_block() come first. */
MUST_USE enum err signals_open(struct signals **out, struct loop *loop,
                               void (*on_signal)(void *context, int number), void *context);

/* *signals becomes NULL; NULL is fine. */
void signals_close(struct signals **signals);

#endif
