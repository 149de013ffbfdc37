/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_UPSTREAM_INFLIGHT_H
#define NAILUP_UPSTREAM_INFLIGHT_H

/*
 * The queries in flight on one connection: unpredictable ids that are used once, and the flight of
 * each id. A query that was given up stays known as long as the connection lives, so that its late
 * answer is recognised and never mistaken for another one.
 *
 * Ids are a keyed permutation of 0..65535 walked in order. The table grows with use.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum { INFLIGHT_IDS = 65536, INFLIGHT_ROUNDS = 6 };

struct flight; /* upstream/conn.h */

struct inflight_entry {
    struct flight *flight; /* NULL: given up, but the server still owes an answer */
    uint16_t id;
    bool used;
};

struct inflight {
    struct inflight_entry *table; /* open addressing, a power of two; NULL before the first query */
    uint32_t mask;
    uint32_t live;   /* entries with a flight */
    uint32_t owed;   /* entries given up */
    uint32_t next;   /* ids drawn so far */
    uint32_t any_at; /* no live query lies before this slot */
    uint16_t next_id;
    uint64_t keys[INFLIGHT_ROUNDS];
};

enum inflight_found {
    INFLIGHT_UNKNOWN, /* no query has this id */
    INFLIGHT_LIVE,    /* *flight is set */
    INFLIGHT_LATE,    /* the query was given up */
};

void inflight_init(struct inflight *inflight);
void inflight_deinit(struct inflight *inflight);

/* The id that the next inflight_add() will use. */
static inline uint16_t inflight_next_id(const struct inflight *inflight)
{
    return inflight->next_id;
}

/* Adds a query under that id. ERR_LIMIT after 65536 queries, ERR_NO_MEMORY. */
MUST_USE enum err inflight_add(struct inflight *inflight, struct flight *flight);

/* Removes the entry of a query that got its answer. */
enum inflight_found inflight_take(struct inflight *inflight, uint16_t id, struct flight **flight);

/* Gives the query up: the server still owes an answer. */
void inflight_give_up(struct inflight *inflight, uint16_t id);

/* Removes any live query and returns it, or NULL: for a connection that ended. */
struct flight *inflight_take_any(struct inflight *inflight);

#endif
