/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_CHOICE_H
#define NAILUP_UPSTREAM_POOL_CHOICE_H

/* Decides which of a pool's connections takes a query, or why none does. Pure. */

#include <stdbool.h>

#include "base/list.h"
#include "upstream/conn.h"
#include "upstream/upstream_options.h"

/* Why no connection takes the query. */
enum pool_lack {
    POOL_DIALING, /* a connection is on its way */
    POOL_STALLED, /* the open ones are silent */
    POOL_RESTING, /* the last dial failed */
    POOL_FULL,    /* each has as many queries in flight as it may */
    POOL_CLOSED,  /* no connection is open or being dialled */
};

/* Filled to three quarters: another connection is due. Splitting earlier would halve the batches.
 */
bool pool_choice_is_filled(const struct conn *conn);

/* conns is a list of struct conn. Returns NULL if none takes a query; never returns avoid (may be
 * NULL). is_lossy: the path loses segments, so a connection with SPREAD_IN_FLIGHT queries counts as
 * filled (spread.h). */
struct conn *pool_choice_best(const struct list *conns, const struct conn *avoid, bool is_lossy);

/* A silent connection without a probe, or NULL. */
struct conn *pool_choice_silent(const struct list *conns);

enum pool_lack pool_choice_lack(const struct list *conns);

#endif
