/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_RESOLVE_ZONE_PROOF_H
#define NAILUP_RESOLVE_ZONE_PROOF_H

/*
 * Chooses the NSEC or NSEC3 records of a zone held here that prove what its answer says (RFC 4035
 * section 3.1.3, RFC 5155 section 7.2). Pure.
 */

#include <stdint.h>

#include "dns/name.h"

struct zone_data;
struct zone_match;

enum { ZONE_PROOF_MAX = 4 };

/* The nodes whose records prove it; each once. A zone without signatures has none. */
struct zone_proof {
    uint16_t type; /* NSEC or NSEC3 */
    unsigned count;
    uint32_t nodes[ZONE_PROOF_MAX];
};

/* Finds the proof of a match for this name: of its wildcard, of missing data, of a missing name, or
 * of a referral without DS records. *units_left pays for hashes (validate/nsec3_hash.h). */
void zone_proof_find(struct zone_proof *out, const struct zone_data *data, struct name name,
                     const struct zone_match *match, unsigned *units_left);

#endif
