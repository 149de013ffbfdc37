/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_NETWORK_WATCH_H
#define NAILUP_DAEMON_NETWORK_WATCH_H

/*
 * Tells when the network under this machine is another: links, addresses and default routes by
 * netlink, and that it slept. What comes in pieces is told once (network_gather.h). One loop's
 * thread; nothing is done and nothing wakes as long as nothing happens.
 */

#include "base/err.h"
#include "upstream/upstreams.h"

struct loop;
struct network_watch;

/* What cannot be watched (no netlink in a sandbox) is a warning and no error. ERR_NO_MEMORY. */
MUST_USE enum err network_watch_open(struct network_watch **out, struct loop *loop,
                                     void (*on_changed)(void *context, enum network_change change),
                                     void *context);

/* *watch becomes NULL; NULL is fine. */
void network_watch_close(struct network_watch **watch);

#endif
