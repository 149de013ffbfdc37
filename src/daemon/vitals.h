/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_VITALS_H
#define NAILUP_DAEMON_VITALS_H

/*
 * Tells the service manager, while the daemon serves, that main and every worker still turn, and
 * from time to time how many queries they have handled. On the main loop.
 */

#include "control/view.h"

struct vitals;

/* Starts. Borrows view, which must be filled. The loops of its workers must outlive vitals_stop().
 * NULL: no service manager listens, or out of memory. */
struct vitals *vitals_start(struct loop *loop, const struct control_view *view);

/* Sends nothing more to workers. Call it before they end. NULL is fine. */
void vitals_stop(struct vitals *vitals);

/* Call it when no worker's loop is left. *vitals becomes NULL; NULL is fine. */
void vitals_free(struct vitals **vitals);

#endif
