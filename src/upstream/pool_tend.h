/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_POOL_TEND_H
#define NAILUP_UPSTREAM_POOL_TEND_H

/* Which connections should there be, and which are missing? Dials ahead of need. */

#include <stdbool.h>
#include <stdint.h>

#include "upstream/pool_state.h"

/* Queries that wait for an upstream's return dial beside a dial whose TCP takes longer than so many
 * times what it took before, but not before POOL_SYN_MIN_US: its SYN may be lost, and the kernel
 * sends it again only after a second. The first dial goes on, as the path may be longer now. */
enum {
    POOL_SYN_TIMES = 4,
    POOL_LATE_DIALS_MAX = 5, /* such dials at once, beside the latest one */
};
#define POOL_SYN_MIN_US (200 * US_PER_MS)

/* That time; 0: TCP was never there yet. */
uint64_t pool_syn_patience_us(const struct pool *pool);

/* Dials what the plan asks for. Called after everything that changes the facts; nothing happens
 * when it is called from within itself. */
void pool_tend(struct pool *pool);

/* The same when a query is about to be sent on the connection taking. */
void pool_tend_for(struct pool *pool, const struct conn *taking);

/* A query on this connection is asked a second time elsewhere since it has been silent: until a
 * byte comes, new queries go elsewhere too where they can, and one of them probes it. */
void pool_note_silent(struct pool *pool, struct conn *conn);

/* Whether the plan asks for a connection. */
bool pool_wants_more(const struct pool *pool);

/* A new connection: resting until the instant, or dialled now. is_paced: it rests only for a bound
 * on dials, so queries wait for it. */
void pool_add_conn(struct pool *pool, uint64_t rest_until_at, bool is_paced);

/* Has its places no longer earned: they are given back. */
void pool_forfeit(struct pool *pool);

/* A parked connection asks for its turn to be dialled, or rests until the bound on handshakes
 * allows it. */
void pool_dial(struct pool *pool, struct conn *conn);

/* Gives the places of the quota back. */
void pool_give_places(struct pool *pool);

/* A connection is silent, or a handshake of TLS was: large packets may be lost on the way, so the
 * next dials announce small segments (segment.h). */
void pool_note_stall(struct pool *pool);

#endif
