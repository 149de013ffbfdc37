/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_SOURCES_H
#define NAILUP_UPSTREAM_SOURCES_H

/*
 * The source addresses of queries to upstreams, for one IP version (server.outgoing). An entry is
 * an address or a whole prefix, whose addresses this machine need not have (IP_FREEBIND).
 *
 * A datagram draws its address at random (RFC 5452 section 9.2), so that a forger has to guess it,
 * too. Connections take the entries in turn. An entry that this machine lacks rests: no query
 * fails because of it while another entry works.
 *
 * All workers and configurations share a list by references. The entries never change. Any thread
 * may draw and note: the rests are atomics. The instants are arguments and of one clock.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/err.h"
#include "base/prefix.h"
#include "base/units.h"

enum {
    SOURCES_MAX = 64,      /* entries of both IP versions together */
    SOURCE_ROUTE_TRIES = 8 /* entries tried for a peer while each lacks a route to it */
};

/* How long an entry that this machine lacks rests before the next try. */
#define SOURCE_REST_US (10 * US_PER_S)

struct source {
    struct prefix prefix;
    atomic_uint_least64_t rests_until_at; /* 0: it works, as far as we know */
};

struct sources {
    atomic_uint refs;
    unsigned count;
    struct source list[];
};

/* One draw after another, for one datagram or dial. Zero it before the first draw. */
struct source_draw {
    struct addr addr; /* port 0; family 0: the kernel chooses */
    bool is_foreign;  /* the socket needs IP_FREEBIND, because the entry is a prefix */
    uint8_t index;
    uint8_t tries;  /* entries without a route to the peer */
    uint64_t tried; /* a bit for each entry that was tried */
};

/* Makes a list of the prefixes, which have one family. The caller has one reference. NULL: out of
 * memory. */
struct sources *sources_new(const struct prefix *prefixes, unsigned count);

/* NULL is fine for each of these. */
struct sources *sources_ref(struct sources *sources);
void sources_unref(struct sources *sources);
bool sources_equal(const struct sources *a, const struct sources *b);
uint64_t sources_hash(const struct sources *sources, uint64_t seed);

/* Returns the only address of the list, or NULL for several and for none. */
const struct addr *sources_only(const struct sources *sources);

/* Draws an address at random from the entries that this draw has not tried, resting ones last.
 * Does nothing if sources is NULL. */
void sources_draw(const struct sources *sources, struct source_draw *draw, uint64_t now);

/* The same for connections: takes the entry of this turn, or the next one after it. Only the
 * address within a prefix is random. */
void sources_draw_in_turn(const struct sources *sources, struct source_draw *draw, unsigned turn,
                          uint64_t now);

/*
 * Notes how the use of the drawn address began: a socket was bound to it and connected, or err.
 * Returns true if the address is at fault or may be, and the caller should draw again. An entry
 * that this machine lacks rests. One without a route to this peer, or without a free port for it,
 * does not rest: other peers may be reachable from it. The log tells when an entry begins to rest
 * and when it works again, once for all workers.
 */
bool sources_note(struct sources *sources, struct source_draw *draw, enum err err, uint64_t now);

/* Whether the error puts the drawn entry to rest. sources may be NULL. */
bool sources_are_at_fault(const struct sources *sources, enum err err);

#endif
