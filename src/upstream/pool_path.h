/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_PATH_H
#define NAILUP_UPSTREAM_POOL_PATH_H

/*
 * The machine's network changed: the pool forgets what it learned about the old path, doubts its
 * connections and dials fresh ones, make before break. The caller runs the first step for all pools
 * and then the second, so that a query which the second step loses finds no pool with old facts.
 */

#include <stdbool.h>

#include "upstream/pool_tend.h"

/* Step one: forgets rests, failures in a row and dial times, and marks each ready connection as in
 * doubt and for replacement. Never calls back. */
void pool_path_forget(struct pool *pool);

/*
 * Step two: ends handshakes that began before, connections whose local address this machine no
 * longer has, and idle connections without a place; with all_stale (the machine slept) every
 * connection. Their queries go another way. Then dials the missing and the resting connections. A
 * connection in doubt that is left closes after its last answer, when its successor is ready.
 */
void pool_path_renew(struct pool *pool, bool all_stale);

#endif
