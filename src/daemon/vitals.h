/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_VITALS_H
#define NAILUP_DAEMON_VITALS_H

/*
 * What the service manager hears while the daemon serves: that main and every worker still turn,
 * and now and then how much is done. On the main loop.
 */

#include "control/view.h"

struct vitals;

/* Begins. view is borrowed and must be filled; its workers' loops outlive vitals_stop(). NULL when
 * no service manager listens, or out of memory. */
struct vitals *vitals_start(struct loop *loop, const struct control_view *view);

/* Nothing is asked of workers any more; before they end. NULL is fine. */
void vitals_stop(struct vitals *vitals);

/* When no worker's loop is left. *vitals becomes NULL; NULL is fine. */
void vitals_free(struct vitals **vitals);

#endif
