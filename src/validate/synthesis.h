/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_VALIDATE_SYNTHESIS_H
#define NAILUP_VALIDATE_SYNTHESIS_H

/*
 * Says what the spans of a zone prove about a name and type (RFC 8198). It chooses the few RRsets
 * that may matter, and denial decides by them as it does for an answer from a server. Pure; any
 * thread, in a read section.
 */

#include <stdint.h>

#include "cache/spans.h"
#include "dns/name.h"

enum synthesis_kind {
    SYNTHESIS_NONE, /* the spans do not say */
    SYNTHESIS_NXDOMAIN,
    SYNTHESIS_NODATA,
    SYNTHESIS_WILDCARD, /* data is expanded to the name */
    SYNTHESIS_ALIAS,    /* a CNAME record is expanded to the name: its target must be asked for */
};

enum {
    SYNTHESIS_PROOFS_MAX = 3,
    SYNTHESIS_UNITS_MAX = 8, /* of algorithm_cost(), for NSEC3 hashes of one question */
};

/* Borrows from the spans. */
struct synthesis {
    enum synthesis_kind kind;
    const struct spans_item *soa;  /* NXDOMAIN, NODATA */
    const struct spans_item *data; /* WILDCARD, ALIAS */
    unsigned proof_count;
    const struct spans_item *proof[SYNTHESIS_PROOFS_MAX];
};

/* The zone is at or above the name; for a DS record strictly above. The name is in lower case. The
 * caller knows that no other zone, anchor or server is responsible for the name. */
enum synthesis_kind synthesis_find(struct synthesis *out, const struct spans_zone *zone,
                                   struct name name, uint16_t type, uint64_t now);

#endif
