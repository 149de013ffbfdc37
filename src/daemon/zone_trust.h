/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_TRUST_H
#define NAILUP_DAEMON_ZONE_TRUST_H

/*
 * The trust anchors that judge zones held here: a copy of those in effect, for the thread of
 * zone_keeper, because a generation may end while that thread reads. One owner.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "validate/apex.h"

struct route_options;
struct zone_trust;

/* The anchors judge zones if a view withholds bogus answers (validate: yes): a zone held here is
 * the same for all views. Returns NULL when out of memory. */
struct zone_trust *zone_trust_new(const struct route_options *route);
void zone_trust_free(struct zone_trust *trust); /* NULL is fine */

/* Returns the rules at this time of the wall clock, borrowed until the next call. NULL: nothing is
 * validated (validate is not yes anywhere, or trust is NULL). */
const struct apex_rules *zone_trust_rules(struct zone_trust *trust, int64_t now_s);

/* Whether a zone of this name may be judged by other rules. Both may be NULL. */
bool zone_trust_differs(const struct zone_trust *a, const struct zone_trust *b, struct name zone);

#endif
