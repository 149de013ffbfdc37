/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_HOLD_H
#define NAILUP_UPSTREAM_POOL_HOLD_H

/*
 * Holds a pool's connections while they idle: sends hold queries, dials successors, closes
 * connections that need not stay open, and learns the peer's idle limit. hold.c decides.
 *
 * A hold query has RD=0 and asks for the SOA of the configured zone, or for `. NS`. It counts
 * towards max-requests and in upstream_holds_total, but not as a client's query. Its failure says
 * nothing about the server. Silence puts the connection in doubt, and the pool dials a successor.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "upstream/pool_tend.h"

/* Handles a connection that has been idle for its limit (conn_handler.on_idle). It may end inside
 * the call. */
void pool_hold_look(struct pool *pool, struct conn *conn);

/* Sets the next look at the connection after it became ready or the peer's limit changed. */
void pool_hold_arm(struct pool *pool, struct conn *conn);
void pool_hold_arm_all(struct pool *pool);

/* Notes that the peer announced a timeout (RFC 7828) on this connection (NULL: it has just
 * ended). */
void pool_heard_keepalive(struct pool *pool, struct conn *conn, uint16_t timeout_100ms);

/* Learns from a connection that ended. Returns its idle time; 0: it was not idle. */
uint64_t pool_hold_note_end(struct pool *pool, const struct conn *conn, enum conn_end why);

/* Whether the pool holds connections now: the option is on, and a discovered server got a query
 * recently or announced a limit that has not passed. */
bool pool_may_hold(const struct pool *pool);

/* Sets the zone whose SOA hold queries ask for; copied. If unset, they ask for `. NS`. */
void pool_hold_set_zone(struct pool *pool, struct name zone);

void pool_hold_deinit(struct pool *pool);

#endif
