/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_CHOICE_H
#define NAILUP_UPSTREAM_POOL_CHOICE_H

/* Which of a pool's connections takes a query, and if none, why. Looks at them and changes nothing.
 */

#include <stdbool.h>

#include "base/list.h"
#include "upstream/conn.h"
#include "upstream/upstream_options.h"

/* Why there is none. */
enum pool_lack {
    POOL_DIALING, /* a connection is on its way */
    POOL_STALLED, /* the open ones have fallen silent */
    POOL_RESTING, /* the last dial failed */
    POOL_FULL,    /* each holds as many queries as it may */
    POOL_CLOSED,  /* none is open and none on its way */
};

/* Filled to three quarters: time for a further one (splitting earlier halves the batches). */
bool pool_choice_is_filled(const struct conn *conn);

/* The list is of struct conn. NULL when none takes a query; avoid (may be NULL) is passed over.
 * is_lossy: the path loses segments, so a connection with SPREAD_IN_FLIGHT queries counts as filled
 * (spread.h). */
struct conn *pool_choice_best(const struct list *conns, const struct conn *avoid, bool is_lossy);

/* One that has fallen silent and has not been probed since, or NULL. */
struct conn *pool_choice_silent(const struct list *conns);

enum pool_lack pool_choice_lack(const struct list *conns);

#endif
