/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_MEMBERS_H
#define NAILUP_DAEMON_ZONE_MEMBERS_H

/* The zones that catalogs list (RFC 9432): which of them are kept, and what happens to the stored
 * copies of the others. Used on the keeper's thread alone. */

#include "daemon/kept_zone.h"
#include "rpz/rpz_options.h"

struct rpz_policy;

/* Adds the members of the catalogs in the list, which has room for RPZ_ZONES_MAX more. before is
 * the list before: members with the same node keep their state. wanted has the configured zones of
 * rpz (NULL: none), whose names are taken. The log names the members that are left out. */
void zone_members_add(struct kept_zones *zones, struct kept_zones *before,
                      const struct rpz_policy *wanted);

/* Removes the stored copies of members that left, or whose state is reset. */
void zone_members_drop_copies(const struct kept_zones *zones, const struct kept_zones *before);

#endif
