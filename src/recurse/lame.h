/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_LAME_H
#define NAILUP_RECURSE_LAME_H

/*
 * Which servers are lame for which zones: named by the delegation, and knowing nothing of it. A
 * small table that forgets: a server that is taken for lame is only asked after the others, so what
 * is pushed out or forgotten costs a query, never an answer. Pure: the instant is an argument. One
 * worker's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/units.h"
#include "dns/name.h"

enum {
    LAME_MAX = 4096, /* pairs of zone and server; 64 KiB */
    LAME_WAYS = 4,   /* places that one pair may take */
};

#define LAME_US (600 * US_PER_S) /* how long it is remembered */

struct lame;

struct lame *lame_new(void);       /* NULL out of memory */
void lame_free(struct lame *lame); /* NULL is fine */

/* The server at this IP address answered as one that does not have the zone. In any case of
 * letters. Of pairs that want the same places those that are forgotten soonest go. */
void lame_note(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* It answered for the zone after all. */
void lame_forget(struct lame *lame, struct name zone, const struct addr *ip);

/* Costs next to nothing as long as no server is lame for any zone. */
bool lame_is(const struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* Forgets all: the network is another, or the operator changed something. */
void lame_clear(struct lame *lame);

#endif
