/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_MEMBERS_H
#define NAILUP_DAEMON_ZONE_MEMBERS_H

/* The zones that catalogs list (RFC 9432): which of them are kept, and what happens to the stored
 * copies of the others. Used only on the keeper's thread. */

#include "daemon/kept_zone.h"
#include "rpz/rpz_options.h"
#include "zone/zone_set.h"

struct name_map;
struct rpz_policy;

enum { ZONE_MEMBERS_MAX = ZONE_SET_MAX + RPZ_ZONES_MAX }; /* over all catalogs */

/* The names that a member may not have. */
struct zone_members_names {
    const struct name_map *configured; /* NULL: there is no catalog */
    struct name_map *taken;            /* empty at first; gets the names of the members */
};

/*
 * Adds the members of the catalogs in the list, which has room for ZONE_MEMBERS_MAX more. before is
 * the former list: members with the same node keep their state. policy_zones is the number of
 * configured zones of rpz. At most ZONE_SET_MAX zones answer, and at most RPZ_ZONES_MAX have rules.
 * Logs members that are left out because of their name, a bound, or lack of memory.
 */
void zone_members_add(struct kept_zones *zones, struct kept_zones *before,
                      const struct zone_members_names *names, size_t policy_zones);

/* Removes the stored copies of members that left, or whose state is reset. A member that has moved
 * into the configuration keeps its copy. */
void zone_members_drop_copies(const struct kept_zones *zones, const struct kept_zones *before);

#endif
