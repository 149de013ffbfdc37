/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_INTAKE_H
#define NAILUP_DAEMON_ZONE_INTAKE_H

/*
 * Takes in the versions of the zones held here: reads their files, transfers them from primaries,
 * follows catalogs, checks each version, and publishes what is in force. Runs on one loop, the one
 * of the thread of zone_keeper.h, and knows of no other thread.
 */

#include <stdatomic.h>
#include <stdbool.h>

#include "base/err.h"

struct addr;
struct control_transfers;
struct loop;
struct rpz_policy;
struct xfr_notify;
struct zone_intake;
struct zone_plans;
struct zone_publication;
struct zone_trust;

/* The owner of an intake. */
struct zone_intake_host {
    /* Takes over a publication, which replaces the one before. */
    void (*publish)(void *context, struct zone_publication *publication);
    /* Gives away trust anchors newer than the ones that it gave last, or returns NULL. */
    struct zone_trust *(*take_trust)(void *context);
    /* All files except large ones have been read, or have failed. */
    void (*note_copies)(void *context);
    void *context;
    struct control_transfers *transfers; /* the intake writes it */
    const atomic_bool *is_ending;        /* no more zones are read */
};

/* At most max_visits to primaries are under way (transfer/xfr_gate.h). Returns NULL when out of
 * memory. */
struct zone_intake *zone_intake_new(struct loop *loop, const struct zone_intake_host *host,
                                    unsigned max_visits);

/* Replaces the plans: reads new zones and changed files, and opens transfers. Takes plans->names
 * and *policy, the zones of rpz (NULL: none), and leaves NULL behind. On an error (out of memory)
 * the former zones stay. Publishes several times meanwhile. */
MUST_USE enum err zone_intake_plan(struct zone_intake *intake, struct zone_plans *plans,
                                   struct rpz_policy **policy);

/* Takes a NOTIFY of this server. */
void zone_intake_notify(struct zone_intake *intake, const struct xfr_notify *notify,
                        const struct addr *from);

/* Ends all transfers. NULL is fine. */
void zone_intake_free(struct zone_intake *intake);

#endif
