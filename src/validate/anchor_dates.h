/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_ANCHOR_DATES_H
#define NAILUP_VALIDATE_ANCHOR_DATES_H

/*
 * The keys of a trust anchor's zone whose signatures are all expired or not yet valid. Zones that
 * people trust renew their signatures in time, so the clock of this machine is the likelier reason.
 * A worker notes one such zone in its struct stats; any thread reads it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/stats.h"
#include "dns/name.h"

struct anchor;
struct anchors;

struct anchor_dates {
    uint32_t zone_hash; /* anchor_dates_hash() of the zone */
    uint32_t space;     /* of the keys in the cache */
    uint32_t at_s;      /* the wall-clock time at which a signature ended or begins; never 0 */
    bool is_expired;    /* else it is not yet valid */
};

uint32_t anchor_dates_hash(struct name zone);

/* The worker's thread notes this zone in place of the zone before. Only the root is never replaced.
 */
void anchor_dates_note(struct stats *stats, const struct anchor_dates *dates);

/* The worker's thread has validated the keys of the zone. */
void anchor_dates_forget(struct stats *stats, struct name zone);

/* The worker's thread forgets the zone, whichever it is. */
void anchor_dates_forget_any(struct stats *stats);

/* Returns the trusted anchor of the noted zone, or NULL. */
const struct anchor *anchor_dates_find(const struct anchor_dates *dates,
                                       const struct anchors *anchors);

/* Reads what the worker noted. False: nothing. */
bool anchor_dates_read(const struct stats *stats, struct anchor_dates *out);

/* Whether the dates still contradict this wall clock. False once the clock is set right. */
bool anchor_dates_contradict(const struct anchor_dates *dates, uint32_t now_s);

#endif
