/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_APEX_H
#define NAILUP_VALIDATE_APEX_H

/*
 * Validates the apex of a zone held here, before its digest counts (RFC 8976 section 4). The trust
 * anchor of exactly this zone vouches for a key, and the key for the DNSKEY RRset. Its keys then
 * sign the SOA RRset, and the ZONEMD RRset or the proof of its absence.
 *
 * An anchor further up does not help here: the zone has no DS records of its own name, and this
 * module asks no server. Verifies few signatures, but allocates: not for workers. Any thread.
 */

#include <stdbool.h>

#include "validate/anchors.h"
#include "validate/rrsig.h"

struct zone_data;

enum {
    APEX_WHY_MAX = 200,
    APEX_VERIFICATIONS_MAX = 16, /* of one apex: a zone with more is refused */
};

struct apex_rules {
    const struct anchors *anchors;
    bool allow_sha1;
    struct rrsig_clock clock;
};

enum apex_result {
    APEX_UNANCHORED, /* no trust anchor has the zone's name, or it is a negative one */
    APEX_SECURE,     /* and the ZONEMD RRset is either signed or proven absent */
    APEX_BOGUS,      /* why is a sentence without its end, for people */
    APEX_NO_MEMORY,
};

/* Whether the digest of a signed zone proves no origin: a trust anchor is further up, and none has
 * the zone's name, so nothing here vouches for its keys. */
bool apex_is_unvouched(const struct zone_data *data, const struct apex_rules *rules);

/* Writes to why only for APEX_BOGUS. */
enum apex_result apex_check(const struct zone_data *data, const struct apex_rules *rules,
                            char why[APEX_WHY_MAX]);

#endif
