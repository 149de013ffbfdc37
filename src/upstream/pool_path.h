/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_PATH_H
#define NAILUP_UPSTREAM_POOL_PATH_H

/*
 * A pool when the machine's network is another than before: what it learned of the old path is
 * forgotten, its connections are in doubt, and fresh ones are dialled, make before break. Two
 * steps, so that queries which the second one loses find no pool that has not been told yet.
 */

#include <stdbool.h>

#include "upstream/pool.h"

/* Rests, failures in a row and the time of a dial are forgotten; each ready connection is in doubt
 * and to be replaced. Calls nothing back. */
void pool_path_forget(struct pool *pool);

/*
 * Ends what can be of no more use: handshakes that began before, connections whose own address this
 * machine no longer has, idle ones that are not to be kept; with all_stale (the machine slept)
 * every connection. Their queries are asked again by another way. Then dials what is missing and
 * what rested. A connection in doubt that is left closes after its last answer, when its successor
 * is ready.
 */
void pool_path_renew(struct pool *pool, bool all_stale);

#endif
