/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_ZONE_TIMES_H
#define NAILUP_DAEMON_ZONE_TIMES_H

/*
 * When a zone from primaries was confirmed, and when it expires. The keeper's thread writes the
 * times after each visit, and main reads them, so that a visit which changes no record needs no new
 * set of zones.
 */

#include "control/view.h"

struct zone_times;

/* Returns times with one reference, or NULL when out of memory. */
struct zone_times *zone_times_new(void);
/* NULL is fine. Any thread. */
struct zone_times *zone_times_ref(struct zone_times *times);
void zone_times_unref(struct zone_times *times);

/* The times that the holder of a reference may read on any thread. NULL for NULL. */
const struct control_zone_times *zone_times_look(const struct zone_times *times);

/* The only writer's. confirmed_at_s: since 1970; expires_at: us of base/clock.h; 0: never. */
void zone_times_set(struct zone_times *times, uint64_t confirmed_at_s, uint64_t expires_at);

#endif
