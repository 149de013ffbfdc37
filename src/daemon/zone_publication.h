/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_PUBLICATION_H
#define NAILUP_DAEMON_ZONE_PUBLICATION_H

/* The part of the kept zones that workers need, at one time: a set of zones and a policy, with the
 * rows that describe them to people. It never changes. The keeper's thread makes it, and any thread
 * may free it. */

#include <stddef.h>
#include <stdint.h>

#include "control/view.h"
#include "daemon/kept_zone.h"
#include "rpz/rpz_options.h"

struct rpz_policy;
struct zone_set;

struct zone_publication {
    struct zone_publication *next_released; /* the keeper's */
    uint64_t number;                        /* the keeper's: 1, 2, ... */
    struct zone_set *set;
    struct rpz_policy *policy; /* NULL: none */
    struct control_policy_zone policy_rows[RPZ_ZONES_MAX];
    size_t count;
    struct zone_times **times; /* the rows borrow from these */
    struct control_zone rows[];
};

/* The zones of rpz. */
struct zone_publication_policy {
    const struct rpz_policy *wanted; /* the configuration's policy; NULL: none */
    uint64_t planned_at;             /* us: when the rules of files were made */
    const struct rpz_policy *before; /* its counters continue; NULL: there was none */
};

/* Makes a publication of the zones, with the rules that each zone of policy has now. Returns NULL
 * when out of memory: then the workers keep their zones and policy. */
struct zone_publication *zone_publication_new(const struct kept_zones *zones,
                                              const struct zone_publication_policy *policy,
                                              uint64_t now);

/* NULL is fine. */
void zone_publication_free(struct zone_publication *publication);

#endif
