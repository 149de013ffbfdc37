/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_NAIL_ROOM_H
#define NAILUP_UPSTREAM_NAIL_ROOM_H

/*
 * When max-nailed is reached, servers that recursion met make room for each other: of those that
 * nobody has asked for NAIL_UNUSED_US, the one that was used longest ago. Upstreams of the
 * configuration keep what they have.
 */

#include <stdbool.h>

#include "base/units.h"

#define NAIL_UNUSED_US (600 * US_PER_S)

struct upstream_env;

/* Takes the places of one of them and closes its connections; it earns them anew when it is asked.
 * False: there is none. Of the worker's thread. */
bool nail_room_make(struct upstream_env *env);

#endif
