/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_KEEPER_H
#define NAILUP_DAEMON_ZONE_KEEPER_H

/*
 * Keeps the zones held here and the response policy. Its own thread, with a loop, reads the zones,
 * transfers them, and makes the rules of the response policy zones. After each change it makes a
 * set of the zones (zone/zone_set.h) and a policy (rpz/rpz_policy.h). Main gives both to every
 * worker, and returns the old ones to the thread. The thread frees them, because that takes long
 * for a large zone.
 *
 * Zones of rpz with a file come with the configuration, whose loader has made their rules.
 *
 *   configuration -> thread: read what changed -> set -> main -> workers -> main: cached answers
 *                      ^                                                      of new zones go
 *                      '-------------------- the set before ------------------------'
 *
 * A zone that cannot be read keeps its version. The thread starts when there is a first zone. All
 * functions run on the main thread, unless they say otherwise.
 */

#include <stdbool.h>

#include "base/err.h"
#include "dns/name.h"

struct cache;
struct config;
struct control_view;
struct loop;
struct workers;
struct rpz_policy;
struct zone_keeper;
struct addr;
struct route_options;
struct xfr_notify;
struct zone_set;

/* How long a start waits. The rules of a stored copy come before the first query, or clients would
 * reach names that it blocks; files above 4 MiB may come later. */
enum {
    ZONE_KEEPER_LARGE_S = 5,   /* the time to read all zones */
    ZONE_KEEPER_COPIES_S = 60, /* the time to read stored copies and files that are not large */
};

enum { ZONE_KEEPER_NOTIFIES_MAX = 64 };

/* The loop is main's. At most max_visits to primaries are under way (transfer/xfr_gate.h). Returns
 * NULL when out of memory. */
struct zone_keeper *zone_keeper_new(struct loop *loop, struct cache *cache, unsigned max_visits);

/* Begins to keep the zones of this configuration: reads new ones and those whose files changed. The
 * configuration is borrowed for the call. On an error the former zones stay in force. */
MUST_USE enum err zone_keeper_configure(struct zone_keeper *keeper, const struct config *config);

/* Sets the trust anchors that judge versions from now on (zone_trust.h). They are copied. A
 * version that other anchors judged is judged again with the next configuration. When out of
 * memory, the former anchors stay. */
void zone_keeper_trust(struct zone_keeper *keeper, const struct route_options *route);

/* Waits for the first zones from files and transfer-directory (ZONE_KEEPER_LARGE_S,
 * ZONE_KEEPER_COPIES_S). Sets them and the policy; NULL: none. Both are borrowed until
 * zone_keeper_begin(). */
void zone_keeper_await(struct zone_keeper *keeper, struct zone_set **zones,
                       struct rpz_policy **policy);

/* Begins to give sets to the workers, which so far run with the set of zone_keeper_await(), and to
 * show the zones in the view. */
void zone_keeper_begin(struct zone_keeper *keeper, struct workers *workers,
                       struct control_view *view);

/* Returns true when the zones and the policy of the last configuration are in force at all workers.
 * A zone that waits for its first transfer does not count. Otherwise on_settled comes once, later,
 * when they are. At most one call waits: a later call replaces it. */
bool zone_keeper_settle(struct zone_keeper *keeper, void (*on_settled)(void *context),
                        void *context);

/* Whether clients get the answers for the name from a zone held here, so that a cached answer would
 * hide it. Any thread. */
bool zone_keeper_is_for_clients(struct zone_keeper *keeper, struct name name);

/* Takes a NOTIFY that may ask for a transfer. Any worker's thread. Drops the NOTIFY if
 * ZONE_KEEPER_NOTIFIES_MAX are on their way: the primary sends it again. */
void zone_keeper_notify(struct zone_keeper *keeper, const struct xfr_notify *notify,
                        const struct addr *from);

/* Gives the workers no more sets, because the daemon stops. NULL is fine. */
void zone_keeper_end(struct zone_keeper *keeper);

/* Ends the thread. Call it after the workers have ended, while main's loop still exists. A file
 * that is being read is read to its end. NULL is fine. */
void zone_keeper_join(struct zone_keeper *keeper);

/* Call it after main's loop has been freed, which runs the mail that is left. NULL is fine. */
void zone_keeper_free(struct zone_keeper *keeper);

#endif
