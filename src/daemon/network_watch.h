/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_WATCH_H
#define NAILUP_DAEMON_NETWORK_WATCH_H

/*
 * Reports changes of this machine's network: links, addresses and default routes, from netlink, and
 * that the machine slept. Pieces of one change are reported once (network_gather.h). One loop's
 * thread. Costs nothing while nothing happens.
 */

#include "base/err.h"
#include "upstream/upstreams.h"

struct loop;
struct network_watch;

/* A part that cannot be watched, such as netlink in a sandbox, is a logged warning and no error.
 * ERR_NO_MEMORY. */
MUST_USE enum err network_watch_open(struct network_watch **out, struct loop *loop,
                                     void (*on_changed)(void *context, enum network_change change),
                                     void *context);

/* *watch becomes NULL; NULL is fine. */
void network_watch_close(struct network_watch **watch);

#endif
