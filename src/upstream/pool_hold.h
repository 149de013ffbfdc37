/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_HOLD_H
#define NAILUP_UPSTREAM_POOL_HOLD_H

/*
 * Holds a pool's connections while they idle: sends the hold queries, dials successors, closes
 * connections that need not stay, and learns the peer's idle limit. hold.c decides.
 *
 * A hold query is RD=0 and asks for the SOA of the configured zone, or for `. NS`. It counts
 * towards max-requests and in upstream_holds_total, and in no count of clients' queries.
 * Its failure says nothing about the server; silence puts the connection in doubt, and a successor
 * is dialled.
 */

#include <stdbool.h>
#include <stdint.h>

#include "dns/name.h"
#include "upstream/pool.h"

/* The connection has idled for its limit (conn_handler.on_idle). It may be gone afterwards. */
void pool_hold_look(struct pool *pool, struct conn *conn);

/* Sets the next look at the connection: it became ready, or the peer's limit changed. */
void pool_hold_arm(struct pool *pool, struct conn *conn);
void pool_hold_arm_all(struct pool *pool);

/* The peer answered RFC 7828 on this connection (NULL: it has just ended). */
void pool_heard_keepalive(struct pool *pool, struct conn *conn, uint16_t timeout_100ms);

/* A connection has ended: learns from it. How long it had been idle; 0: it was not. */
uint64_t pool_hold_note_end(struct pool *pool, const struct conn *conn, enum conn_end why);

/* Whether connections are held now: the option says so, and a server that recursion met was asked
 * lately or has announced a limit that is not over. */
bool pool_may_hold(const struct pool *pool);

/* The zone whose SOA hold queries ask for; copied. Not called: `. NS`. */
void pool_hold_with(struct pool *pool, struct name zone);

void pool_hold_deinit(struct pool *pool);

#endif
