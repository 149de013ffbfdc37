/* SPDX-License-Identifier: BSD-3-Clause */
/* SPDX-FileCopyrightText: 2026 the nailup authors */
#ifndef NAILUP_TESTS_SCENARIO_ZONE_H
#define NAILUP_TESTS_SCENARIO_ZONE_H

/*
 * ZONE_BEGIN to ZONE_END: a zone of a server, which answers from it as in RFC 1034 section 4.3.2.
 * Ranges take precedence over zones, so that a scenario writes only the wrong answers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/span.h"
#include "dns/name.h"
#include "scenario/reader.h"
#include "scenario/zone_sign.h"

struct script;

enum {
    ZONE_ADDRS_MAX = 16,
    ZONE_FIXED_LEN = 10, /* type, class, TTL and length of a record */
};

/* Manners: words after the zone's name. */
enum zone_manner {
    ZONE_FULL = 1 << 0,        /* answers bring the zone's NS records along */
    ZONE_NO_ENT = 1 << 1,      /* NXDOMAIN for empty non-terminals */
    ZONE_LOWER_CASE = 1 << 2,  /* the question returns in lower case */
    ZONE_NO_EDNS = 1 << 3,     /* FORMERR for queries with EDNS */
    ZONE_DROPS_EDNS = 1 << 4,  /* silence for queries with EDNS */
    ZONE_TRUNCATES = 1 << 5,   /* every answer over UDP */
    ZONE_NOT_AA = 1 << 6,      /* never authoritative */
    ZONE_OFFERS_RA = 1 << 7,   /* always with RA */
    ZONE_REFUSES_RD0 = 1 << 8, /* like a resolver for other clients */
};

/* Records, in the order of the file. */
struct zone_record {
    struct zone_record *next;
    struct name owner;
    uint16_t type;
    struct span rest; /* the record behind its owner */
};

struct script_zone {
    struct script_zone *next;
    int first, last; /* steps, as for ranges */
    struct addr addrs[ZONE_ADDRS_MAX];
    unsigned addr_count;
    uint32_t manners;
    struct zone_signing signing;
    struct name apex;
    struct zone_record *records;
};

/* Reads up to ZONE_END. The reader is at ZONE_BEGIN. The script owns the memory. NULL: its error
 * says why. */
struct script_zone *zone_read(struct script *script, struct reader *reader);

/* ZONE_MORE name to ZONE_END: more records for the latest zone of that name. */
bool zone_read_more(struct script *script, struct reader *reader);

/* Writes the answer of the server at the address to the query at this step, to out with room
 * for MESSAGE_MAX. Returns its length, or 0: the server has no zone, or is silent. */
size_t zone_answer(const struct script *script, int now, const struct addr *addr, bool over_tcp,
                   struct span bytes, uint8_t *out);

#endif
