/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_RETIRE_H
#define NAILUP_UPSTREAM_POOL_RETIRE_H

/* What becomes of the connections of an upstream that nobody wants any more. */

#include <stdbool.h>

#include "upstream/pool_state.h"

/* Nobody wants it any more: gives the places of the quota back and dials no more but for a query
 * that waits, of a task that began before. Its connections drain, those that carry nothing close at
 * once. Calls queries' owners. */
void pool_retire(struct pool *pool);

/* The same for what has come up since; to be called now and then while it retires. */
void pool_wind_down(struct pool *pool);

/* It has no connection and nobody waits for one. */
bool pool_is_empty(const struct pool *pool);

/* Wanted again. What drains goes on draining. */
void pool_revive(struct pool *pool);

#endif
