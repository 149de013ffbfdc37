/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_REUSE_H
#define NAILUP_VALIDATE_REUSE_H

/*
 * Which verified RRsets may answer for other names than the one that was asked for (RFC 8198)?
 * Pure; any thread.
 *
 * - NSEC records with their zone's own types (RRSIG and NSEC), whose next name is in the zone.
 * - NSEC3 records with 0 iterations and without opt-out.
 * - The SOA record of the zone.
 * - RRsets of a wildcard, also where one was expanded, except types that have a meaning for the
 *   zone or for names below.
 *
 * A record that a server made for one name only is useless for others: a compact denial (RFC
 * 9824), or a span of hashes that are next to each other.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "cache/spans.h"
#include "validate/validation.h"

/* One RRset that may be stored; zone and owner borrow from wire. */
struct reuse {
    enum spans_shelf shelf;
    struct name zone, owner;
    struct span chain; /* the salt of an NSEC3 record */
    uint16_t type;
    uint32_t ttl_s; /* the RRset's own; of a SOA record at most its MINIMUM field (RFC 2308) */
    struct span signature;
    uint8_t wire[NAME_WIRE_MAX];
};

/* Returns whether the RRset in this place of the validated message may be reused. The verdict is
 * SECURE. */
bool reuse_check(struct reuse *out, const struct validation *validation, const struct rrsets *sets,
                 unsigned at);

#endif
