/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RECURSE_LARGE_ZONES_H
#define NAILUP_RECURSE_LARGE_ZONES_H

/*
 * Remembers zones with many answers that are too large for a datagram. A query to such a zone costs
 * less over a stream that is open anyway. Each large answer raises the zone's score by
 * LARGE_ZONES_RISE, each other answer lowers it by one: a zone is remembered while more than one
 * answer in LARGE_ZONES_RISE + 1 is large, and for a few answers more. A lost entry costs a query
 * and never an answer. Pure; one thread.
 */

#include <stdbool.h>
#include <stdint.h>

enum {
    LARGE_ZONES_PLACES = 4096,  /* a power of two; 36 KiB */
    LARGE_ZONES_RISE = 4,       /* also the lowest score at which a zone counts */
    LARGE_ZONES_SCORE_MAX = 16, /* 13 answers that fit bring each zone back to datagrams */
};

struct large_zones { /* zeroed: no zone */
    uint64_t zones[LARGE_ZONES_PLACES];
    uint8_t scores[LARGE_ZONES_PLACES];
};

/* Notes whether an answer of the zone was too large. zone is a hash with a secret seed. A large
 * answer takes the place from a zone with the same place. */
void large_zones_note(struct large_zones *large, uint64_t zone, bool is_large);

/* Whether the next answer of the zone is probably too large. */
bool large_zones_has(const struct large_zones *large, uint64_t zone);

#endif
