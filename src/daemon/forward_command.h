/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_DAEMON_FORWARD_COMMAND_H
#define NAILUP_DAEMON_FORWARD_COMMAND_H

/* The arguments of `nailupctl forward`: what they ask for, and what the command shows without any.
 */

#include <stdbool.h>

#include "base/err.h"
#include "config/runtime_zones.h"

struct call;
struct config;
struct control_view;

/* Reads and checks the arguments; there must be one at least. A forward without upstreams removes
 * the zone. ERR_INVALID: why is a sentence. */
MUST_USE enum err forward_command_read(const struct call *call, const struct config *config,
                                       struct runtime_zone *out, char why[RUNTIME_ZONE_WHY_MAX]);

/* Checks that clients get no answers for the whole zone from one held here. ERR_INVALID: why is a
 * sentence that names that zone or its catalog. A forward without upstreams passes. */
MUST_USE enum err forward_command_check_held(const struct control_view *view,
                                             const struct runtime_zone *forward,
                                             char why[RUNTIME_ZONE_WHY_MAX]);

/* Whether the forward differs from the zone's servers now. */
bool forward_command_is_change(const struct runtime_zones *forwards,
                               const struct runtime_zone *forward);

/* Sets or removes the forward. On error nothing has changed and why is a sentence. */
MUST_USE enum err forward_command_set(struct runtime_zones *forwards,
                                      const struct runtime_zone *forward,
                                      char why[RUNTIME_ZONE_WHY_MAX]);

/* Fills the call's reply; the caller calls call_done(). */
void forward_command_show(struct call *call, const struct config *config,
                          struct runtime_zones *forwards);

#endif
