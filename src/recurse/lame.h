/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_LAME_H
#define NAILUP_RECURSE_LAME_H

/*
 * Remembers which servers are lame for which zones. A lame server answers as if it did not have the
 * zone, or its useless answer helped to end a question early. The table is small and forgets: a
 * lame server is only asked after the others, so a lost entry costs a query and never an answer.
 * Pure: the instant is an argument. One worker's.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/units.h"
#include "dns/name.h"

enum {
    LAME_MAX = 4096, /* pairs of zone and server; 96 KiB */
    LAME_WAYS = 4,   /* places that one pair may take */
};

#define LAME_US (600 * US_PER_S)    /* the life of an entry */
#define LAME_TRY_US (10 * US_PER_S) /* between the tries of a server with useless answers */

struct lame;

struct lame *lame_new(void);       /* NULL out of memory */
void lame_free(struct lame *lame); /* NULL is fine */

/* Notes that the server at this IP address answers as if it did not have the zone. The case of
 * letters does not matter. A full row loses the entry that expires first. */
void lame_note(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* Notes that a useless answer of the server helped to end a question early. It may fail for that
 * question only, or no longer: lame_try() says when to find out. */
void lame_note_useless(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* Whether a lame server is due for a try: it gets one question as if it were not lame. The next try
 * is due LAME_TRY_US later. */
bool lame_try(struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* Notes that the server has answered for the zone, so it is not lame. */
void lame_forget(struct lame *lame, struct name zone, const struct addr *ip);

/* Costs next to nothing while no server is lame for any zone. */
bool lame_is(const struct lame *lame, struct name zone, const struct addr *ip, uint64_t now);

/* Forgets all entries, because the network or the configuration changed. */
void lame_clear(struct lame *lame);

#endif
